//! One-layer softmax classifier on weighted samples, trained by L-BFGS.
//!
//! The loss is convex, so there is one solution, and it does not depend on a seed. We have our own
//! L-BFGS because it is short and it is all we need of an optimiser. The crates with L-BFGS bring a
//! framework with them.

use std::collections::VecDeque;

use ndarray::{Array1, Array2, ArrayRef2, Axis, s};
use thiserror::Error;

use crate::progress::pulse;

/// Number of pairs of steps and gradient changes that describe the curvature.
const MEMORY: usize = 10;
/// Sufficient decrease in the Wolfe conditions.
const DECREASE: f64 = 1e-4;
/// Curvature in the Wolfe conditions.
const CURVATURE: f64 = 0.9;

/// Settings of the training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Weight λ of `½‖W‖²` against the mean loss; the intercepts are free.
    pub l2: f64,
    /// Stop when no entry of the gradient is larger than this.
    pub tolerance: f64,
    /// Stop after this many iterations.
    pub max_iterations: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { l2: 1e-4, tolerance: 1e-6, max_iterations: 1000 }
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
        check(x, labels, weights, classes, options)?;
        let total: f64 = weights.iter().sum();
        let weights: Vec<f64> = weights.iter().map(|w| w / total).collect();
        let loss = |theta: &Array1<f64>| loss(x, labels, &weights, classes, options.l2, theta);
        let minimum = minimise(Array1::zeros(classes * (x.ncols() + 1)), loss, options);
        let (coefficients, intercepts) = unpack(&minimum.at, classes);
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
    options: &Options,
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
    if !(options.l2.is_finite() && options.l2 >= 0.0) {
        return Err(SoftmaxError::Penalty(options.l2));
    }
    Ok(())
}

/// Splits one vector into coefficients and intercepts: classes × (dims + 1), intercepts last.
fn unpack(theta: &Array1<f64>, classes: usize) -> (Array2<f64>, Array1<f64>) {
    let dims = theta.len() / classes - 1;
    let coefficients = Array2::from_shape_fn((classes, dims), |(c, i)| theta[c * (dims + 1) + i]);
    let intercepts = Array1::from_shape_fn(classes, |c| theta[c * (dims + 1) + dims]);
    (coefficients, intercepts)
}

/// The loss at `theta` and its gradient.
fn loss(
    x: &ArrayRef2<f64>,
    labels: &[usize],
    weights: &[f64],
    classes: usize,
    l2: f64,
    theta: &Array1<f64>,
) -> (f64, Array1<f64>) {
    let (coefficients, intercepts) = unpack(theta, classes);
    let mut scores = x.dot(&coefficients.t()) + &intercepts;
    let mut total = 0.5 * l2 * coefficients.iter().map(|v| v * v).sum::<f64>();
    // Scores become the gradient of the loss with respect to the scores: weight · (posterior −
    // one-hot).
    for ((mut row, &label), &weight) in scores.outer_iter_mut().zip(labels).zip(weights) {
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let of_label = row[label] - largest;
        row.mapv_inplace(|v| (v - largest).exp());
        let sum = row.sum();
        total += weight * (sum.ln() - of_label);
        row *= weight / sum;
        row[label] -= weight;
    }
    let dims = x.ncols();
    let mut gradient = Array2::zeros((classes, dims + 1));
    gradient.slice_mut(s![.., ..dims]).assign(&(scores.t().dot(x) + coefficients * l2));
    gradient.slice_mut(s![.., dims]).assign(&scores.sum_axis(Axis(0)));
    (total, gradient.flatten().into_owned())
}

/// The end point of a minimisation.
struct Minimum {
    at: Array1<f64>,
    gradient: f64,
    iterations: usize,
}

/// L-BFGS (Nocedal & Wright 2006, algorithm 7.5) with a line search for the weak Wolfe conditions.
fn minimise(
    start: Array1<f64>,
    f: impl Fn(&Array1<f64>) -> (f64, Array1<f64>),
    options: &Options,
) -> Minimum {
    let norm = |g: &Array1<f64>| g.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let mut at = start;
    let (mut value, mut gradient) = f(&at);
    let mut pairs: VecDeque<(Array1<f64>, Array1<f64>)> = VecDeque::with_capacity(MEMORY);
    let mut iterations = 0;
    while norm(&gradient) > options.tolerance && iterations < options.max_iterations {
        pulse();
        let direction = descent(&gradient, &pairs);
        let slope = gradient.dot(&direction);
        let Some((new, new_value, new_gradient)) = search(&f, &at, &direction, value, slope) else {
            // No step lowers the loss any further in f64.
            break;
        };
        let (s, y) = (&new - &at, &new_gradient - &gradient);
        if s.dot(&y) > 0.0 {
            if pairs.len() == MEMORY {
                pairs.pop_front();
            }
            pairs.push_back((s, y));
        }
        (at, value, gradient) = (new, new_value, new_gradient);
        iterations += 1;
    }
    Minimum { gradient: norm(&gradient), at, iterations }
}

/// The two-loop recursion: minus the approximate inverse Hessian times the gradient.
fn descent(gradient: &Array1<f64>, pairs: &VecDeque<(Array1<f64>, Array1<f64>)>) -> Array1<f64> {
    let mut q = gradient.clone();
    let mut alphas = Vec::with_capacity(pairs.len());
    for (s, y) in pairs.iter().rev() {
        let alpha = s.dot(&q) / s.dot(y);
        q.scaled_add(-alpha, y);
        alphas.push(alpha);
    }
    q *= pairs
        .back()
        .map_or_else(|| 1.0 / gradient.dot(gradient).sqrt().max(1.0), |(s, y)| s.dot(y) / y.dot(y));
    for ((s, y), alpha) in pairs.iter().zip(alphas.into_iter().rev()) {
        let beta = y.dot(&q) / s.dot(y);
        q.scaled_add(alpha - beta, s);
    }
    -q
}

/// Finds, by bisection, a step along the direction that lowers the loss enough and flattens the
/// slope enough. Returns the new point with its loss and gradient.
fn search(
    f: &impl Fn(&Array1<f64>) -> (f64, Array1<f64>),
    at: &Array1<f64>,
    direction: &Array1<f64>,
    value: f64,
    slope: f64,
) -> Option<(Array1<f64>, f64, Array1<f64>)> {
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut step = 1.0;
    let mut lower = None;
    for _ in 0..60 {
        let new = at + &(direction * step);
        let (new_value, new_gradient) = f(&new);
        if new_value.is_nan() || new_value > value + DECREASE * step * slope {
            high = step;
        } else {
            let flat = new_gradient.dot(direction) >= CURVATURE * slope;
            lower = Some((new, new_value, new_gradient));
            if flat {
                break;
            }
            low = step;
        }
        step = if high.is_finite() { f64::midpoint(low, high) } else { 2.0 * step };
    }
    lower
}
