//! `rebearing plan` from the outside: what it writes, and what it says to bad input.

mod transport_problems;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ndarray::{Array2, ArrayView2};
use rebearing_host::npy;
use rebearing_host::transport::exact;
use serde_json::Value;
use transport_problems::problem;

/// A folder with the three inputs of a problem.
struct Case {
    folder: tempfile::TempDir,
}

impl Case {
    fn new(a: &[f64], b: &[f64], cost: &Array2<f64>) -> Self {
        let case = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        let column = |w: &[f64]| Array2::from_shape_fn((w.len(), 1), |(i, _)| w[i]);
        for (name, matrix) in [("a.npy", &column(a)), ("b.npy", &column(b)), ("c.npy", cost)] {
            npy::write_matrix(&case.path(name), &ArrayView2::from(matrix)).expect("writes");
        }
        case
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, options: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_rebearing"))
            .current_dir(self.folder.path())
            .args([
                "plan", "--cost", "c.npy", "--a", "a.npy", "--b", "b.npy", "--out", "p.npy",
                "--json",
            ])
            .args(options)
            .output()
            .expect("runs")
    }

    fn solved(&self, options: &[&str]) -> (Value, Array2<f64>) {
        let output = self.run(options);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{message}");
        let json = serde_json::from_slice(&output.stdout).expect("one JSON object");
        (json, npy::read_matrix(&self.path("p.npy")).expect("a plan").into_f64())
    }

    /// The message of a refused run, which must leave no file behind.
    fn refused(&self, options: &[&str]) -> String {
        let output = self.run(options);
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
        assert!(!Path::new(&self.path("p.npy")).exists(), "no half-written plan");
        String::from_utf8(output.stderr).expect("text")
    }
}

#[test]
fn the_plan_written_is_the_librarys() {
    let (a, b, cost) = problem(1, 30, 20, "points");
    let case = Case::new(&a, &b, &cost);
    let (json, plan) = case.solved(&[]);
    let expected = exact::solve(&a, &b, &cost, &exact::Options::default()).expect("solves");
    assert_eq!(plan, expected.plan);
    assert_eq!(json["cost"].as_f64(), Some(expected.cost));
    assert_eq!(json["solver"], "exact");
    assert!(json["row_error"].as_f64() < Some(1e-14));
    let (json, smooth) = case.solved(&["--solver", "sinkhorn", "--epsilon", "0.05"]);
    assert!(json["cost"].as_f64() > Some(expected.cost));
    assert!(json["row_error"].as_f64() <= Some(1e-9));
    assert!(smooth.iter().all(|p| *p > 0.0));
    let (json, _) = case.solved(&["--solver", "relaxed", "--tau", "0.03"]);
    assert!(json["row_error"].as_f64() > Some(1e-3), "rows give way");
    assert!(json["col_error"].as_f64() < Some(1e-12), "columns do not");
}

#[test]
fn a_million_entries_go_through() {
    let (a, b, cost) = problem(2, 1000, 1000, "points");
    let (json, plan) = Case::new(&a, &b, &cost).solved(&[]);
    assert_eq!(plan.dim(), (1000, 1000));
    assert!((plan.sum() - 1.0).abs() < 1e-12);
    assert!(json["row_error"].as_f64() < Some(1e-14));
}

#[test]
fn a_negative_cost_is_a_gain() {
    let (a, b, cost) = problem(3, 8, 8, "points");
    let (plain, _) = Case::new(&a, &b, &cost).solved(&[]);
    let (shifted, _) = Case::new(&a, &b, &(cost - 5.0)).solved(&[]);
    let difference = plain["cost"].as_f64().unwrap() - shifted["cost"].as_f64().unwrap();
    assert!((difference - 5.0).abs() < 1e-12);
}

#[test]
fn bad_input_is_refused_with_the_file_and_the_place() {
    let (a, b, cost) = problem(4, 5, 4, "points");
    let twice: Vec<f64> = b.iter().map(|b| 2.0 * b).collect();
    let message = Case::new(&a, &twice, &cost).refused(&[]);
    assert!(message.contains("normalise both"), "{message}");
    let mut negative = a.clone();
    negative[3] = -0.1;
    let message = Case::new(&negative, &b, &cost).refused(&[]);
    assert!(message.contains("a.npy") && message.contains("weight 3 is -0.1"), "{message}");
    let message = Case::new(&a[1..], &b, &cost).refused(&[]);
    assert!(message.contains("a.npy") && message.contains("4 weights"), "{message}");
    let mut nan = cost.clone();
    nan[[2, 1]] = f64::NAN;
    let message = Case::new(&a, &b, &nan).refused(&[]);
    assert!(message.contains("c.npy") && message.contains("row 2, column 1"), "{message}");
    let good = Case::new(&a, &b, &cost);
    for epsilon in ["0", "-0.1", "nan"] {
        let message = good.refused(&["--solver", "sinkhorn", "--epsilon", epsilon]);
        assert!(message.contains("epsilon"), "{message}");
    }
    let message = good.refused(&["--solver", "relaxed", "--tau", "-1"]);
    assert!(message.contains("tau is -1"), "{message}");
    let message = good.refused(&["--epsilon", "0.1"]);
    assert!(message.contains("--solver sinkhorn"), "{message}");
    let message =
        good.refused(&["--solver", "sinkhorn", "--epsilon", "1e-4", "--max-iterations", "3"]);
    assert!(message.contains("marginal error"), "{message}");
}
