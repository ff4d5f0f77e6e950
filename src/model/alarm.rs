//! Parameters of the alarm: how many windows, how sure, how long.

use super::{ModelError, format};

/// Probability one; probabilities and their means are in Q15.
pub const ONE: u16 = 1 << 15;

/// A probability in Q15, rounded to the nearest. Values outside 0…1 are cut to it; NaN gives 0.
///
/// Evaluated in a `const`, it costs a chip without floats nothing.
pub const fn probability(p: f32) -> u16 {
    // A cast cuts to 0…65535, and makes zero of NaN.
    let q15 = (p * ONE as f32 + 0.5) as u16;
    if q15 > ONE { ONE } else { q15 }
}

/// An rms that compares with others of the same kind of monitor, without a floating-point operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Rms(u32);

impl Rms {
    /// An rms of [`Monitor`](crate::Monitor), in the sample's unit; `None` if it is negative or
    /// not finite.
    pub const fn of_samples(rms: f32) -> Option<Self> {
        // The bits of floats from zero up have the order of the floats. The bits of −0 are too large.
        let bits = rms.to_bits();
        if bits < f32::INFINITY.to_bits() { Some(Self(bits)) } else { None }
    }

    /// An rms of [`IntegerMonitor`](crate::IntegerMonitor), in counts Q8.
    pub const fn of_counts(q8: u32) -> Self {
        Self(q8)
    }

    /// The number as the model file has it: the bits of an f32, or counts Q8 in an i16 model.
    pub const fn bits(self) -> u32 {
        self.0
    }
}

/// The rms below which a machine stands still.
///
/// There are two thresholds, so that a machine near one of them does not flip back and forth. At or
/// above `until` it always runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IdleRms {
    /// A running machine is idle once the rms of every axis is below this.
    pub below: Rms,
    /// An idle machine runs again once the rms of any axis is at least this.
    pub until: Rms,
}

/// The parameters of an [`Alarm`](crate::Alarm).
///
/// The model file has them in its section `dcsn`. Without that section they are
/// [`AlarmParameters::DEFAULT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AlarmParameters {
    /// Number of windows in the average, 1 to 256. There is no alarm before the average is full.
    pub average: u32,
    /// An alarm is raised when the mean probability of a fault, in Q15, is at least this.
    pub raise: u16,
    /// An alarm clears when the mean probability of a fault is below this, which is lower.
    pub clear: u16,
    /// Number of windows in a row that must pass a threshold, at least 1.
    pub delay: u32,
    /// Number of windows after a start that do not count.
    pub settle: u32,
    /// Number of windows in a row with a sensor fault that make the state a sensor fault, at least 1.
    pub fault_windows: u32,
    /// Whether an alarm that has cleared stays until it is acknowledged.
    pub hold: bool,
    /// When the machine stands still; `None` if it always runs.
    pub idle: Option<IdleRms>,
}

impl AlarmParameters {
    /// The parameters of a model without the section.
    pub const DEFAULT: Self = Self {
        average: 8,
        raise: probability(0.7),
        clear: probability(0.3),
        delay: 3,
        settle: 3,
        fault_windows: 5,
        hold: true,
        idle: None,
    };

    /// Checks each parameter, and names the first that is out of its range.
    pub fn check(&self) -> Result<(), ModelError> {
        let most = format::MAX_ALARM_WINDOWS;
        let checks = [
            ("windows to average", (1..=format::MAX_AVERAGE).contains(&self.average)),
            ("raise threshold", (1..=ONE).contains(&self.raise)),
            // No mean is below a threshold of zero.
            ("clear threshold", (1..self.raise).contains(&self.clear)),
            ("delay", (1..=most).contains(&self.delay)),
            ("settle time", self.settle <= most),
            ("fault windows", (1..=most).contains(&self.fault_windows)),
            ("idle rms", self.idle.is_none_or(|idle| idle.below <= idle.until)),
        ];
        for (field, holds) in checks {
            if !holds {
                return Err(ModelError::OutOfRange { field, index: 0 });
            }
        }
        Ok(())
    }
}

impl Default for AlarmParameters {
    fn default() -> Self {
        Self::DEFAULT
    }
}
