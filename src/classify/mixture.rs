//! Features to responsibilities: diagonal-Gaussian log densities and log-sum-exp.
//!
//! A component is stored whitened: `scale` r = 1/σ and `offset` m = −μ/σ per dimension. With
//! t = r·x + m, the log density is constant − ½ Σ t². The loop over the dimensions is in
//! [`kernel`](super::kernel).
//!
//! Host and device give the same bits because every operation is a single IEEE-754 add,
//! multiply or divide in the written order (Rust never fuses or reorders them) and ln and
//! exp are the same pure-Rust code on both.
//!
//! # Early drop
//!
//! Σ t² only grows. So a component's score after some of the dimensions is an upper bound of its
//! final score. This holds in f32 too, because rounding is monotone.
//! [`Mixture::log_densities_with_early_drop`] scores all components on the leading dimensions and
//! finishes the best of them. It then drops every component with a bound more than a margin below
//! the final score of the best.
//!
//! With K components and a margin of 20 + ln K nats, all dropped components together have less than
//! K·e^−(20 + ln K) = 2.1e-9 of the largest term of the sum. That is a thirtieth of half a unit in
//! the last place of an f32. So the log-likelihood and every responsibility are those of the full
//! evaluation to f32 resolution. The responsibility of a dropped component would be below 2.1e-9
//! and is exactly zero. The scores of the others have the same bits as in the full evaluation,
//! because they are summed in the same order.

#![allow(clippy::inline_always, reason = "the kernel is called from few places, in a loop")]

use core::f32::consts::LN_2;

use super::kernel::{BLOCK, add_squares, add_squares_of_four};
use crate::math;

/// Returns how far below the best component, in nats, a component must be to be dropped: 20 + ln K
/// or a little more.
pub fn margin(components: usize) -> f32 {
    // The bit length of a number is at least its log2, and cheaper.
    20.0 + LN_2 * (usize::BITS - components.leading_zeros()) as f32
}

/// Diagonal Gaussians over the same features, whitened, as they lie in the model file.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Mixture<'m> {
    constants: &'m [f32],
    /// Per component `dims` scales, then `dims` offsets.
    whitening: &'m [f32],
    dims: usize,
}

impl<'m> Mixture<'m> {
    /// Creates a mixture of `dims` features. `constants` has one number per component. `whitening`
    /// has `dims` scales, then `dims` offsets for each component in turn.
    pub fn new(constants: &'m [f32], whitening: &'m [f32], dims: usize) -> Self {
        Self { constants, whitening, dims }
    }

    /// Number of components.
    pub fn len(&self) -> usize {
        self.constants.len()
    }

    /// Returns true if there are no components.
    pub fn is_empty(&self) -> bool {
        self.constants.is_empty()
    }

    /// Splits the mixture in two. The first has `count` components.
    #[must_use]
    pub fn split_at(&self, count: usize) -> (Self, Self) {
        let (first, second) = self.constants.split_at_checked(count).unwrap_or_default();
        let at = 2 * self.dims * count;
        let (left, right) = self.whitening.split_at_checked(at).unwrap_or_default();
        (Self::new(first, left, self.dims), Self::new(second, right, self.dims))
    }

    /// Writes the weighted log density of `x` under each component to `scores`.
    pub fn log_densities(&self, x: &[f32], scores: &mut [f32]) {
        self.write_squares(x, scores);
        for (score, constant) in scores.iter_mut().zip(self.constants) {
            *score = constant - 0.5 * *score;
        }
    }

    /// As [`Mixture::log_densities`], with early drop after `first` features: a component that
    /// cannot have a share in the result gets −∞.
    pub fn log_densities_with_early_drop(&self, x: &[f32], first: usize, scores: &mut [f32]) {
        let Some((scored, rest)) = x.split_at_checked(first) else {
            return self.log_densities(x, scores);
        };
        self.write_squares(scored, scores);
        let mut leader = 0;
        let mut largest = f32::NEG_INFINITY;
        for (k, (sum, constant)) in scores.iter().zip(self.constants).enumerate() {
            let bound = constant - 0.5 * sum;
            if bound > largest {
                largest = bound;
                leader = k;
            }
        }
        let Some(sum) = scores.get_mut(leader) else { return };
        self.settle(leader, first, rest, f32::NEG_INFINITY, sum);
        let least = *sum - margin(self.len());

        let (fours, singles) = scores.as_chunks_mut();
        let mut k = 0;
        for (scores, constants) in fours.iter_mut().zip(self.constants.as_chunks().0) {
            let bounds = weighted(*scores, constants);
            // The best component is finished already, so its four are settled one by one.
            let led = leader.wrapping_sub(k) < 4;
            if !led && bounds.iter().all(|bound| *bound >= least) {
                let rows = self.whitening.get(2 * self.dims * k + first..).unwrap_or_default();
                let sums = add_squares_of_four(rest, rows, self.dims, *scores);
                *scores = weighted(sums, constants);
                k += 4;
                continue;
            }
            for (score, bound) in scores.iter_mut().zip(bounds) {
                if k != leader {
                    if bound < least {
                        *score = f32::NEG_INFINITY;
                    } else {
                        self.settle(k, first, rest, least, score);
                    }
                }
                k += 1;
            }
        }
        for score in singles {
            if k != leader {
                self.settle(k, first, rest, least, score);
            }
            k += 1;
        }
    }

    /// Turns the sum of component `k` over the first `first` features into its score, or into −∞ as
    /// soon as the score is sure to be below `least`.
    #[inline(never)]
    fn settle(&self, k: usize, first: usize, rest: &[f32], least: f32, score: &mut f32) {
        let Some(constant) = self.constants.get(k) else { return };
        let mut row = self.whitening.get(2 * self.dims * k + first..).unwrap_or_default();
        let mut sum = *score;
        // A check costs as much as twenty features. So there are few checks, with enough features
        // in between.
        let step = (rest.len() / 4).next_multiple_of(BLOCK).max(4 * BLOCK);
        for x in rest.chunks(step) {
            if constant - 0.5 * sum < least {
                *score = f32::NEG_INFINITY;
                return;
            }
            sum = add_squares(x, row, self.dims, sum);
            row = row.get(x.len()..).unwrap_or_default();
        }
        *score = constant - 0.5 * sum;
    }

    /// Writes Σ t² over the dimensions of `x` for each component. `x` may be only the first
    /// features.
    #[inline(always)]
    fn write_squares(&self, x: &[f32], sums: &mut [f32]) {
        let (fours, rest) = sums.as_chunks_mut();
        let mut rows = self.whitening;
        for sums in fours {
            *sums = add_squares_of_four(x, rows, self.dims, [0.0; 4]);
            rows = rows.get(8 * self.dims..).unwrap_or_default();
        }
        for sum in rest {
            *sum = add_squares(x, rows, self.dims, 0.0);
            rows = rows.get(2 * self.dims..).unwrap_or_default();
        }
    }
}

/// Scores of four components from their sums and constants.
#[inline(always)]
fn weighted([a, b, c, d]: [f32; 4], [ka, kb, kc, kd]: &[f32; 4]) -> [f32; 4] {
    [ka - 0.5 * a, kb - 0.5 * b, kc - 0.5 * c, kd - 0.5 * d]
}

/// Writes the features of `x` in the given order: `out[i] = x[order[i]]`, as far as there are any.
pub fn reorder(x: &[f32], order: &[u32], out: &mut [f32]) {
    for (out, index) in out.iter_mut().zip(order) {
        // A model's order names only features that exist.
        let Some(x) = x.get(*index as usize) else { return };
        *out = *x;
    }
}

/// Turns scores into responsibilities in place and returns the log-likelihood.
///
/// The largest score is subtracted before exp, so nothing overflows and at least one term of the
/// sum is 1. An empty slice, or one with only −∞, gives −∞ and no responsibility.
pub fn responsibilities(scores: &mut [f32]) -> f32 {
    let mut largest = f32::NEG_INFINITY;
    for score in scores.iter() {
        // Not `max`, which is a call on a Cortex-M4.
        if *score > largest {
            largest = *score;
        }
    }
    if largest == f32::NEG_INFINITY {
        scores.fill(0.0);
        return largest;
    }
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = math::exp(*score - largest);
        sum += *score;
    }
    for score in scores.iter_mut() {
        *score /= sum;
    }
    largest + math::ln(sum)
}

#[cfg(test)]
mod tests {
    use super::responsibilities;

    #[test]
    fn far_scores_do_not_overflow() {
        let mut scores = [-1e30, -2000.0, -2000.0];
        let log_likelihood = responsibilities(&mut scores);
        assert_eq!(scores, [0.0, 0.5, 0.5]);
        assert!((log_likelihood - (-2000.0 + core::f32::consts::LN_2)).abs() < 1e-3);
    }

    #[test]
    fn scores_of_nothing_give_no_responsibility() {
        let mut scores = [f32::NEG_INFINITY; 3];
        assert_eq!(responsibilities(&mut scores).to_bits(), f32::NEG_INFINITY.to_bits());
        assert_eq!(scores, [0.0; 3]);
        assert_eq!(responsibilities(&mut []).to_bits(), f32::NEG_INFINITY.to_bits());
    }

    #[test]
    fn one_component_is_certain() {
        let mut scores = [-7.25];
        assert_eq!(responsibilities(&mut scores).to_bits(), (-7.25_f32).to_bits());
        assert_eq!(scores, [1.0]);
    }
}
