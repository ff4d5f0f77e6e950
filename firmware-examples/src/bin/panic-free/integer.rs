//! As `panic-free`, for the integer line: a binary of its own, as both together would not fit in the
//! flash of a small Cortex-M0. Nobody runs this; `cargo xtask test panic` links it for every target.

#![no_std]
#![no_main]

use core::fmt::{self, Write as _};
use core::hint::black_box;
use cortex_m_rt::entry;
use panic_never as _;
use rebearing::drift::DriftWatch;
use rebearing::integer::{self, IntegerModel, IntegerMonitor, IntegerPart};
use rebearing::model::Aligned;
use rebearing::schedule::Schedule;
use rebearing::snapshot::Snapshot;
use rebearing::{Decision, Encoding, ModelError};

static BYTES: Aligned<[u8; 4096]> = Aligned([0; 4096]);

/// A text sink that cannot fail, for the errors' `Display`.
struct Sink;

impl fmt::Write for Sink {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        black_box(text);
        Ok(())
    }
}

#[entry]
fn main() -> ! {
    loop {
        integers();
    }
}

/// The integer line: its model, monitors of it, and its stages with lengths that do not fit.
fn integers() {
    for model in [IntegerModel::parse(bytes()), IntegerModel::from_region(bytes())] {
        match model {
            Ok(model) => integer_model(&model),
            Err(error) => {
                // The sink takes everything.
                let _ = write!(Sink, "{error}");
            }
        }
    }
    black_box(Encoding::of(bytes()).map(Encoding::name).is_ok());
    let mut numbers = black_box([0_u32; 64]);
    let numbers = numbers.get_mut(..number()).unwrap_or_default();
    let mut posterior = black_box([0_u16; 64]);
    let posterior = posterior.get_mut(..number()).unwrap_or_default();
    integer::diagnosis::normalise(numbers, number() as u64);
    let labels = black_box([0_u16; 64]);
    black_box(integer::diagnosis::write_posterior(numbers, &labels, posterior));
    let rows = black_box([0_i16; 256]);
    let rows = rows.get(..number()).unwrap_or_default();
    let part = IntegerPart::new(numbers, rows, number(), number(), number() as u32);
    let mut energies = black_box([0_u32; 64]);
    let energies = energies.get_mut(..number()).unwrap_or_default();
    integer::mixture::energies(&part, rows, energies);
    integer::mixture::energies_abandoning(&part, rows, energies);
    black_box(integer::mixture::weights(&part, energies));
    black_box((integer::math::log2(number() as u64), part.component(number()), part.is_empty()));
    black_box(integer::math::exp2_negative(number() as u32, number() as u32));
    let mut sums = black_box([0_u64; 64]);
    let sums = sums.get_mut(..number()).unwrap_or_default();
    let mut exponent = number().cast_signed() as i32;
    let powers = rows.iter().map(|x| u64::from(x.unsigned_abs()));
    integer::spectrum::add_aligned(sums, &mut exponent, powers, number().cast_signed() as i32);
    let mut logs = black_box([0_i32; 64]);
    let logs = logs.get_mut(..number()).unwrap_or_default();
    // Refused or not is as good.
    let _ = black_box(integer::features::log_bands(sums, logs));
    black_box(integer::features::level_offset(number(), number()));
    let mut x = black_box([0_i16; 64]);
    let x = x.get_mut(..number()).unwrap_or_default();
    integer::diagnosis::write_limited(logs, x);
    integer::diagnosis::write_direction(logs, x);
    let mut moments = black_box(integer::statistics::IntegerMoments::EMPTY);
    moments.add(rows.iter().copied(), number().cast_signed() as i32);
    black_box(moments.statistics(0));
    black_box(integer::monitor::integer_device_ram(number(), 1, 2, 3));
}

/// Every accessor of an i16 model, and monitors of one to three axes from it.
fn integer_model(model: &IntegerModel<'_>) {
    black_box((model.bytes(), model.counts_per_unit(), model.labels(), model.provenance()));
    black_box((model.class_name(number()), model.healthy(), model.log_likelihood_min()));
    let another = || black_box(*model);
    let _ = integer_monitor::<256, 1, 16, 4, 2>(&another());
    let _ = integer_monitor::<1024, 3, 96, 32, 8>(&another());
    let _ = integer_monitor::<2048, 2, 33, 15, 4>(&another());
}

fn integer_monitor<
    const FFT: usize,
    const AXES: usize,
    const DIMS: usize,
    const COMPONENTS: usize,
    const CLASSES: usize,
>(
    model: &IntegerModel<'_>,
) -> Result<(), ModelError> {
    let monitor = IntegerMonitor::<FFT, AXES, DIMS, COMPONENTS, CLASSES>::new(*model)?;
    let mut monitor = black_box(monitor);
    let frames = black_box([[0; AXES]; 64]);
    let frames = frames.get(..number()).unwrap_or(&[]);
    let mut decision = black_box(Decision::<CLASSES, 16>::of_integer_model(model)?);
    monitor.push_slice(frames, |report| {
        black_box(decision.integer_report(&report));
        inspect(&report);
    });
    let (report, left) = monitor.push_until_report(frames);
    inspect(&report);
    black_box(left);
    let mut snapshot = black_box(Snapshot::<DIMS, 4>::for_integer(model)?);
    let mut schedule = black_box(Schedule::new(0, number() as u32, number() as u32));
    let awake = schedule.turn(number() as u32, &mut monitor, |ticks| {
        black_box(ticks);
    });
    if let Some(report) = monitor.push(black_box([0; AXES])).filter(|_| awake) {
        snapshot.record_integer(&monitor, report.index, number() as u16);
        if let Some(reference) = model.drift() {
            let mut watch = black_box(DriftWatch::new(reference));
            black_box(watch.integer_report(&report));
        }
    }
    for byte in black_box(snapshot).bytes() {
        black_box(byte);
    }
    black_box((monitor.model(), monitor.features(), monitor.responsibilities()));
    monitor.clear();
    Ok(())
}

fn inspect<T: Clone + PartialEq>(report: &T) {
    black_box(black_box(report).clone() == *report);
}

fn number() -> usize {
    black_box(0)
}

/// The contents are as unknown as the length: the compiler may not look behind the reference.
fn bytes() -> &'static [u8] {
    black_box(&BYTES).0.get(..number()).unwrap_or_default()
}
