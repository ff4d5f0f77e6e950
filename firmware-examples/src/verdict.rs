//! A verdict as part of a report's line, for the host to compare with its own.

use crate::line::Line;
use rebearing::Label;
use rebearing::decision::{Alarm, State, Verdict};

/// Appends ` verdict=STATE,LEVEL,ALARM`: a sensor fault behind its state and a colon, the level
/// in Q15, the alarm as its label, whether it is on, and whether it was acknowledged, with colons
/// between; a dash for what there is not.
pub fn print(line: &mut Line<'_>, verdict: &Verdict) {
    line.text(" verdict=").text(verdict.state.name());
    if let State::SensorFault(fault) = verdict.state {
        line.text(":").text(fault.name());
    }
    line.text(",");
    match verdict.level {
        Some(level) => line.decimal(usize::from(level)),
        None => line.text("-"),
    };
    line.text(",");
    match verdict.alarm {
        Some(Alarm { label, active, acknowledged }) => {
            match label {
                Label::Class(class) => line.decimal(class),
                Label::Unknown => line.text("unknown"),
                Label::UnknownFault => line.text("unknown_fault"),
            };
            for flag in [active, acknowledged] {
                line.text(if flag { ":1" } else { ":0" });
            }
        }
        None => {
            line.text("-");
        }
    }
}
