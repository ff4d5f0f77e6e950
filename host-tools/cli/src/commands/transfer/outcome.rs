//! The result of a transfer, as text and as JSON.

use std::fmt::Write as _;

use rebearing_host::baselines::Seconds;
use rebearing_host::files::matrix::Labels;
use rebearing_host::matrices::Classes;
use rebearing_host::words::plural;
use serde_json::{Value, json};

use super::TransferArgs;
use super::run::{Attempt, Labelled};
use crate::args::choice::{Choice as _, OneOrAll};
use crate::commands::{Outcome, shown};
use crate::text::flags::{all_as_flags, as_flags};

/// Sizes of the matrices.
pub(super) struct Shape {
    /// Rows of the source, if it is not a mixture.
    pub(super) source_rows: Option<usize>,
    /// Rows that were labelled.
    pub(super) rows: usize,
    /// Number of columns.
    pub(super) features: usize,
}

pub(super) fn outcome(
    args: &TransferArgs,
    classes: &Classes,
    shape: &Shape,
    results: &[Attempt],
    moved: Option<usize>,
) -> Outcome {
    let mut json: Vec<Value> =
        results.iter().map(|result| to_json(args, classes, shape, result)).collect();
    let mut text = format!(
        "{}, {} -> {} to label, {}\n",
        shape.source_rows.map_or("a mixture".into(), |rows| plural(
            rows,
            "source row",
            "source rows"
        )),
        plural(classes.len(), "class", "classes"),
        plural(shape.rows, "row", "rows"),
        plural(shape.features, "feature", "features"),
    );
    match (results, args.method) {
        ([(_, Ok(labelled))], OneOrAll::One(_)) => single(&mut text, args, labelled),
        _ => table(&mut text, results),
    }
    if let (Some(moved), Some(path)) = (moved, &args.map_out) {
        let moved = plural(moved, "moved source row", "moved source rows");
        let _ = writeln!(text, "{moved} -> {}", path.display());
    }
    let json = match args.method {
        OneOrAll::One(_) => json.pop().unwrap_or_default(),
        OneOrAll::All => json.into(),
    };
    Outcome::new(text, json)
}

fn single(text: &mut String, args: &TransferArgs, labelled: &Labelled) {
    let Labelled { model, marks, .. } = labelled;
    let _ = write!(text, "{}: ", model.method);
    if let Some(guarded) = &model.guarded {
        let forced = if guarded.forced { ", forced" } else { "" };
        let _ = write!(text, "{}{forced}, ", guarded.verdict);
    }
    match marks {
        Some(marks) => {
            let _ = writeln!(
                text,
                "accuracy {:.1} %, balanced {:.1} %, {:.2} s",
                100.0 * marks.accuracy,
                100.0 * marks.balanced_accuracy,
                total(labelled)
            );
        }
        None => {
            let _ = writeln!(text, "{:.2} s", total(labelled));
        }
    }
    if let Some(carried) = labelled.carried_accuracy {
        let _ = writeln!(
            text,
            "  the labels that were not used are right in {:.1} % of rows",
            100.0 * carried
        );
    }
    if let Some(guarded) = &model.guarded {
        for reason in &guarded.reasons {
            let _ = writeln!(text, "  {}", as_flags(reason));
        }
        for warning in &guarded.warnings {
            let _ = writeln!(text, "  warning: {}", as_flags(warning));
        }
    }
    for (what, path) in [("labels", &args.out), ("probabilities", &args.probabilities)] {
        if let Some(path) = path {
            let _ = writeln!(text, "{what} -> {}", path.display());
        }
    }
}

fn table(text: &mut String, results: &[Attempt]) {
    let _ = writeln!(text, "{:<20}{:>10}{:>10}{:>10}", "method", "accuracy", "balanced", "seconds");
    let percent = |share: Option<f64>| share.map_or("-".into(), |x| format!("{:.1} %", 100.0 * x));
    for (method, result) in results {
        match result {
            Ok(labelled) => {
                let marks = labelled.marks.as_ref();
                let _ = write!(
                    text,
                    "{method:<20}{:>10}{:>10}{:>10.2}",
                    percent(marks.map(|marks| marks.accuracy)),
                    percent(marks.map(|marks| marks.balanced_accuracy)),
                    total(labelled)
                );
                if let Some(guarded) = &labelled.model.guarded {
                    let _ = write!(text, "  {}", guarded.verdict);
                }
                text.push('\n');
            }
            Err(error) => {
                let _ = writeln!(text, "{method:<20}{}", as_flags(error));
            }
        }
    }
}

/// Seconds of all steps.
fn total(labelled: &Labelled) -> f64 {
    let Seconds { fit_source, fit_target, transport } = labelled.model.seconds;
    fit_source + fit_target + transport + labelled.predict
}

fn to_json(args: &TransferArgs, classes: &Classes, shape: &Shape, result: &Attempt) -> Value {
    let (method, result) = result;
    let mut json = json!({
        "method": method.name(),
        "accuracy": null,
        "balanced_accuracy": null,
        "scale": args.scale.choice_name(),
        "seed": args.seed,
        "source_rows": shape.source_rows,
        "rows": shape.rows,
        "features": shape.features,
        "classes": labels(classes.of_classes()),
    });
    let labelled = match result {
        Ok(labelled) => labelled,
        Err(error) => {
            json["error"] = as_flags(error).into();
            return json;
        }
    };
    let Seconds { fit_source, fit_target, transport } = labelled.model.seconds;
    json["seconds"] = total(labelled).into();
    json["steps"] = json!({
        "fit_source": fit_source,
        "fit_target": fit_target,
        "transport": transport,
        "predict": labelled.predict,
    });
    if let Some(marks) = &labelled.marks {
        json["accuracy"] = marks.accuracy.into();
        json["balanced_accuracy"] = marks.balanced_accuracy.into();
        json["unknown_rate"] = marks.unknown_rate.into();
        json["recall"] = json!(marks.recall);
        json["confusion"] = json!(marks.confusion);
    }
    if let Some(guarded) = &labelled.model.guarded {
        let (mut reasons, mut warnings) = (guarded.reasons.clone(), guarded.warnings.clone());
        all_as_flags(&mut reasons);
        all_as_flags(&mut warnings);
        json["verdict"] = json!(guarded.verdict);
        json["forced"] = guarded.forced.into();
        json["predicted_accuracy"] = guarded.judgement.prediction.accuracy.into();
        json["promise"] = args.promise.into();
        json["carried_accuracy"] = labelled.carried_accuracy.into();
        json["reasons"] = reasons.into();
        json["warnings"] = warnings.into();
        json["unknown_label"] = labels(&classes.unknown())[0].clone();
    }
    for (name, path) in
        [("out", &args.out), ("probabilities", &args.probabilities), ("map_out", &args.map_out)]
    {
        if let Some(path) = path {
            json[name] = shown(path).into();
        }
    }
    json
}

fn labels(labels: &Labels) -> Value {
    match labels {
        Labels::Integers(values) => json!(values),
        Labels::Texts(values) => json!(values),
    }
}
