//! Models in i16, their monitors, and the monitors' stages with lengths that do not match.

use core::hint::black_box;

use rebearing::integer::{IntegerPart, classifier, features, math, mixture, spectrum, statistics};
use rebearing::{IntegerModel, IntegerMonitor, ModelError};

use crate::monitor;
use crate::unknown::{bytes, number, write};

pub(crate) fn models() {
    for result in [IntegerModel::parse(bytes()), IntegerModel::from_region(bytes())] {
        if let Err(error) = result.and_then(|model| one_model(&model)) {
            write(error);
        }
    }
}

/// Calls every accessor of a model, and builds monitors of one to three axes from it.
fn one_model(model: &IntegerModel<'_>) -> Result<(), ModelError> {
    monitor::model(model);
    black_box((model.counts_per_unit(), model.labels(), model.log_likelihood_min()));
    black_box((model.gate(), model.classes_part(), model.scaling()));
    // For the same reason as with f32 models.
    let another = || black_box(*model);
    let results = [
        one_monitor::<256, 1, 16, 4, 2>(another()),
        one_monitor::<1024, 3, 96, 32, 8>(another()),
        one_monitor::<2048, 2, 33, 15, 4>(another()),
    ];
    results.into_iter().collect::<Result<(), _>>()?;
    let mut monitor = IntegerMonitor::<256, 1, 16, 4, 2>::new(another())?;
    crate::acquisition::sources(&mut monitor);
    black_box(black_box(monitor).clone());
    Ok(())
}

#[expect(clippy::large_types_passed_by_value, reason = "the monitor keeps it")]
fn one_monitor<
    const FFT: usize,
    const AXES: usize,
    const DIMS: usize,
    const COMPONENTS: usize,
    const CLASSES: usize,
>(
    model: IntegerModel<'_>,
) -> Result<(), ModelError> {
    let mut room = IntegerMonitor::<FFT, AXES, DIMS, COMPONENTS, CLASSES>::vacant();
    monitor::monitor(&mut room, model, black_box(0))
}

/// Calls the stages of a monitor, with lengths that do not match.
pub(crate) fn stages() {
    let mut numbers = black_box([0_u32; 64]);
    let numbers = numbers.get_mut(..number()).unwrap_or_default();
    let mut posterior = black_box([0_u16; 64]);
    let posterior = posterior.get_mut(..number()).unwrap_or_default();
    classifier::normalise(numbers, number() as u64);
    let labels = black_box([0_u16; 64]);
    black_box(classifier::write_posterior(numbers, &labels, posterior));
    let rows = black_box([0_i16; 256]);
    let rows = rows.get(..number()).unwrap_or_default();
    let part = IntegerPart::new(numbers, rows, number(), number(), number() as u32);
    let mut energies = black_box([0_u32; 64]);
    let energies = energies.get_mut(..number()).unwrap_or_default();
    mixture::energies(&part, rows, energies);
    mixture::energies_with_early_drop(&part, rows, energies);
    black_box(mixture::weights(&part, energies));
    black_box((math::log2(number() as u64), part.component(number()), part.is_empty()));
    black_box(math::exp2_negative(number() as u32, number() as u32));
    let mut sums = black_box([0_u64; 64]);
    let sums = sums.get_mut(..number()).unwrap_or_default();
    let mut exponent = number().cast_signed() as i32;
    let powers = rows.iter().map(|x| u64::from(x.unsigned_abs()));
    spectrum::add_aligned(sums, &mut exponent, powers, number().cast_signed() as i32);
    let mut logs = black_box([0_i32; 64]);
    let logs = logs.get_mut(..number()).unwrap_or_default();
    // A refusal does not matter here.
    let _ = black_box(features::log_bands(sums, logs));
    black_box(features::level_offset(number(), number()));
    let mut x = black_box([0_i16; 64]);
    let x = x.get_mut(..number()).unwrap_or_default();
    classifier::write_limited(logs, x);
    classifier::write_direction(logs, x);
    let mut moments = black_box(statistics::IntegerMoments::EMPTY);
    moments.add(rows.iter().copied(), number().cast_signed() as i32);
    black_box(moments.statistics(0));
}
