//! Which components none of a tile's rows needs.
//!
//! One bound is kept for all rows of a tile, where [`near`](super::near) would keep one for each:
//! rows come in the order of time, so that most of them have the same few components in reach.
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
    /// Log densities of those components that any of a tile's rows may be within `window` of
    /// its best for; the others are absent. `reach` comes from the last pass, and is renewed.
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
        // Rows that there are not stand in nobody's way.
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
    // Eight at a time, so that no comparison waits for the last.
    let mut lanes = [f64::INFINITY; 8];
    for values in column.as_chunks::<8>().0 {
        for (lane, value) in lanes.iter_mut().zip(values) {
            *lane = if value < lane { *value } else { *lane };
        }
    }
    lanes.into_iter().fold(f64::INFINITY, f64::min)
}
