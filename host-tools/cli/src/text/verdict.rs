//! The verdict of a model file as JSON. The engine has the sentence.

use rebearing::model::{AccuracyCurve, ModelVerdict};
use rebearing_host::words::decimal;
use serde_json::{Value, json};

/// Returns the verdict as JSON; null if the file gives none.
pub(crate) fn verdict_json(verdict: Option<ModelVerdict>) -> Value {
    let Some(verdict) = verdict else { return Value::Null };
    json!({
        "verdict": verdict.verdict.name(),
        "forced": verdict.forced,
        "predicted_accuracy": verdict.predicted_accuracy.map(decimal),
        "promise": decimal(verdict.promise),
        "transfers": verdict.transfers,
        "curve": verdict.curve.map(AccuracyCurve::name),
    })
}
