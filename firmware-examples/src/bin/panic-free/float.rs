//! Models in f32, their monitors, and the monitors' stages with lengths that do not match.

use core::hint::black_box;

use rebearing::acquisition::Sample;
use rebearing::classify::{
    Mixture, classify, map_class, margin, posterior, reorder, responsibilities, take_direction,
};
use rebearing::features::bands;
use rebearing::model::format;
use rebearing::signal::{FFT_LENGTHS, Spectrum};
use rebearing::{Encoding, Model, ModelError, Monitor, math};

use crate::monitor;
use crate::unknown::{FLOATS, bytes, floats, number, write};

pub(crate) fn models() {
    for result in [Model::parse(bytes()), Model::from_region(bytes())] {
        if let Err(error) = result.and_then(|model| one_model(&model)) {
            write(error);
        }
    }
    for encoding in [Encoding::of(bytes()), Encoding::of_region(bytes())] {
        black_box(encoding.map(Encoding::name).is_ok());
    }
}

/// Calls every accessor of a model, and builds monitors of one to three axes from it.
fn one_model(model: &Model<'_>) -> Result<(), ModelError> {
    monitor::model(model);
    let front_end = model.front_end();
    black_box((model.shift(), model.scale(), model.labels(), model.mixture()));
    black_box((model.log_likelihood_min(), model.gate(), model.early_drop()));
    if let Some(severity) = black_box(model.severity()) {
        let velocity = severity.velocity(black_box(0.0), front_end);
        black_box((severity.bins(front_end), severity.zone(velocity).name()));
    }
    for component in model.components() {
        black_box(component);
    }
    // As far as the compiler knows, each monitor comes from a different model. A model that fits
    // the first monitor has one axis, so the compiler would remove the others.
    let another = || black_box(*model);
    let results = [
        one_monitor::<f32, 256, 1, 16, 4, 2>(another(), black_box(0.0)),
        one_monitor::<f32, 2048, 2, 64, 16, 4>(another(), black_box(0.0)),
        one_monitor::<f32, 4096, 3, 96, 32, 8>(another(), black_box(0.0)),
        one_monitor::<i16, 1024, 1, 32, 8, 3>(another(), black_box(0)),
        one_monitor::<i16, 512, 3, 96, 24, 16>(another(), black_box(0)),
    ];
    results.into_iter().collect::<Result<(), _>>()?;
    let mut monitor = Monitor::<i16, 256, 1, 16, 4, 2>::new(another())?;
    crate::acquisition::sources(&mut monitor);
    black_box(black_box(monitor).clone());
    Ok(())
}

#[expect(clippy::large_types_passed_by_value, reason = "the monitor keeps it")]
fn one_monitor<
    S: Sample,
    const FFT: usize,
    const AXES: usize,
    const DIMS: usize,
    const COMPONENTS: usize,
    const CLASSES: usize,
>(
    model: Model<'_>,
    sample: S,
) -> Result<(), ModelError> {
    let mut room = Monitor::<S, FFT, AXES, DIMS, COMPONENTS, CLASSES>::vacant();
    monitor::monitor(&mut room, model, sample)
}

/// Calls the stages of a monitor, with lengths that do not match.
pub(crate) fn stages() {
    let mut sums = black_box(FLOATS);
    let edges: [u32; 64] = black_box([0; 64]);
    let mut buffer = black_box(FLOATS);
    let spectrum = Spectrum::transform(&mut buffer, number());
    let sums = sums.get_mut(..number()).unwrap_or_default();
    bands::add_band_power(sums, edges.get(..number()).unwrap_or_default(), spectrum);
    let mut features = black_box(FLOATS);
    let features = features.get_mut(..number()).unwrap_or_default();
    // The following code works with any sums, so a refusal does not matter.
    let _ = black_box(bands::log_bands(sums, features));
    bands::standardise(features, floats(), floats());

    black_box(bands::level_offset(number(), number()));
    let mut scores = black_box(FLOATS);
    let scores = scores.get_mut(..number()).unwrap_or_default();
    let mut shares = black_box(FLOATS);
    let shares = shares.get_mut(..number()).unwrap_or_default();
    let mut direction = black_box(FLOATS);
    let direction = direction.get_mut(..number()).unwrap_or_default();
    take_direction(direction);
    let order: [u32; 64] = black_box([0; 64]);
    reorder(features, order.get(..number()).unwrap_or_default(), direction);
    let raw = Mixture::new(floats(), floats(), number());
    for part in [raw.split_at(number()).0, raw.split_at(number()).1] {
        part.log_densities(features, scores);
        part.log_densities_with_early_drop(features, number(), scores);
        black_box((part.len(), part.is_empty(), margin(number())));
    }
    if let Ok(model) = Model::parse(bytes()) {
        model.mixture().log_densities(features, scores);
        let healthy = number();
        black_box(classify(model.classifier(), healthy, features, direction, scores, shares));
    }
    black_box(responsibilities(scores));
    posterior(scores, floats(), shares);
    black_box(map_class(shares));

    let x = black_box(1.0);
    black_box((math::ln(x), math::exp(x), math::sqrt(x), format::crc32(bytes()), FFT_LENGTHS));
}
