//! The label and log-likelihoods of each window, from a model of either encoding.

use rebearing::classify::Classified;
use rebearing::integer::IntegerClassified;
use rebearing::model::Integers;
use rebearing::{Label, SensorFault};

use crate::data::counts::Counts;
use crate::data::split::Part;
use crate::device::Shown;
use crate::features::extract::Features;
use crate::features::front_end::FrontEndSettings;
use crate::features::integer_extract::integer_features;
use crate::features::snapshot::Snapshot;
use crate::model::deployed::DeployedModel;
use crate::model::findings::findings;
use crate::model::loss::integer_findings;

/// The label of a window, and how well each mixture explains the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// The class, unknown, or fault of unknown type.
    pub label: Label,
    /// Log-likelihood under the gate, in nats; `None` without one.
    pub gate_log_likelihood: Option<f64>,
    /// Log-likelihood under the other components, in nats; `None` if they were not evaluated.
    pub log_likelihood: Option<f64>,
}

impl From<&Classified> for Window {
    fn from(found: &Classified) -> Self {
        Self {
            label: found.label,
            gate_log_likelihood: found.gate_log_likelihood.map(f64::from),
            log_likelihood: found.log_likelihood.map(f64::from),
        }
    }
}

impl From<&IntegerClassified> for Window {
    fn from(found: &IntegerClassified) -> Self {
        let wide = |q8: i32| f64::from(Integers::shown_nats(q8));
        Self {
            label: found.label,
            gate_log_likelihood: found.gate_log_likelihood.map(wide),
            log_likelihood: found.log_likelihood.map(wide),
        }
    }
}

/// Evaluates `model` on the windows of recordings and snapshots.
///
/// An f32 model takes `features`, the f32 features of these windows. An i16 model takes the
/// `counts` of the recordings instead, and computes its own features.
pub fn windows(
    model: &DeployedModel,
    features: &Features,
    counts: &[Counts],
    parts: &[Part],
    front_end: &FrontEndSettings,
    snapshots: &[Snapshot],
) -> Result<Vec<Window>, SensorFault> {
    Ok(match model {
        DeployedModel::F32(bytes) => {
            findings(&bytes.model(), &features.x).rows.iter().map(Window::from).collect()
        }
        DeployedModel::I16(bytes) => {
            let mut rows = integer_features(counts, parts, front_end)?;
            rows.extend(snapshots.iter().flat_map(Snapshot::integer_rows));
            integer_findings(&bytes.model(), &rows).iter().map(Window::from).collect()
        }
    })
}
