//! Counts to the numbers a vibration engineer reads next to the label, in integers.
//!
//! Deviations are taken from the mean of their segment and in ten bits, with a scale that follows
//! the largest. So fourth powers fit, and kurtosis is good to a per cent.

use super::taper::bits;

/// Strength and shape of the vibration of one axis in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntegerStatistics {
    /// The level that was removed from the features, as log2 in Q16. With it added, a feature is
    /// log2 of the mean square in its band, in squared counts.
    pub level: i32,
    /// Root mean square about the mean, in counts, Q8.
    pub rms: u32,
    /// Fourth moment about the mean over the square of the second, Q8.
    pub kurtosis: u32,
    /// Largest deviation from the mean over rms, Q8.
    pub crest: u32,
}

/// Moments of the samples seen so far, in 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntegerMoments {
    /// Σt², where t is a deviation times 2^−`exponent`.
    squares: u64,
    /// Σt⁴/2⁸.
    fourths: u64,
    exponent: i32,
    /// Largest |deviation|, in counts.
    peak: u32,
    count: u32,
}

/// Bits of a deviation in its segment's scale.
const DEVIATION_BITS: u32 = 10;

impl IntegerMoments {
    /// All zero bits, for a monitor that was not started.
    pub(crate) const ZERO: Self = Self { squares: 0, fourths: 0, exponent: 0, peak: 0, count: 0 };

    /// The moments of no sample.
    pub const EMPTY: Self =
        Self { squares: 0, fourths: 0, exponent: i32::MIN / 8, peak: 0, count: 0 };

    /// Adds samples of a segment with the mean `mean`; at most 2²⁸ samples in all.
    ///
    /// Bounds: t² ≤ 2²⁰, so its sum is below 2⁴⁸. (t²/2⁴)² ≤ 2³², so its sum is below 2⁶⁰.
    pub fn add(&mut self, samples: impl Iterator<Item = i16> + Clone, mean: i32) {
        let deviations = samples.map(|x| (i32::from(x) - mean).unsigned_abs());
        let peak = deviations.clone().max().unwrap_or(0);
        let exponent = bits(peak).cast_signed() - DEVIATION_BITS.cast_signed();
        let right = exponent.max(0).cast_unsigned();
        let left = (-exponent).max(0).cast_unsigned();
        let (mut squares, mut fourths, mut count) = (0_u64, 0_u64, 0);
        // `for_each` goes through the segment's two pieces one after the other. `for` would check
        // at every sample which piece it is in.
        deviations.for_each(|deviation| {
            let t = deviation << left >> right;
            let square = t * t;
            squares += u64::from(square);
            let reduced = (square + 8) >> 4;
            fourths += u64::from(reduced * reduced);
            count += 1;
        });
        // The finer sums lose the bits that the coarser ones do not have.
        let coarser = exponent - self.exponent;
        let [own, other] = [coarser, -coarser].map(|by| by.clamp(0, 15).cast_unsigned());
        if self.count == 0 {
            *self = Self { squares, fourths, exponent, peak, count };
            return;
        }
        self.squares = (self.squares >> (2 * own)) + (squares >> (2 * other));
        self.fourths = (self.fourths >> (4 * own)) + (fourths >> (4 * other));
        self.exponent = self.exponent.max(exponent);
        self.peak = self.peak.max(peak);
        self.count += count;
    }

    /// Returns the statistics, with the `level` that was removed from the features.
    ///
    /// If the samples do not vary, or there are none, rms, kurtosis and crest are zero.
    pub fn statistics(&self, level: i32) -> IntegerStatistics {
        let count = u64::from(self.count.max(1));
        // Q8; at most 2²⁸.
        let mean_square = (self.squares << 8) / count;
        let fourth = ((self.fourths << 4) / count) << 4;
        let deviation = (mean_square << 8).isqrt();
        let rms = if self.exponent >= 0 {
            deviation << self.exponent.min(8)
        } else {
            deviation >> (-self.exponent).min(31)
        };
        if mean_square == 0 || rms == 0 {
            return IntegerStatistics { level, rms: 0, kurtosis: 0, crest: 0 };
        }
        let saturated = |x: u64| u32::try_from(x).unwrap_or(u32::MAX);
        let variance_squared = ((mean_square * mean_square) >> 8).max(1);
        IntegerStatistics {
            level,
            rms: saturated(rms),
            kurtosis: saturated((fourth << 16) / variance_squared),
            crest: saturated((u64::from(self.peak) << 16) / rms),
        }
    }
}
