//! Which components a row can do without.
//!
//! `q = ‖(x − μ)/σ‖²` is a sum of squares, so a part of it is a lower bound on the whole: a
//! glance at some of the dimensions rules out the components that are far off. And it is a
//! squared length, so by the triangle inequality it cannot be much smaller after a small change
//! of μ and σ than before:
//!
//! ```text
//! √q′ ≥ √q · min(σ/σ′) − ‖(μ′ − μ)/σ′‖
//! ```
//!
//! A lower bound on √q is kept for each row and component and taken down with every M-step. A
//! component whose bound already puts it a negligible distance under a row's best is not
//! computed at all; what is computed is exact, and renews its bound. As EM settles, two or
//! three components a row are left of all K. The bounds take K/d of the memory of single-precision
//! data, so they are kept only where that is little. Elsewhere [`reach`](super::reach) keeps one
//! bound for all rows of a tile.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use pulp::Simd;

use super::diagonal::Diagonal;
use super::share::{Bounds, Column, Leaders, Shares, TILE};
use super::squares::{FEW_COMPONENTS, Tile};
use crate::mixture::sample::{Rows, Sample};

/// With fewer dimensions than this, the bookkeeping outweighs the sums.
const DIMENSIONS: usize = 48;
/// Bytes of bounds that are kept in any case, and more than these only where they are no more
/// than half of the data.
const SMALL: usize = 1 << 22;
/// With more than one in so many components left for a row, it is quicker to compute all, unless
/// that too is done row by row, which takes about twice as long.
const WORTH_CHOOSING: usize = 3;

/// Whether bounds are worth their memory and their bookkeeping.
pub(in crate::mixture) fn worthwhile<T: Sample>(rows: &Rows<T>, components: usize) -> bool {
    let bounds = rows.len() * components * size_of::<f32>();
    let data = rows.len() * rows.dimensions() * size_of::<T>();
    components > 1 && rows.dimensions() >= DIMENSIONS && bounds <= SMALL.max(data / 2)
}

/// How far a component has moved: `√q′ ≥ √q · shrink − step`.
pub(in crate::mixture) struct Decay {
    shrink: f32,
    step: f32,
}

impl Decay {
    /// Rounded the safe way, with room for the rounding of the squares themselves.
    pub(in crate::mixture) fn new(shrink: f64, step: f64) -> Self {
        Self { shrink: shrink as f32 * (1.0 - 1e-5), step: step as f32 * (1.0 + 1e-5) }
    }

    /// Takes a bound down to what it is worth now.
    #[inline(always)]
    pub(in crate::mixture) fn carry(&self, bound: &mut f32) {
        *bound = (*bound * self.shrink - self.step).max(0.0);
    }
}

impl<T: Sample> Diagonal<T> {
    /// Takes bounds down to what they are worth now.
    #[inline(always)]
    pub(in crate::mixture) fn carry(&self, bounds: &mut [Bounds]) {
        for (bounds, decay) in bounds.iter_mut().zip(&self.decay) {
            for bound in bounds {
                decay.carry(bound);
            }
        }
    }

    /// Bounds and leaders from what was summed of the squares, about this share of them.
    #[inline(always)]
    pub(in crate::mixture) fn remember(
        &self,
        squares: &[Column],
        share: f64,
        bounds: &mut [Bounds],
        leaders: &mut Leaders,
    ) {
        let mut most = [f64::NEG_INFINITY; TILE];
        let mut candidate = [0.0; TILE];
        let half = 0.5 / share;
        for (k, (column, bounds)) in squares.iter().zip(bounds).enumerate() {
            for r in 0..TILE {
                bounds[r] = column[r].sqrt() as f32;
                let density = self.constants[k] - half * column[r];
                candidate[r] = if density > most[r] { k as f64 } else { candidate[r] };
                most[r] = most[r].max(density);
            }
        }
        for (leader, candidate) in leaders.component.iter_mut().zip(candidate) {
            *leader = candidate as u32;
        }
    }

    /// Log densities of those components that are within `window` of a row's best, −∞ for the
    /// others. Where bounds leave so many that it is quicker to compute all, nothing is filled,
    /// and `false` is returned.
    #[inline(always)]
    pub(in crate::mixture) fn near<S: Simd>(
        &self,
        simd: S,
        tile: &Tile<T>,
        window: f64,
        bounds: &mut [Bounds],
        leaders: &mut Leaders,
        Shares { columns, present }: &mut Shares,
    ) -> bool {
        let count = tile.range.len();
        let squares = self.squares_of_leaders(simd, tile, leaders);
        let mut best = [f64::NEG_INFINITY; TILE];
        // Minus twice the least density that matters.
        let mut limits = [f32::NEG_INFINITY; TILE];
        for r in 0..count {
            best[r] = self.constants[leaders.component[r] as usize] - 0.5 * squares[r];
            // Sums in single precision may be off by some 1e-6 of themselves.
            let least = best[r] - window - 1e-5 * (best[r].abs() + squares[r]);
            limits[r] = (-2.0 * least) as f32;
        }
        let left = self.present(bounds, &limits, present);
        if columns.len() > FEW_COMPONENTS && left > columns.len() * count / WORTH_CHOOSING {
            return false;
        }
        let before = leaders.component;
        let first = best;
        for &k in &*present {
            let (bounds, column, constant) = (&mut bounds[k], &mut columns[k], self.constants[k]);
            let (mut chosen, mut some) = ([0; TILE], 0);
            let candidates = near(bounds, self.ceiling(k), &limits).zip(&before);
            for (r, (near, &leader)) in (0..).zip(candidates) {
                chosen[some] = r;
                some += usize::from(near && leader as usize != k);
            }
            let chosen = &chosen[..some];
            column.fill(f64::NEG_INFINITY);
            self.squares_of_one(simd, k, tile, chosen, column);
            for &r in chosen {
                let r = usize::from(r);
                bounds[r] = column[r].sqrt() as f32;
                column[r] = constant - 0.5 * column[r];
                if column[r] > best[r] {
                    best[r] = column[r];
                    leaders.component[r] = k as u32;
                }
            }
        }
        for r in 0..count {
            let k = before[r] as usize;
            columns[k][r] = first[r];
            bounds[k][r] = squares[r].sqrt() as f32;
        }
        true
    }

    /// Lists the components that any row may need; how many that are of all rows together.
    #[inline(always)]
    fn present(&self, bounds: &[Bounds], limits: &[f32; TILE], present: &mut Vec<usize>) -> usize {
        present.clear();
        let mut left = 0;
        for (k, bounds) in bounds.iter().enumerate() {
            // Counted, not looked for, so that it becomes vector code.
            let rows = near(bounds, self.ceiling(k), limits).map(u32::from).sum::<u32>();
            left += rows as usize;
            if rows > 0 {
                present.push(k);
            }
        }
        left
    }

    /// Twice a component's largest density. It is never infinite, not even without weight, so
    /// that it may be added to what is.
    #[inline(always)]
    fn ceiling(&self, k: usize) -> f32 {
        let constant = self.constants[k];
        // Without weight this is NaN, and the maximum is the other.
        ((2.0 * constant + 1e-5 * constant.abs()) as f32).max(f32::MIN)
    }

    /// `‖(x − μ)/σ‖²` of each row under its leader.
    #[inline(always)]
    fn squares_of_leaders<S: Simd>(
        &self,
        simd: S,
        tile: &Tile<T>,
        Leaders { component, order }: &mut Leaders,
    ) -> Column {
        let leader = |r: &u8| component[usize::from(*r)];
        // They seldom change, and what is in order already is soon sorted.
        let order = &mut order[..tile.range.len()];
        order.sort_by_key(leader);
        let mut squares = [0.0; TILE];
        for chosen in order.chunk_by(|a, b| leader(a) == leader(b)) {
            self.squares_of_one(simd, leader(&chosen[0]) as usize, tile, chosen, &mut squares);
        }
        squares
    }
}

/// Which rows a component may matter to: `constant − ½ bound²` is not below what does.
#[inline(always)]
fn near(bounds: &Bounds, ceiling: f32, limits: &[f32; TILE]) -> impl Iterator<Item = bool> {
    bounds.iter().zip(limits).map(move |(bound, limit)| bound * bound <= ceiling + limit)
}
