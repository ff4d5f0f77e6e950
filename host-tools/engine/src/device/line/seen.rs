//! The contents of a device's lines.

use std::fmt;

use rebearing::monitor::Capacities;
use rebearing::operation::alarm::State;
use rebearing::{SensorFault, Zone};

use crate::words::plural;

/// The contents of a report line.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportSeen {
    /// The number of the window.
    pub window: u32,
    /// The finding, or the sensor fault that prevented it.
    pub finding: Result<FindingSeen, SensorFault>,
    /// State of the machine and the sensor.
    pub state: Option<State>,
    /// Mean probability that the machine is not healthy.
    pub level: Option<f32>,
    /// The alarm, if there is one.
    pub alarm: Option<AlarmSeen>,
    /// True if the device asks for a new adaptation; `None` if it does not watch for drift.
    pub drift: Option<bool>,
    /// Mean square of each band in decibels, axis by axis; empty if not sent.
    pub bands: Vec<Vec<f32>>,
    /// The exact bits of all numbers, if they were sent.
    pub bits: Option<BitsSeen>,
}

/// The exact bits of a report's numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitsSeen {
    /// Log-likelihood under the gate.
    pub gate: Option<u32>,
    /// Log-likelihood under the other components.
    pub log_likelihood: Option<u32>,
    /// Probability of each class.
    pub posterior: Vec<u32>,
    /// Level, rms, kurtosis and crest factor of each axis.
    pub statistics: Vec<[u32; 4]>,
    /// Velocity of each axis; empty if the model does not measure it.
    pub velocity: Vec<u32>,
    /// Level of the alarm.
    pub level: Option<u16>,
}

/// The finding of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct FindingSeen {
    /// The label.
    pub label: LabelSeen,
    /// Probability of each class.
    pub posterior: Vec<f32>,
    /// Log-likelihood under the gate, and the lowest healthy value.
    pub gate: Option<(f32, f32)>,
    /// Log-likelihood under the other components, and the lowest known value.
    pub log_likelihood: Option<(f32, f32)>,
    /// Root mean square of each axis.
    pub rms: Vec<f32>,
    /// Velocity of each axis in mm/s, and its zone.
    pub severity: Option<(Zone, Vec<f32>)>,
}

impl FindingSeen {
    /// Confidence in the label: the probability of its class. `None` for unknown labels.
    pub fn confidence(&self) -> Option<f32> {
        match self.label {
            LabelSeen::Class { index, .. } => self.posterior.get(index).copied(),
            LabelSeen::Unknown | LabelSeen::UnknownFault => None,
        }
    }

    /// The log-likelihood that every window has, and its threshold. It is the gate's if there is a
    /// gate.
    pub fn trend(&self) -> Option<(f32, f32)> {
        self.gate.or(self.log_likelihood)
    }
}

/// A label with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelSeen {
    /// A class.
    Class {
        /// Its index among the classes.
        index: usize,
        /// Its name.
        name: String,
    },
    /// Unlike anything that was recorded.
    Unknown,
    /// Not healthy, and unlike any known fault.
    UnknownFault,
}

impl LabelSeen {
    /// The word for the label, the same in every command.
    pub fn word(&self) -> &str {
        match self {
            Self::Class { name, .. } => name,
            Self::Unknown => "unknown",
            Self::UnknownFault => "unknown_fault",
        }
    }
}

/// An alarm with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlarmSeen {
    /// The label of the alarm.
    pub label: LabelSeen,
    /// True if the alarm is on. If false, it has cleared and is latched.
    pub active: bool,
    /// True if it was acknowledged.
    pub acknowledged: bool,
}

/// The model that makes the reports.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSeen {
    /// Bytes of the model.
    pub bytes: usize,
    /// Sample rate in Hz.
    pub rate_hz: f32,
    /// Points of the FFT.
    pub fft: usize,
    /// Number of axes.
    pub axes: usize,
    /// The classes' names.
    pub classes: Vec<String>,
    /// The bins at which bands begin and end.
    pub edges: Vec<u32>,
}

impl ModelSeen {
    /// The frequencies at which the lowest band begins and the highest band ends.
    pub fn span_hz(&self) -> Option<(f32, f32)> {
        let hz = |bin: u32| bin as f32 * self.rate_hz / self.fft as f32;
        let nyquist = self.rate_hz / 2.0;
        // The last bin is at the Nyquist frequency and ends beyond it.
        Some((hz(*self.edges.first()?), hz(*self.edges.last()?).min(nyquist)))
    }
}

/// The type of the firmware's monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonitorSeen {
    /// Its capacities.
    pub capacities: Capacities,
    /// Bytes of RAM that it takes.
    pub ram: usize,
}

impl fmt::Display for MonitorSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let encoding = self.capacities.encoding.name();
        write!(f, "monitor for {encoding} models, {} bytes of RAM", self.ram)
    }
}

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndSeen {
    /// Number of findings in the run.
    pub findings: usize,
    /// Counts of the drift watch, if the model has a reference.
    pub drift: Option<DriftSeen>,
}

impl fmt::Display for EndSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the device ended after {}", plural(self.findings, "window", "windows"))
    }
}

/// Counts of a drift watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriftSeen {
    /// Number of blocks.
    pub blocks: usize,
    /// Number of blocks that drifted.
    pub drifted: usize,
    /// Number of windows in the block that is not full yet.
    pub windows: usize,
}
