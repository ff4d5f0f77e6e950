//! Moments of one axis, summed in f64 over any number of samples.
//!
//! The samples come in blocks. Each block is summed about its own mean, and the sums of blocks are
//! merged by the formulas of Pébay (2008). So neither a large mean nor a first sample far from the
//! rest costs digits. In f64 the fourth power of any f32 neither overflows nor vanishes.

use super::Levels;

/// Moments of the samples seen so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moments {
    count: f64,
    mean: f64,
    smallest: f64,
    largest: f64,
    /// Σ(x − mean)².
    squares: f64,
    /// Σ(x − mean)³.
    cubes: f64,
    /// Σ(x − mean)⁴.
    fourths: f64,
}

impl Moments {
    /// Returns the moments of a block; it must be small enough to be read twice from the cache.
    pub(super) fn of(block: impl Iterator<Item = f64> + Clone) -> Self {
        let (mut count, mut sum) = (0.0, 0.0);
        let (mut smallest, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in block.clone() {
            count += 1.0;
            sum += x;
            smallest = smallest.min(x);
            largest = largest.max(x);
        }
        if count == 0.0 {
            return Self::default();
        }
        let mean = sum / count;
        let mut moments = Self { count, mean, smallest, largest, ..Self::default() };
        for x in block {
            let deviation = x - mean;
            let square = deviation * deviation;
            moments.squares += square;
            moments.cubes += square * deviation;
            moments.fourths += square * square;
        }
        moments
    }

    /// Adds the moments of other samples.
    pub(super) fn merge(&mut self, other: Self) {
        if other.count == 0.0 {
            return;
        }
        if self.count == 0.0 {
            *self = other;
            return;
        }
        let (a, b) = (*self, other);
        let count = a.count + b.count;
        let (share_a, share_b) = (a.count / count, b.count / count);
        let delta = b.mean - a.mean;
        let square = delta * delta;
        let weight = a.count * share_b;
        *self = Self {
            count,
            mean: a.mean + delta * share_b,
            smallest: a.smallest.min(b.smallest),
            largest: a.largest.max(b.largest),
            squares: a.squares + b.squares + square * weight,
            cubes: a.cubes
                + b.cubes
                + square * delta * weight * (share_a - share_b)
                + 3.0 * delta * (share_a * b.squares - share_b * a.squares),
            fourths: a.fourths
                + b.fourths
                + square
                    * square
                    * weight
                    * (share_a * share_a - share_a * share_b + share_b * share_b)
                + 6.0 * square * (share_a * share_a * b.squares + share_b * share_b * a.squares)
                + 4.0 * delta * (share_a * b.cubes - share_b * a.cubes),
        };
    }

    /// Returns rms, kurtosis and crest factor; all zero if the samples do not vary.
    pub(super) fn levels(&self) -> Levels {
        let mean_square = self.squares / self.count;
        // No samples give 0/0, and their bounds are equal.
        if self.smallest >= self.largest {
            return Levels::default();
        }
        let rms = mean_square.sqrt();
        let peak = (self.largest - self.mean).max(self.mean - self.smallest);
        Levels {
            rms,
            kurtosis: self.fourths / self.count / (mean_square * mean_square),
            crest: peak / rms,
        }
    }
}
