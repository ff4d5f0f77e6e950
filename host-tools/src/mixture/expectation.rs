//! E-step: rows and a mixture to log densities and responsibilities.
//!
//! A responsibility that would be lost in the rounding of the sums it goes into is taken as
//! zero. In many dimensions responsibilities are nearly one-hot, so that hardly any work is
//! left for the M-step.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use std::ops::Range;

use ndarray::{Array1, Array2, Axis, linalg::general_mat_mul};
use rayon::prelude::*;

use super::kernel::{ROWS, exp};
use super::linear::inverse_factor;
use super::moments::{Bounds, Column, Share, TILE};
use super::sample::{Rows, Sample};
use super::{Covariance, Mixture};

/// The largest number of lanes of any sample type.
const MOST_LANES: usize = 8;

/// A mixture in the form that densities are computed from.
pub(super) struct Evaluator<T> {
    components: usize,
    dimensions: usize,
    /// `ln π − ½(d ln 2π + ln det Σ)` of each component.
    constants: Vec<f64>,
    form: Form<T>,
}

enum Form<T> {
    /// `(x·scale + shift)² = (x − μ)²/σ²`: scales and shifts of as many components at a time as
    /// there are lanes, groups × d × (scales, shifts) × lanes. Lanes without a component have
    /// zeros.
    Diagonal { packed: Vec<T> },
    /// `‖(x − μ)·factor‖²` with one d × d factor for all components or one each.
    Dense { means: Array2<f64>, factors: Vec<Array2<f64>> },
}

/// A component whose covariance is not positive definite.
#[derive(Debug, Clone, Copy)]
pub(super) struct NotPositiveDefinite(pub usize);

impl<T: Sample> Evaluator<T> {
    pub(super) fn new(mixture: &Mixture) -> Result<Self, NotPositiveDefinite> {
        let (components, dimensions) = mixture.means.dim();
        let normaliser = dimensions as f64 * std::f64::consts::TAU.ln();
        let constant =
            |k: usize, log_det: f64| mixture.weights[k].ln() - 0.5 * (normaliser + log_det);
        let mut constants = Vec::with_capacity(components);
        let form = match &mixture.covariance {
            Covariance::Diagonal(_) | Covariance::Spherical(_) => {
                let lanes = T::LANES;
                let groups = components.div_ceil(lanes);
                let mut packed = vec![T::ZERO; groups * dimensions * 2 * lanes];
                for k in 0..components {
                    let group = &mut packed[k / lanes * dimensions * 2 * lanes..];
                    let mut log_det = 0.0;
                    for (j, both) in group.chunks_exact_mut(2 * lanes).take(dimensions).enumerate()
                    {
                        let variance = variance(mixture, k, j);
                        if variance.is_nan() || variance <= 0.0 {
                            return Err(NotPositiveDefinite(k));
                        }
                        log_det += variance.ln();
                        let inverse = variance.sqrt().recip();
                        both[k % lanes] = T::from_f64(inverse);
                        both[lanes + k % lanes] = T::from_f64(-mixture.means[[k, j]] * inverse);
                    }
                    constants.push(constant(k, log_det));
                }
                Form::Diagonal { packed }
            }
            Covariance::Tied(matrix) => {
                let (factor, log_det) =
                    inverse_factor(matrix.view()).ok_or(NotPositiveDefinite(0))?;
                constants.extend((0..components).map(|k| constant(k, log_det)));
                Form::Dense { means: mixture.means.clone(), factors: vec![factor] }
            }
            Covariance::Full(matrices) => {
                let factored: Vec<_> = (0..components)
                    .into_par_iter()
                    .map(|k| inverse_factor(matrices.index_axis(Axis(0), k)))
                    .collect();
                let mut factors = Vec::with_capacity(components);
                for (k, factored) in factored.into_iter().enumerate() {
                    let (factor, log_det) = factored.ok_or(NotPositiveDefinite(k))?;
                    constants.push(constant(k, log_det));
                    factors.push(factor);
                }
                Form::Dense { means: mixture.means.clone(), factors }
            }
        };
        Ok(Self { components, dimensions, constants, form })
    }

    /// Log densities `ln π_k N_k(x)` of the rows in `range`, a column for each component.
    #[inline(always)]
    fn densities(&self, rows: &Rows<T>, range: Range<usize>, out: &mut [Column]) {
        match &self.form {
            Form::Diagonal { packed } => self.squares_diagonal(packed, rows, range, out),
            Form::Dense { means, factors } => {
                self.squares_dense(rows, range, means, factors, out);
            }
        }
        for (column, constant) in out.iter_mut().zip(&self.constants) {
            for value in column {
                *value = constant - 0.5 * *value;
            }
        }
    }

    #[inline(always)]
    fn squares_diagonal(
        &self,
        packed: &[T],
        rows: &Rows<T>,
        range: Range<usize>,
        out: &mut [Column],
    ) {
        let last = range.end - 1;
        let mut squares = [[0.0; ROWS]; MOST_LANES];
        let groups = packed.chunks_exact(2 * T::LANES * self.dimensions);
        for (out, packed) in out.chunks_mut(T::LANES).zip(groups) {
            for (octet, from) in range.clone().step_by(ROWS).enumerate() {
                // Eight rows or, at the end, the last row in place of those that are missing.
                let mut x = [rows.row(last); ROWS];
                for (x, i) in x.iter_mut().zip(from..range.end) {
                    *x = rows.row(i);
                }
                T::squares(x, packed, &mut squares);
                for (column, squares) in out.iter_mut().zip(&squares) {
                    column.as_chunks_mut().0[octet] = *squares;
                }
            }
        }
    }

    #[inline(never)]
    fn squares_dense(
        &self,
        rows: &Rows<T>,
        range: Range<usize>,
        means: &Array2<f64>,
        factors: &[Array2<f64>],
        out: &mut [Column],
    ) {
        let mut centred = Array2::zeros((range.len(), self.dimensions));
        let mut white = Array2::zeros((range.len(), self.dimensions));
        for (k, column) in out.iter_mut().enumerate() {
            let mean = means.row(k);
            for (mut target, i) in centred.outer_iter_mut().zip(range.clone()) {
                for ((t, &x), m) in target.iter_mut().zip(rows.row(i)).zip(mean) {
                    *t = x.into() - m;
                }
            }
            let factor = &factors[k.min(factors.len() - 1)];
            general_mat_mul(1.0, &centred, factor, 0.0, &mut white);
            for (row, square) in white.outer_iter().zip(column) {
                *square = row.iter().map(|v| v * v).sum();
            }
        }
    }

    /// Log densities `ln π_k N_k(x)`, n × K.
    pub(super) fn log_densities(&self, rows: &Rows<T>) -> Array2<f64> {
        let mut out = vec![0.0; rows.len() * self.components];
        let arch = pulp::Arch::new();
        out.par_chunks_mut(TILE * self.components).enumerate().for_each(|(tile, out)| {
            let from = tile * TILE;
            let range = from..from + out.len() / self.components;
            arch.dispatch(Densities { evaluator: self, rows, range, out });
        });
        match Array2::from_shape_vec((rows.len(), self.components), out) {
            Ok(out) => out,
            Err(_) => unreachable!("one density per row and component was computed"),
        }
    }
}

/// [`Evaluator::densities`], compiled for the instructions found at run time.
struct Densities<'a, T> {
    evaluator: &'a Evaluator<T>,
    rows: &'a Rows<'a, T>,
    range: Range<usize>,
    out: &'a mut [f64],
}

impl<T: Sample> pulp::WithSimd for Densities<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<Instructions: pulp::Simd>(self, _: Instructions) {
        let components = self.evaluator.components;
        let mut columns = vec![[0.0; TILE]; components];
        self.evaluator.densities(self.rows, self.range, &mut columns);
        for (r, out) in self.out.chunks_exact_mut(components).enumerate() {
            for (out, column) in out.iter_mut().zip(&columns) {
                *out = column[r];
            }
        }
    }
}

/// Rows are shared out by responsibility: the E-step.
impl<T: Sample> Share<T> for Evaluator<T> {
    #[inline(always)]
    fn share(
        &self,
        rows: &Rows<T>,
        range: Range<usize>,
        _: &mut [Bounds],
        shares: &mut [Column],
    ) -> Column {
        self.densities(rows, range, shares);
        normalise(shares, T::NEGLIGIBLE)
    }
}

/// Rows go wholly to the nearest mean.
pub(super) struct Nearest<T>(Evaluator<T>);

impl<T: Sample> Nearest<T> {
    pub(super) fn new(means: &Array2<f64>) -> Self {
        match Evaluator::new(&nearest_mixture(means)) {
            Ok(evaluator) => Self(evaluator),
            Err(NotPositiveDefinite(_)) => unreachable!("one is above zero"),
        }
    }
}

impl<T: Sample> Share<T> for Nearest<T> {
    #[inline(always)]
    fn share(
        &self,
        rows: &Rows<T>,
        range: Range<usize>,
        _: &mut [Bounds],
        shares: &mut [Column],
    ) -> Column {
        self.0.densities(rows, range, shares);
        only_best(shares);
        [0.0; TILE]
    }
}

/// Equal spherical components, of which the likeliest is the nearest.
pub(super) fn nearest_mixture(means: &Array2<f64>) -> Mixture {
    let components = means.nrows();
    Mixture {
        weights: Array1::from_elem(components, 1.0 / components as f64),
        means: means.clone(),
        covariance: Covariance::Spherical(Array1::ones(components)),
    }
}

/// Variance of a component in a dimension, where covariances are diagonal.
pub(super) fn variance(mixture: &Mixture, k: usize, j: usize) -> f64 {
    match &mixture.covariance {
        Covariance::Diagonal(v) => v[[k, j]],
        Covariance::Spherical(v) => v[k],
        Covariance::Tied(v) => v[[j, j]],
        Covariance::Full(v) => v[[k, j, j]],
    }
}

/// Log densities to responsibilities; those more than `negligible` nats under a row's best
/// are zero. The log-likelihoods are returned.
#[inline(always)]
pub(super) fn normalise(shares: &mut [Column], negligible: f64) -> Column {
    let mut best = [f64::NEG_INFINITY; TILE];
    for column in shares.iter() {
        for (best, &density) in best.iter_mut().zip(column) {
            *best = if density > *best { density } else { *best };
        }
    }
    let mut sum = [0.0; TILE];
    for column in shares.iter_mut() {
        let mut nearest = f64::NEG_INFINITY;
        for (value, best) in column.iter().zip(&best) {
            nearest = nearest.max(value - best);
        }
        // Rows come in the order of time, so a tile has few components.
        if nearest < -negligible {
            column.fill(0.0);
            continue;
        }
        for ((value, best), sum) in column.iter_mut().zip(&best).zip(&mut sum) {
            let under = *value - best;
            let share = exp(under);
            *value = if under >= -negligible { share } else { 0.0 };
            *sum += *value;
        }
    }
    for (best, sum) in best.iter_mut().zip(&mut sum) {
        *best += sum.ln();
        *sum = sum.recip();
    }
    for column in shares {
        for (value, scale) in column.iter_mut().zip(&sum) {
            *value *= scale;
        }
    }
    best
}

/// Log densities to one for the largest of each row (the first of equal ones), zero for others.
#[inline(always)]
pub(super) fn only_best(shares: &mut [Column]) {
    let mut best = [f64::NEG_INFINITY; TILE];
    let mut nearest = [0.0; TILE];
    for (k, column) in shares.iter().enumerate() {
        for ((best, nearest), &density) in best.iter_mut().zip(&mut nearest).zip(column) {
            let better = density > *best;
            *best = if better { density } else { *best };
            *nearest = if better { k as f64 } else { *nearest };
        }
    }
    for (k, column) in shares.iter_mut().enumerate() {
        for (share, nearest) in column.iter_mut().zip(&nearest) {
            *share = f64::from(u8::from((nearest - k as f64).abs() < 0.5));
        }
    }
}
