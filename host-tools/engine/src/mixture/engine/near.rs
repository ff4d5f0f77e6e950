//! Finds the components that a row does not need.
//!
//! `q = ‖(x − μ)/σ‖²` is a sum of squares, so a part of the sum is a lower bound on the whole.
//! Summing some of the dimensions is enough to rule out components that are far away. Also, `√q` is
//! a length. By the triangle inequality it cannot shrink much after a small change of μ and σ:
//!
//! ```text
//! √q′ ≥ √q · min(σ/σ′) − ‖(μ′ − μ)/σ′‖
//! ```
//!
//! A lower bound on √q is kept for each row and component, and is lowered after every M-step. If
//! the bound already shows that a component is negligible next to a row's best, the component is
//! not computed at all. Computed values are exact and renew their bounds. As EM settles, only two
//! or three of all K components are left per row. The bounds take K/d of the memory of
//! single-precision data, so they are kept only if that is little. Otherwise
//! [`reach`](super::reach) keeps one bound for all rows of a tile.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use pulp::Simd;

use super::diagonal::Diagonal;
use super::share::{Bounds, Column, Leaders, Shares, TILE};
use super::squares::{FEW_COMPONENTS, Tile};
use crate::mixture::sample::{Rows, Sample};

/// With fewer dimensions than this, the bookkeeping costs more than the sums.
const DIMENSIONS: usize = 48;
/// Bytes of bounds that are always allowed. More are kept only if they take at most half the size
/// of the data.
const SMALL: usize = 1 << 22;
/// If more than one in this many components is left per row, computing all is quicker. The
/// exception is a mixture so small that all would also be computed row by row, because that takes
/// about twice as long.
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
    /// Rounds both values to the safe side, with room for the rounding of the squares themselves.
    pub(in crate::mixture) fn new(shrink: f64, step: f64) -> Self {
        Self { shrink: shrink as f32 * (1.0 - 1e-5), step: step as f32 * (1.0 + 1e-5) }
    }

    /// Lowers a bound so that it holds for the moved component.
    #[inline(always)]
    pub(in crate::mixture) fn carry(&self, bound: &mut f32) {
        *bound = (*bound * self.shrink - self.step).max(0.0);
    }
}

impl<T: Sample> Diagonal<T> {
    /// Lowers all bounds so that they hold for the moved components.
    #[inline(always)]
    pub(in crate::mixture) fn carry(&self, bounds: &mut [Bounds]) {
        for (bounds, decay) in bounds.iter_mut().zip(&self.decay) {
            for bound in bounds {
                decay.carry(bound);
            }
        }
    }

    /// Sets bounds and leaders from partial sums of squares. `share` is about the summed fraction.
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

    /// Computes the log densities of the components that are within `window` of a row's best; the
    /// others get −∞. If the bounds leave so many components that computing all is quicker, it
    /// fills nothing and returns `false`.
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
        // Minus twice the lowest log density that matters.
        let mut limits = [f32::NEG_INFINITY; TILE];
        for r in 0..count {
            best[r] = self.constants[leaders.component[r] as usize] - 0.5 * squares[r];
            // Sums in single precision may have a relative error of about 1e-6.
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

    /// Lists the components that any row may need. Returns their number summed over all rows.
    #[inline(always)]
    fn present(&self, bounds: &[Bounds], limits: &[f32; TILE], present: &mut Vec<usize>) -> usize {
        present.clear();
        let mut left = 0;
        for (k, bounds) in bounds.iter().enumerate() {
            // Counting becomes vector code; searching does not.
            let rows = near(bounds, self.ceiling(k), limits).map(u32::from).sum::<u32>();
            left += rows as usize;
            if rows > 0 {
                present.push(k);
            }
        }
        left
    }

    /// Twice a component's largest log density. It is finite even for a component without weight,
    /// so it can be added to an infinite limit.
    #[inline(always)]
    fn ceiling(&self, k: usize) -> f32 {
        let constant = self.constants[k];
        // Without weight this is NaN, and `max` returns the other value.
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
        // Leaders seldom change, and sorting an almost sorted list is quick.
        let order = &mut order[..tile.range.len()];
        order.sort_by_key(leader);
        let mut squares = [0.0; TILE];
        for chosen in order.chunk_by(|a, b| leader(a) == leader(b)) {
            self.squares_of_one(simd, leader(&chosen[0]) as usize, tile, chosen, &mut squares);
        }
        squares
    }
}

/// For each row, whether a component may matter: `constant − ½ bound²` is not below the row's
/// limit.
#[inline(always)]
fn near(bounds: &Bounds, ceiling: f32, limits: &[f32; TILE]) -> impl Iterator<Item = bool> {
    bounds.iter().zip(limits).map(move |(bound, limit)| bound * bound <= ceiling + limit)
}
