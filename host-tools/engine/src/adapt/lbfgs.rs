//! L-BFGS: minimises a smooth function of many variables.
//!
//! We have our own because it is short and it is all we need of an optimiser. The crates with L-BFGS
//! bring a framework with them.

use std::collections::VecDeque;

use ndarray::Array1;

/// Number of pairs of steps and gradient changes that describe the curvature.
const MEMORY: usize = 10;
/// Sufficient decrease in the Wolfe conditions.
const DECREASE: f64 = 1e-4;
/// Curvature in the Wolfe conditions.
const CURVATURE: f64 = 0.9;

/// The end point of a minimisation.
pub(super) struct Minimum {
    pub(super) at: Array1<f64>,
    /// Largest entry of the gradient.
    pub(super) gradient: f64,
    pub(super) iterations: usize,
}

/// L-BFGS (Nocedal & Wright 2006, algorithm 7.5) with a line search for the weak Wolfe conditions.
///
/// It stops when no entry of the gradient is above `tolerance`, or after `max_iterations`.
pub(super) fn minimise(
    start: Array1<f64>,
    f: impl Fn(&Array1<f64>) -> (f64, Array1<f64>),
    tolerance: f64,
    max_iterations: usize,
) -> Minimum {
    let norm = |g: &Array1<f64>| g.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let mut at = start;
    let (mut value, mut gradient) = f(&at);
    let mut pairs: VecDeque<(Array1<f64>, Array1<f64>)> = VecDeque::with_capacity(MEMORY);
    let mut iterations = 0;
    while norm(&gradient) > tolerance && iterations < max_iterations {
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
