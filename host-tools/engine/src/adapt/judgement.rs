//! Are carried labels good enough to be used?
//!
//! Two things must hold: the predicted accuracy keeps the promise, and nothing that is known of the
//! machines contradicts the labels.

use super::curve::Prediction;
use super::plausible::{Limits, Plausibility};
use super::reasons;
use super::settings::Pool;

/// The judgement on carried labels, made without any label of the target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// The predicted accuracy.
    pub prediction: Prediction,
    /// How well the labels agree with what is known of the machines.
    pub plausibility: Plausibility,
    limits: Limits,
    promise: f64,
}

impl Judgement {
    /// Judges labels from a pool of which `pool_is` is known. The predicted accuracy must be at
    /// least `promise`.
    pub fn new(
        prediction: Prediction,
        plausibility: Plausibility,
        pool_is: Pool,
        promise: f64,
    ) -> Self {
        let limits = match pool_is {
            Pool::All => Limits::DECLARED,
            Pool::Healthy | Pool::Unknown => Limits::UNKNOWN,
        };
        Self { prediction, plausibility, limits, promise }
    }

    /// Whether the predicted accuracy keeps the promise, and nothing contradicts the labels.
    pub fn kept(&self) -> bool {
        self.prediction.accuracy >= self.promise && self.limits.hold(&self.plausibility)
    }

    /// The predicted accuracy in words.
    pub fn predicted(&self) -> String {
        reasons::predicted(&self.prediction, self.promise)
    }

    /// The contradictions that rule the labels out.
    pub fn contradictions(&self) -> Vec<String> {
        reasons::implausible(&self.plausibility, &self.limits)
    }

    /// Contradictions within the limits. A pool that was declared complete gets the benefit of the
    /// doubt, and a warning.
    pub fn warnings(&self) -> Vec<String> {
        if self.limits.hold(&self.plausibility) {
            return reasons::implausible(&self.plausibility, &Limits::UNKNOWN);
        }
        Vec::new()
    }
}
