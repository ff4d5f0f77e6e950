//! Risk and coverage: how many targets a promise accepts, and how right their labels are.

use serde::Serialize;

use super::Run;

/// The promises of the table.
pub const PROMISES: [f64; 7] = [0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99];

/// One promise, and the runs whose predicted accuracy keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RiskCoverage {
    /// The promised accuracy.
    pub promise: f64,
    /// Runs with a predicted accuracy.
    pub runs: usize,
    /// Runs that were accepted.
    pub accepted: usize,
    /// Accepted runs as a share of all.
    pub coverage: f64,
    /// Mean true accuracy of the carried labels of accepted runs.
    pub accuracy: Option<f64>,
    /// The least of these accuracies.
    pub worst: Option<f64>,
    /// Accepted runs whose true accuracy is below the promise.
    pub broken: usize,
}

/// The predicted and the true accuracy of a run's carried labels, if it has both.
pub fn predicted_and_true(run: &Run) -> Option<(f64, f64)> {
    Some((run.predicted_accuracy?, run.carried_accuracy?))
}

/// The table over all runs. It is empty if no run has a predicted accuracy.
pub fn risk_coverage<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Vec<RiskCoverage> {
    risk_coverage_at(&PROMISES, runs)
}

/// The same table for other promises.
pub fn risk_coverage_at<'a>(
    promises: &[f64],
    runs: impl IntoIterator<Item = &'a Run>,
) -> Vec<RiskCoverage> {
    let points: Vec<(f64, f64)> = runs.into_iter().filter_map(predicted_and_true).collect();
    if points.is_empty() {
        return Vec::new();
    }
    promises.iter().map(|promise| at(*promise, &points)).collect()
}

/// One row of the table, from pairs of predicted and true accuracy.
fn at(promise: f64, points: &[(f64, f64)]) -> RiskCoverage {
    let accepted: Vec<f64> = points
        .iter()
        .filter(|(predicted, _)| *predicted >= promise)
        .map(|(_, accuracy)| *accuracy)
        .collect();
    let mean = accepted.iter().sum::<f64>() / accepted.len().max(1) as f64;
    RiskCoverage {
        promise,
        runs: points.len(),
        accepted: accepted.len(),
        coverage: accepted.len() as f64 / points.len().max(1) as f64,
        accuracy: (!accepted.is_empty()).then_some(mean),
        worst: accepted.iter().copied().reduce(f64::min),
        broken: accepted.iter().filter(|accuracy| **accuracy < promise).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_accepts_what_was_predicted_and_is_judged_by_what_is_true() {
        let points = [(0.95, 0.99), (0.92, 0.85), (0.5, 0.9), (0.3, 0.1)];
        let row = at(0.9, &points);
        assert_eq!((row.runs, row.accepted, row.broken), (4, 2, 1));
        assert!((row.coverage - 0.5).abs() < 1e-12);
        assert!((row.accuracy.unwrap() - 0.92).abs() < 1e-12);
        assert_eq!(row.worst, Some(0.85));
        let none = at(0.99, &points);
        assert_eq!((none.accepted, none.accuracy, none.worst), (0, None, None));
    }
}
