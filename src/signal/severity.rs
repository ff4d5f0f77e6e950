//! Acceleration spectrum to velocity, and velocity to a zone of severity.
//!
//! The velocity of a line at f Hz is its acceleration over 2πf. So the mean square of the velocity
//! is Σ|X|²/(2πf)², with the same factors as the mean square of the acceleration: one for both
//! halves of the spectrum, and one for what the Hann window took.
//!
//! Two things disturb the sum in the lowest bins, where 1/f² is large:
//!
//! - A line spreads over neighbouring bins, with a variance of a third of a squared bin. With a
//!   weight of 1/k² it counts too much, at the second bin by a fifth. A weight of 1/(k² + 1)
//!   corrects this to the second order.
//! - A segment that does not hold a whole number of periods has a mean. Removing the mean leaves a
//!   constant. The constant is taken out of bin 1, the only bin that it reaches besides bin 0.
//!
//! The rms of a line is then within 3.5 % from the second bin on, 0.6 % from the third and 0.2 %
//! from the fourth.
//!
//! ISO 20816 sorts machines into zones by this number. Its limits depend on the machine's group,
//! support and place of measurement; take them from the standard.

use super::FrontEnd;
use super::spectrum::Spectrum;
use crate::math;

/// How severe a vibration is, in the words of ISO 20816.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Zone {
    /// Typical of newly commissioned machines.
    A,
    /// Fit for unrestricted operation.
    B,
    /// Fit for operation for a limited time, until there is an opportunity for repair.
    C,
    /// Severe enough to damage the machine.
    D,
}

impl Zone {
    /// The letter.
    pub fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
        }
    }
}

/// Velocity of a window, and its zone.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Severity<const AXES: usize> {
    /// Velocity rms of each axis in mm/s.
    pub velocity: [f32; AXES],
    /// Zone of the axis with the largest velocity.
    pub zone: Zone,
}

/// A model's settings for severity, from its section `sevr`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SeverityParameters {
    /// Lower end of the frequencies that count, in Hz.
    pub low_hz: f32,
    /// Upper end of the frequencies that count, in Hz.
    pub high_hz: f32,
    /// m/s² per unit of the samples: 9.80665 if they are in g.
    pub unit: f32,
    /// Velocities in mm/s at which the zones B, C and D begin.
    pub limits: [f32; 3],
}

impl SeverityParameters {
    /// Returns the bins `low..end` that count: the bins of the band, and those that a line at
    /// either end of it spreads to.
    pub fn bins(&self, front_end: &FrontEnd<'_>) -> (usize, usize) {
        let per_hz = front_end.fft_len as f32 / front_end.rate_hz;
        let (low, high) = (self.low_hz * per_hz, self.high_hz * per_hz);
        // Casts round down. Bin 0 has no velocity, because a constant acceleration has none.
        let low = (low as usize).saturating_sub(1).max(1);
        (low, (high as usize).saturating_add(3).min(front_end.fft_len / 2 + 1))
    }

    /// Returns the velocity rms in mm/s from the sum of [`add_velocity`] over a window.
    pub fn velocity(&self, sum: f32, front_end: &FrontEnd<'_>) -> f32 {
        // Mean square of the acceleration: 16/3·Σ|X|²/(N²·segments). With f = k·rate/N, N cancels.
        let share = math::sqrt(16.0 / 3.0 / front_end.segments as f32);
        let millimetres = 1e3 * self.unit / (core::f32::consts::TAU * front_end.rate_hz);
        math::sqrt(sum) * share * millimetres
    }

    /// Returns the zone of a velocity in mm/s; D if the velocity is NaN.
    pub fn zone(&self, velocity: f32) -> Zone {
        let [b, c, d] = self.limits;
        if velocity < b {
            Zone::A
        } else if velocity < c {
            Zone::B
        } else if velocity < d {
            Zone::C
        } else {
            Zone::D
        }
    }
}

/// Adds Σ|X(k)|²/(k² + 1) over the bins `low..end` to `sum`, without what a constant left in bin 1.
pub fn add_velocity(sum: &mut f32, (low, end): (usize, usize), spectrum: Spectrum<'_>) {
    if low <= 1 && end > 1 {
        *sum += 0.5 * spectrum.first_power();
    }
    for bin in low.max(2)..end {
        let k = bin as f32;
        *sum += spectrum.band_power(bin, bin + 1) / (k * k + 1.0);
    }
}
