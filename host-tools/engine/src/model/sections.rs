//! Optional sections of a model file, the same for both encodings.

use rebearing::model::{AccuracyCurve, AlarmParameters, Section, Verdict, format};
use rebearing::signal::SeverityParameters;

use crate::data::units::Unit;
use crate::model::bytes::{Payload, put_floats, put_words};
use crate::model::drift::DriftContents;
use crate::model::verdict::VerdictContents;

/// The parameters of the alarm, as a section.
pub fn alarm_section(parameters: &AlarmParameters) -> Payload {
    let AlarmParameters { average, raise, clear, delay, settle, fault_windows, hold, idle } =
        *parameters;
    let flag = |is: bool, flag: u32| if is { flag } else { 0 };
    let flags = flag(hold, format::ALARM_HOLD) | flag(idle.is_some(), format::ALARM_IDLE);
    let (below, until) = idle.map_or((0, 0), |idle| (idle.below.bits(), idle.until.bits()));
    let mut payload = Vec::new();
    put_words(&mut payload, [average, u32::from(raise), u32::from(clear), delay, settle]);
    put_words(&mut payload, [fault_windows, flags, below, until]);
    Payload { section: Section::Alarm, bytes: payload }
}

/// The parameters of the severity measurement, as a section.
pub fn severity_section(parameters: &SeverityParameters) -> Payload {
    let SeverityParameters { low_hz, high_hz, unit, limits } = *parameters;
    let mut payload = Vec::new();
    put_floats(&mut payload, [low_hz, high_hz, unit].map(f64::from));
    put_floats(&mut payload, limits.map(f64::from));
    Payload { section: Section::Severity, bytes: payload }
}

/// The unit of the samples, as a section.
pub fn unit_section(unit: &Unit, full_scale: Option<f64>) -> Payload {
    let mut payload = Vec::new();
    // Zero means that the full scale is not known.
    put_floats(&mut payload, [full_scale.unwrap_or(0.0)]);
    let text = unit.to_string();
    put_words(&mut payload, [text.len() as u32]);
    payload.extend(text.as_bytes());
    Payload { section: Section::Unit, bytes: payload }
}

/// The reference of the drift watch, as a section.
pub fn drift_section(drift: &DriftContents) -> Payload {
    let mut payload = Vec::new();
    put_words(&mut payload, [drift.block, drift.correlation, drift.deviation_min.cast_unsigned()]);
    put_words(&mut payload, [drift.unknown_max, drift.blocks_per_false_alarm]);
    put_words(&mut payload, [drift.held_out, drift.held_out_unknown]);
    let classes = drift.classes.iter();
    put_words(&mut payload, classes.flat_map(|(mean, spread)| [mean.cast_unsigned(), *spread]));
    Payload { section: Section::Drift, bytes: payload }
}

/// The verdict that the model was made under, as a section.
///
/// The device's reader refuses contents that contradict themselves: see [`VerdictContents`].
pub fn verdict_section(contents: &VerdictContents) -> Payload {
    let VerdictContents { verdict, forced, predicted_accuracy, promise, transfers, curve } =
        *contents;
    let verdict = match verdict {
        Verdict::Adapt => format::VERDICT_ADAPT,
        Verdict::Keep => format::VERDICT_KEEP,
        Verdict::Abstain => format::VERDICT_ABSTAIN,
    };
    let flags = if forced { format::VERDICT_FORCED } else { 0 };
    let accuracy = predicted_accuracy.map_or(format::NO_ACCURACY, |share| (share as f32).to_bits());
    let curve = match curve {
        None => format::CURVE_NONE,
        Some(AccuracyCurve::Fixed) => format::CURVE_FIXED,
        Some(AccuracyCurve::Library) => format::CURVE_LIBRARY,
    };
    let mut payload = Vec::new();
    put_words(&mut payload, [verdict, flags, accuracy, (promise as f32).to_bits()]);
    put_words(&mut payload, [transfers as u32, curve]);
    Payload { section: Section::Verdict, bytes: payload }
}
