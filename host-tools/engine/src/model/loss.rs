//! Compares an i16 model with the f32 model that it was made from, on recordings.

use rebearing::IntegerModel;
use rebearing::integer::features::standardise;
use rebearing::integer::{IntegerClassified, classify};
use rebearing::{Model, SensorFault};
use serde::Serialize;

use crate::data::counts::Counts;
use crate::data::split::Part;
use crate::features::extract::Features;
use crate::features::front_end::FrontEndSettings;
use crate::features::integer_extract::integer_features;
use crate::features::snapshot::Snapshot;
use crate::model::findings::findings;

/// Smallest share of windows that get the same label from both models. The loss must stay below the
/// loss that a threshold causes anyway: up to one window in a hundred on recordings of its own
/// machine.
pub const AGREEMENT_MIN: f64 = 0.99;

/// The loss of an i16 model against its f32 model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Loss {
    /// Number of windows compared.
    pub windows: usize,
    /// Share of these windows with the label of the f32 model.
    pub label_agreement: f64,
    /// Number of log-likelihoods compared. Windows that the f32 model puts below the mixture's
    /// threshold are left out, because their log-likelihoods decide nothing.
    pub scores: usize,
    /// Root mean square of the differences between the log-likelihoods, in nats.
    pub score_error_rms: f64,
    /// Largest difference, in nats.
    pub score_error_max: f64,
}

/// Evaluates an i16 model on rows of features that are not standardised.
pub fn integer_findings(model: &IntegerModel<'_>, rows: &[Vec<i32>]) -> Vec<IntegerClassified> {
    let mut z = vec![0; model.dims()];
    let mut x = vec![0; model.dims()];
    let mut responsibilities = vec![0; model.component_count()];
    let mut posterior = vec![0; model.classes()];
    let healthy = model.healthy().unwrap_or(0);
    rows.iter()
        .map(|row| {
            standardise(model.scaling(), row, &mut z);
            classify(model.classifier(), healthy, &z, &mut x, &mut responsibilities, &mut posterior)
        })
        .collect()
}

/// Compares the two models on the windows of `parts` and on `snapshots`.
///
/// `features` are the f32 features of these windows.
pub fn loss(
    model: &Model<'_>,
    integer: &IntegerModel<'_>,
    features: &Features,
    counts: &[Counts],
    parts: &[Part],
    front_end: &FrontEndSettings,
    snapshots: &[Snapshot],
) -> Result<Loss, SensorFault> {
    let mut rows = integer_features(counts, parts, front_end)?;
    rows.extend(snapshots.iter().flat_map(Snapshot::integer_rows));
    let found = integer_findings(integer, &rows);
    let exact = findings(model, &features.x).rows;
    let gate_min = model.gate().map_or(f32::MIN, |gate| gate.log_likelihood_min);
    let mut errors = Vec::new();
    let mut same = 0;
    for (exact, found) in exact.iter().zip(&found) {
        same += usize::from(exact.label == found.label);
        let pairs = [
            (exact.gate_log_likelihood, found.gate_log_likelihood, gate_min),
            (exact.log_likelihood, found.log_likelihood, model.log_likelihood_min()),
        ];
        for (exact, found, min) in pairs {
            if let (Some(exact), Some(found)) = (exact.filter(|exact| *exact >= min), found) {
                errors.push((f64::from(found) / 256.0 - f64::from(exact)).abs());
            }
        }
    }
    let count = errors.len().max(1) as f64;
    Ok(Loss {
        windows: exact.len(),
        label_agreement: same as f64 / exact.len().max(1) as f64,
        scores: errors.len(),
        score_error_rms: (errors.iter().map(|e| e * e).sum::<f64>() / count).sqrt(),
        score_error_max: errors.iter().copied().fold(0.0, f64::max),
    })
}
