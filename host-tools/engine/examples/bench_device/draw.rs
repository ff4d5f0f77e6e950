//! Random numbers, the same ones in every run.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A source of random numbers.
pub(crate) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    /// Creates the source that belongs to `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Returns a number drawn evenly between `low` and `high`.
    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.random::<f64>()
    }

    /// Returns a number from the standard normal distribution.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform(f64::MIN_POSITIVE, 1.0).ln()).sqrt();
        radius * self.uniform(0.0, std::f64::consts::TAU).cos()
    }

    /// Returns a whole number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0.random_range(0..end)
    }
}
