//! Finds the components that no row of a tile needs.
//!
//! One bound is kept for all rows of a tile; [`near`](super::near) keeps one for each row. Rows are
//! in time order, so most rows of a tile have the same few components in reach.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use pulp::Simd;

use super::diagonal::Diagonal;
use super::share::{Column, Shares, TILE};
use super::squares::{Tile, Turned};
use crate::mixture::sample::Sample;

impl<T: Sample> Diagonal<T> {
    /// Computes the log densities of the components that may be within `window` of the best of any
    /// row of a tile. The other components are absent. `reach` comes from the last pass and is
    /// renewed.
    #[inline(always)]
    pub(in crate::mixture) fn within_reach<S: Simd>(
        &self,
        simd: S,
        tile: &Tile<T>,
        window: f64,
        reach: &mut [f32],
        Shares { columns, present }: &mut Shares,
    ) {
        for (reach, decay) in reach.iter_mut().zip(&self.decay) {
            decay.carry(reach);
        }
        let most =
            |(k, reach): (usize, &f32)| (self.constants[k] - 0.5 * f64::from(reach * reach), k);
        let mut order: Vec<(f64, usize)> = reach.iter().enumerate().map(most).collect();
        order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let turned = Turned::new(tile);
        // A tile may have fewer rows. The missing ones get infinity, so that they do not lower the
        // minimum.
        let mut best = [f64::INFINITY; TILE];
        best[..tile.range.len()].fill(f64::NEG_INFINITY);
        let mut least = f64::NEG_INFINITY;
        present.clear();
        for (most, k) in order {
            if most < least {
                break;
            }
            present.push(k);
            let mut squares = [0.0; TILE];
            self.squares_of_turned(simd, k, &turned, &mut squares);
            reach[k] = smallest(&squares).sqrt() as f32;
            for ((out, best), square) in columns[k].iter_mut().zip(&mut best).zip(&squares) {
                *out = self.constants[k] - 0.5 * square;
                *best = best.max(*out);
            }
            let under = smallest(&best);
            least = under - window - 1e-5 * under.abs();
        }
        present.sort_unstable();
    }
}

/// The smallest value of a column.
#[inline(always)]
fn smallest(column: &Column) -> f64 {
    // Eight lanes, so that no comparison waits for the one before.
    let mut lanes = [f64::INFINITY; 8];
    for values in column.as_chunks::<8>().0 {
        for (lane, value) in lanes.iter_mut().zip(values) {
            *lane = if value < lane { *value } else { *lane };
        }
    }
    lanes.into_iter().fold(f64::INFINITY, f64::min)
}
