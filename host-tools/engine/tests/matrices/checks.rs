//! Bad input is refused, with the place.

use ndarray::{Array2, s};
use rebearing_host::adapt::verdict::Pool;
use rebearing_host::baselines::Method;
use rebearing_host::evaluate::EvaluatedMethod::{Baseline, Guarded};
use rebearing_host::files::matrix::Labels;
use rebearing_host::matrices::{
    Given, MatrixError, MatrixSettings, Prepared, Scale, Which, check_labels,
};
use rebearing_host::mixture::CovarianceKind;

use crate::clouds::{source, target};

fn refused(x: &Array2<f64>, labels: &Labels, target: &Array2<f64>, parts: &[&str]) -> MatrixError {
    let given = Given { source: x.view().into(), labels, target: target.view().into() };
    let error = Prepared::new(given, Scale::None).expect_err("refused");
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    error
}

#[test]
fn a_value_that_is_no_number_is_named_with_matrix_row_and_column() {
    let (known, new) = (source(), target());
    for value in [f64::NAN, f64::INFINITY] {
        let mut x = known.x.clone();
        x[[17, 2]] = value;
        let parts = ["source matrix", "row 17, column 2", "counted from 0"];
        let error = refused(&x, &known.labels, &new.x, &parts);
        assert_eq!(error.which(), Some(Which::Source));
        let mut x = new.x.clone();
        x[[119, 0]] = value;
        refused(&known.x, &known.labels, &x, &["target matrix", "row 119, column 0"]);
    }
}

#[test]
fn sizes_that_do_not_fit_are_named() {
    let (known, new) = (source(), target());
    let fewer = Labels::Integers(vec![0; 149]);
    refused(&known.x, &fewer, &new.x, &["149", "150 rows"]);
    let narrow = new.x.slice(s![.., ..3]).to_owned();
    refused(&known.x, &known.labels, &narrow, &["target matrix has 3 columns", "source has 4"]);
    let one_row = new.x.slice(s![..1, ..]).to_owned();
    refused(&known.x, &known.labels, &one_row, &["1 row and 4 columns", "at least two"]);
    let one_column = known.x.slice(s![.., ..1]).to_owned();
    refused(&one_column, &known.labels, &new.x, &["150 rows and 1 column"]);
    let constant = Array2::from_elem((150, 4), 3.5);
    refused(&constant, &known.labels, &new.x, &["no spread"]);
}

#[test]
fn labels_that_do_not_do_are_named_with_class_and_row() {
    let (known, new) = (source(), target());
    refused(&known.x, &Labels::Integers(vec![4; 150]), &new.x, &["all source rows", "label 4"]);
    let mut texts = vec!["a".to_owned(); 150];
    texts[3] = "b".into();
    texts[60] = "alone".into();
    texts[61] = "b".into();
    let error = refused(&known.x, &Labels::Texts(texts), &new.x, &["class alone", "row 60"]);
    assert!(error.is_about_labels());
    let given =
        Given { source: known.x.view().into(), labels: &known.labels, target: new.x.view().into() };
    let prepared = Prepared::new(given, Scale::None).expect("prepared");
    let labels = Labels::Integers(vec![0, 10, 7]);
    let error = check_labels(prepared.classes(), &labels, 3, Which::TargetLabels).unwrap_err();
    assert!(error.to_string().contains("have 7 in row 2"), "{error}");
    assert!(check_labels(prepared.classes(), &labels, 4, Which::TargetLabels).is_err());
}

#[test]
fn settings_out_of_range_are_named_as_fields() {
    let (known, new) = (source(), target());
    let given =
        Given { source: known.x.view().into(), labels: &known.labels, target: new.x.view().into() };
    let prepared = Prepared::new(given, Scale::None).expect("prepared");
    let default = MatrixSettings::default;
    let mut none = default();
    none.methods.components_per_class = 0;
    let mut floor = default();
    floor.methods.variance_floor = 0.0;
    let mut full = default();
    full.methods.covariance = CovarianceKind::Full;
    for (settings, part) in [
        (MatrixSettings { promise: 1.5, ..default() }, "`promise` 1.5"),
        (MatrixSettings { pool_is: Pool::Healthy, ..default() }, "`pool_is` healthy"),
        (none, "`components` 0"),
        (floor, "`variance_floor` 0"),
        (full, "`covariance` full"),
    ] {
        let error = prepared.fit(Guarded, &settings).expect_err("refused").to_string();
        assert!(error.contains(part), "{error}");
    }
    let model = prepared.fit(Baseline(Method::SourceOnly), &default()).expect("fits");
    let narrow = new.x.slice(s![.., ..2]);
    let error = model.label(narrow).expect_err("refused").to_string();
    assert!(error.contains("test matrix has 2 columns"), "{error}");
}
