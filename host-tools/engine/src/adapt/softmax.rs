//! One-layer softmax classifier on weighted samples, trained by L-BFGS.
//!
//! The loss is convex, so there is one solution, and it does not depend on a seed. Samples come in
//! parts, whose losses are added in order. So many samples need little memory, and the result does
//! not depend on the number of threads.

use ndarray::{Array1, Array2, ArrayRef2, Axis, s};
use rayon::prelude::*;
use thiserror::Error;

use super::lbfgs::minimise;

/// Rows in one part.
const PART: usize = 1024;
/// Parts that are computed before their losses are added.
const AT_ONCE: usize = 64;

/// Settings of the training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Weight λ of `½‖W‖²` against the mean loss; the intercepts are free.
    pub l2: f64,
    /// Unit of the features. Penalty and tolerance are those of features divided by it.
    pub unit: f64,
    /// Stop when no entry of the gradient is larger than this.
    pub tolerance: f64,
    /// Stop after this many iterations.
    pub max_iterations: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { l2: 1e-4, unit: 1.0, tolerance: 1e-6, max_iterations: 1000 }
    }
}

/// Why a classifier could not be trained.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SoftmaxError {
    /// There are no samples, no features or no classes.
    #[error(
        "{samples} samples of {dims} features and {classes} classes; there must be at least one of each"
    )]
    Empty {
        /// Number of samples.
        samples: usize,
        /// Number of features.
        dims: usize,
        /// Number of classes.
        classes: usize,
    },
    /// The number of labels or weights differs from the number of samples.
    #[error("{what}: {found} entries for {samples} samples; there must be one for each")]
    Length {
        /// `labels` or `weights`.
        what: &'static str,
        /// Number of entries.
        found: usize,
        /// Number of samples.
        samples: usize,
    },
    /// A feature is not finite.
    #[error("feature at row {row}, column {column} is {value}; features must be finite")]
    Feature {
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A weight is negative or not finite, or all are zero.
    #[error(
        "sample weight of row {row} is {value}; weights must be finite, not negative, and not all zero"
    )]
    Weight {
        /// Row, counted from 0.
        row: usize,
        /// The value.
        value: f64,
    },
    /// A label is not the index of a class.
    #[error(
        "row {row} has label {label}, but there are {classes} classes (labels count from zero)"
    )]
    Label {
        /// Row, counted from 0.
        row: usize,
        /// The label.
        label: usize,
        /// Number of classes.
        classes: usize,
    },
    /// The penalty is negative or not finite.
    #[error("l2 is {0}; it must be finite and not negative")]
    Penalty(f64),
}

/// A trained classifier: class posterior `softmax(W x + b)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Softmax {
    /// Coefficients W, classes × dims.
    pub coefficients: Array2<f64>,
    /// Intercepts b, one per class.
    pub intercepts: Array1<f64>,
    /// Number of training iterations.
    pub iterations: usize,
    /// Largest entry of the gradient at the end.
    pub gradient: f64,
    /// Whether the gradient is within the tolerance. Without a penalty, separable classes never
    /// reach it.
    pub converged: bool,
}

impl Softmax {
    /// Trains on samples (rows of `x`) with class indices `labels`. Each sample counts with its
    /// weight.
    ///
    /// Minimises `Σ w · −ln p(label) / Σ w + l2/2 · ‖W‖²`.
    pub fn train(
        x: &ArrayRef2<f64>,
        labels: &[usize],
        weights: &[f64],
        classes: usize,
        options: &Options,
    ) -> Result<Self, SoftmaxError> {
        check(x, labels, weights, classes)?;
        let total: f64 = weights.iter().sum();
        let weights: Vec<f64> = weights.iter().map(|w| w / total).collect();
        Self::train_on(&Rows { x, labels, weights }, classes, options)
    }

    /// Trains on samples in parts, with weights that sum to one.
    pub(crate) fn train_on(
        samples: &impl Samples,
        classes: usize,
        options: &Options,
    ) -> Result<Self, SoftmaxError> {
        if !(options.l2.is_finite() && options.l2 >= 0.0) {
            return Err(SoftmaxError::Penalty(options.l2));
        }
        let loss = |theta: &Array1<f64>| loss(samples, classes, options, theta);
        let start = Array1::zeros(classes * (samples.dims() + 1));
        let minimum = minimise(start, loss, options.tolerance, options.max_iterations);
        let (coefficients, intercepts) = unpack(&minimum.at, classes, options.unit);
        Ok(Self {
            coefficients,
            intercepts,
            iterations: minimum.iterations,
            gradient: minimum.gradient,
            converged: minimum.gradient <= options.tolerance,
        })
    }

    /// The class posterior of each row, n × C.
    ///
    /// # Panics
    ///
    /// If the rows do not have the number of features of the training samples.
    pub fn posterior(&self, x: &ArrayRef2<f64>) -> Array2<f64> {
        let mut scores = x.dot(&self.coefficients.t()) + &self.intercepts;
        for mut row in scores.outer_iter_mut() {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.mapv_inplace(|v| (v - largest).exp());
            let sum = row.sum();
            row /= sum;
        }
        scores
    }
}

fn check(
    x: &ArrayRef2<f64>,
    labels: &[usize],
    weights: &[f64],
    classes: usize,
) -> Result<(), SoftmaxError> {
    let (samples, dims) = x.dim();
    if samples == 0 || dims == 0 || classes == 0 {
        return Err(SoftmaxError::Empty { samples, dims, classes });
    }
    for (what, found) in [("labels", labels.len()), ("weights", weights.len())] {
        if found != samples {
            return Err(SoftmaxError::Length { what, found, samples });
        }
    }
    if let Some(((row, column), &value)) = x.indexed_iter().find(|(_, v)| !v.is_finite()) {
        return Err(SoftmaxError::Feature { row, column, value });
    }
    if let Some((row, &label)) = labels.iter().enumerate().find(|(_, label)| **label >= classes) {
        return Err(SoftmaxError::Label { row, label, classes });
    }
    let bad = weights.iter().position(|w| !w.is_finite() || *w < 0.0);
    let none = weights.iter().all(|w| *w <= 0.0).then_some(0);
    if let Some(row) = bad.or(none) {
        return Err(SoftmaxError::Weight { row, value: weights[row] });
    }
    Ok(())
}

/// Training samples in parts.
pub(crate) trait Samples: Sync {
    /// Number of features.
    fn dims(&self) -> usize;
    /// Number of parts. It must not depend on the number of threads.
    fn parts(&self) -> usize;
    /// The loss of one part under coefficients W and intercepts b.
    fn part(&self, part: usize, coefficients: &Array2<f64>, intercepts: &Array1<f64>) -> Loss;
}

/// A loss with its gradient.
pub(crate) struct Loss {
    pub(crate) value: f64,
    /// Gradient with respect to the coefficients, classes × dims.
    pub(crate) coefficients: Array2<f64>,
    /// Gradient with respect to the intercepts.
    pub(crate) intercepts: Array1<f64>,
}

impl Loss {
    pub(crate) fn zero(classes: usize, dims: usize) -> Self {
        let (coefficients, intercepts) = (Array2::zeros((classes, dims)), Array1::zeros(classes));
        Self { value: 0.0, coefficients, intercepts }
    }
}

/// Samples that are rows of a matrix. The weights sum to one.
struct Rows<'a> {
    x: &'a ArrayRef2<f64>,
    labels: &'a [usize],
    weights: Vec<f64>,
}

impl Samples for Rows<'_> {
    fn dims(&self) -> usize {
        self.x.ncols()
    }

    fn parts(&self) -> usize {
        self.x.nrows().div_ceil(PART)
    }

    fn part(&self, part: usize, coefficients: &Array2<f64>, intercepts: &Array1<f64>) -> Loss {
        let rows = part * PART..((part + 1) * PART).min(self.x.nrows());
        let x = self.x.slice(s![rows.clone(), ..]);
        let mut scores = x.dot(&coefficients.t()) + intercepts;
        let labels = self.labels[rows.clone()].iter().copied();
        let value = residuals(&mut scores, labels.zip(self.weights[rows].iter().copied()));
        Loss { value, coefficients: scores.t().dot(&x), intercepts: scores.sum_axis(Axis(0)) }
    }
}

/// Turns scores into the gradient of the loss with respect to them, weight · (posterior − one-hot),
/// and returns the loss. Each row has a label and a weight.
pub(crate) fn residuals(
    scores: &mut Array2<f64>,
    given: impl Iterator<Item = (usize, f64)>,
) -> f64 {
    let mut total = 0.0;
    for (mut row, (label, weight)) in scores.outer_iter_mut().zip(given) {
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let of_label = row[label] - largest;
        row.mapv_inplace(|v| (v - largest).exp());
        let sum = row.sum();
        total += weight * (sum.ln() - of_label);
        row *= weight / sum;
        row[label] -= weight;
    }
    total
}

/// Splits one vector into coefficients and intercepts: classes × (dims + 1), intercepts last. The
/// vector has the coefficients of features in units of `unit`.
fn unpack(theta: &Array1<f64>, classes: usize, unit: f64) -> (Array2<f64>, Array1<f64>) {
    let dims = theta.len() / classes - 1;
    let coefficients =
        Array2::from_shape_fn((classes, dims), |(c, i)| theta[c * (dims + 1) + i] / unit);
    let intercepts = Array1::from_shape_fn(classes, |c| theta[c * (dims + 1) + dims]);
    (coefficients, intercepts)
}

/// The loss at `theta` and its gradient.
fn loss(
    samples: &impl Samples,
    classes: usize,
    options: &Options,
    theta: &Array1<f64>,
) -> (f64, Array1<f64>) {
    let Options { l2, unit, .. } = *options;
    let (coefficients, intercepts) = unpack(theta, classes, unit);
    let dims = samples.dims();
    let mut total = Loss::zero(classes, dims);
    let parts: Vec<usize> = (0..samples.parts()).collect();
    // A few parts at a time: each has a gradient of its own.
    for parts in parts.chunks(AT_ONCE) {
        let losses: Vec<Loss> =
            parts.par_iter().map(|part| samples.part(*part, &coefficients, &intercepts)).collect();
        for loss in losses {
            total.value += loss.value;
            total.coefficients += &loss.coefficients;
            total.intercepts += &loss.intercepts;
        }
    }
    let mut gradient = Array2::zeros((classes, dims + 1));
    let scaled = coefficients * unit;
    total.value += 0.5 * l2 * scaled.iter().map(|v| v * v).sum::<f64>();
    gradient.slice_mut(s![.., ..dims]).assign(&(total.coefficients / unit + scaled * l2));
    gradient.slice_mut(s![.., dims]).assign(&total.intercepts);
    (total.value, gradient.flatten().into_owned())
}
