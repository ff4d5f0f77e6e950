//! Random numbers that are the same on every platform.
//!
//! `Xoshiro256PlusPlus` uses integer arithmetic. Everything after it uses `+ − × ÷ √`, which IEEE
//! 754 fixes to the bit, and `libm`, which is compiled from source and uses only these. `rand`
//! promises no stable distributions between versions. The standard library takes `sin` and `ln`
//! from the platform.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers.
pub(crate) struct Random {
    generator: Xoshiro256PlusPlus,
    /// The second half of the last Gaussian pair.
    spare: Option<f64>,
}

impl Random {
    /// The random stream with this number and seed. Streams do not depend on each other.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        // An odd multiplier is a bijection. Seeding uses SplitMix64, which scatters the seeds.
        let mixed = seed ^ stream.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self { generator: Xoshiro256PlusPlus::seed_from_u64(mixed), spare: None }
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [low, high).
    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform in [low, high), with either sign.
    pub(crate) fn either_way(&mut self, low: f64, high: f64) -> f64 {
        let size = self.uniform(low, high);
        if self.unit() < 0.5 { -size } else { size }
    }

    /// A factor uniform in decibels between `-range` and `range`.
    pub(crate) fn decibels(&mut self, range: f64) -> f64 {
        let decibels = self.uniform(-range, range);
        libm::exp(decibels * std::f64::consts::LN_10 / 20.0)
    }

    /// Normal with mean 0 and standard deviation 1 (Box–Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        // 1 − u is in (0, 1], where the logarithm is finite.
        let radius = (-2.0 * libm::log(1.0 - self.unit())).sqrt();
        let (sin, cos) = libm::sincos(std::f64::consts::TAU * self.unit());
        self.spare = Some(radius * sin);
        radius * cos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_numbers_have_the_moments_of_the_normal_distribution() {
        let mut random = Random::new(7, 0);
        let n = 200_000;
        let mut moments = [0.0; 4];
        for _ in 0..n {
            let x = random.normal();
            assert!(x.is_finite());
            for (power, moment) in (1..).zip(&mut moments) {
                *moment += x.powi(power) / f64::from(n);
            }
        }
        // Standard errors at this n: 0.0022, 0.0032, 0.0087, 0.022.
        for (moment, (expected, within)) in
            moments.iter().zip([(0.0, 0.01), (1.0, 0.015), (0.0, 0.04), (3.0, 0.1)])
        {
            assert!((moment - expected).abs() < within, "{moments:?}");
        }
    }

    #[test]
    fn streams_differ_and_repeat() {
        let first = |seed, stream| Random::new(seed, stream).unit().to_bits();
        assert_eq!(first(1, 2), first(1, 2));
        assert_ne!(first(1, 2), first(2, 1));
        assert_ne!(first(1, 2), first(1, 3));
    }
}
