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
//! three components a row are left of all K. The bounds take K/d of the data's memory, so
//! they are kept only where there are many more dimensions than components. Elsewhere one
//! bound is kept for all rows of a tile: rows come in the order of time, so that most of them
//! have the same few components in reach.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use pulp::Simd;

use super::diagonal::Diagonal;
use super::sample::Sample;
use super::share::{Bounds, Column, TILE};
use super::squares::{Tile, Turned, in_order};

/// Bounds are kept where there are at least this many dimensions for each component.
const DIMENSIONS_PER_COMPONENT: usize = 4;
/// And at least this many dimensions in all; below, the bookkeeping outweighs the sums.
const DIMENSIONS: usize = 128;

/// Whether bounds are worth their memory and their bookkeeping.
pub(super) fn worthwhile(components: usize, dimensions: usize) -> bool {
    components > 1
        && dimensions >= DIMENSIONS
        && dimensions >= DIMENSIONS_PER_COMPONENT * components
}

/// How far a component has moved: `√q′ ≥ √q · shrink − step`.
pub(super) struct Decay {
    shrink: f32,
    step: f32,
}

impl Decay {
    /// Rounded the safe way, with room for the rounding of the squares themselves.
    pub(super) fn new(shrink: f64, step: f64) -> Self {
        Self { shrink: shrink as f32 * (1.0 - 1e-5), step: step as f32 * (1.0 + 1e-5) }
    }
}

/// What is known when a row's components are looked through.
#[derive(Clone, Copy)]
pub(super) struct Glance {
    /// The lower bounds are about this share of the squares.
    pub share: f64,
    /// With more components than this left, all rows together, it is quicker to compute all.
    pub limit: Option<u64>,
}

/// The component that is most likely a row's best, and its square.
struct Leaders {
    component: [usize; TILE],
    square: Column,
}

impl<T: Sample> Diagonal<T> {
    /// Takes bounds down to what they are worth now, and fills `out` with their squares.
    #[inline(always)]
    pub(super) fn carry(&self, bounds: &mut [Bounds], out: &mut [Column]) {
        for (k, (bounds, column)) in bounds.iter_mut().zip(out).enumerate() {
            let Decay { shrink, step } = self.decay[k];
            for r in 0..TILE {
                bounds[r] = (bounds[r] * shrink - step).max(0.0);
                column[r] = f64::from(bounds[r] * bounds[r]);
            }
        }
    }

    /// Log densities of those components that are within `window` of a row's best, −∞ for the
    /// others. `out` has lower bounds on the squares; where more are left than the glance allows
    /// it stays as it is, and `false` is returned.
    #[inline(always)]
    pub(super) fn near<S: Simd>(
        &self,
        simd: S,
        tile: &Tile<T>,
        window: f64,
        glance: Glance,
        bounds: &mut [Bounds],
        out: &mut [Column],
    ) -> bool {
        let leaders = self.leaders(simd, tile, glance.share, out);
        let least = self.least(&leaders, tile.range.len(), window);
        // Counted, not compared one after the other, so that it becomes vector code.
        let left = |constant: f64, column: &Column| {
            let near = column.iter().zip(&least);
            near.map(|(q, least)| u64::from(constant - 0.5 * q >= *least)).sum::<u64>()
        };
        let all = self.constants.iter().zip(out.iter());
        if glance.limit.is_some_and(|limit| all.map(|(c, q)| left(*c, q)).sum::<u64>() > limit) {
            return false;
        }
        for (k, (column, &constant)) in out.iter_mut().zip(&self.constants).enumerate() {
            let (mut chosen, mut some) = ([0; TILE], 0);
            if left(constant, column) > 0 {
                for r in 0..TILE {
                    let near = constant - 0.5 * column[r] >= least[r];
                    chosen[some] = r;
                    some += usize::from(near && leaders.component[r] != k);
                }
            }
            column.fill(f64::NEG_INFINITY);
            let chosen = &chosen[..some];
            self.squares_of_one(simd, k, tile, chosen, column);
            if let Some(bounds) = bounds.get_mut(k) {
                for &r in chosen {
                    bounds[r] = column[r].sqrt() as f32;
                }
            }
            for &r in chosen {
                column[r] = constant - 0.5 * column[r];
            }
        }
        let leaders = leaders.component.iter().zip(&leaders.square).take(tile.range.len());
        for (r, (&k, &square)) in leaders.enumerate() {
            out[k][r] = self.constants[k] - 0.5 * square;
            if let Some(bounds) = bounds.get_mut(k) {
                bounds[r] = square.sqrt() as f32;
            }
        }
        true
    }

    /// The least density that matters to each row; infinite for rows that there are not.
    #[inline(always)]
    fn least(&self, leaders: &Leaders, count: usize, window: f64) -> Column {
        let mut least = [f64::INFINITY; TILE];
        let leaders = leaders.component.iter().zip(&leaders.square).take(count);
        for (least, (&k, square)) in least.iter_mut().zip(leaders) {
            let density = self.constants[k] - 0.5 * square;
            // Sums in single precision may be off by some 1e-6 of themselves.
            *least = density - window - 1e-5 * (density.abs() + square);
        }
        least
    }

    /// Log densities of those components that any of a tile's rows may be within `window` of
    /// its best for, −∞ for the others. `reach` comes from the last pass, and is renewed.
    #[inline(always)]
    pub(super) fn within_reach<S: Simd>(
        &self,
        simd: S,
        tile: &Tile<T>,
        window: f64,
        reach: &mut [f32],
        out: &mut [Column],
    ) {
        for (reach, decay) in reach.iter_mut().zip(&self.decay) {
            *reach = (*reach * decay.shrink - decay.step).max(0.0);
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
        out.fill([f64::NEG_INFINITY; TILE]);
        for (most, k) in order {
            if most < least {
                break;
            }
            let mut squares = [0.0; TILE];
            self.squares_of_turned(simd, k, &turned, &mut squares);
            reach[k] = smallest(&squares).sqrt() as f32;
            for ((out, best), square) in out[k].iter_mut().zip(&mut best).zip(&squares) {
                *out = self.constants[k] - 0.5 * square;
                *best = best.max(*out);
            }
            let under = smallest(&best);
            least = under - window - 1e-5 * under.abs();
        }
    }

    /// Computes the component that may have each row's largest density.
    #[inline(always)]
    fn leaders<S: Simd>(&self, simd: S, tile: &Tile<T>, share: f64, out: &[Column]) -> Leaders {
        let mut most = [f64::NEG_INFINITY; TILE];
        let mut candidate = [0.0; TILE];
        let half = 0.5 / share;
        for (k, column) in out.iter().enumerate() {
            for r in 0..TILE {
                let density = self.constants[k] - half * column[r];
                candidate[r] = if density > most[r] { k as f64 } else { candidate[r] };
                most[r] = most[r].max(density);
            }
        }
        let component = candidate.map(|k| k as usize);
        let mut order = in_order();
        let order = &mut order[..tile.range.len()];
        order.sort_unstable_by_key(|&r| (component[r], r));
        let mut square = [0.0; TILE];
        for chosen in order.chunk_by(|&a, &b| component[a] == component[b]) {
            self.squares_of_one(simd, component[chosen[0]], tile, chosen, &mut square);
        }
        Leaders { component, square }
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
