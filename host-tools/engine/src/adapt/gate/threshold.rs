//! How far from the healthy state a window may lie.
//!
//! The distance of a window is D = 2·(l₀ − l): l is its log-likelihood, l₀ the highest of the peaks
//! of the components. For one component that is the squared distance in standard deviations. Its
//! logarithm is nearly normal, also where windows are not, so the limit is a tolerance limit of it.

use std::f64::consts::TAU;

use ndarray::ArrayRef2;

use super::tolerance::factor;
use crate::mixture::{Covariance, Mixture};

/// Smallest distance of which a logarithm is taken.
const LEAST_DISTANCE: f64 = 1e-9;

/// The highest peak of a component, l₀: ln π − ½ Σ ln 2πσ².
pub(super) fn peak(mixture: &Mixture) -> f64 {
    let Covariance::Diagonal(variances) = &mixture.covariance else {
        unreachable!("a gate is fitted with diagonal covariances");
    };
    peak_of(mixture.weights.iter().copied(), variances)
}

fn peak_of(weights: impl Iterator<Item = f64>, variances: &ArrayRef2<f64>) -> f64 {
    let volume = variances.rows().into_iter().map(|row| row.mapv(|v| (TAU * v).ln()).sum());
    weights.zip(volume).map(|(weight, ln)| weight.ln() - 0.5 * ln).fold(f64::MIN, f64::max)
}

/// The logarithm of the distance of a window with this log-likelihood.
pub(super) fn log_distance(peak: f64, log_likelihood: f64) -> f64 {
    (2.0 * (peak - log_likelihood)).max(LEAST_DISTANCE).ln()
}

/// The distance that a share `p` of healthy windows may exceed, from the logarithms of the
/// distances of held-out windows. They stand for `independent` windows.
///
/// It is never below the largest of them: a gate must not call a window faulty that was recorded as
/// healthy. Where the distances have a heavier tail than the normal distribution, this counts.
pub(super) fn limit(log_distances: &[f64], independent: f64, p: f64) -> f64 {
    let n = log_distances.len() as f64;
    let mean = log_distances.iter().sum::<f64>() / n.max(1.0);
    let squares: f64 = log_distances.iter().map(|y| (y - mean).powi(2)).sum();
    let deviation = (squares / (n - 1.0).max(1.0)).sqrt();
    let largest = log_distances.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (mean + factor(independent, p) * deviation).max(largest).exp()
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    /// `tests/adapt/golden/gate.py` has the script.
    #[test]
    fn the_limit_is_a_tolerance_limit_of_the_logarithms() {
        let limit = limit(&[3.0, 3.2, 3.1, 3.4, 2.9, 3.3, 3.0, 3.5], 7.0, 1e-4);
        assert!((limit - 58.405).abs() < 1e-3, "{limit}");
    }

    #[test]
    fn no_window_that_was_recorded_as_healthy_is_beyond_the_limit() {
        let mut distances = vec![3.0; 200];
        distances[7] = 9.0;
        assert!(limit(&distances, 100.0, 1e-2) >= 9.0_f64.exp());
    }

    #[test]
    fn the_distance_of_one_component_is_in_standard_deviations() {
        let mixture = Mixture {
            weights: array![1.0],
            means: array![[1.0, 2.0]],
            covariance: Covariance::Diagonal(array![[0.04, 0.25]]),
        };
        let x = array![[1.4, 1.0], [1.0, 2.0]];
        let scores = mixture.log_likelihoods(x.view()).unwrap();
        let peak = peak(&mixture);
        let distance = log_distance(peak, scores[0]).exp();
        assert!((distance - 8.0).abs() < 1e-9, "two standard deviations in both: {distance}");
        assert!((log_distance(peak, scores[1]).exp()) < 2e-9);
        let two = Mixture {
            weights: array![0.5, 0.5],
            means: array![[0.0], [9.0]],
            covariance: Covariance::Diagonal(array![[1.0], [0.01]]),
        };
        let narrow = 0.5_f64.ln() - 0.5 * (TAU * 0.01).ln();
        assert!((super::peak(&two) - narrow).abs() < 1e-12);
    }
}
