//! Log densities under diagonal components: `constant − ½ Σ (x·scale + shift)²`.
//!
//! [`near`](super::near) finds the components that need not be computed.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use pulp::Simd;
use rayon::prelude::*;

use super::expectation::{NotPositiveDefinite, variance};
use super::kernel::log_product;
use super::near::Decay;
use super::share::{Bounds, Column, Known, Leaders, Shares, TILE};
use super::squares::{
    FEW_COMPONENTS, Tile, Turned, blocks, squares, squares_by_rows, squares_of_one,
};
use crate::mixture::sample::Sample;
use crate::mixture::{Covariance, Mixture};

/// Number of component-dimensions that is worth a task of its own.
const TASK: usize = 1 << 14;
/// Up to this many dimensions, all values of a tile, transposed, stay in the cache.
const REACHED: usize = 256;
/// One in this many blocks of dimensions is summed first, to find the components that matter.
const GLANCE: usize = 8;

/// Diagonal components in a form that is ready for computing densities.
pub(in crate::mixture) struct Diagonal<T> {
    dimensions: usize,
    /// `ln π − ½(d ln 2π + ln det Σ)` of each component.
    pub constants: Vec<f64>,
    /// `1/σ`, K × d: `(x·scale + shift)² = (x − μ)²/σ²`.
    scale: Vec<T>,
    /// `−μ/σ`, K × d.
    shift: Vec<T>,
    /// How far components have moved since the bounds were computed; empty if there are no bounds
    /// yet.
    pub decay: Vec<Decay>,
}

/// Values that are computed once for a component.
struct Prepared {
    constant: f64,
    decay: Option<Decay>,
}

impl<T: Sample> Diagonal<T> {
    /// Prepares `mixture`. `before` is the mixture for which the bounds were computed.
    pub(in crate::mixture) fn new(
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

    /// Scales and shifts of component `k`.
    #[inline(always)]
    fn parameters(&self, k: usize) -> (&[T], &[T]) {
        let at = k * self.dimensions..(k + 1) * self.dimensions;
        (&self.scale[at.clone()], &self.shift[at])
    }

    /// Computes the log densities `ln π_k N_k(x)` of a tile's rows. A value may be −∞ if it is more
    /// than `window` below the row's best. A component may be absent if this holds for all rows.
    #[inline(always)]
    pub(in crate::mixture) fn densities<S: Simd>(
        &self,
        simd: S,
        tile: &Tile<T>,
        window: f64,
        known: Known,
        out: &mut Shares,
    ) {
        let components = self.constants.len();
        match known {
            Known::Tile { reach } if self.dimensions <= REACHED && components > FEW_COMPONENTS => {
                self.within_reach(simd, tile, window, reach, out);
            }
            Known::Rows { bounds, leaders } => {
                if !self.decay.is_empty() {
                    self.carry(bounds);
                    if self.near(simd, tile, window, bounds, leaders, out) {
                        return;
                    }
                }
                self.anew(simd, tile, window, bounds, leaders, out);
            }
            Known::Tile { .. } | Known::Nothing => {
                let kept = if self.glances(window) { components } else { 0 };
                let (mut bounds, mut leaders) = (vec![[0.0; TILE]; kept], Leaders::default());
                self.anew(simd, tile, window, &mut bounds, &mut leaders, out);
            }
        }
    }

    /// Whether a look at some of the dimensions may rule components out.
    fn glances(&self, window: f64) -> bool {
        window.is_finite()
            && self.constants.len() > FEW_COMPONENTS
            && blocks::<T>(self.dimensions).len() >= 2 * GLANCE
    }

    /// Computes the densities when nothing is known about the distances. It stores bounds and
    /// leaders for later passes, unless `bounds` is empty.
    #[inline(always)]
    fn anew<S: Simd>(
        &self,
        simd: S,
        tile: &Tile<T>,
        window: f64,
        bounds: &mut [Bounds],
        leaders: &mut Leaders,
        out: &mut Shares,
    ) {
        let columns = out.all();
        columns.fill([0.0; TILE]);
        let mut blocks = blocks::<T>(self.dimensions);
        if self.glances(window) {
            let (seen, unseen): (Vec<_>, Vec<_>) =
                blocks.into_iter().enumerate().partition(|(i, _)| i % GLANCE == 0);
            let share = seen.len() as f64 / (seen.len() + unseen.len()) as f64;
            let seen = seen.into_iter().map(|(_, block)| block);
            squares(simd, tile, seen, |k| self.parameters(k), columns);
            self.remember(columns, share, bounds, leaders);
            if self.near(simd, tile, window, bounds, leaders, out) {
                return;
            }
            blocks = unseen.into_iter().map(|(_, block)| block).collect();
        }
        let columns = out.all();
        if columns.len() > FEW_COMPONENTS {
            squares(simd, tile, blocks.into_iter(), |k| self.parameters(k), columns);
        } else {
            squares_by_rows(simd, tile, |k| self.parameters(k), columns);
        }
        if !bounds.is_empty() {
            self.remember(columns, 1.0, bounds, leaders);
        }
        for (column, constant) in columns.iter_mut().zip(&self.constants) {
            for value in column {
                *value = constant - 0.5 * *value;
            }
        }
    }

    /// Adds `‖(x − μ)/σ‖²` of a tile's transposed rows under component `k`.
    #[inline(always)]
    pub(in crate::mixture) fn squares_of_turned<S: Simd>(
        &self,
        simd: S,
        k: usize,
        turned: &Turned<T>,
        out: &mut Column,
    ) {
        let (scale, shift) = self.parameters(k);
        for block in &turned.blocks {
            let values = &turned.values[block.start * TILE..block.end * TILE];
            T::squares(simd, values, &scale[block.clone()], &shift[block.clone()], out);
        }
    }

    /// `‖(x − μ)/σ‖²` of some rows of a tile under component `k`.
    #[inline(always)]
    pub(in crate::mixture) fn squares_of_one<S: Simd>(
        &self,
        simd: S,
        k: usize,
        tile: &Tile<T>,
        chosen: &[u8],
        out: &mut Column,
    ) {
        squares_of_one(simd, tile, chosen, self.parameters(k), out);
    }
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
    let variances = variances(mixture, k);
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
        let steps = means.iter().zip(before.means.row(k));
        let changes = variances.iter().zip(self::variances(before, k));
        for ((now, before), (mean, last)) in changes.zip(steps) {
            ratio = ratio.min(before / now);
            square += (mean - last) * (mean - last) / now;
        }
        Decay::new(ratio.sqrt(), square.sqrt())
    });
    let normaliser = dimensions as f64 * std::f64::consts::TAU.ln();
    let constant = mixture.weights[k].ln() - 0.5 * (normaliser + log_product(&variances));
    Ok(Prepared { constant, decay })
}

/// Variances of component `k`.
fn variances(mixture: &Mixture, k: usize) -> Vec<f64> {
    match &mixture.covariance {
        Covariance::Diagonal(variances) => variances.row(k).to_vec(),
        _ => (0..mixture.dimensions()).map(|j| variance(mixture, k, j)).collect(),
    }
}
