//! The state of an alarm, and its counters.

use crate::acquisition::SensorFault;
use crate::classify::Label;

/// The state of machine and sensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum State {
    /// The machine stands still; nothing is judged.
    Idle,
    /// It has just started, and its windows do not count yet.
    Settling,
    /// It runs, and the average is not full yet.
    Filling,
    /// It runs, and the average is full.
    Running,
    /// The sensor has failed for too many windows in a row: nothing is known about the machine.
    SensorFault(SensorFault),
}

impl State {
    /// The state in one word, as command line and JSON print it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Settling => "settling",
            Self::Filling => "filling",
            Self::Running => "running",
            Self::SensorFault(_) => "sensor_fault",
        }
    }
}

/// An alarm that is on, or that has cleared and waits to be acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Raised {
    /// The class of the fault, or that it is unknown.
    pub label: Label,
    /// True while the alarm is on; false once it has cleared and is latched.
    pub active: bool,
    /// True if somebody acknowledged it since it was raised or last renamed.
    pub acknowledged: bool,
}

/// The alarm after a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AlarmState {
    /// The state of machine and sensor.
    pub state: State,
    /// The alarm, if there is one. It outlasts stops and sensor faults.
    pub alarm: Option<Raised>,
    /// Mean probability that the machine is not healthy, in Q15; only in the state
    /// [`State::Running`].
    pub level: Option<u16>,
}

/// Counts of events since the start. A counter stays at its largest, 2³² − 1, once it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Counters {
    /// Windows in all.
    pub windows: u32,
    /// Windows that went into the mean.
    pub judged: u32,
    /// Windows in which the machine stood still.
    pub idle: u32,
    /// Windows after a start that were not judged.
    pub settling: u32,
    /// Judged windows that were unknown.
    pub unknown: u32,
    /// Windows with a sensor fault, single ones included.
    pub sensor_faults: u32,
    /// Times that the machine left the idle state.
    pub starts: u32,
    /// Times that the state became a sensor fault.
    pub outages: u32,
    /// Times that an alarm came on.
    pub alarms: u32,
}

/// Adds one, and stays at the largest number.
pub(super) fn count(counter: &mut u32) {
    *counter = counter.saturating_add(1);
}
