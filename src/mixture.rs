//! Features to responsibilities: diagonal-Gaussian log densities and log-sum-exp.
//!
//! A component is stored whitened: `scale` r = 1/σ and `offset` m = −μ/σ per dimension, so
//! that t = r·x + m and the log density is constant − ½ Σ t². The loop over the dimensions is
//! [`kernel`](crate::kernel)'s.
//!
//! Host and device give the same bits because every operation is a single IEEE-754 add,
//! multiply or divide in the written order (Rust never fuses or reorders them) and ln and
//! exp are the same pure-Rust code on both.
//!
//! # Abandoning
//!
//! Σ t² only grows, so that a component's score after some of the dimensions is an upper bound
//! of its final one, in f32 too: rounding is monotone. [`Mixture::leading_log_densities`] scores
//! all components on the leading dimensions, finishes the best of them, and drops every component
//! whose bound lies more than a margin under that one's final score. With K components and a
//! margin of 20 + ln K nats all that were dropped have less than K·e^−(20 + ln K) = 2.1e-9 of the
//! largest term of the sum, a thirtieth of half a unit in the last place of an f32. So the
//! log-likelihood and every responsibility are those of the full evaluation to f32 resolution,
//! and the dropped components' responsibilities, below 2.1e-9 each, are exactly zero. The scores
//! of the others are the same bits as in the full evaluation, because they are summed in the same
//! order.

use core::f32::consts::LN_2;

use crate::kernel::{add_squares, squares_of_four};
use crate::math;

/// The least that a component must lie under the best one, beside ln K, to be dropped, in nats.
const MARGIN: f32 = 20.0;

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
    /// The mixture of `dims` features whose components have these constants and, behind one
    /// another, `dims` scales and `dims` offsets each.
    pub fn new(constants: &'m [f32], whitening: &'m [f32], dims: usize) -> Self {
        Self { constants, whitening, dims }
    }

    /// Number of components.
    pub fn len(&self) -> usize {
        self.constants.len()
    }

    /// Whether there is no component.
    pub fn is_empty(&self) -> bool {
        self.constants.is_empty()
    }

    /// The mixture split in two, the first with `count` components.
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

    /// As [`Mixture::log_densities`], with −∞ for components that can be seen from the first
    /// `lead` features to have no share in the result.
    pub fn leading_log_densities(&self, x: &[f32], lead: usize, scores: &mut [f32]) {
        let Some((first, rest)) = x.split_at_checked(lead) else {
            return self.log_densities(x, scores);
        };
        self.write_squares(first, scores);
        let mut leader = 0;
        let mut largest = f32::NEG_INFINITY;
        for (k, (sum, constant)) in scores.iter().zip(self.constants).enumerate() {
            let bound = constant - 0.5 * sum;
            if bound > largest {
                largest = bound;
                leader = k;
            }
        }
        let best = self.finish(leader, lead, rest, scores);
        // The bit length of K is at least log2 K, and cheaper.
        let bits = usize::BITS - self.len().leading_zeros();
        let least = best - (MARGIN + LN_2 * bits as f32);

        for (k, constant) in self.constants.iter().enumerate() {
            let Some(sum) = scores.get_mut(k) else { return };
            if k == leader {
                continue;
            }
            if constant - 0.5 * *sum < least {
                *sum = f32::NEG_INFINITY;
            } else {
                self.finish(k, lead, rest, scores);
            }
        }
    }

    /// Writes Σ t² over the dimensions of `x`, which may be the first few, for each component.
    #[inline(always)]
    fn write_squares(&self, x: &[f32], sums: &mut [f32]) {
        let (fours, rest) = sums.as_chunks_mut::<4>();
        let mut rows = self.whitening;
        for sums in fours {
            let (four, after) = rows.split_at_checked(8 * self.dims).unwrap_or_default();
            *sums = squares_of_four(x, four, self.dims);
            rows = after;
        }
        for sum in rest {
            *sum = add_squares(x, rows, self.dims, 0.0);
            rows = rows.get(2 * self.dims..).unwrap_or_default();
        }
    }

    /// Turns the sum of component `k` over the first `lead` features into its score.
    #[inline(always)]
    fn finish(&self, k: usize, lead: usize, rest: &[f32], scores: &mut [f32]) -> f32 {
        let Some((score, constant)) = scores.get_mut(k).zip(self.constants.get(k)) else {
            return f32::NEG_INFINITY;
        };
        let row = self.whitening.get(2 * self.dims * k + lead..).unwrap_or_default();
        *score = constant - 0.5 * add_squares(rest, row, self.dims, *score);
        *score
    }
}

/// Turns scores into responsibilities in place and gives the log-likelihood.
///
/// The largest score is subtracted before exp, so nothing overflows and at least one term
/// of the sum is 1. An empty slice, or one of nothing but −∞, gives −∞.
pub fn responsibilities(scores: &mut [f32]) -> f32 {
    let mut largest = f32::NEG_INFINITY;
    for score in scores.iter() {
        // Not `max`, which is a call on a Cortex-M4.
        if *score > largest {
            largest = *score;
        }
    }
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = math::exp(*score - largest);
        sum += *score;
    }
    for score in scores.iter_mut() {
        *score /= sum;
    }
    if sum > 0.0 { largest + math::ln(sum) } else { f32::NEG_INFINITY }
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
    fn one_component_is_certain() {
        let mut scores = [-7.25];
        assert_eq!(responsibilities(&mut scores).to_bits(), (-7.25_f32).to_bits());
        assert_eq!(scores, [1.0]);
    }
}
