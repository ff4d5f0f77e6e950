//! Samples to the numbers a vibration engineer reads next to the label: level, rms, kurtosis,
//! crest.
//!
//! Features do not show how strong a vibration is; these numbers do. Each sample of a window counts
//! once, however the segments overlap. Moments of pieces are merged by the formulas of Pébay
//! (2008), which lose no digits to a large mean or to cancellation. The unit is the largest
//! deviation, so a fourth power can neither overflow nor vanish.
//!
//! Host and device give the same bits. Every operation is a single IEEE-754 one in the written
//! order, and the largest and smallest deviation are compared as integers.

mod piece;

pub use piece::Piece;
pub(crate) use piece::{Extremes, Level, Measure, Unmeasured};

use crate::math;
use piece::Powers;

/// Strength and shape of the vibration of one axis in a window.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Statistics {
    /// The level that was removed from the band features. With it added, a feature is ln of the
    /// mean square in its band, in the square of the sample's unit.
    pub level: f32,
    /// Root mean square about the mean, in the sample's unit.
    pub rms: f32,
    /// Fourth moment about the mean over the square of the second: 3 for Gaussian noise, 1.5
    /// for a sine, far more for impacts.
    pub kurtosis: f32,
    /// Largest deviation from the mean over rms.
    pub crest: f32,
}

/// Moments of the samples seen so far, in 36 bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Moments {
    count: f32,
    /// The first sample. All others are taken relative to it, so a large constant (gravity, a
    /// sensor's bias) costs no digits.
    origin: f32,
    mean: f32,
    smallest: f32,
    largest: f32,
    /// Unit of the sums below.
    scale: f32,
    /// Σ(x − mean)², in units of `scale`².
    squares: f32,
    /// Σ(x − mean)³, in units of `scale`³.
    cubes: f32,
    /// Σ(x − mean)⁴, in units of `scale`⁴.
    fourths: f32,
}

impl Moments {
    /// The moments of no sample.
    pub const EMPTY: Self = Self {
        count: 0.0,
        origin: 0.0,
        mean: 0.0,
        smallest: 0.0,
        largest: 0.0,
        scale: 0.0,
        squares: 0.0,
        cubes: 0.0,
        fourths: 0.0,
    };

    /// Adds a piece of the samples. Its origin must be one of the samples that are added, in this
    /// piece or in another.
    pub fn add(&mut self, piece: &Piece) {
        if piece.count == 0 {
            return;
        }
        if self.count == 0.0 {
            self.origin = piece.level.first;
        }
        let count = piece.count as f32;
        let Powers { sum, squares, cubes, fourths, .. } = piece.powers;
        // Moves the sums from the piece's reference point, which is near its mean, to the mean
        // itself.
        let mean = sum / count;
        let square = mean * mean;
        let above = piece.level.first - self.origin;
        self.merge(Self {
            count,
            origin: self.origin,
            mean: above + (piece.level.mean + mean * piece.scale),
            smallest: above + piece.extremes.smallest(),
            largest: above + piece.extremes.largest(),
            scale: piece.scale,
            squares: at_least_zero(squares - count * square),
            cubes: cubes - 3.0 * mean * squares + 2.0 * count * square * mean,
            fourths: at_least_zero(
                fourths - 4.0 * mean * cubes + 6.0 * square * squares
                    - 3.0 * count * square * square,
            ),
        });
    }

    /// Merges the moments of two sets of samples with the same origin.
    fn merge(&mut self, mut other: Self) {
        if self.count == 0.0 {
            *self = other;
            return;
        }
        let scale = self.scale.max(other.scale);
        self.rescale(scale);
        other.rescale(scale);
        let (a, b) = (*self, other);
        let n = a.count + b.count;
        let (share_a, share_b) = (a.count / n, b.count / n);
        let delta = if scale > 0.0 { (b.mean - a.mean) / scale } else { 0.0 };
        let square = delta * delta;
        let weight = a.count * share_b;
        self.fourths = a.fourths
            + b.fourths
            + square
                * square
                * weight
                * (share_a * share_a - share_a * share_b + share_b * share_b)
            + 6.0 * square * (share_a * share_a * b.squares + share_b * share_b * a.squares)
            + 4.0 * delta * (share_a * b.cubes - share_b * a.cubes);
        self.cubes = a.cubes
            + b.cubes
            + square * delta * weight * (share_a - share_b)
            + 3.0 * delta * (share_a * b.squares - share_b * a.squares);
        self.squares = a.squares + b.squares + square * weight;
        self.mean = a.mean + (b.mean - a.mean) * share_b;
        self.smallest = a.smallest.min(b.smallest);
        self.largest = a.largest.max(b.largest);
        self.count = n;
    }

    fn rescale(&mut self, scale: f32) {
        if scale > self.scale {
            let ratio = self.scale / scale;
            self.squares *= ratio * ratio;
            self.cubes *= ratio * ratio * ratio;
            self.fourths *= (ratio * ratio) * (ratio * ratio);
            self.scale = scale;
        }
    }

    /// Returns the statistics, with the `level` that was removed from the features.
    ///
    /// If the samples do not vary, or there are none, rms, kurtosis and crest are zero.
    pub fn statistics(&self, level: f32) -> Statistics {
        let peak = (self.largest - self.mean).max(self.mean - self.smallest);
        let mean_square = self.squares / self.count;
        let rms = math::sqrt(mean_square) * self.scale;
        if mean_square > 0.0 && rms > 0.0 {
            let kurtosis = self.fourths / self.count / (mean_square * mean_square);
            Statistics { level, rms, kurtosis, crest: peak / rms }
        } else {
            Statistics { level, rms: 0.0, kurtosis: 0.0, crest: 0.0 }
        }
    }
}

/// Returns `x`, or zero if rounding made a sum of even powers negative.
fn at_least_zero(x: f32) -> f32 {
    if x < 0.0 { 0.0 } else { x }
}

#[cfg(test)]
mod tests {
    use super::Moments;
    use crate::signal::Segment;

    #[test]
    fn a_sine_has_its_known_shape() {
        let mut window = Segment::<f32, 4096, 1>::new(4096, 4096);
        for n in 0..4096 {
            window.push([5.0 + 2.0 * (n as f32 * core::f32::consts::TAU / 64.0).sin()]);
        }
        let mut moments = Moments::EMPTY;
        moments.add(&window.taper_and_measure(0, 4096, &mut [0.0; 4096]).unwrap());
        let found = moments.statistics(0.0);
        assert!((found.rms - 2.0_f32.sqrt()).abs() < 1e-5, "{found:?}");
        assert!((found.kurtosis - 1.5).abs() < 1e-5, "{found:?}");
        assert!((found.crest - 2.0_f32.sqrt()).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn no_vibration_has_no_shape() {
        let mut moments = Moments::EMPTY;
        assert_eq!(moments.statistics(0.0).rms, 0.0);
        let mut window = Segment::<f32, 256, 1>::new(256, 256);
        for n in 0..256 {
            window.push([f32::from(u8::from(n < 200))]);
        }
        // An empty piece, and two pieces without vibration.
        for fresh in [0, 9, 4] {
            moments.add(&window.taper_and_measure(0, fresh, &mut [0.0; 256]).unwrap());
        }
        let found = moments.statistics(-1.0);
        assert_eq!([found.level, found.rms, found.kurtosis, found.crest], [-1.0, 0.0, 0.0, 0.0]);
    }
}
