//! Saved mixtures: they come back as they were, and hostile files are refused.

use ndarray::Array2;
use rebearing_host::baselines::Method;
use rebearing_host::evaluate::EvaluatedMethod::{Baseline, Guarded};
use rebearing_host::matrices::{
    Given, Marks, MatrixSettings, Prepared, SavedLabels, SavedMixture, Scale, Scaling, check_source,
};
use rebearing_host::mixture::{ComponentCount, CovarianceKind, EmSettings, fit_conditional};
use serde_json::{Value, json};

use crate::clouds::{Domain, source, target};

fn saved(known: &Domain, covariance: CovarianceKind) -> SavedMixture {
    let (classes, rows) = check_source(known.x.view(), &known.labels).expect("a source");
    let settings = EmSettings { covariance, variance_floor: 0.1, ..EmSettings::new(2) };
    let count = ComponentCount::PerClass(2);
    let names = classes.names();
    let fit = fit_conditional(known.x.view(), &rows, &names, None, &count, &settings, &|_| ());
    let labelled = fit.expect("fits").mixture;
    let columns = Scaling::measure(known.x.view());
    let labels = SavedLabels { classes, table: labelled.labels, columns };
    SavedMixture { mixture: labelled.mixture, labels: Some(labels) }
}

fn read(json: &Value) -> Result<SavedMixture, String> {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), json.to_string()).expect("writes");
    SavedMixture::read(file.path()).map_err(|error| error.to_string())
}

#[test]
fn a_saved_mixture_comes_back_to_the_bit_and_is_a_source() {
    let (known, new) = (source(), target());
    for covariance in CovarianceKind::ALL {
        let saved = saved(&known, covariance);
        assert_eq!(read(&Value::Object(saved.to_json())).expect("reads"), saved);
        for scale in [Scale::None, Scale::Source, Scale::Each] {
            let target = new.x.view().into();
            let prepared = Prepared::from_mixture(saved.clone(), target, scale).expect("prepared");
            let settings = MatrixSettings::default();
            for method in [Guarded, Baseline(Method::GmmOtdaMap), Baseline(Method::SourceOnly)] {
                let model = match prepared.fit(method, &settings) {
                    Ok(model) => model,
                    // The guard compares diagonal mixtures.
                    Err(error) => {
                        assert_eq!(method, Guarded, "{error}");
                        assert!(error.to_string().contains("`source_mixture`"), "{error}");
                        assert_ne!(covariance, CovarianceKind::Diagonal);
                        continue;
                    }
                };
                let found = model.label(new.x.view()).expect("labels");
                let marks = Marks::new(&new.classes, &found.classes, 3).expect("rows");
                assert!(marks.accuracy > 0.95, "{method}, {covariance:?}, {scale:?}");
            }
            let error = prepared.fit(Baseline(Method::GmmOtdaT), &settings).expect_err("refused");
            assert!(error.to_string().contains("a saved mixture has none"), "{error}");
        }
    }
}

/// Saved with the same variance floor, a mixture gives the labels that its rows give.
#[test]
fn a_saved_mixture_gives_the_labels_of_its_rows() {
    let (known, new) = (source(), target());
    let saved = saved(&known, CovarianceKind::Diagonal);
    let mut settings = MatrixSettings::default();
    settings.methods.restarts = 1;
    let rows =
        Given { source: known.x.view().into(), labels: &known.labels, target: new.x.view().into() };
    let rows = Prepared::new(rows, Scale::None).expect("prepared");
    settings.methods.variance_floor = 0.1 / rows.mean_variance();
    let mixture =
        Prepared::from_mixture(saved, new.x.view().into(), Scale::None).expect("prepared");
    let posterior = |prepared: &Prepared<'_, f64>| -> Array2<f64> {
        let model = prepared.fit(Baseline(Method::GmmOtdaMap), &settings).expect("fits");
        model.label(new.x.view()).expect("labels").posterior
    };
    let off = (&posterior(&rows) - &posterior(&mixture)).mapv(f64::abs).sum();
    assert!(off < 1e-6, "{off}");
}

#[test]
fn hostile_files_are_refused_with_the_place() {
    let good = Value::Object(saved(&source(), CovarianceKind::Diagonal).to_json());
    let with = |field: &str, value: Value| {
        let mut json = good.clone();
        json[field] = value;
        json
    };
    let mut short = good.clone();
    short["means"][4].as_array_mut().expect("a row").pop();
    let mut negative = good.clone();
    negative["covariances"][2][1] = json!(-1.0);
    let mut null = good.clone();
    null["covariances"][2][1] = Value::Null;
    let mut spread = good.clone();
    spread["labels"][1] = json!([0.5, 0.2, 0.2]);
    let mut one = good.clone();
    one.as_object_mut().expect("fields").remove("labels");
    for (json, part) in [
        (json!([]), "is not a mixture"),
        (json!({"weights": []}), "missing field"),
        (short, "means: row 4 has 3 numbers, expected 4"),
        (negative, "variance -1 of component 2"),
        (null, "covariances, row 2: entry 1 is not a number"),
        (with("covariances", json!("x")), "covariances: must be a list"),
        (with("covariances", json!([1.0])), "covariances, row 0"),
        (with("covariance", json!("round")), "none of diag"),
        (with("weights", json!([0.5, 0.5])), "weights has shape 2"),
        (with("weights", json!([0.5, 0.5, 0.5, 0.5, -1.0, 0.0])), "weight of component 4"),
        (with("weights", json!([0.5, 0.5, 0.5, 0.0, 0.0, 0.0])), "sum to 1.5"),
        (with("means", json!([])), "covariances: 6 rows, expected 0"),
        (spread, "labels: row 1 is not a distribution"),
        (with("classes", json!([3, 2, 1])), "classes: must be distinct and in order"),
        (with("classes", json!(["a", "b\n", "c"])), "line break"),
        (with("classes", json!([0, 1])), "labels: row 0 has 3 numbers, expected 2"),
        (one, "one is there without the other"),
        (with("column_means", json!([0.0])), "column_means: 1 numbers for 4 columns"),
        (with("column_deviations", json!([1.0, 1.0, -1.0, 1.0])), "column 2 is -1"),
        (with("column_deviations", json!([0.0, 0.0, 0.0, 0.0])), "no usable spread"),
    ] {
        let error = read(&json).expect_err("refused");
        assert!(error.contains(part), "no {part:?} in {error}");
        assert!(error.contains("rebearing gmm"), "{error}");
    }
    let text = good.to_string().replacen("0.", "1e999", 1);
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("writes");
    assert!(SavedMixture::read(file.path()).is_err());
    let tied = Value::Object(saved(&source(), CovarianceKind::Tied).to_json());
    let mut lopsided = tied;
    lopsided["covariances"][0][0][1] = json!(1e6);
    assert!(read(&lopsided).expect_err("refused").contains("not symmetric and positive definite"));
}
