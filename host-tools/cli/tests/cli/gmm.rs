//! `rebearing gmm` as its users run it: the files it writes, and its messages for bad input.

use crate::workplace::Workplace;
use ndarray::{Array2, array};
use rebearing_host::files::{matrix, npy};
use rebearing_host::mixture::{Covariance, EmSettings, Start, fit};
use serde_json::Value;

const GMM: &str = "gmm --data x.npy --out g.json";

/// A folder with the samples of a problem, and the means to start from.
struct Case {
    folder: Workplace,
}

impl Case {
    fn new(x: &Array2<f64>, means: &Array2<f64>) -> Self {
        let folder = Workplace::new();
        for (name, matrix) in [("x.npy", x), ("means.npy", means)] {
            npy::write_matrix(&folder.path().join(name), &matrix.view()).expect("writes");
        }
        Self { folder }
    }

    /// Returns the printed JSON. It must equal the written file.
    fn fitted(&self, options: &str) -> Value {
        let printed = self.folder.json(&format!("{GMM} {options}"));
        let written: Value = serde_json::from_str(&self.folder.read("g.json")).expect("JSON");
        assert_eq!(printed, written);
        printed
    }

    /// Asserts a refusal that names all of `parts` and leaves no file behind.
    fn refused(&self, options: &str, parts: &[&str]) {
        self.folder.refused(&format!("{GMM} --json {options}"), parts);
        assert!(!self.folder.has("g.json"), "no half-written mixture");
    }
}

/// Returns two clouds of points, and a mean in each.
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
    let json = case.fitted("--components 2 --init means.npy");
    let settings = EmSettings { start: Start::Means(means), ..EmSettings::new(2) };
    let expected = fit(x.view(), None, &settings, &|_| ()).expect("fits");
    let Covariance::Diagonal(variances) = &expected.mixture.covariance else {
        panic!("diagonal is the default");
    };
    assert_eq!(numbers(&json["weights"]), expected.mixture.weights.to_vec());
    assert_eq!(numbers(&json["means"]), expected.mixture.means.flatten().to_vec());
    assert_eq!(numbers(&json["covariances"]), variances.flatten().to_vec());
    assert_eq!(json["lower_bound"].as_f64(), Some(expected.log_likelihood));
    // The likelihood is that of the parameters in the file, which the last step made better.
    let own = expected.mixture.log_likelihoods(x.view()).expect("a mixture").mean();
    assert_eq!(json["log_likelihood"].as_f64(), own);
    assert!(own > Some(expected.log_likelihood));
    assert_eq!(json["converged"], true);
}

#[test]
fn tables_give_the_mixture_of_the_same_matrix() {
    let (x, means) = clouds();
    let case = Case::new(&x, &means);
    let expected = case.fitted("--components 2 --seed 1");
    let names = ["a".to_owned(), "b".to_owned()];
    let formats: &[&str] = if cfg!(feature = "parquet") { &["csv", "parquet"] } else { &["csv"] };
    for format in formats {
        let name = format!("x.{format}");
        matrix::write(&case.folder.path().join(&name), x.view(), &names).expect("writes");
        let found =
            case.folder.json(&format!("gmm --data {name} --out t.json --components 2 --seed 1"));
        assert_eq!(found["means"], expected["means"], "{format}");
        assert_eq!(found["data"], name.as_str());
    }
    case.folder.write("gap.csv", "a,b\n1,2\n3,\n");
    let gap = "gmm --data gap.csv --out t2.json --components 1";
    case.folder.refused(gap, &["gap.csv", "line 3, column b", "empty"]);
    assert!(!case.folder.has("t2.json"));
}

#[test]
fn every_covariance_has_the_shape_scikit_learn_gives_it() {
    let (x, means) = clouds();
    let case = Case::new(&x, &means);
    for (kind, count) in [("diag", 4), ("full", 8), ("spherical", 2), ("tied", 4)] {
        let json = case.fitted(&format!("--components 2 --covariance {kind} --seed 3"));
        assert_eq!(numbers(&json["covariances"]).len(), count, "{kind}");
        let mut weights = numbers(&json["weights"]);
        weights.sort_by(f64::total_cmp);
        assert!((weights[0] - 30.0 / 80.0).abs() < 1e-3, "{kind}: {weights:?}");
    }
}

#[test]
fn restarts_really_restart_and_a_seed_repeats() {
    // With more components than clouds there are many solutions, some better than others.
    let x = Array2::from_shape_fn((240, 2), |(i, j)| {
        let wobble = ((13 * i + 5 * j) % 17) as f64 / 17.0;
        let cloud = i % 6;
        wobble + 4.0 * if j == 0 { (cloud % 3) as f64 } else { (cloud / 3) as f64 }
    });
    let case = Case::new(&x, &x);
    let likelihood = |seed: u64, restarts: u32| {
        let options = format!("--components 9 --seed {seed} --restarts {restarts}");
        case.fitted(&options)["log_likelihood"].as_f64().expect("a number")
    };
    let mut starts_differ = false;
    for seed in [1, 2, 3] {
        let (one, many) = (likelihood(seed, 1), likelihood(seed, 8));
        assert!(many >= one, "{many} from eight starts, {one} from the first of them");
        assert_eq!(many.to_bits(), likelihood(seed, 8).to_bits());
        starts_differ |= many > one;
    }
    assert!(starts_differ, "eight starts never found anything better than the first");
}

#[test]
fn a_saved_mixture_scores_rows() {
    let (x, means) = clouds();
    let case = Case::new(&x, &means);
    let json = case.fitted("--components 2 --init means.npy");
    let scored = case
        .folder
        .json("gmm --mixture g.json --data x.npy --scores s.csv --responsibilities r.npy");
    assert_eq!(scored["log_likelihood"], json["log_likelihood"]);
    let shares = npy::read_matrix(&case.folder.path().join("r.npy")).expect("shares").into_f64();
    assert_eq!(shares.dim(), (80, 2));
    assert!(shares.rows().into_iter().all(|row| (row.sum() - 1.0).abs() < 1e-12));
    let scores = case.folder.read("s.csv");
    let mut lines = scores.lines();
    assert_eq!(lines.next(), Some("log_likelihood"));
    let sum: f64 = lines.map(|line| line.parse::<f64>().expect("a number")).sum();
    assert!((sum / 80.0 - json["log_likelihood"].as_f64().expect("a number")).abs() < 1e-12);
    case.folder.refused("gmm --data x.npy", &["--components"]);
    case.folder.refused("gmm --mixture g.json --data x.npy --out h.json", &["--out"]);
}

#[test]
fn labelled_rows_get_a_mixture_for_each_class() {
    let (x, means) = clouds();
    let case = Case::new(&x, &means);
    let labels: Vec<&str> = (0..80).map(|row| if row < 30 { "low" } else { "high" }).collect();
    case.folder.write("y.csv", format!("label\n{}\n", labels.join("\n")));
    let json = case.fitted("--components 1 --labels y.csv");
    assert_eq!(json["classes"], serde_json::json!(["high", "low"]));
    assert_eq!(json["labels"], serde_json::json!([[1.0, 0.0], [0.0, 1.0]]));
    assert_eq!(numbers(&json["weights"]), [0.5, 0.5]);
    let low = x.slice(ndarray::s![..30, 0]).mean().expect("rows");
    assert!((json["means"][1][0].as_f64().expect("a number") - low).abs() < 1e-9);
    case.folder.write("short.csv", "label\nlow\nhigh\n");
    case.folder.refused(
        "gmm --data x.npy --labels short.csv --components 1 --out h.json",
        &["short.csv", "2 for 80 rows"],
    );
}

#[test]
fn bad_input_is_named_with_file_and_place() {
    let (mut x, means) = clouds();
    let case = Case::new(&x, &array![[0.5], [7.0]]);
    case.refused("--components 2 --init means.npy", &["means.npy", "dimensions"]);
    case.refused("--components 81", &["80", "81"]);
    case.refused("--components 0", &["components"]);
    x[[17, 1]] = f64::NAN;
    let case = Case::new(&x, &means);
    case.refused("--components 2", &["x.npy", "row 17", "column 1"]);
}
