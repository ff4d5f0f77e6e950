//! Band power to features: log2, level removed, scaled to the units of the model.

use super::math::{LOG2_FRACTION, log2};
use crate::acquisition::SensorFault;
use crate::signal::MAX_BANDS;

/// Fraction bits of a feature's scale.
pub const SCALE_FRACTION: u32 = 8;

/// Writes the features of one axis from its band sums and returns the mean of their logarithms.
///
/// A feature is log2 of the band's sum in Q16, minus that mean. This removes the sensor's gain and
/// the level. A band without power counts as a band with one unit of power; the rounding noise of
/// the FFT is higher. Fails if the spectrum has no power at all.
pub fn log_bands(sums: &[u64], features: &mut [i32]) -> Result<i32, SensorFault> {
    if sums.iter().all(|sum| *sum == 0) {
        return Err(SensorFault::OutOfRange);
    }
    // At most 256 bands of 64·2¹⁶: below 2³⁰.
    let mut total = 0;
    for (feature, sum) in features.iter_mut().zip(sums) {
        *feature = log2(*sum);
        total += *feature;
    }
    let mean = total / sums.len().clamp(1, MAX_BANDS).cast_signed() as i32;
    for feature in features {
        *feature -= mean;
    }
    Ok(mean)
}

/// Returns the offset from the level of band sums to the level of mean squares.
///
/// It is log2 in Q16 of the mean square, in squared counts, that a sum of one with exponent zero
/// stands for, after the Hann taper, over `segments` segments of `fft_len` points.
pub fn level_offset(fft_len: usize, segments: usize) -> i32 {
    /// log2(16/3) in Q16.
    const SIXTEEN_THIRDS: i32 = 158_270;
    // Sums are of samples times the number of samples. So the number counts four times.
    let points = fft_len.max(1).ilog2().cast_signed() << LOG2_FRACTION;
    SIXTEEN_THIRDS - 4 * points - log2(segments as u64)
}

/// Order, shift and scale of each feature, as they lie in the model file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntegerScaling<'a> {
    /// The feature at each place. The features that separate components best come first.
    pub order: &'a [u32],
    /// Subtracted from each feature, in the model's order; log2 in Q16.
    pub shift: &'a [i32],
    /// Multiplied with each feature after the shift; Q8, in units of the model per log2.
    pub scale: &'a [i32],
}

/// Standardises features and puts them in the model's order, in units of the model.
///
/// x(i) = (f − shift)·scale, where f is the feature that `order(i)` names. Bounds: |f − shift| <
/// 2²⁴ and scale < 2³¹, so an `i64` holds the product. A result beyond the largest `i32` is limited
/// to it.
pub fn standardise(scaling: &IntegerScaling<'_>, features: &[i32], x: &mut [i32]) {
    const FRACTION: u32 = LOG2_FRACTION + SCALE_FRACTION;
    let IntegerScaling { order, shift, scale } = scaling;
    let scaling = order.iter().zip(*shift).zip(*scale);
    for (x, ((feature, shift), scale)) in x.iter_mut().zip(scaling) {
        let feature = features.get(*feature as usize).map_or(0, |feature| *feature);
        let product = i64::from(feature - shift) * i64::from(*scale);
        let rounded = (product + (1 << FRACTION >> 1)) >> FRACTION;
        *x = rounded.clamp(-i64::from(i32::MAX), i64::from(i32::MAX)) as i32;
    }
}

#[cfg(test)]
mod tests {
    use super::{level_offset, log_bands};
    use crate::acquisition::SensorFault;

    #[test]
    fn gain_does_not_matter() {
        let sums = [1 << 20, 10 << 20, 100 << 20, 1 << 19];
        let (mut quiet, mut loud) = ([0; 4], [0; 4]);
        let low = log_bands(&sums, &mut quiet).unwrap();
        let high = log_bands(&sums.map(|s| s << 10), &mut loud).unwrap();
        assert_eq!(high - low, 10 << 16);
        assert_eq!(quiet, loud);
        assert!(quiet.iter().sum::<i32>().abs() < 4);
    }

    #[test]
    fn empty_bands_stand_at_one_and_empty_spectra_are_refused() {
        let mut features = [0; 2];
        log_bands(&[1 << 30, 0], &mut features).unwrap();
        assert_eq!(features[0] - features[1], 30 << 16);
        assert_eq!(log_bands(&[0, 0], &mut features), Err(SensorFault::OutOfRange));
    }

    #[test]
    fn the_level_is_that_of_the_f32_line() {
        for (points, segments) in [(256, 1), (2048, 2), (4096, 65536)] {
            let exact = f64::from(crate::features::bands::level_offset(points, segments));
            let found =
                f64::from(level_offset(points, segments)) / 65536.0 / std::f64::consts::LOG2_E;
            // The integer sums are of samples times the number of samples.
            let exact = exact - 2.0 * (points as f64).ln();
            assert!((found - exact).abs() < 1e-4, "{found} {exact}");
        }
    }
}
