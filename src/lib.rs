#![doc = include_str!("../README.md")]
#![no_std]
// One module has an exception, and says why.
#![deny(unsafe_code)]

#[cfg(test)]
extern crate std;

// So that the example in it is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/decision.md")]
struct DecisionExample;

pub mod acquisition;
pub mod blocks;
pub mod decision;
pub mod descriptor;
pub mod diagnosis;
pub mod drift;
pub mod envelope;
pub mod features;
pub mod integer;
pub mod kernel;
pub mod label;
pub mod math;
pub mod mixture;
pub mod model;
pub mod monitor;
pub mod orders;
pub mod report_line;
pub mod schedule;
pub mod severity;
pub mod slots;
pub mod snapshot;
pub mod spectrum;
pub mod statistics;
pub mod watchdog;
pub mod window;

pub use decision::Decision;
pub use label::Label;
pub use model::{Encoding, Model, ModelError};
pub use monitor::{Finding, Monitor, Report, SensorFault};
pub use orders::ShaftSpeedError;
pub use severity::{Severity, Zone};
pub use statistics::Statistics;
