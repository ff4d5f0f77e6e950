//! E-step: rows and a mixture to log densities, responsibilities and weighted moments.
//!
//! Two things are left out, exactly to rounding. A component whose log density lies
//! [`NEGLIGIBLE`] nats under the best one has a responsibility below f64 resolution, so its
//! sum over the dimensions is given up as soon as it gets there; and only responsibilities
//! above zero reach the moments. In many dimensions responsibilities are nearly one-hot, and
//! both save most of the work.
#![allow(
    clippy::inline_always,
    reason = "a kernel that is not inlined into the dispatched closure is compiled for the baseline processor"
)]

use std::ops::Range;

use ndarray::{Array2, ArrayView2, Axis, linalg::general_mat_mul, s};
use rayon::prelude::*;

use super::linear::inverse_factor;
use super::sample::{Rows, Sample, add_first_moment, add_moments, scaled_square};
use super::{Covariance, CovarianceKind, Mixture};

/// Nats under the best component where a responsibility is taken as zero: e⁻⁴⁰ ≈ 4·10⁻¹⁸,
/// a twentieth of the rounding error of a sum near one in f64.
const NEGLIGIBLE: f64 = 40.0;

/// Rows whose densities are held at a time.
const TILE: usize = 64;

/// A mixture in the form that densities are computed from.
pub(super) struct Evaluator<T> {
    components: usize,
    dimensions: usize,
    /// `ln π − ½(d ln 2π + ln det Σ)` of each component.
    constants: Vec<f64>,
    form: Form<T>,
}

enum Form<T> {
    /// `(x·scale + shift)² = (x − μ)²/σ²`; both K × d.
    Diagonal { scale: Vec<T>, shift: Vec<T> },
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
                let mut scale = Vec::with_capacity(components * dimensions);
                let mut shift = Vec::with_capacity(components * dimensions);
                for k in 0..components {
                    let mut log_det = 0.0;
                    for j in 0..dimensions {
                        let variance = match &mixture.covariance {
                            Covariance::Diagonal(v) => v[[k, j]],
                            Covariance::Spherical(v) => v[k],
                            _ => unreachable!("only diagonal forms get here"),
                        };
                        if variance.is_nan() || variance <= 0.0 {
                            return Err(NotPositiveDefinite(k));
                        }
                        log_det += variance.ln();
                        let inverse = variance.sqrt().recip();
                        scale.push(T::from_f64(inverse));
                        shift.push(T::from_f64(-mixture.means[[k, j]] * inverse));
                    }
                    constants.push(constant(k, log_det));
                }
                Form::Diagonal { scale, shift }
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

    /// Log densities `ln π_k N_k(x)` of the rows in `range`, row by row into `out`; those
    /// more than `window` nats under a row's best may come out as −∞. `hints` holds, for each
    /// row, the component that is likely the best, and is brought up to date.
    #[inline(always)]
    fn densities(
        &self,
        rows: &Rows<T>,
        range: Range<usize>,
        window: f64,
        hints: &mut [u32],
        out: &mut [f64],
    ) {
        match &self.form {
            Form::Diagonal { scale, shift } => {
                for ((i, hint), out) in range.zip(hints).zip(out.chunks_mut(self.components)) {
                    let x = rows.row(i);
                    self.densities_of_row(x, scale, shift, window, hint, out);
                }
            }
            Form::Dense { means, factors } => {
                self.densities_dense(rows, range, means, factors, out);
            }
        }
    }

    #[inline(always)]
    fn densities_of_row(
        &self,
        x: &[T],
        scale: &[T],
        shift: &[T],
        window: f64,
        hint: &mut u32,
        out: &mut [f64],
    ) {
        let d = self.dimensions;
        let first = *hint as usize;
        let component = |k: usize, limit: f64| {
            let at = k * d..(k + 1) * d;
            scaled_square(x, &scale[at.clone()], &shift[at], limit)
        };
        let mut best = self.constants[first] - 0.5 * component(first, f64::INFINITY);
        out[first] = best;
        for (k, out) in out.iter_mut().enumerate() {
            if k == first {
                continue;
            }
            let limit = 2.0 * (self.constants[k] - (best - window));
            let square = if limit < 0.0 { f64::INFINITY } else { component(k, limit) };
            *out =
                if square > limit { f64::NEG_INFINITY } else { self.constants[k] - 0.5 * square };
            if *out > best {
                best = *out;
                *hint = k as u32;
            }
        }
    }

    fn densities_dense(
        &self,
        rows: &Rows<T>,
        range: Range<usize>,
        means: &Array2<f64>,
        factors: &[Array2<f64>],
        out: &mut [f64],
    ) {
        let count = range.len();
        let mut centred = Array2::zeros((count, self.dimensions));
        let mut white = Array2::zeros((count, self.dimensions));
        for k in 0..self.components {
            let mean = means.row(k);
            for (mut target, i) in centred.outer_iter_mut().zip(range.clone()) {
                for ((t, &x), m) in target.iter_mut().zip(rows.row(i)).zip(mean) {
                    *t = x.into() - m;
                }
            }
            let factor = &factors[k.min(factors.len() - 1)];
            general_mat_mul(1.0, &centred, factor, 0.0, &mut white);
            for (row, out) in white.outer_iter().zip(out.chunks_mut(self.components)) {
                let square: f64 = row.iter().map(|v| v * v).sum();
                out[k] = self.constants[k] - 0.5 * square;
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
            let mut hints = [0; TILE];
            arch.dispatch(
                #[inline(always)]
                || self.densities(rows, range, f64::INFINITY, &mut hints, out),
            );
        });
        match Array2::from_shape_vec((rows.len(), self.components), out) {
            Ok(out) => out,
            Err(_) => unreachable!("one density per row and component was computed"),
        }
    }
}

/// Log densities of one row to responsibilities in place; the row's log-likelihood is returned.
#[inline(always)]
pub(super) fn normalise(row: &mut [f64]) -> f64 {
    let best = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for value in row.iter_mut() {
        let under = *value - best;
        *value = if under < -NEGLIGIBLE { 0.0 } else { under.exp() };
        sum += *value;
    }
    let scale = sum.recip();
    for value in row {
        *value *= scale;
    }
    best + sum.ln()
}

/// Weighted sums that an M-step needs; moments are about a centre per component, which keeps
/// variances free of cancellation.
pub(super) struct Statistics {
    /// Sum of weighted log-likelihoods.
    pub log_likelihood: f64,
    /// Sum of weighted responsibilities of each component.
    pub counts: Vec<f64>,
    /// K × d sums of `r(x − centre)`.
    pub first: Array2<f64>,
    /// Sums of squares: K × d of `r(x − centre)²`; K·d × d of outer products when full; empty when tied.
    pub second: Array2<f64>,
}

impl Statistics {
    pub(super) fn zeros(components: usize, dimensions: usize, kind: CovarianceKind) -> Self {
        let second = match kind {
            CovarianceKind::Diagonal | CovarianceKind::Spherical => (components, dimensions),
            CovarianceKind::Tied => (0, 0),
            CovarianceKind::Full => (components * dimensions, dimensions),
        };
        Self {
            log_likelihood: 0.0,
            counts: vec![0.0; components],
            first: Array2::zeros((components, dimensions)),
            second: Array2::zeros(second),
        }
    }

    fn merge(&mut self, other: &Self) {
        self.log_likelihood += other.log_likelihood;
        for (a, b) in self.counts.iter_mut().zip(&other.counts) {
            *a += b;
        }
        self.first += &other.first;
        self.second += &other.second;
    }

    /// Adds the rows in `range` with weighted responsibilities `shares`, row by row.
    #[inline(always)]
    fn add<T: Sample>(
        &mut self,
        rows: &Rows<T>,
        range: Range<usize>,
        shares: &[f64],
        centres: ArrayView2<f64>,
        kind: CovarianceKind,
    ) {
        let (components, dimensions) = centres.dim();
        if kind == CovarianceKind::Full {
            self.add_outer_products(rows, &range, shares, centres);
        }
        let (Some(centres), Some(first), Some(second)) =
            (centres.to_slice(), self.first.as_slice_mut(), self.second.as_slice_mut())
        else {
            unreachable!("centres and moments are in standard layout");
        };
        for (i, shares) in range.zip(shares.chunks(components)) {
            let x = rows.row(i);
            for (k, &share) in shares.iter().enumerate() {
                if share > 0.0 {
                    self.counts[k] += share;
                    let at = k * dimensions..(k + 1) * dimensions;
                    let (centre, first) = (&centres[at.clone()], &mut first[at.clone()]);
                    match kind {
                        CovarianceKind::Diagonal | CovarianceKind::Spherical => {
                            add_moments(x, centre, share, first, &mut second[at]);
                        }
                        CovarianceKind::Tied | CovarianceKind::Full => {
                            add_first_moment(x, centre, share, first);
                        }
                    }
                }
            }
        }
    }

    fn add_outer_products<T: Sample>(
        &mut self,
        rows: &Rows<T>,
        range: &Range<usize>,
        shares: &[f64],
        centres: ArrayView2<f64>,
    ) {
        let (components, dimensions) = centres.dim();
        let mut scaled = Vec::with_capacity(range.len() * dimensions);
        for k in 0..components {
            scaled.clear();
            for (i, shares) in range.clone().zip(shares.chunks(components)) {
                if shares[k] > 0.0 {
                    let root = shares[k].sqrt();
                    let row = rows.row(i).iter().zip(centres.row(k));
                    scaled.extend(row.map(|(&x, c)| root * (x.into() - c)));
                }
            }
            let count = scaled.len() / dimensions;
            if let Ok(scaled) = ArrayView2::from_shape((count, dimensions), &scaled) {
                let mut block = self.second.slice_mut(s![k * dimensions..(k + 1) * dimensions, ..]);
                general_mat_mul(1.0, &scaled.t(), &scaled, 1.0, &mut block);
            }
        }
    }
}

/// Rows that one task takes at a time. It depends on the problem alone, never on the number of
/// threads, so that sums are made in the same order everywhere; and it is large enough that
/// the moments of all tasks together stay small beside the data.
fn chunk_rows(rows: usize, components: usize, kind: CovarianceKind) -> usize {
    let least = match kind {
        CovarianceKind::Full => rows.div_ceil(4),
        _ => 16 * components,
    };
    least.max(256)
}

/// One E-step over all rows: the moments about `centres`.
pub(super) fn expect<T: Sample>(
    rows: &Rows<T>,
    evaluator: &Evaluator<T>,
    centres: ArrayView2<f64>,
    kind: CovarianceKind,
    hints: &mut [u32],
) -> Statistics {
    let components = evaluator.components;
    pass(rows, centres, kind, hints, |range, hints, shares| {
        evaluator.densities(rows, range.clone(), NEGLIGIBLE, hints, shares);
        let mut log_likelihood = 0.0;
        for (i, shares) in range.zip(shares.chunks_mut(components)) {
            let weight = rows.weight(i);
            log_likelihood += weight * normalise(shares);
            shares.iter_mut().for_each(|share| *share *= weight);
        }
        log_likelihood
    })
}

/// The moments about `centres` of rows that belong wholly to the component in `assignment`.
pub(super) fn assigned<T: Sample>(
    rows: &Rows<T>,
    assignment: &mut [u32],
    centres: ArrayView2<f64>,
    kind: CovarianceKind,
) -> Statistics {
    let components = centres.nrows();
    pass(rows, centres, kind, assignment, |range, assignment, shares| {
        shares.fill(0.0);
        for ((i, shares), k) in range.zip(shares.chunks_mut(components)).zip(assignment) {
            shares[*k as usize] = rows.weight(i);
        }
        0.0
    })
}

/// Sums moments over all rows; `share` fills the weighted responsibilities of a tile of rows
/// and returns its log-likelihood.
fn pass<T: Sample>(
    rows: &Rows<T>,
    centres: ArrayView2<f64>,
    kind: CovarianceKind,
    hints: &mut [u32],
    share: impl Fn(Range<usize>, &mut [u32], &mut [f64]) -> f64 + Sync,
) -> Statistics {
    let (components, dimensions) = centres.dim();
    let chunk = chunk_rows(rows.len(), components, kind);
    let arch = pulp::Arch::new();
    let parts: Vec<Statistics> = hints
        .par_chunks_mut(chunk)
        .enumerate()
        .map(|(part, hints)| {
            let mut statistics = Statistics::zeros(components, dimensions, kind);
            let mut shares = vec![0.0; TILE * components];
            let start = part * chunk;
            arch.dispatch(
                #[inline(always)]
                || {
                    for (tile, hints) in hints.chunks_mut(TILE).enumerate() {
                        let from = start + tile * TILE;
                        let range = from..from + hints.len();
                        let shares = &mut shares[..hints.len() * components];
                        statistics.log_likelihood += share(range.clone(), hints, shares);
                        statistics.add(rows, range, shares, centres, kind);
                    }
                },
            );
            statistics
        })
        .collect();
    let mut parts = parts.into_iter();
    let first = parts.next();
    parts.fold(
        first.unwrap_or_else(|| Statistics::zeros(components, dimensions, kind)),
        |mut sum, part| {
            sum.merge(&part);
            sum
        },
    )
}
