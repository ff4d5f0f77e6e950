//! Result of an adaptation: the parts of a model, and the reasons for them.

use std::fmt;

use ndarray::Array2;
use rebearing::model::{self, AccuracyCurve};
use serde::Serialize;

use super::choose::Candidate;
use super::curve::Prediction;
use super::gate::Gate;
use super::plausible::Plausibility;
use super::transfer::{CarriedLabels, Support};
use crate::mixture::LabelledMixture;
use crate::mixture::held_out::HeldOut;
use crate::model::encoded::ModelBytes;
use crate::model::file::{self, GateContents, ModelContents, ModelFileError};
use crate::model::verdict::VerdictContents;
use crate::source::Source;

/// The verdict on a target: adapt, keep or abstain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Use the target's own mixture, with labels carried over by the plan. The predicted accuracy
    /// keeps the promise.
    Adapt,
    /// Use a gate fitted to the target's healthy windows, and the source's fault types.
    Keep,
    /// Name nothing. With a gate, windows are healthy or a fault of unknown type. Without one,
    /// every window is unknown.
    Abstain,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Adapt => "adapt",
            Self::Keep => "keep",
            Self::Abstain => "abstain",
        })
    }
}

/// The result of an adaptation, ready to be written as a model.
#[derive(Debug, Clone)]
pub struct Adaptation {
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the model names classes although the verdict is to abstain.
    pub forced: bool,
    /// The reasons, in words and figures.
    pub reasons: Vec<String>,
    /// Contradictions between the pool and what was said about it.
    pub warnings: Vec<String>,
    /// The machine that the labels come from: one of the library, or a combination of several.
    pub source: Source,
    /// Every machine of the library, and how well it suits the target.
    pub candidates: Vec<Candidate>,
    /// The predicted accuracy of the carried labels, if labels could be carried.
    pub prediction: Option<Prediction>,
    /// How well the carried labels agree with what is known of the machines, if labels could be
    /// carried.
    pub plausibility: Option<Plausibility>,
    /// The accuracy from which labels are trusted.
    pub promise: f64,
    /// Subtracted from each feature.
    pub shift: Vec<f32>,
    /// Multiplied with each feature after the shift.
    pub scale: Vec<f32>,
    /// The gate that separates healthy from faulty windows, over standardised features.
    pub gate: Option<Gate>,
    /// The mixture that separates the classes, over standardised features. Behind a gate it
    /// separates the fault types, over the directions of the features. `None` behind a gate means
    /// that fault types are not named.
    pub mixture: Option<LabelledMixture>,
    /// Windows with a lower log-likelihood are unknown.
    pub log_likelihood_min: Option<f64>,
    /// Windows that the mixture was not fitted on. With a gate: windows that the gate was not
    /// fitted on.
    pub held_out: HeldOut,
    /// The plan, source components × target components, if one was made.
    pub plan: Option<Array2<f64>>,
    /// Squared mixture-Wasserstein distance, if a plan was made.
    pub mw2_squared: Option<f64>,
    /// The labels that were carried along the plan, if one was made. They are here even if they were
    /// rejected.
    pub carried: Option<CarriedLabels>,
    /// The evidence for the plan, if one was made. It is here even if the plan was rejected.
    pub support: Option<Support>,
    /// Time spent in EM and in transport.
    pub seconds: Seconds,
}

impl Adaptation {
    /// The model file of this adaptation. `hash` identifies all data that it was fitted from.
    pub fn model(&self, target: &str, hash: [u8; 32]) -> Result<ModelBytes, ModelFileError> {
        let source = &self.source;
        file::encode(&ModelContents {
            front_end: &source.front_end,
            shift: &self.shift,
            scale: &self.scale,
            mixture: self.mixture.as_ref(),
            gate: self.gate.as_ref().map(|gate| GateContents {
                mixture: &gate.mixture,
                log_likelihood_min: gate.log_likelihood_min,
                direction: true,
            }),
            class_names: &source.classes,
            healthy: source.healthy,
            log_likelihood_min: self.log_likelihood_min,
            source: &source.domain,
            target,
            hash,
        })
    }
}

impl Adaptation {
    /// The verdict as the model file carries it.
    pub fn verdict_contents(&self) -> VerdictContents {
        // Behind a gate the carried labels are not used, so their accuracy says nothing.
        let prediction = self.prediction.as_ref().filter(|_| self.gate.is_none());
        let curve = |prediction: &Prediction| {
            if prediction.by_library() { AccuracyCurve::Library } else { AccuracyCurve::Fixed }
        };
        VerdictContents {
            verdict: match self.verdict {
                Verdict::Adapt => model::Verdict::Adapt,
                Verdict::Keep => model::Verdict::Keep,
                Verdict::Abstain => model::Verdict::Abstain,
            },
            forced: self.forced,
            predicted_accuracy: prediction.map(|prediction| prediction.accuracy),
            promise: self.promise,
            transfers: prediction.map_or(0, |prediction| prediction.transfers),
            curve: prediction.map(curve),
        }
    }
}

/// The time spent, in seconds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Seconds {
    /// Time for EM on the target.
    pub fit_target: f64,
    /// Time for cost, plan and labels.
    pub transport: f64,
}
