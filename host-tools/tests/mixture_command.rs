//! `rebearing gmm` from the outside: what it writes, and what it says to bad input.

use std::path::PathBuf;
use std::process::{Command, Output};

use ndarray::{Array2, array};
use rebearing_host::mixture::{Covariance, EmSettings, Start, fit};
use rebearing_host::npy;
use serde_json::Value;

/// A folder with the samples of a problem, and the means to start from.
struct Case {
    folder: tempfile::TempDir,
}

impl Case {
    fn new(x: &Array2<f64>, means: &Array2<f64>) -> Self {
        let case = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        npy::write_matrix(&case.path("x.npy"), &x.view()).expect("writes");
        npy::write_matrix(&case.path("means.npy"), &means.view()).expect("writes");
        case
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, options: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_rebearing"))
            .current_dir(self.folder.path())
            .args(["gmm", "--data", "x.npy", "--out", "g.json", "--json"])
            .args(options)
            .output()
            .expect("runs")
    }

    /// What was printed, which must be what was written.
    fn fitted(&self, options: &[&str]) -> Value {
        let output = self.run(options);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let printed: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        let written = std::fs::read(self.path("g.json")).expect("a mixture");
        assert_eq!(printed, serde_json::from_slice::<Value>(&written).expect("JSON"));
        printed
    }

    /// The message of a refused run, which must leave no file behind.
    fn refused(&self, options: &[&str]) -> String {
        let output = self.run(options);
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
        assert!(!self.path("g.json").exists(), "no half-written mixture");
        String::from_utf8(output.stderr).expect("text")
    }
}

/// Two clouds of points, and a mean in each.
fn clouds() -> (Array2<f64>, Array2<f64>) {
    let x = Array2::from_shape_fn((80, 2), |(i, j)| {
        let wobble = ((7 * i + 3 * j) % 11) as f64 / 11.0;
        if i < 30 { wobble } else { 6.0 + 2.0 * wobble }
    });
    (x, array![[0.5, 0.5], [7.0, 7.0]])
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        value => vec![value.as_f64().expect("a number")],
    }
}

#[test]
fn the_mixture_written_is_the_librarys() {
    let (x, means) = clouds();
    let case = Case::new(&x, &means);
    let json = case.fitted(&["--components", "2", "--init", "means.npy"]);
    let settings = EmSettings { start: Start::Means(means), ..EmSettings::new(2) };
    let expected = fit(x.view(), None, &settings, &|_| ()).expect("fits");
    let Covariance::Diagonal(variances) = &expected.mixture.covariance else {
        panic!("diagonal is the default");
    };
    assert_eq!(numbers(&json["weights"]), expected.mixture.weights.to_vec());
    assert_eq!(numbers(&json["means"]), expected.mixture.means.flatten().to_vec());
    assert_eq!(numbers(&json["covariances"]), variances.flatten().to_vec());
    assert_eq!(json["log_likelihood"].as_f64(), Some(expected.log_likelihood));
    assert_eq!(json["converged"], true);
}

#[test]
fn every_covariance_has_the_shape_scikit_learn_gives_it() {
    let (x, means) = clouds();
    let case = Case::new(&x, &means);
    for (kind, count) in [("diag", 4), ("full", 8), ("spherical", 2), ("tied", 4)] {
        let json = case.fitted(&["--components", "2", "--covariance", kind, "--seed", "3"]);
        assert_eq!(numbers(&json["covariances"]).len(), count, "{kind}");
        let mut weights = numbers(&json["weights"]);
        weights.sort_by(f64::total_cmp);
        assert!((weights[0] - 30.0 / 80.0).abs() < 1e-3, "{kind}: {weights:?}");
    }
}

#[test]
fn restarts_really_restart_and_a_seed_repeats() {
    // More components than clouds can be spent in many ways, some better than others.
    let x = Array2::from_shape_fn((240, 2), |(i, j)| {
        let wobble = ((13 * i + 5 * j) % 17) as f64 / 17.0;
        let cloud = i % 6;
        wobble + 4.0 * if j == 0 { (cloud % 3) as f64 } else { (cloud / 3) as f64 }
    });
    let case = Case::new(&x, &x);
    let likelihood = |seed: &str, restarts: &str| {
        let options = ["--components", "9", "--seed", seed, "--restarts", restarts];
        case.fitted(&options)["log_likelihood"].as_f64().expect("a number")
    };
    let mut starts_differ = false;
    for seed in ["1", "2", "3"] {
        let (one, many) = (likelihood(seed, "1"), likelihood(seed, "8"));
        assert!(many >= one, "{many} from eight starts, {one} from the first of them");
        assert_eq!(many.to_bits(), likelihood(seed, "8").to_bits());
        starts_differ |= many > one;
    }
    assert!(starts_differ, "eight starts never found anything better than the first");
}

#[test]
fn bad_input_is_named_with_file_and_place() {
    let (mut x, means) = clouds();
    let case = Case::new(&x, &array![[0.5], [7.0]]);
    let message = case.refused(&["--components", "2", "--init", "means.npy"]);
    assert!(message.contains("means.npy") && message.contains("dimensions"), "{message}");
    let message = case.refused(&["--components", "81"]);
    assert!(message.contains("80") && message.contains("81"), "{message}");
    let message = case.refused(&["--components", "0"]);
    assert!(message.contains("components"), "{message}");
    x[[17, 1]] = f64::NAN;
    let case = Case::new(&x, &means);
    let message = case.refused(&["--components", "2"]);
    assert!(
        message.contains("x.npy") && message.contains("row 17") && message.contains("column 1"),
        "{message}"
    );
}
