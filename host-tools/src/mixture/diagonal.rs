//! Log densities under diagonal components.
//!
//! The first time all are computed. In many dimensions most components are ruled out from then
//! on: `q = ‖(x − μ)/σ‖²` is a squared length, so by the triangle inequality it cannot be much
//! smaller after a small change of μ and σ than before:
//!
//! ```text
//! √q′ ≥ √q · min(σ/σ′) − ‖(μ′ − μ)/σ′‖
//! ```
//!
//! A lower bound on √q is kept for each row and component and taken down with every M-step. A
//! component whose bound already puts it a negligible distance under a row's best is not
//! computed at all; what is computed is exact, and renews its bound. As EM settles, two or
//! three components a row are left of all K. The bounds take K/d of the data's memory, so
//! this is for problems with many more dimensions than components.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use std::ops::Range;

use ndarray::ArrayRef2;
use pulp::Simd;
use rayon::prelude::*;

use super::expectation::{NotPositiveDefinite, variance};
use super::kernel::log_product;
use super::moments::{Bounds, Column, TILE};
use super::sample::{Rows, Sample};
use super::{Covariance, Mixture};

/// Bounds are kept where there are at least this many dimensions for each component.
const DIMENSIONS_PER_COMPONENT: usize = 4;
/// And at least this many dimensions in all; below, the bookkeeping outweighs the sums.
const DIMENSIONS: usize = 128;
/// Up to this many components are computed row by row: turning the rows' values round would
/// cost more than it saves.
const FEW_COMPONENTS: usize = 4;
/// Bytes of rows that are turned round at a time: half of the first cache.
const TURNED: usize = 1 << 14;
/// Component-dimensions that are worth a task of their own.
const TASK: usize = 1 << 14;

/// Whether bounds are worth their memory and their bookkeeping.
pub(super) fn worthwhile(components: usize, dimensions: usize) -> bool {
    components > 1
        && dimensions >= DIMENSIONS
        && dimensions >= DIMENSIONS_PER_COMPONENT * components
}

/// Diagonal components in the form that densities are computed from.
pub(super) struct Diagonal<T> {
    dimensions: usize,
    /// `ln π − ½(d ln 2π + ln det Σ)` of each component.
    constants: Vec<f64>,
    /// `1/σ`, K × d: `(x·scale + shift)² = (x − μ)²/σ²`.
    scale: Vec<T>,
    /// `−μ/σ`, K × d.
    shift: Vec<T>,
    /// How far components have moved since the bounds were right; empty where there are none yet.
    decay: Vec<Decay>,
}

/// `√q′ ≥ √q · shrink − step`.
struct Decay {
    shrink: f32,
    step: f32,
}

/// What is computed once for a component.
struct Prepared {
    constant: f64,
    decay: Option<Decay>,
}

impl<T: Sample> Diagonal<T> {
    /// For `mixture`; `before` is the one that bounds are right for.
    pub(super) fn new(
        mixture: &Mixture,
        before: Option<&Mixture>,
    ) -> Result<Self, NotPositiveDefinite> {
        let (components, dimensions) = mixture.means.dim();
        let mut scale = vec![T::ZERO; components * dimensions];
        let mut shift = vec![T::ZERO; components * dimensions];
        let prepared = scale
            .par_chunks_mut(dimensions)
            .zip(shift.par_chunks_mut(dimensions))
            .enumerate()
            .with_min_len(TASK.div_ceil(dimensions))
            .map(|(k, (scale, shift))| prepare(mixture, before, k, scale, shift))
            .collect::<Result<Vec<_>, _>>()?;
        let constants = prepared.iter().map(|prepared| prepared.constant).collect();
        let decay: Vec<Decay> =
            prepared.into_iter().filter_map(|prepared| prepared.decay).collect();
        Ok(Self { dimensions, constants, scale, shift, decay })
    }

    /// For distances to the rows of a matrix: components of variance one, of which only
    /// [`squares`](Self::squares) makes sense.
    pub(super) fn at(places: &ArrayRef2<f64>) -> Self {
        let (components, dimensions) = places.dim();
        Self {
            dimensions,
            constants: vec![0.0; components],
            scale: vec![T::from_f64(1.0); components * dimensions],
            shift: places.iter().map(|&x| T::from_f64(-x)).collect(),
            decay: Vec::new(),
        }
    }

    /// Log densities `ln π_k N_k(x)` of the rows in `range`, a column for each component; −∞
    /// where bounds say that they are more than `window` under a row's best. `bounds` are
    /// those of the rows, one for each component, or none.
    #[inline(always)]
    pub(super) fn densities<S: Simd>(
        &self,
        simd: S,
        rows: &Rows<T>,
        range: Range<usize>,
        window: f64,
        bounds: &mut [Bounds],
        out: &mut [Column],
    ) {
        if !bounds.is_empty() && !self.decay.is_empty() {
            self.near(simd, rows, range, window, bounds, out);
            return;
        }
        self.squares(simd, rows, range, out);
        for (bounds, column) in bounds.iter_mut().zip(out.iter()) {
            for (bound, square) in bounds.iter_mut().zip(column) {
                *bound = square.sqrt() as f32;
            }
        }
        for (column, constant) in out.iter_mut().zip(&self.constants) {
            for value in column {
                *value = constant - 0.5 * *value;
            }
        }
    }

    /// `‖(x − μ)/σ‖²` of the rows in `range`, a column for each component.
    #[inline(always)]
    pub(super) fn squares<S: Simd>(
        &self,
        simd: S,
        rows: &Rows<T>,
        range: Range<usize>,
        out: &mut [Column],
    ) {
        if self.constants.len() <= FEW_COMPONENTS {
            let (tile, everyone) = (Tile { rows, start: range.start }, in_order());
            for (k, out) in out.iter_mut().enumerate() {
                self.squares_of_one(simd, k, tile, &everyone[..range.len()], out);
            }
            return;
        }
        out.fill([0.0; TILE]);
        // Turned round, so that lanes are rows; and rows that lie a power of two apart do not
        // drive each other out of the cache.
        let block = TURNED / TILE / size_of::<T>();
        let mut values = vec![T::ZERO; TILE * block.min(self.dimensions)];
        // A block is summed in the data's own precision, blocks in f64.
        for from in (0..self.dimensions).step_by(block) {
            let count = block.min(self.dimensions - from);
            for octet in (0..range.len()).step_by(8) {
                let mut x = [&rows.row(range.start)[from..from + count]; 8];
                for (x, i) in x.iter_mut().zip(range.start + octet..range.end) {
                    *x = &rows.row(i)[from..from + count];
                }
                turn(x, octet, &mut values);
            }
            for (k, out) in out.iter_mut().enumerate() {
                let at = k * self.dimensions + from..k * self.dimensions + from + count;
                let (scale, shift) = (&self.scale[at.clone()], &self.shift[at]);
                T::squares(simd, &values[..count * TILE], scale, shift, out);
            }
        }
    }

    /// Log densities of those components that are within `window` of a row's best, −∞ for the
    /// others.
    #[inline(always)]
    fn near<S: Simd>(
        &self,
        simd: S,
        rows: &Rows<T>,
        range: Range<usize>,
        window: f64,
        bounds: &mut [Bounds],
        out: &mut [Column],
    ) {
        // The component that may have the largest density is computed first.
        let mut most = [f64::NEG_INFINITY; TILE];
        let mut candidate = [0.0; TILE];
        for (k, (bounds, column)) in bounds.iter_mut().zip(out.iter_mut()).enumerate() {
            let Decay { shrink, step } = self.decay[k];
            for r in 0..TILE {
                bounds[r] = (bounds[r] * shrink - step).max(0.0);
                column[r] = self.constants[k] - 0.5 * f64::from(bounds[r] * bounds[r]);
                candidate[r] = if column[r] > most[r] { k as f64 } else { candidate[r] };
                most[r] = most[r].max(column[r]);
            }
        }
        let tile = Tile { rows, start: range.start };
        let mut order = in_order();
        let order = &mut order[..range.len()];
        order.sort_unstable_by_key(|&r| (candidate[r] as usize, r));
        let mut least = [f64::INFINITY; TILE];
        for chosen in order.chunk_by(|&a, &b| candidate[a] as usize == candidate[b] as usize) {
            let k = candidate[chosen[0]] as usize;
            self.evaluate(simd, k, tile, chosen, &mut bounds[k], &mut out[k]);
            for &r in chosen {
                // Sums in single precision may be off by some 1e-6 of themselves.
                least[r] = out[k][r] - window - 1e-5 * out[k][r].abs();
            }
        }
        let mut chosen = [0; TILE];
        for (k, (bounds, column)) in bounds.iter_mut().zip(out.iter_mut()).enumerate() {
            let mut some = 0;
            // Counted, not compared one after the other, so that it becomes vector code.
            let near = column.iter().zip(&least).map(|(v, least)| u64::from(v >= least));
            if near.sum::<u64>() > 0 {
                for r in 0..TILE {
                    let done = candidate[r] as usize == k;
                    let near = column[r] >= least[r];
                    chosen[some] = r;
                    some += usize::from(near && !done);
                    column[r] = if near || done { column[r] } else { f64::NEG_INFINITY };
                }
            } else {
                column.fill(f64::NEG_INFINITY);
            }
            self.evaluate(simd, k, tile, &chosen[..some], bounds, column);
        }
    }

    /// Log densities of some rows of a tile under component `k`, and their bounds.
    #[inline(always)]
    fn evaluate<S: Simd>(
        &self,
        simd: S,
        k: usize,
        tile: Tile<T>,
        chosen: &[usize],
        bounds: &mut Bounds,
        out: &mut Column,
    ) {
        self.squares_of_one(simd, k, tile, chosen, out);
        for &r in chosen {
            bounds[r] = out[r].sqrt() as f32;
            out[r] = self.constants[k] - 0.5 * out[r];
        }
    }

    /// `‖(x − μ)/σ‖²` of some rows of a tile under component `k`.
    #[inline(always)]
    fn squares_of_one<S: Simd>(
        &self,
        simd: S,
        k: usize,
        tile: Tile<T>,
        chosen: &[usize],
        out: &mut Column,
    ) {
        let at = k * self.dimensions..(k + 1) * self.dimensions;
        let (scale, shift) = (&self.scale[at.clone()], &self.shift[at]);
        // Four rows hide the latency of a multiply-add.
        let (quartets, rest) = chosen.as_chunks::<4>();
        for quartet in quartets {
            let x = quartet.map(|r| tile.row(r));
            let squares = T::squares_of_one(simd, x, scale, shift);
            for (&r, square) in quartet.iter().zip(squares) {
                out[r] = square;
            }
        }
        for &r in rest {
            [out[r]] = T::squares_of_one(simd, [tile.row(r)], scale, shift);
        }
    }
}

/// Puts the values of eight rows side by side, dimension by dimension, from row `at` of a tile.
#[inline(always)]
fn turn<T: Sample>(x: [&[T]; 8], at: usize, values: &mut [T]) {
    for (j, values) in values.chunks_exact_mut(TILE).take(x[0].len()).enumerate() {
        let values = &mut values[at..at + 8];
        for r in 0..8 {
            values[r] = x[r][j];
        }
    }
}

/// Rows from one on.
#[derive(Clone, Copy)]
struct Tile<'a, T> {
    rows: &'a Rows<'a, T>,
    start: usize,
}

impl<'a, T: Sample> Tile<'a, T> {
    #[inline(always)]
    fn row(&self, r: usize) -> &'a [T] {
        self.rows.row(self.start + r)
    }
}

/// The numbers of a tile's rows.
#[inline(always)]
fn in_order() -> [usize; TILE] {
    let mut order = [0; TILE];
    for (r, row) in order.iter_mut().enumerate() {
        *row = r;
    }
    order
}

/// Fills the scales and shifts of component `k`.
fn prepare<T: Sample>(
    mixture: &Mixture,
    before: Option<&Mixture>,
    k: usize,
    scale: &mut [T],
    shift: &mut [T],
) -> Result<Prepared, NotPositiveDefinite> {
    let dimensions = scale.len();
    let variances = match &mixture.covariance {
        Covariance::Diagonal(variances) => variances.row(k).to_vec(),
        _ => (0..dimensions).map(|j| variance(mixture, k, j)).collect(),
    };
    if variances.iter().any(|v| v.is_nan() || *v <= 0.0) {
        return Err(NotPositiveDefinite(k));
    }
    let means = mixture.means.row(k);
    for (((scale, shift), variance), mean) in scale.iter_mut().zip(shift).zip(&variances).zip(means)
    {
        let inverse = variance.sqrt().recip();
        *scale = T::from_f64(inverse);
        *shift = T::from_f64(-mean * inverse);
    }
    let decay = before.map(|before| {
        let (mut ratio, mut square) = (f64::INFINITY, 0.0);
        for (j, now) in variances.iter().enumerate() {
            let step = means[j] - before.means[[k, j]];
            ratio = ratio.min(variance(before, k, j) / now);
            square += step * step / now;
        }
        // Rounded the safe way, with room for the rounding of the squares themselves.
        Decay {
            shrink: ratio.sqrt() as f32 * (1.0 - 1e-5),
            step: square.sqrt() as f32 * (1.0 + 1e-5),
        }
    });
    let normaliser = dimensions as f64 * std::f64::consts::TAU.ln();
    let constant = mixture.weights[k].ln() - 0.5 * (normaliser + log_product(&variances));
    Ok(Prepared { constant, decay })
}
