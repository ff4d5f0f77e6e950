//! Parses a file and uses everything of a model that is accepted.

use core::fmt;
use core::hint::black_box;

use rebearing::acquisition::Sample;
use rebearing::model::format::{MAX_AVERAGE, MAX_AXES, MAX_BANDS, MAX_CLASSES, MAX_COMPONENTS};
use rebearing::model::{AnyModel, Body, Scrub};
use rebearing::monitor::Sampling;
use rebearing::operation::{DriftWatch, KeptAlarm, ModelLine, ReportLine, Snapshot};
use rebearing::update::{Descriptor, newest};
use rebearing::{Alarm, AnyMonitor, IntegerModel, IntegerMonitor, Model, Monitor, Vacant};

use crate::mutate::Random;

const DIMS: usize = MAX_AXES * MAX_BANDS;
/// Samples per axis of a run: a window may span millions.
const MOST_SAMPLES: usize = 3 * 4096;

pub(crate) enum Outcome {
    Refused,
    Accepted { windows: u32 },
}

/// A sink that takes every text.
struct Sink;

impl fmt::Write for Sink {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        black_box(text);
        Ok(())
    }
}

fn write(text: impl fmt::Display) {
    // The sink takes everything.
    let _ = fmt::write(&mut Sink, format_args!("{text}"));
}

pub(crate) fn model(bytes: &[u8]) -> Outcome {
    // A region of two slots, whatever is in them.
    if let Err(error) = newest(bytes, |model: Model<'_>| Ok(model.bytes().len())) {
        write(error);
    }
    match (Model::parse(bytes), IntegerModel::parse(bytes)) {
        (Ok(model), _) => floats(&model),
        (_, Ok(model)) => integers(&model),
        (Err(error), Err(other)) => {
            write(error);
            write(other);
            Outcome::Refused
        }
    }
}

/// Random words, taken for a descriptor and for an alarm.
pub(crate) fn words(random: &mut Random) {
    let word = random.next();
    for word in [word, word & 0xff, word << 24 | word & 0xff_ffff] {
        if let Some(kept) = KeptAlarm::from_word(word) {
            assert_eq!(kept.to_word(), word);
        }
    }
    let mut bytes = [0; 84];
    for place in bytes.as_chunks_mut::<4>().0 {
        *place = random.next().to_le_bytes();
    }
    let (magic, rest) = bytes.split_at_mut(16);
    magic.copy_from_slice(b"RBFD\x02\0\0\0\x01\0\0\0\x01\0\0\0");
    // Models and samples: one of three kinds.
    rest[20..24].copy_from_slice(&[(word % 3) as u8, 0, 0, 0]);
    rest[24..56].fill(b'x');
    if let Some(descriptor) = Descriptor::from_bytes(&bytes) {
        black_box((descriptor.to_bytes(), descriptor.capacities.device_ram()));
    }
}

fn floats(model: &Model<'_>) -> Outcome {
    if let Some(severity) = model.severity() {
        black_box(severity.bins(model.front_end()));
    }
    Outcome::Accepted {
        windows: match model.front_end().axes {
            1 => in_floats::<f32, 1>(model) + in_floats::<i16, 1>(model),
            _ => in_floats::<f32, 3>(model),
        },
    }
}

fn integers(model: &IntegerModel<'_>) -> Outcome {
    Outcome::Accepted {
        windows: match model.front_end().fft_len {
            256 => in_integers::<256>(model),
            _ => in_integers::<4096>(model),
        },
    }
}

/// Never inlined, so only one of the monitors takes stack.
#[inline(never)]
fn in_floats<S: Sample + From<i16>, const AXES: usize>(model: &Model<'_>) -> u32 {
    let mut room = Monitor::<S, 4096, AXES, DIMS, MAX_COMPONENTS, MAX_CLASSES>::vacant();
    run(&mut room, *model)
}

/// As [`in_floats`].
#[inline(never)]
fn in_integers<const FFT: usize>(model: &IntegerModel<'_>) -> u32 {
    let mut room = IntegerMonitor::<FFT, 1, DIMS, MAX_COMPONENTS, MAX_CLASSES>::vacant();
    run(&mut room, *model)
}

/// Runs a window through the monitor of `room`, and through everything around it. Returns the
/// number of findings.
fn run<'m, M, const AXES: usize, const CLASSES: usize>(
    room: &mut Vacant<M>,
    model: AnyModel<'m, M::Body>,
) -> u32
where
    M: AnyMonitor<'m, AXES, CLASSES>,
    M::Sample: From<i16>,
{
    around(&model);
    let Ok(monitor) = room.start(model) else { return 0 };
    let Ok(mut alarm) = Alarm::<CLASSES, { MAX_AVERAGE as usize }>::of_model(&model) else {
        return 0;
    };
    let Ok(mut snapshot) = Snapshot::<DIMS, 2>::new(&model) else { return 0 };
    let mut watch = model.drift().map(DriftWatch::new);
    if let Err(error) = monitor.set_shaft_speed(25.0) {
        write(error);
        // As slow as a number can be.
        let _ = monitor.set_shaft_speed(f32::from_bits(1));
    }
    let mut findings = 0;
    for n in 0..model.front_end().window_len().min(MOST_SAMPLES) {
        let sample = i16::from((n * n % 251) as u8) - 125;
        let Some(finding) = monitor.push([sample.into(); AXES]) else { continue };
        findings += 1;
        let state = alarm.update(&finding);
        alarm.restore(alarm.kept());
        if let Some(watch) = &mut watch {
            watch.update(&finding);
        }
        snapshot.record(monitor, finding.index, 0);
        black_box(snapshot.bytes().fold(0, |sum: u8, byte| sum ^ byte));
        write(ReportLine::new(&model, &finding).alarm(&state).features(monitor.features()).exact());
    }
    findings
}

/// Everything that needs no monitor.
fn around<'m, B: Body<'m>>(model: &AnyModel<'m, B>) {
    write(ModelLine(model));
    assert_eq!(Scrub::new(model).step(usize::MAX), Some(true));
    let board = Sampling { rate_hz: 26_667.0, longest_window_ms: 4_000, full_scale_g: 16.0 };
    for sampling in [board, Sampling { rate_hz: 0.0, ..board }] {
        if let Err(error) = sampling.check(model) {
            write(error);
        }
    }
    black_box((model.provenance(), model.unit(), model.verdict(), model.alarm(), model.healthy()));
}
