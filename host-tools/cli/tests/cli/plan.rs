//! `rebearing plan` as its users run it: the files it writes, and its messages for bad input.

use crate::transport_problems::problem;
use crate::workplace::Workplace;
use ndarray::{Array2, ArrayView2};
use rebearing_host::files::npy;
use rebearing_host::transport::exact;
use serde_json::Value;

const PLAN: &str = "plan --cost c.npy --a a.npy --b b.npy --out p.npy";

/// A folder with the three inputs of a problem.
struct Case {
    folder: Workplace,
}

impl Case {
    fn new(a: &[f64], b: &[f64], cost: &Array2<f64>) -> Self {
        let folder = Workplace::new();
        let column = |w: &[f64]| Array2::from_shape_fn((w.len(), 1), |(i, _)| w[i]);
        for (name, matrix) in [("a.npy", &column(a)), ("b.npy", &column(b)), ("c.npy", cost)] {
            let path = folder.path().join(name);
            npy::write_matrix(&path, &ArrayView2::from(matrix)).expect("writes");
        }
        Self { folder }
    }

    fn solved(&self, options: &str) -> (Value, Array2<f64>) {
        let json = self.folder.json(&format!("{PLAN} {options}"));
        let plan = npy::read_matrix(&self.folder.path().join("p.npy")).expect("a plan");
        (json, plan.into_f64())
    }

    /// Asserts a refusal that names all of `parts` and leaves no file behind.
    fn refused(&self, options: &str, parts: &[&str]) {
        self.folder.refused(&format!("{PLAN} --json {options}"), parts);
        assert!(!self.folder.has("p.npy"), "no half-written plan");
    }
}

#[test]
fn the_plan_written_is_the_librarys() {
    let (a, b, cost) = problem(1, 30, 20, "points");
    let case = Case::new(&a, &b, &cost);
    let (json, plan) = case.solved("");
    let expected = exact::solve(&a, &b, &cost, &exact::Options::default()).expect("solves");
    assert_eq!(plan, expected.plan);
    assert_eq!(json["cost"].as_f64(), Some(expected.cost));
    assert_eq!(json["solver"], "exact");
    assert!(json["row_error"].as_f64() < Some(1e-14));
    let (json, smooth) = case.solved("--solver sinkhorn --epsilon 0.05");
    assert!(json["cost"].as_f64() > Some(expected.cost));
    assert!(json["row_error"].as_f64() <= Some(1e-9));
    assert!(smooth.iter().all(|p| *p > 0.0));
    let (json, _) = case.solved("--solver relaxed --tau 0.03");
    assert!(json["row_error"].as_f64() > Some(1e-3), "rows give way");
    assert!(json["col_error"].as_f64() < Some(1e-12), "columns do not");
}

#[test]
fn the_inputs_may_be_tables() {
    let (a, b, cost) = problem(1, 6, 4, "points");
    let case = Case::new(&a, &b, &cost);
    let (expected, _) = case.solved("");
    let line = |numbers: &[f64]| numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    case.folder.write("a.csv", line(&a));
    case.folder.write("b.csv", format!("weight\n{}\n", line(&b).replace(',', "\n")));
    let rows: Vec<String> = cost.outer_iter().map(|row| line(&row.to_vec())).collect();
    case.folder.write("c.csv", rows.join("\n"));
    let found = case.folder.json("plan --cost c.csv --a a.csv --b b.csv --out t.npy");
    assert_eq!(found["cost"], expected["cost"]);
    case.folder.refused("plan --cost c.csv --a c.csv --b b.csv --out u.npy", &["c.csv", "vector"]);
}

#[test]
fn a_million_entries_go_through() {
    let (a, b, cost) = problem(2, 1000, 1000, "points");
    let (json, plan) = Case::new(&a, &b, &cost).solved("");
    assert_eq!(plan.dim(), (1000, 1000));
    assert!((plan.sum() - 1.0).abs() < 1e-12);
    assert!(json["row_error"].as_f64() < Some(1e-14));
}

#[test]
fn a_negative_cost_is_a_gain() {
    let (a, b, cost) = problem(3, 8, 8, "points");
    let (plain, _) = Case::new(&a, &b, &cost).solved("");
    let (shifted, _) = Case::new(&a, &b, &(cost - 5.0)).solved("");
    let difference = plain["cost"].as_f64().unwrap() - shifted["cost"].as_f64().unwrap();
    assert!((difference - 5.0).abs() < 1e-12);
}

#[test]
fn bad_input_is_refused_with_the_file_and_the_place() {
    let (a, b, cost) = problem(4, 5, 4, "points");
    let twice: Vec<f64> = b.iter().map(|b| 2.0 * b).collect();
    Case::new(&a, &twice, &cost).refused("", &["normalise both"]);
    let mut negative = a.clone();
    negative[3] = -0.1;
    Case::new(&negative, &b, &cost).refused("", &["a.npy", "weight 3 is -0.1"]);
    Case::new(&a[1..], &b, &cost).refused("", &["a.npy", "4 weights"]);
    let mut nan = cost.clone();
    nan[[2, 1]] = f64::NAN;
    Case::new(&a, &b, &nan).refused("", &["c.npy", "row 2, column 1"]);
    let good = Case::new(&a, &b, &cost);
    for epsilon in ["0", "-0.1", "nan"] {
        good.refused(&format!("--solver sinkhorn --epsilon {epsilon}"), &["epsilon"]);
    }
    good.refused("--solver relaxed --tau -1", &["tau is -1"]);
    good.refused("--epsilon 0.1", &["--solver sinkhorn"]);
    good.refused("--solver sinkhorn --epsilon 1e-4 --max-iterations 3", &["marginal error"]);
}
