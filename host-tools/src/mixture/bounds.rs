//! E-step in many dimensions: most components are ruled out by what earlier iterations found.
//!
//! `q = ‖(x − μ)/σ‖²` is a squared length, so by the triangle inequality it cannot be much
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

use ndarray::Array2;

use super::Mixture;
use super::expectation::{NotPositiveDefinite, nearest_mixture, normalise, only_best, variance};
use super::kernel::ROWS;
use super::moments::{Bounds, Column, Share, TILE};
use super::sample::{Rows, Sample};

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

/// A diagonal mixture, and how far its components have moved since the bounds were right.
pub(super) struct Bounded<T> {
    dimensions: usize,
    /// `ln π − ½(d ln 2π + ln det Σ)` of each component.
    constants: Vec<f64>,
    /// `1/σ`, K × d.
    scale: Vec<T>,
    /// `−μ/σ`, K × d.
    shift: Vec<T>,
    /// `√q′ ≥ √q · shrink − step` for each component.
    decay: Vec<Decay>,
}

struct Decay {
    shrink: f32,
    step: f32,
}

impl<T: Sample> Bounded<T> {
    /// For `mixture`, where bounds hold for `before`.
    pub(super) fn new(mixture: &Mixture, before: &Mixture) -> Result<Self, NotPositiveDefinite> {
        let (components, dimensions) = mixture.means.dim();
        let normaliser = dimensions as f64 * std::f64::consts::TAU.ln();
        let mut bounded = Self {
            dimensions,
            constants: Vec::with_capacity(components),
            scale: Vec::with_capacity(components * dimensions),
            shift: Vec::with_capacity(components * dimensions),
            decay: Vec::with_capacity(components),
        };
        for k in 0..components {
            let (mut log_det, mut ratio, mut square) = (0.0, f64::INFINITY, 0.0);
            for j in 0..dimensions {
                let variance_now = variance(mixture, k, j);
                if variance_now.is_nan() || variance_now <= 0.0 {
                    return Err(NotPositiveDefinite(k));
                }
                let (mean, step) =
                    (mixture.means[[k, j]], mixture.means[[k, j]] - before.means[[k, j]]);
                log_det += variance_now.ln();
                ratio = ratio.min(variance(before, k, j) / variance_now);
                square += step * step / variance_now;
                let inverse = variance_now.sqrt().recip();
                bounded.scale.push(T::from_f64(inverse));
                bounded.shift.push(T::from_f64(-mean * inverse));
            }
            bounded.constants.push(mixture.weights[k].ln() - 0.5 * (normaliser + log_det));
            // Rounded the safe way, with room for the rounding of the squares themselves.
            let shrink = ratio.sqrt() as f32 * (1.0 - 1e-5);
            let step = square.sqrt() as f32 * (1.0 + 1e-5);
            bounded.decay.push(Decay { shrink, step });
        }
        Ok(bounded)
    }

    /// Log densities of the rows in `range`, a column for each component; −∞ where they are
    /// more than `window` under a row's best.
    #[inline(always)]
    fn densities(
        &self,
        rows: &Rows<T>,
        range: Range<usize>,
        window: f64,
        bounds: &mut [Bounds],
        out: &mut [Column],
    ) {
        let count = range.len();
        // The component that may be the best, and the largest density it may have.
        let mut candidate = [0.0; TILE];
        let mut most = [f64::NEG_INFINITY; TILE];
        for (k, (bounds, decay)) in bounds.iter_mut().zip(&self.decay).enumerate() {
            for ((bound, candidate), most) in bounds.iter_mut().zip(&mut candidate).zip(&mut most) {
                *bound = (*bound * decay.shrink - decay.step).max(0.0);
                let at_most = self.constants[k] - 0.5 * f64::from(*bound * *bound);
                let better = at_most > *most;
                *most = if better { at_most } else { *most };
                *candidate = if better { k as f64 } else { *candidate };
            }
        }
        let mut best = [f64::NEG_INFINITY; TILE];
        let mut chosen = [0; TILE];
        for (k, (bounds, out)) in bounds.iter_mut().zip(out.iter_mut()).enumerate() {
            out.fill(f64::NEG_INFINITY);
            let mut some = 0;
            for (r, candidate) in candidate.iter().enumerate().take(count) {
                chosen[some] = r;
                some += usize::from((candidate - k as f64).abs() < 0.5);
            }
            self.evaluate(k, rows, range.start, &chosen[..some], bounds, out);
            for &r in &chosen[..some] {
                best[r] = out[r];
            }
        }
        for (k, (bounds, out)) in bounds.iter_mut().zip(out.iter_mut()).enumerate() {
            let mut some = 0;
            for r in 0..count {
                let at_most = self.constants[k] - 0.5 * f64::from(bounds[r] * bounds[r]);
                // Sums in single precision may be off by some 1e-6 of themselves.
                let near = at_most >= best[r] - window - 1e-5 * best[r].abs();
                let done = (candidate[r] - k as f64).abs() < 0.5;
                chosen[some] = r;
                some += usize::from(near && !done);
            }
            self.evaluate(k, rows, range.start, &chosen[..some], bounds, out);
            for &r in &chosen[..some] {
                best[r] = best[r].max(out[r]);
            }
        }
    }

    /// Log densities of some rows of a tile under component `k`, and their bounds.
    #[inline(always)]
    fn evaluate(
        &self,
        k: usize,
        rows: &Rows<T>,
        start: usize,
        chosen: &[usize],
        bounds: &mut Bounds,
        out: &mut Column,
    ) {
        let at = k * self.dimensions..(k + 1) * self.dimensions;
        let (scale, shift) = (&self.scale[at.clone()], &self.shift[at]);
        for chosen in chosen.chunks(ROWS) {
            // Eight rows or, at the end, the first row in place of those that are missing.
            let mut x = [rows.row(start + chosen[0]); ROWS];
            for (x, r) in x.iter_mut().zip(chosen) {
                *x = rows.row(start + r);
            }
            let squares = T::squares_of_one(x, scale, shift);
            for (&r, square) in chosen.iter().zip(squares) {
                out[r] = self.constants[k] - 0.5 * square;
                bounds[r] = square.sqrt() as f32;
            }
        }
    }
}

/// Rows are shared out by responsibility: the E-step.
impl<T: Sample> Share<T> for Bounded<T> {
    #[inline(always)]
    fn share(
        &self,
        rows: &Rows<T>,
        range: Range<usize>,
        bounds: &mut [Bounds],
        shares: &mut [Column],
    ) -> Column {
        self.densities(rows, range, T::NEGLIGIBLE, bounds, shares);
        normalise(shares, T::NEGLIGIBLE)
    }
}

/// Rows go wholly to the nearest mean.
pub(super) struct BoundedNearest<T>(Bounded<T>);

impl<T: Sample> BoundedNearest<T> {
    /// For these means, where bounds hold for those before.
    pub(super) fn new(means: &Array2<f64>, before: &Array2<f64>) -> Self {
        match Bounded::new(&nearest_mixture(means), &nearest_mixture(before)) {
            Ok(bounded) => Self(bounded),
            Err(NotPositiveDefinite(_)) => unreachable!("one is above zero"),
        }
    }
}

impl<T: Sample> Share<T> for BoundedNearest<T> {
    #[inline(always)]
    fn share(
        &self,
        rows: &Rows<T>,
        range: Range<usize>,
        bounds: &mut [Bounds],
        shares: &mut [Column],
    ) -> Column {
        self.0.densities(rows, range, 0.0, bounds, shares);
        only_best(shares);
        [0.0; TILE]
    }
}
