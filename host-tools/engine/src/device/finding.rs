//! Findings of the device in one form for both encodings, for the host to print and compare.

use rebearing::model::{Floats, Integers, Numbers, ONE};
use rebearing::monitor::AnyClassification;
use rebearing::operation::AlarmState;
use rebearing::{IntegerStatistics, Label, SensorFault, Statistics, Zone};

/// A finding of the device, for the host to print and compare.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceFinding {
    /// Number of windows before this one, over the whole recording.
    pub index: u32,
    /// The window's class and its numbers, or why it was not analysed.
    pub result: Result<DeviceClassification, SensorFault>,
    /// The state of the alarm after this window; `None` if the firmware has no alarm.
    pub alarm: Option<AlarmState>,
}

/// The class of a window and the numbers behind it, in floats and the unit of the recordings.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceClassification {
    /// The class, unknown, or fault of unknown type.
    pub label: Label,
    /// Log-likelihood under the gate, in nats; `None` without one.
    pub gate_log_likelihood: Option<f32>,
    /// Log-likelihood under the components that separate the classes, in nats; `None` if they were
    /// not evaluated.
    pub log_likelihood: Option<f32>,
    /// Probability of each class.
    pub posterior: Vec<f32>,
    /// Level, rms, kurtosis and crest factor of each axis.
    pub statistics: Vec<Statistics>,
    /// Velocity and zone, if the model measures them.
    pub severity: Option<DeviceSeverity>,
}

/// The severity that the device measured for a window.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceSeverity {
    /// Velocity rms of each axis in mm/s.
    pub velocity: Vec<f32>,
    /// The zone of the largest velocity.
    pub zone: Zone,
}

impl DeviceFinding {
    /// Returns true if two findings agree in label, fault and every bit of every number.
    pub fn same_bits(&self, other: &Self) -> bool {
        self.index == other.index
            && self.alarm == other.alarm
            && match (&self.result, &other.result) {
                (Ok(a), Ok(b)) => a.bits() == b.bits() && a.label == b.label,
                (Err(a), Err(b)) => a == b,
                _ => false,
            }
    }
}

/// The exact bits of a classification: log-likelihoods, posterior, statistics, severity.
type Bits = ([Option<u32>; 2], Vec<u32>, Vec<u32>, Option<(Vec<u32>, Zone)>);

impl DeviceClassification {
    fn bits(&self) -> Bits {
        let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let statistics = self.statistics.iter().flat_map(|axis| statistics_values(*axis));
        (
            [self.gate_log_likelihood, self.log_likelihood].map(|x| x.map(f32::to_bits)),
            bits(&self.posterior),
            statistics.map(f32::to_bits).collect(),
            self.severity.as_ref().map(|found| (bits(&found.velocity), found.zone)),
        )
    }
}

/// Returns the statistics of an axis, in the order that firmware and emulator use.
pub fn statistics_values(axis: Statistics) -> [f32; 4] {
    let Statistics { level, rms, kurtosis, crest } = axis;
    [level, rms, kurtosis, crest]
}

/// Numbers of a monitor that the host can show in floats and in the unit of the recordings.
pub trait Shown: Numbers {
    /// Converts a log-likelihood to nats.
    fn shown_nats(log_likelihood: Self::LogLikelihood) -> f32;
    /// Converts a probability to a float.
    fn shown_probability(p: Self::Probability) -> f32;
    /// Converts statistics to the unit of the recordings. One unit has `counts_per_unit` counts.
    fn shown_statistics(axis: Self::Statistics, counts_per_unit: f32) -> Statistics;
}

impl Shown for Floats {
    fn shown_nats(nats: f32) -> f32 {
        nats
    }

    fn shown_probability(p: f32) -> f32 {
        p
    }

    fn shown_statistics(axis: Statistics, _counts_per_unit: f32) -> Statistics {
        axis
    }
}

impl Shown for Integers {
    fn shown_nats(q8: i32) -> f32 {
        (f64::from(q8) / 256.0) as f32
    }

    fn shown_probability(q15: u16) -> f32 {
        f32::from(q15) / f32::from(ONE)
    }

    fn shown_statistics(axis: IntegerStatistics, counts_per_unit: f32) -> Statistics {
        let unit = f64::from(counts_per_unit);
        let ln_2 = std::f64::consts::LN_2;
        Statistics {
            level: (f64::from(axis.level) / 65536.0 * ln_2 - 2.0 * unit.ln()) as f32,
            rms: (f64::from(axis.rms) / 256.0 / unit) as f32,
            kurtosis: (f64::from(axis.kurtosis) / 256.0) as f32,
            crest: (f64::from(axis.crest) / 256.0) as f32,
        }
    }
}

impl DeviceClassification {
    /// Converts the classification of either monitor. `counts_per_unit` matters to integers only.
    pub fn new<N: Shown, const AXES: usize, const CLASSES: usize>(
        found: &AnyClassification<N, AXES, CLASSES>,
        counts_per_unit: f32,
    ) -> Self {
        let statistics = found.statistics.iter();
        Self {
            label: found.label,
            gate_log_likelihood: found.gate_log_likelihood.map(N::shown_nats),
            log_likelihood: found.log_likelihood.map(N::shown_nats),
            posterior: found.posterior.iter().map(|p| N::shown_probability(*p)).collect(),
            statistics: statistics.map(|a| N::shown_statistics(*a, counts_per_unit)).collect(),
            severity: found.severity.map(|severity| DeviceSeverity {
                velocity: severity.velocity.to_vec(),
                zone: severity.zone,
            }),
        }
    }
}
