//! EM against scikit-learn from the same start (golden/mixture.py makes the numbers).

use ndarray::{Array1, Array2, Array3, Axis};
use rebearing_host::mixture::{Covariance, CovarianceKind, EmSettings, Fit, Mixture, Start, fit};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    problems: Vec<Problem>,
}

#[derive(Deserialize)]
struct Problem {
    n: usize,
    d: usize,
    k: usize,
    x: Vec<f64>,
    means: Vec<f64>,
    variance: f64,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    covariance: String,
    iterations: usize,
    variance_floor: f64,
    lower_bound: f64,
    weights: Vec<f64>,
    means: Vec<f64>,
    covariances: Vec<f64>,
    log_likelihoods: Vec<f64>,
    responsibilities: Vec<f64>,
    bic: f64,
}

fn problems() -> Vec<Problem> {
    let golden: Golden = serde_json::from_str(include_str!("golden/mixture.json")).unwrap();
    golden.problems
}

impl Problem {
    fn x(&self) -> Array2<f64> {
        Array2::from_shape_vec((self.n, self.d), self.x.clone()).unwrap()
    }

    fn start(&self, kind: CovarianceKind) -> Mixture {
        let (k, d, v) = (self.k, self.d, self.variance);
        let identity = Array2::<f64>::eye(d) * v;
        Mixture {
            weights: Array1::from_elem(k, 1.0 / k as f64),
            means: Array2::from_shape_vec((k, d), self.means.clone()).unwrap(),
            covariance: match kind {
                CovarianceKind::Diagonal => Covariance::Diagonal(Array2::from_elem((k, d), v)),
                CovarianceKind::Spherical => Covariance::Spherical(Array1::from_elem(k, v)),
                CovarianceKind::Full => {
                    let mut all = Array3::zeros((k, d, d));
                    all.axis_iter_mut(Axis(0)).for_each(|mut m| m.assign(&identity));
                    Covariance::Full(all)
                }
                CovarianceKind::Tied => Covariance::Tied(identity),
            },
        }
    }

    fn fit(&self, run: &Run) -> Fit {
        let kind = match run.covariance.as_str() {
            "diag" => CovarianceKind::Diagonal,
            "spherical" => CovarianceKind::Spherical,
            "tied" => CovarianceKind::Tied,
            "full" => CovarianceKind::Full,
            other => panic!("unknown covariance {other}"),
        };
        let settings = EmSettings {
            covariance: kind,
            tolerance: 0.0,
            max_iterations: run.iterations,
            variance_floor: run.variance_floor,
            start: Start::Mixture(self.start(kind)),
            minimum_count: 0.0,
            ..EmSettings::new(self.k)
        };
        fit(self.x().view(), None, &settings, &|_| {}).unwrap()
    }
}

/// Asserts that each value is within 1e-9 of the expected one, relative to the largest.
fn assert_close<'a>(what: &str, found: impl IntoIterator<Item = &'a f64>, expected: &[f64]) {
    let found: Vec<f64> = found.into_iter().copied().collect();
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= 1e-9 * e.abs().max(1e-3), "{what}[{i}]: {f} instead of {e}");
    }
}

#[test]
fn parameters_and_likelihood_are_those_of_scikit_learn() {
    for (p, problem) in problems().iter().enumerate() {
        for run in &problem.runs {
            let what = format!("problem {p}, {}, {} iterations", run.covariance, run.iterations);
            let fit = problem.fit(run);
            assert_eq!(fit.iterations, run.iterations, "{what}");
            assert_eq!(fit.reseeded, 0, "{what}");
            assert_close(
                &format!("{what}: lower bound"),
                [&fit.log_likelihood],
                &[run.lower_bound],
            );
            assert_close(&format!("{what}: weights"), &fit.mixture.weights, &run.weights);
            assert_close(&format!("{what}: means"), &fit.mixture.means, &run.means);
            let what = format!("{what}: covariances");
            match &fit.mixture.covariance {
                Covariance::Diagonal(v) | Covariance::Tied(v) => {
                    assert_close(&what, v, &run.covariances);
                }
                Covariance::Spherical(v) => assert_close(&what, v, &run.covariances),
                Covariance::Full(v) => assert_close(&what, v, &run.covariances),
            }
        }
    }
}

#[test]
fn densities_and_responsibilities_are_those_of_scikit_learn() {
    for problem in problems() {
        let x = problem.x();
        for run in &problem.runs {
            let mixture = problem.fit(run).mixture;
            let first = x.slice(ndarray::s![..10, ..]);
            let likelihoods = mixture.log_likelihoods(first).unwrap();
            assert_close("log-likelihoods", &likelihoods, &run.log_likelihoods);
            let responsibilities = mixture.responsibilities(first).unwrap();
            assert_close("responsibilities", &responsibilities, &run.responsibilities);
            let n = problem.n as f64;
            let likelihood = mixture.log_likelihoods(x.view()).unwrap().sum();
            let bic = mixture.parameters() as f64 * n.ln() - 2.0 * likelihood;
            assert_close("BIC", [&bic], &[run.bic]);
        }
    }
}
