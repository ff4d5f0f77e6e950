//! `rebearing transfer` as its users run it: three formats, every method, and its messages for bad
//! input.

use std::path::Path;

use crate::workplace::Workplace;
use ndarray::Array2;
use rebearing_host::files::matrix::{self, Labels, Matrix};
use serde_json::Value;

const METHODS: [&str; 11] = [
    "guarded",
    "gmm-otda-map",
    "gmm-otda-t",
    "source-only",
    "otda-exact",
    "otda-sinkhorn",
    "otda-affine",
    "otda-affine-diag",
    "hot-da",
    "infoot",
    "infoot-barycentric",
];

const ROWS: &str = "--source-x xs.npy --source-y ys.npy --target-x xt.npy";

/// Three clouds; the target's are moved and stretched.
fn clouds(rows: usize, seed: usize, shift: f64) -> Array2<f64> {
    let centres = [[0.0, 0.0, 0.0], [8.0, 0.0, 4.0], [0.0, 9.0, -4.0]];
    Array2::from_shape_fn((rows, 3), |(i, j)| {
        let place = (i + 1000 * seed) as u64 * 3 + j as u64 + 1;
        let bits = place.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11;
        centres[i % 3][j] + bits as f64 / (1_u64 << 52) as f64 - 1.0 + shift
    })
}

fn integers(rows: usize) -> Labels {
    Labels::Integers((0..rows).map(|row| [30, 4, 100][row % 3]).collect())
}

fn texts(rows: usize) -> Labels {
    Labels::Texts((0..rows).map(|row| ["Normal", "Ball", "innen"][row % 3].into()).collect())
}

struct Case {
    folder: Workplace,
}

impl Case {
    fn new(extension: &str, labels: impl Fn(usize) -> Labels) -> Self {
        let case = Self { folder: Workplace::new() };
        let names: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
        for (name, rows, seed, shift) in [("s", 120, 1, 0.0), ("t", 90, 2, 0.8), ("u", 60, 3, 0.8)]
        {
            let x = clouds(rows, seed, shift);
            let (x_path, y_path) = (format!("x{name}.{extension}"), format!("y{name}.{extension}"));
            matrix::write(&case.path(&x_path), x.view(), &names).expect("writes");
            matrix::write_labels(&case.path(&y_path), &labels(rows)).expect("writes");
        }
        case
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn labels(&self, name: &str) -> Labels {
        matrix::read_labels(&self.path(name)).expect("labels")
    }

    fn write_x(&self, name: &str, x: &Array2<f64>) {
        matrix::write(&self.path(name), x.view(), &[]).expect("writes");
    }

    /// Asserts a refusal that names all of `parts` and leaves no output behind.
    fn refused(&self, options: &str, parts: &[&str]) {
        self.folder.refused(&format!("transfer --json {options} --out y.npy"), parts);
        assert!(!self.folder.has("y.npy"), "no half-written labels");
    }
}

fn numbers(path: &Path) -> Array2<f64> {
    matrix::read(path).map(Matrix::into_f64).expect("a matrix")
}

#[test]
fn labels_and_probabilities_come_in_the_format_that_was_asked_for() {
    for extension in ["npy", "csv", "parquet"] {
        for labels in [integers as fn(usize) -> Labels, texts] {
            let case = Case::new(extension, labels);
            let json = case.folder.json(&format!(
                "transfer --source-x xs.{extension} --source-y ys.{extension} \
                 --target-x xt.{extension} --target-y yt.{extension} --method gmm-otda-map \
                 --out y.{extension} --probabilities p.{extension}"
            ));
            assert_eq!(json["accuracy"], 1.0, "{json}");
            assert_eq!(json["balanced_accuracy"], 1.0);
            assert!(json["seconds"].is_f64() && json["steps"]["fit_target"].is_f64());
            assert_eq!(case.labels(&format!("y.{extension}")), labels(90), "{extension}");
            let p = numbers(&case.path(&format!("p.{extension}")));
            assert_eq!(p.dim(), (90, 3));
            assert!(p.rows().into_iter().all(|row| (row.sum() - 1.0).abs() < 1e-9));
        }
    }
    let case = Case::new("npy", integers);
    let json = case.folder.json(&format!("transfer {ROWS}"));
    assert_eq!(json["classes"], serde_json::json!([4, 30, 100]), "by value, not by digits");
    assert_eq!(json["method"], "guarded");
    assert_eq!(json["verdict"], "adapt", "{json}");
    assert_eq!(json["accuracy"], Value::Null, "nobody knows it");
    assert!(json["predicted_accuracy"].as_f64() > Some(0.9));
}

#[test]
fn all_compares_every_method_and_a_failure_is_a_row() {
    let case = Case::new("npy", integers);
    let run = |options: &str| -> Vec<Value> {
        let all = format!("transfer {ROWS} --target-y yt.npy --method all --json {options}");
        serde_json::from_str(&case.folder.run(&all)).expect("a list")
    };
    let rows = run("");
    assert_eq!(rows.iter().map(|row| row["method"].as_str().unwrap()).collect::<Vec<_>>(), METHODS);
    for row in &rows {
        // HOT-DA had 0.85 here.
        let least = if row["method"] == "hot-da" { 0.8 } else { 0.95 };
        assert!(row["accuracy"].as_f64() > Some(least), "{row}");
    }
    // The guard takes diagonal covariances alone.
    let rows = run("--covariance full --scale each");
    assert!(rows[0]["error"].as_str().expect("an error").contains("--covariance full"), "{rows:?}");
    assert!(rows[1]["accuracy"].as_f64() > Some(0.95));
    let text = case.folder.run(&format!("transfer {ROWS} --target-y yt.npy --method all"));
    for method in METHODS {
        assert!(text.contains(&format!("\n{method} ")), "{text}");
    }
}

#[test]
fn a_test_matrix_of_its_own_is_labelled() {
    let case = Case::new("npy", texts);
    for scale in ["none", "source", "each"] {
        let json = case.folder.json(&format!(
            "transfer {ROWS} --test-x xu.npy --test-y yu.npy --method gmm-otda-t --scale {scale} --out y.npy"
        ));
        assert_eq!((json["accuracy"].as_f64(), json["rows"].as_u64()), (Some(1.0), Some(60)));
        assert_eq!(json["scale"], scale);
        assert_eq!(case.labels("y.npy"), texts(60));
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let case = Case::new("npy", integers);
    for method in ["gmm-otda-t", "otda-sinkhorn", "guarded"] {
        let mut before: Option<Vec<u8>> = None;
        for threads in ["", "--threads 1", "--threads 3"] {
            case.folder.run(&format!(
                "transfer {ROWS} --method {method} --seed 5 --probabilities p.npy {threads}"
            ));
            let bytes = case.folder.bytes("p.npy");
            assert_eq!(before.get_or_insert_with(|| bytes.clone()), &bytes, "{method} {threads}");
        }
    }
}

#[test]
fn an_abstaining_guard_writes_unknown_and_can_be_forced() {
    let case = Case::new("npy", integers);
    // One cloud alone.
    let one = clouds(90, 2, 0.8);
    let one = Array2::from_shape_fn((90, 3), |(i, j)| one[[i - i % 3, j]] + 1e-3 * i as f64);
    case.write_x("one.npy", &one);
    let source = "transfer --source-x xs.npy --source-y ys.npy --target-x one.npy";
    let json = case.folder.json(&format!("{source} --out y.npy"));
    assert_eq!((&json["verdict"], &json["unknown_label"]), (&"abstain".into(), &(-1).into()));
    assert_eq!(case.labels("y.npy"), Labels::Integers(vec![-1; 90]));
    let reasons = json["reasons"].to_string();
    assert!(reasons.contains("--force") && !reasons.contains('`'), "{reasons}");
    let json = case.folder.json(&format!("{source} --out y.npy --force"));
    assert_eq!(json["forced"], true);
    assert!(!matches!(case.labels("y.npy"), Labels::Integers(labels) if labels.contains(&-1)));
}

#[test]
fn moved_rows_have_their_origin_and_weight_beside_them() {
    let case = Case::new("npy", texts);
    for map in ["weight", "mean", "rand"] {
        case.folder.json(&format!("transfer {ROWS} --map {map} --map-out m.npy"));
        let moved = numbers(&case.path("m.npy"));
        let beside = case.folder.read("m.rows.csv");
        let mut lines = beside.lines();
        assert_eq!(lines.next(), Some("label,origin,weight"));
        assert!(lines.next().expect("a row").starts_with("Normal,0,"), "{beside}");
        assert_eq!(beside.lines().count(), moved.nrows() + 1);
    }
    case.folder.refused(&format!("transfer {ROWS} --map mean --map-out m.csv"), &[".npy"]);
}

#[test]
fn a_saved_mixture_is_a_source() {
    let case = Case::new("npy", texts);
    let fitted = case.folder.json("gmm --data xs.npy --labels ys.npy --components 2 --out g.json");
    assert_eq!(fitted["classes"], serde_json::json!(["Ball", "Normal", "innen"]));
    assert_eq!(fitted["components"], 6);
    let source = "transfer --source-mixture g.json --target-x xt.npy --target-y yt.npy";
    for method in ["guarded", "gmm-otda-map"] {
        let json = case.folder.json(&format!("{source} --method {method} --scale source"));
        assert_eq!(json["accuracy"], 1.0, "{json}");
    }
    case.folder.refused(&format!("{source} --method gmm-otda-t"), &["saved mixture has none"]);
    case.folder.run("gmm --data xs.npy --components 2 --out plain.json");
    let plain = "transfer --source-mixture plain.json --target-x xt.npy";
    case.folder.refused(plain, &["plain.json", "no labels", "--labels"]);
    case.folder.write("g.json", case.folder.read("g.json").replace("\"diag\"", "\"round\""));
    case.folder.refused(source, &["g.json", "none of diag"]);
}

#[test]
fn bad_input_is_named_with_file_and_place() {
    let case = Case::new("npy", integers);
    let mut x = clouds(90, 2, 0.8);
    x[[17, 1]] = f64::NAN;
    case.write_x("nan.npy", &x);
    case.write_x("narrow.npy", &clouds(90, 2, 0.8).slice(ndarray::s![.., ..2]).to_owned());
    case.write_x("one.npy", &clouds(1, 2, 0.8));
    let mut lone = vec![1; 120];
    lone[7] = 2;
    lone[8] = 3;
    lone[9] = 3;
    let labels = |name: &str, labels| {
        matrix::write_labels(&case.path(name), &labels).expect("writes");
    };
    labels("lone.npy", Labels::Integers(lone));
    labels("same.npy", Labels::Integers(vec![1; 120]));
    labels("other.npy", Labels::Integers(vec![30; 89].into_iter().chain([5]).collect()));
    let source = "--source-x xs.npy --source-y ys.npy";
    for (options, parts) in [
        (format!("{source} --target-x nan.npy"), &["nan.npy", "row 17, column 1", "from 0"][..]),
        (format!("{source} --target-x narrow.npy"), &["narrow.npy", "2 columns", "has 3"]),
        (format!("{source} --target-x one.npy"), &["one.npy", "1 row"]),
        (format!("{source} --target-x xt.npy --target-y ys.npy"), &["ys.npy", "120 for 90 rows"]),
        (
            format!("{source} --target-x xt.npy --target-y other.npy"),
            &["other.npy", "have 5 in row 89", "4, 30, 100"],
        ),
        (
            "--source-x xs.npy --source-y lone.npy --target-x xt.npy".into(),
            &["lone.npy", "class 2", "row 7"],
        ),
        (
            "--source-x xs.npy --source-y same.npy --target-x xt.npy".into(),
            &["same.npy", "two classes"],
        ),
        (
            "--source-x xs.npy --source-y yt.npy --target-x xt.npy".into(),
            &["yt.npy", "90 for 120 rows"],
        ),
        (format!("{source} --target-x absent.npy"), &["absent.npy"]),
        (format!("{source} --target-x xt.npy --method best"), &["best", "gmm-otda-map"]),
        (format!("{source} --target-x xt.npy --pool-is healthy"), &["--pool-is healthy", "time"]),
        (format!("{source} --target-x xt.npy --promise 2"), &["--promise 2"]),
        (format!("{source} --target-x xt.npy --components 0"), &["--components 0"]),
        (format!("{source} --target-x xt.npy --method all"), &["--out", "--method"]),
        (format!("{source} --target-x xt.npy --threads 0"), &["--threads"]),
        ("--target-x xt.npy".into(), &["--source-x"]),
    ] {
        case.refused(&options, parts);
    }
    let out = format!("transfer {source} --target-x xt.npy --out y.txt");
    case.folder.refused(&out, &["y.txt", ".npy, .csv or .parquet"]);
    let out = format!("transfer {source} --target-x xt.npy --out no/such/y.npy");
    case.folder.refused(&out, &["no/such/y.npy"]);
}
