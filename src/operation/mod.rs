//! Around the monitor: alarm, drift, snapshot, schedule, watchdog, report line.
//!
//! Everything here takes the findings of either monitor.

pub mod alarm;
mod drift;
pub mod report_line;
mod schedule;
pub mod snapshot;
mod watchdog;

pub use alarm::{Alarm, AlarmState, KeptAlarm, alarm_device_ram};
pub use drift::{DriftBlock, DriftCause, DriftWatch};
pub use report_line::{ModelLine, ReportLine};
pub use schedule::{Schedule, Turn};
pub use snapshot::Snapshot;
pub use watchdog::Feeding;
