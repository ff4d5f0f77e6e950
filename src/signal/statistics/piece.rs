//! A piece of the samples to sums of the powers of their deviations.
//!
//! [`Segment::taper_and_measure`](crate::signal::Segment::taper_and_measure) makes a [`Piece`] on
//! its way through the segment: the smallest and largest sample while it sums for the mean, the
//! powers while it tapers. It computes the deviations anyway; only the sums of their powers are
//! extra.

/// The constant part of the samples, in two parts: the first sample, and the mean relative to it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct Level {
    pub(crate) first: f32,
    pub(crate) mean: f32,
}

/// Sums over the newest samples of a segment, about the level of the whole segment.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Piece {
    pub(super) count: u32,
    pub(super) level: Level,
    pub(super) extremes: Extremes,
    /// Unit of the powers: no deviation is larger.
    pub(super) scale: f32,
    pub(super) powers: Powers,
}

impl Piece {
    /// Creates a piece of `count` samples. Its powers are still to be summed.
    #[inline]
    pub(crate) fn new(count: usize, level: Level, extremes: Extremes) -> Self {
        let above = extremes.largest() - level.mean;
        let below = level.mean - extremes.smallest();
        let scale = if above > below { above } else { below };
        // Without deviations there is no unit for them.
        let per_unit = if scale > 0.0 { 1.0 / scale } else { 0.0 };
        let powers = Powers { per_unit, sum: 0.0, squares: 0.0, cubes: 0.0, fourths: 0.0 };
        Self { count: count as u32, level, extremes, scale, powers }
    }

    /// The sums, for the pass over the deviations.
    #[inline]
    pub(crate) fn powers(&mut self) -> &mut Powers {
        &mut self.powers
    }
}

/// Something that is computed from numbers one by one.
pub(crate) trait Measure {
    /// Takes the next number.
    fn add(&mut self, x: f32);
}

/// Ignores the numbers.
pub(crate) struct Unmeasured;

impl Measure for Unmeasured {
    #[inline]
    fn add(&mut self, _: f32) {}
}

/// The smallest and largest of zero and the numbers seen, as the bits of the floats.
///
/// For floats of one sign, the bits have the order of the magnitudes. As signed integers, the bits
/// of negative floats are below zero. As unsigned integers, they are above all others. So two
/// comparisons of integers are enough. A Cortex-M4F takes eight instructions to compare floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct Extremes {
    smallest: u32,
    largest: i32,
}

impl Extremes {
    /// The extremes of no numbers: minus zero and zero.
    pub(crate) const NONE: Self = Self { smallest: 1 << 31, largest: 0 };

    pub(super) fn smallest(self) -> f32 {
        f32::from_bits(self.smallest)
    }

    pub(super) fn largest(self) -> f32 {
        f32::from_bits(self.largest.cast_unsigned())
    }
}

impl Measure for Extremes {
    #[inline]
    fn add(&mut self, x: f32) {
        self.smallest = self.smallest.max(x.to_bits());
        self.largest = self.largest.max(x.to_bits().cast_signed());
    }
}

/// Σt, Σt², Σt³ and Σt⁴. Each t is a deviation, in a unit that no deviation exceeds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct Powers {
    per_unit: f32,
    pub(super) sum: f32,
    pub(super) squares: f32,
    pub(super) cubes: f32,
    pub(super) fourths: f32,
}

impl Measure for Powers {
    #[inline]
    fn add(&mut self, x: f32) {
        let t = x * self.per_unit;
        let square = t * t;
        self.sum += t;
        self.squares += square;
        self.cubes += square * t;
        self.fourths += square * square;
    }
}

#[cfg(test)]
mod tests {
    use super::{Extremes, Measure as _};

    #[test]
    fn bits_have_the_extremes_of_the_floats() {
        let of = |numbers: &[f32]| {
            let mut extremes = Extremes::NONE;
            for x in numbers {
                extremes.add(*x);
            }
            [extremes.smallest(), extremes.largest()]
        };
        assert_eq!(of(&[]), [0.0, 0.0]);
        assert_eq!(of(&[-0.0, 0.0, 1e-45, -1e-45]), [-1e-45, 1e-45]);
        assert_eq!(of(&[3.0, 2.0, f32::MAX, 1.0]), [0.0, f32::MAX]);
        assert_eq!(of(&[-3.0, -2.0, f32::MIN, -1.0]), [f32::MIN, 0.0]);
        assert_eq!(of(&[0.1, -7.5, 0.25, -7.25]), [-7.5, 0.25]);
    }
}
