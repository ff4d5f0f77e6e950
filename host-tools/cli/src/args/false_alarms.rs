//! The false alarms that a gate aims at.

use clap::Args;
use rebearing_host::adapt::false_alarms::FalseAlarms;

/// Options for the false alarms that a gate aims at.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct FalseAlarmArgs {
    /// False alarms a year that the gate aims at. More of them let it hear fainter faults. An aim,
    /// not a promise: a regime that was not recorded comes on top.
    #[arg(long, value_name = "PER_YEAR", default_value_t = FalseAlarms::default().per_year, allow_negative_numbers = true)]
    false_alarms: f64,
    /// Seconds from one window to the next, on average over the sensor's duty cycle. A sensor that
    /// never sleeps has more windows, and so more chances of a false alarm: give it 0.1.
    #[arg(long, value_name = "S", default_value_t = FalseAlarms::default().window_every, allow_negative_numbers = true)]
    window_every: f64,
}

impl FalseAlarmArgs {
    /// Returns the aim, for an alarm with the default parameters.
    pub(crate) fn settings(&self) -> FalseAlarms {
        let Self { false_alarms: per_year, window_every } = *self;
        FalseAlarms { per_year, window_every, ..FalseAlarms::default() }
    }
}
