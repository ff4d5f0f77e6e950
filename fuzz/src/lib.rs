//! The properties that must hold for arbitrary bytes, made by cargo-fuzz or by `mutate`.

mod bus;
mod float;
mod integer;
mod run;
pub mod seeds;

pub use bus::{UNIT, bus};

use rebearing::model::format::{MAX_AXES, MAX_BANDS, MAX_CLASSES, MAX_COMPONENTS};
use rebearing::model::{AnyModel, Body, Scrub, Verdict};
use rebearing::monitor::Sampling;
use rebearing::{Encoding, ModelError};
use zerocopy::IntoBytes as _;

/// Valid model files of both encodings, for runs of the monitor.
pub static GOLDEN: [&[u8]; 6] = [
    rebearing::include_model!("../../tests/golden/model-v1.rbm"),
    rebearing::include_model!("../../tests/golden/model-v1-gate.rbm"),
    rebearing::include_model!("../../tests/golden/model-v1-orders.rbm"),
    rebearing::include_model!("../../tests/golden/model-v1-decision.rbm"),
    rebearing::include_model!("../../tests/golden/model-v1-verdict.rbm"),
    rebearing::include_model!("../../tests/golden/model-v1-i16.rbm"),
];

/// Largest number of samples per axis in the run of one input: a window may span millions.
const MOST_SAMPLES: usize = 3 * 4096;

/// Parses `bytes`, and uses every part of an accepted model. A refusal is a result, not a failure.
///
/// # Panics
/// If an accepted model breaks a promise of the parser.
pub fn model(bytes: &[u8]) -> Result<(), ModelError> {
    // A region may be longer than its file, and a file may lie anywhere.
    let words = aligned(bytes);
    let region = &words.as_bytes()[..bytes.len()];
    match Encoding::of(region)? {
        Encoding::F32 => float::model(region),
        Encoding::I16 => integer::model(region),
    }
}

/// Runs `bytes` through monitors with the golden models. The bytes are taken as samples and
/// repeated until a window is full.
///
/// # Panics
/// If a golden model is refused or a finding holds a number that is not finite.
pub fn monitor(bytes: &[u8]) {
    for golden in GOLDEN {
        match Encoding::of(golden).expect("the golden model is valid") {
            Encoding::F32 => float::monitor(golden, bytes),
            Encoding::I16 => integer::monitor(golden, bytes),
        }
    }
}

/// Parses a region of the encoding `B`, and checks the properties that both encodings rely on.
fn parse<'a, B: Body<'a>>(region: &'a [u8]) -> Result<AnyModel<'a, B>, ModelError> {
    let in_region = AnyModel::<B>::from_region(region).map(|model| model.bytes().len());
    let model = AnyModel::parse(region)?;
    assert_eq!(in_region, Ok(region.len()), "from_region disagrees with parse");
    assert_eq!(model.bytes(), region);
    check_promises(&model);
    Ok(model)
}

fn check_promises<'a, B: Body<'a>>(model: &AnyModel<'a, B>) {
    let front_end = model.front_end();
    let (classes, components) = (model.classes(), model.component_count());
    assert_eq!(front_end.dims(), model.dims());
    assert!((1..=MAX_BANDS).contains(&front_end.axis_features()));
    assert!(
        (1..=MAX_AXES).contains(&front_end.axes) && (1..=MAX_BANDS).contains(&front_end.bands())
    );
    assert!((1..=MAX_COMPONENTS).contains(&components) && (1..=MAX_CLASSES).contains(&classes));
    assert!(front_end.window_len() >= front_end.fft_len && front_end.rate_hz.is_finite());
    for class in 0..classes {
        assert!(model.class_name(class).is_some());
    }
    assert_eq!(model.class_name(classes), None);
    assert!(model.healthy().is_none_or(|class| class < classes));
    assert!(model.alarm().check().is_ok());
    if let Some(verdict) = model.verdict() {
        let share = 0.0..=1.0;
        assert!(verdict.predicted_accuracy.is_none_or(|accuracy| share.contains(&accuracy)));
        assert!(share.contains(&verdict.promise), "{verdict:?}");
        assert_eq!(verdict.curve.is_some(), verdict.predicted_accuracy.is_some());
        assert!(!verdict.forced || verdict.verdict == Verdict::Abstain, "{verdict:?}");
    }
    assert_eq!(Scrub::new(model).step(usize::MAX), Some(true));
    // Refused or not, with any figures in the message.
    let board = Sampling { rate_hz: 26_667.0, longest_window_ms: 4_000, full_scale_g: 16.0 };
    for sampling in [board, Sampling { rate_hz: 0.0, ..board }] {
        let _ = sampling.check(model).map_err(|error| error.to_string());
    }
    let provenance = model.provenance();
    assert!(
        provenance.tool.len() + provenance.source.len() + provenance.target.len()
            < model.bytes().len()
    );
}

/// Samples per axis for the run of an accepted model.
fn samples_of<'a, B: Body<'a>>(model: &AnyModel<'a, B>) -> usize {
    model.front_end().window_len().min(MOST_SAMPLES)
}

/// Samples per axis for the run of a golden model: two windows.
fn samples_of_golden<'a, B: Body<'a>>(model: &AnyModel<'a, B>) -> usize {
    (2 * model.front_end().window_len()).min(4 * MOST_SAMPLES)
}

/// Varying samples, enough for every axis, for models whose samples do not matter.
fn ramp(samples: usize) -> impl Iterator<Item = i16> {
    (0..MAX_AXES * samples).map(|n| i16::from((n * n % 251) as u8) - 125)
}

/// Copies the bytes to a 4-byte boundary, padded to whole words.
fn aligned(bytes: &[u8]) -> Vec<u32> {
    let mut words = vec![0_u32; bytes.len().div_ceil(4)];
    words.as_mut_bytes()[..bytes.len()].copy_from_slice(bytes);
    words
}
