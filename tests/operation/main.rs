//! The complete monitor and everything around it: samples in, findings and alarms out.

mod acquisition;
mod alarm;
mod alarm_kept;
mod alarm_names;
mod any_monitor;
mod chip;
#[path = "../common/mod.rs"]
mod common;
mod counts;
mod drift;
mod monitor;
mod report_line;
mod schedule;
mod severity;
#[path = "../../firmware-examples/src/simulated.rs"]
#[allow(dead_code, unreachable_pub, reason = "the firmware uses the rest, as a library")]
mod simulated;
mod slices;
mod snapshot;
mod soak;
