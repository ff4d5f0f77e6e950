//! E-step: computes log densities and responsibilities from rows and a mixture.
//!
//! A responsibility counts as zero if it would be lost in the rounding of the sums it goes into. In
//! many dimensions responsibilities are nearly one-hot, so little work is left for the M-step.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use std::ops::Range;

use ndarray::{Array1, Array2, linalg::general_mat_mul};
use pulp::Simd;
use rayon::prelude::*;

use super::diagonal::Diagonal;
use super::kernel::{exp, ln};
use super::linear::inverse_factor;
use super::share::{Column, Known, Share, Shares, TILE};
use super::squares::Tile;
use crate::mixture::sample::{Rows, Sample};
use crate::mixture::{Covariance, Mixture};

/// A mixture in a form that is ready for computing densities.
pub(in crate::mixture) enum Evaluator<T> {
    /// Diagonal and spherical covariances.
    Diagonal(Diagonal<T>),
    /// Tied and full covariances.
    Dense(Dense),
}

/// `‖(x − μ)·factor‖²` with one d × d factor for all components or one for each.
pub(in crate::mixture) struct Dense {
    /// `ln π − ½(d ln 2π + ln det Σ)` of each component.
    constants: Vec<f64>,
    means: Array2<f64>,
    factors: Vec<Array2<f64>>,
}

/// The error for a component whose covariance is not positive definite.
#[derive(Debug, Clone, Copy)]
pub(in crate::mixture) struct NotPositiveDefinite(pub usize);

impl<T: Sample> Evaluator<T> {
    /// Prepares `mixture`. `before` is the mixture for which the bounds were computed, if there are
    /// any.
    pub(in crate::mixture) fn new(
        mixture: &Mixture,
        before: Option<&Mixture>,
    ) -> Result<Self, NotPositiveDefinite> {
        Ok(match &mixture.covariance {
            Covariance::Diagonal(_) | Covariance::Spherical(_) => {
                Self::Diagonal(Diagonal::new(mixture, before)?)
            }
            Covariance::Tied(_) | Covariance::Full(_) => Self::Dense(Dense::new(mixture)?),
        })
    }

    /// Computes the log densities `ln π_k N_k(x)` of the rows in `range`. A value may be −∞ if it
    /// is more than `window` below the row's best. A component may be absent if this holds for all
    /// rows.
    #[inline(always)]
    pub(in crate::mixture) fn densities<S: Simd>(
        &self,
        simd: S,
        rows: &Rows<T>,
        range: Range<usize>,
        window: f64,
        known: Known,
        out: &mut Shares,
    ) {
        match self {
            Self::Diagonal(diagonal) => {
                diagonal.densities(simd, &Tile { rows, range }, window, known, out);
            }
            Self::Dense(dense) => dense.densities(rows, range, out.all()),
        }
    }
}

impl Dense {
    fn new(mixture: &Mixture) -> Result<Self, NotPositiveDefinite> {
        let (components, dimensions) = mixture.means.dim();
        let normaliser = dimensions as f64 * std::f64::consts::TAU.ln();
        let matrices = match &mixture.covariance {
            Covariance::Full(matrices) => matrices.outer_iter().collect(),
            Covariance::Tied(matrix) => vec![matrix.view()],
            Covariance::Diagonal(_) | Covariance::Spherical(_) => Vec::new(),
        };
        let factored: Vec<_> = matrices.par_iter().map(|matrix| inverse_factor(*matrix)).collect();
        let mut factors = Vec::with_capacity(factored.len());
        let mut log_dets = Vec::with_capacity(factored.len());
        for (k, factored) in factored.into_iter().enumerate() {
            let (factor, log_det) = factored.ok_or(NotPositiveDefinite(k))?;
            factors.push(factor);
            log_dets.push(log_det);
        }
        let constant = |k: usize| {
            mixture.weights[k].ln() - 0.5 * (normaliser + log_dets[k.min(log_dets.len() - 1)])
        };
        let constants = (0..components).map(constant).collect();
        Ok(Self { constants, means: mixture.means.clone(), factors })
    }

    #[inline(never)]
    fn densities<T: Sample>(&self, rows: &Rows<T>, range: Range<usize>, out: &mut [Column]) {
        let shape = (range.len(), self.means.ncols());
        let (mut centred, mut white) = (Array2::zeros(shape), Array2::zeros(shape));
        for (k, column) in out.iter_mut().enumerate() {
            let mean = self.means.row(k);
            for (mut target, i) in centred.outer_iter_mut().zip(range.clone()) {
                for ((t, &x), m) in target.iter_mut().zip(rows.row(i)).zip(mean) {
                    *t = x.into() - m;
                }
            }
            let factor = &self.factors[k.min(self.factors.len() - 1)];
            general_mat_mul(1.0, &centred, factor, 0.0, &mut white);
            for (row, density) in white.outer_iter().zip(column) {
                let square: f64 = row.iter().map(|v| v * v).sum();
                *density = self.constants[k] - 0.5 * square;
            }
        }
    }
}

/// The E-step: each row is divided among components by responsibility.
impl<T: Sample> Share<T> for Evaluator<T> {
    #[inline(always)]
    fn share<S: Simd>(
        &self,
        simd: S,
        rows: &Rows<T>,
        range: Range<usize>,
        known: Known,
        shares: &mut Shares,
    ) -> Column {
        self.densities(simd, rows, range, T::NEGLIGIBLE, known, shares);
        normalise(shares, T::NEGLIGIBLE)
    }
}

/// Assigns each row completely to the nearest mean.
pub(in crate::mixture) struct Nearest<T>(Evaluator<T>);

impl<T: Sample> Nearest<T> {
    /// Prepares these means. `before` are the means for which the bounds were computed, if there
    /// are any.
    pub(in crate::mixture) fn new(means: &Array2<f64>, before: Option<&Array2<f64>>) -> Self {
        let before = before.map(nearest_mixture);
        match Evaluator::new(&nearest_mixture(means), before.as_ref()) {
            Ok(evaluator) => Self(evaluator),
            Err(NotPositiveDefinite(_)) => unreachable!("one is above zero"),
        }
    }
}

impl<T: Sample> Share<T> for Nearest<T> {
    #[inline(always)]
    fn share<S: Simd>(
        &self,
        simd: S,
        rows: &Rows<T>,
        range: Range<usize>,
        known: Known,
        shares: &mut Shares,
    ) -> Column {
        self.0.densities(simd, rows, range, 0.0, known, shares);
        only_best(shares);
        [0.0; TILE]
    }
}

/// Equal spherical components: the likeliest one is the nearest.
fn nearest_mixture(means: &Array2<f64>) -> Mixture {
    let components = means.nrows();
    Mixture {
        weights: Array1::from_elem(components, 1.0 / components as f64),
        means: means.clone(),
        covariance: Covariance::Spherical(Array1::ones(components)),
    }
}

/// Variance of a component in one dimension; the diagonal element of a matrix.
pub(in crate::mixture) fn variance(mixture: &Mixture, k: usize, j: usize) -> f64 {
    match &mixture.covariance {
        Covariance::Diagonal(v) => v[[k, j]],
        Covariance::Spherical(v) => v[k],
        Covariance::Tied(v) => v[[j, j]],
        Covariance::Full(v) => v[[k, j, j]],
    }
}

/// Turns log densities into responsibilities and returns the log-likelihoods. Responsibilities more
/// than `negligible` nats below a row's best become zero.
#[inline(always)]
pub(in crate::mixture) fn normalise(shares: &mut Shares, negligible: f64) -> Column {
    let Shares { columns, present } = shares;
    let mut best = [f64::NEG_INFINITY; TILE];
    for &k in &*present {
        for (best, &density) in best.iter_mut().zip(&columns[k]) {
            // Not with `if`: that becomes a masked store, which is slow on some processors.
            *best = best.max(density);
        }
    }
    let mut sum = [0.0; TILE];
    // Not with `retain`: its closure is compiled for the baseline processor.
    let mut kept = 0;
    for i in 0..present.len() {
        let k = present[i];
        let column = &mut columns[k];
        // Counting becomes vector code; comparing one after the other does not.
        let near = |(value, best): (&f64, &f64)| u64::from(value - best >= -negligible);
        if column.iter().zip(&best).map(near).sum::<u64>() == 0 {
            continue;
        }
        for ((value, best), sum) in column.iter_mut().zip(&best).zip(&mut sum) {
            let under = *value - best;
            let share = exp(under);
            *value = if under >= -negligible { share } else { 0.0 };
            *sum += *value;
        }
        present[kept] = k;
        kept += 1;
    }
    present.truncate(kept);
    for (best, sum) in best.iter_mut().zip(&mut sum) {
        *best += ln(*sum);
        *sum = sum.recip();
    }
    for &k in &*present {
        for (value, scale) in columns[k].iter_mut().zip(&sum) {
            *value *= scale;
        }
    }
    best
}

/// Sets the largest log density of each row (the first of equal ones) to one, and the others to
/// zero.
#[inline(always)]
fn only_best(Shares { columns, present }: &mut Shares) {
    let mut best = [f64::NEG_INFINITY; TILE];
    let mut nearest = [0.0; TILE];
    for &k in &*present {
        for ((best, nearest), &density) in best.iter_mut().zip(&mut nearest).zip(&columns[k]) {
            let better = density > *best;
            *best = if better { density } else { *best };
            *nearest = if better { k as f64 } else { *nearest };
        }
    }
    for &k in &*present {
        for (share, nearest) in columns[k].iter_mut().zip(&nearest) {
            *share = f64::from(u8::from((nearest - k as f64).abs() < 0.5));
        }
    }
}
