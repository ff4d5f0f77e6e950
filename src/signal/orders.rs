//! Power spectrum to bands of shaft orders: multiples of the shaft's speed.
//!
//! A fault that follows the rotation appears at the same orders at any speed. An order rarely falls
//! on the edge of a bin. So the power of bin k counts as spread evenly over k − ½ … k + ½, and a
//! band gets its share of every bin that it touches, even if the band is narrower than a bin.

use core::fmt;

use super::spectrum::Spectrum;

/// Bands of shaft orders that a model has in addition to its bands in Hz.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Orders {
    /// Whether the spectrum has such bands.
    pub spectrum: bool,
    /// Whether the envelope's spectrum has such bands.
    pub envelope: bool,
    /// Number of bands in each of these spectra.
    pub bands: usize,
    /// Lower edge of the first band, in orders.
    pub first: f32,
    /// Width of a band, in orders.
    pub width: f32,
}

impl Orders {
    /// Features of one axis: the bands of each spectrum that has them.
    pub fn features(&self) -> usize {
        self.bands * (usize::from(self.spectrum) + usize::from(self.envelope))
    }

    /// Upper edge of the last band, in orders.
    pub fn top(&self) -> f32 {
        self.first + self.bands as f32 * self.width
    }
}

/// Why a shaft speed cannot be used.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ShaftSpeedError {
    /// The speed is zero, negative, NaN or infinite.
    NotPositive,
    /// The model's highest order would lie above half the sample rate.
    TooHigh {
        /// The highest speed at which the model can be used, in turns per second.
        most_hz: f32,
    },
}

impl fmt::Display for ShaftSpeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPositive => f.write_str("a shaft speed is a positive number"),
            Self::TooHigh { most_hz } => write!(
                f,
                "the model's orders reach past half the sample rate above a shaft speed of \
                 {} rpm: sample faster",
                (60.0 * most_hz) as u32
            ),
        }
    }
}

impl core::error::Error for ShaftSpeedError {}

/// Adds the power of each order band to its sum; `bins_per_order` is the shaft's speed in bins.
pub fn add_order_power(
    sums: &mut [f32],
    orders: &Orders,
    bins_per_order: f32,
    spectrum: Spectrum<'_>,
) {
    let edge = |band: usize| (orders.first + band as f32 * orders.width) * bins_per_order;
    for (band, sum) in sums.iter_mut().enumerate() {
        *sum += power_between(spectrum, edge(band), edge(band + 1));
    }
}

/// Returns the power between two positions in the spectrum, given in bins. Each bin is spread over
/// k − ½ … k + ½.
fn power_between(spectrum: Spectrum<'_>, low: f32, high: f32) -> f32 {
    // Both are positive and below 2¹³ for a model that was checked, so the casts round down. Other
    // orders may give anything: casts and additions stop at the largest number.
    let (first, last) = ((low + 0.5) as usize, (high + 0.5) as usize);
    let bin = |k: usize| spectrum.band_power(k, k.saturating_add(1));
    if first >= last {
        return (high - low) * bin(first);
    }
    (first as f32 + 0.5 - low) * bin(first)
        + spectrum.band_power(first.saturating_add(1), last)
        + (high - (last as f32 - 0.5)) * bin(last)
}

#[cfg(test)]
mod tests {
    use super::{Orders, add_order_power};
    use crate::signal::spectrum::Spectrum;

    /// An impulse has the same power in every bin.
    fn impulse() -> [f32; 256] {
        let mut x = [0.0; 256];
        x[0] = 1.0;
        x
    }

    #[test]
    fn a_flat_spectrum_gives_each_band_its_width() {
        let orders = Orders { spectrum: true, envelope: false, bands: 8, first: 0.5, width: 0.5 };
        for bins_per_order in [0.3, 0.9, 1.0, 1.37, 2.0, 7.3, 20.0] {
            let mut x = impulse();
            let mut sums = [0.0; 8];
            add_order_power(&mut sums, &orders, bins_per_order, Spectrum::transform(&mut x, 256));
            for sum in sums {
                assert!((sum - 0.5 * bins_per_order).abs() < 1e-5, "{bins_per_order}: {sums:?}");
            }
        }
    }

    /// A band beyond every bin has no power, and no arithmetic overflows on the way there.
    #[test]
    fn orders_beyond_every_bin_add_nothing() {
        let mut sums = [0.0; 8];
        for (first, bins_per_order) in [(1e3, 1e38), (1e-45, f32::INFINITY), (1.0, 4e9)] {
            let orders = Orders { spectrum: true, envelope: false, bands: 8, first, width: first };
            let mut x = impulse();
            add_order_power(&mut sums, &orders, bins_per_order, Spectrum::transform(&mut x, 256));
        }
    }
}
