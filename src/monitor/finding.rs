//! The finding: what a monitor says of one window.

use heapless::Vec;

use crate::acquisition::SensorFault;
use crate::classify::Label;
use crate::model::{Floats, Integers, Numbers};
use crate::signal::Severity;

/// The finding of one window, in the numbers of either monitor.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AnyFinding<N: Numbers, const AXES: usize, const CLASSES: usize> {
    /// Number of windows before this one, counted from the start; wraps after 2³².
    pub index: u32,
    /// The window's class and its numbers, or why it was not analysed.
    pub result: Result<AnyClassification<N, AXES, CLASSES>, SensorFault>,
}

/// The class of a window and the numbers behind it.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AnyClassification<N: Numbers, const AXES: usize, const CLASSES: usize> {
    /// The class, or what is unknown.
    pub label: Label,
    /// Log-likelihood of the features under the gate, in nats (Q8 in integers); `None` without a
    /// gate.
    pub gate_log_likelihood: Option<N::LogLikelihood>,
    /// Log-likelihood under the components that tell classes apart, in nats (Q8 in integers).
    /// `None` if the gate called the window healthy or the model has no such components.
    pub log_likelihood: Option<N::LogLikelihood>,
    /// Probability of each class (Q15 in integers), in the order of the model's class names. One
    /// for the healthy class if the gate called the window healthy. All zero if a fault was found
    /// and the model has no fault types.
    pub posterior: Vec<N::Probability, CLASSES>,
    /// Level, rms, kurtosis and crest factor of each axis.
    pub statistics: [N::Statistics; AXES],
    /// Velocity of each axis and its zone; `None` if the model does not measure it.
    pub severity: Option<Severity<AXES>>,
}

/// A finding of [`Monitor`](crate::Monitor).
pub type Finding<const AXES: usize, const CLASSES: usize> = AnyFinding<Floats, AXES, CLASSES>;

/// A finding of [`IntegerMonitor`](crate::IntegerMonitor).
pub type IntegerFinding<const AXES: usize, const CLASSES: usize> =
    AnyFinding<Integers, AXES, CLASSES>;

/// The classification in a finding of [`Monitor`](crate::Monitor).
pub type Classification<const AXES: usize, const CLASSES: usize> =
    AnyClassification<Floats, AXES, CLASSES>;

/// The classification in a finding of [`IntegerMonitor`](crate::IntegerMonitor).
pub type IntegerClassification<const AXES: usize, const CLASSES: usize> =
    AnyClassification<Integers, AXES, CLASSES>;
