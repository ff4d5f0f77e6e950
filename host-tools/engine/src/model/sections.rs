//! Optional sections of a model file, the same for both encodings.

use rebearing::decision::Parameters;
use rebearing::model::format;
use rebearing::severity::SeverityParameters;

use crate::data::units::Unit;
use crate::model::bytes::{put_floats, put_words};
use crate::model::drift::DriftContents;

/// An optional section: its tag and payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Four bytes, the first of them in lower case.
    pub tag: [u8; 4],
    /// A multiple of four bytes.
    pub payload: Vec<u8>,
}

/// What a decision goes by, as a section.
pub fn decision_section(parameters: &Parameters) -> Section {
    let Parameters { average, raise, clear, delay, settle, fault_windows, hold, idle } =
        *parameters;
    let flag = |is: bool, flag: u32| if is { flag } else { 0 };
    let flags = flag(hold, format::DECISION_HOLD) | flag(idle.is_some(), format::DECISION_IDLE);
    let (below, until) = idle.map_or((0, 0), |idle| (idle.below.bits(), idle.until.bits()));
    let mut payload = Vec::new();
    put_words(&mut payload, [average, u32::from(raise), u32::from(clear), delay, settle]);
    put_words(&mut payload, [fault_windows, flags, below, until]);
    Section { tag: format::DECISION, payload }
}

/// How severity is measured, as a section.
pub fn severity_section(parameters: &SeverityParameters) -> Section {
    let SeverityParameters { low_hz, high_hz, unit, limits } = *parameters;
    let mut payload = Vec::new();
    put_floats(&mut payload, [low_hz, high_hz, unit].map(f64::from));
    put_floats(&mut payload, limits.map(f64::from));
    Section { tag: format::SEVERITY, payload }
}

/// What a sample stands for, as a section.
pub fn unit_section(unit: &Unit, full_scale: Option<f64>) -> Section {
    let mut payload = Vec::new();
    // Zero says that nothing is known of it.
    put_floats(&mut payload, [full_scale.unwrap_or(0.0)]);
    let text = unit.to_string();
    put_words(&mut payload, [text.len() as u32]);
    payload.extend(text.as_bytes());
    payload.resize(payload.len().next_multiple_of(4), 0);
    Section { tag: format::UNIT, payload }
}

/// What the drift watch compares with, as a section.
pub fn drift_section(drift: &DriftContents) -> Section {
    let mut payload = Vec::new();
    put_words(&mut payload, [drift.block, drift.correlation, drift.deviation_min.cast_unsigned()]);
    put_words(&mut payload, [drift.unknown_max, drift.blocks_per_false_alarm]);
    put_words(&mut payload, [drift.held_out, drift.held_out_unknown]);
    let classes = drift.classes.iter();
    put_words(&mut payload, classes.flat_map(|(mean, spread)| [mean.cast_unsigned(), *spread]));
    Section { tag: format::DRIFT, payload }
}
