//! What adaptation found: the parts of a model, and why they are what they are.

use std::fmt;

use ndarray::Array2;
use serde::Serialize;

use super::gate::Gate;
use super::transfer::Support;
use crate::mixture::LabelledMixture;
use crate::mixture::held_out::HeldOut;
use crate::model::encoded::ModelBytes;
use crate::model::file::{self, GateContents, ModelContents, ModelFileError};
use crate::source::Source;

/// What was done with the target's recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The target's own mixture, with labels carried over by the plan.
    Adapt,
    /// A gate of the target's healthy windows, and the source's fault types; without healthy
    /// windows the source's classes.
    Keep,
    /// Too far from the source: no fault is called by name unless it is like the source's.
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

/// What adaptation found, ready to be written as a model.
#[derive(Debug, Clone)]
pub struct Adaptation {
    /// What was done.
    pub verdict: Verdict,
    /// Why, in words and figures.
    pub reasons: Vec<String>,
    /// Subtracted from each feature.
    pub shift: Vec<f32>,
    /// Multiplied with each feature after the shift.
    pub scale: Vec<f32>,
    /// What says healthy or not, over standardised features.
    pub gate: Option<Gate>,
    /// What tells the classes, or behind a gate the fault types, apart; over standardised
    /// features, or behind a gate over their directions. `None` behind a gate abstains.
    pub mixture: Option<LabelledMixture>,
    /// Windows with a lower log-likelihood are unknown.
    pub log_likelihood_min: Option<f64>,
    /// Windows that the mixture (behind a gate: the gate) was not fitted on.
    pub held_out: HeldOut,
    /// The plan, where one was made: source components × target components.
    pub plan: Option<Array2<f64>>,
    /// Squared mixture-Wasserstein distance, where a plan was made.
    pub mw2_squared: Option<f64>,
    /// What speaks for the plan, where one was made, whether it was taken or not.
    pub support: Option<Support>,
    /// Time spent in EM and in transport.
    pub seconds: Seconds,
}

impl Adaptation {
    /// The model file of this adaptation of `source`; `hash` stands for all it was fitted from.
    pub fn model(
        &self,
        source: &Source,
        target: &str,
        hash: [u8; 32],
    ) -> Result<ModelBytes, ModelFileError> {
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

/// Where the time went.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Seconds {
    /// EM on the target.
    pub fit_target: f64,
    /// Cost, plan and labels.
    pub transport: f64,
}

impl Adaptation {
    /// The same for these reasons.
    pub(super) fn because(self, reasons: Vec<String>) -> Self {
        Self { reasons, ..self }
    }

    /// The same for one reason more.
    pub(super) fn and(mut self, reason: &str) -> Self {
        self.reasons.push(reason.into());
        self
    }
}
