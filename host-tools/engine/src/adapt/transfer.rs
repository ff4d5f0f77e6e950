//! The method itself: a mixture of the target's windows, with labels carried along the plan.
//!
//! [`carry`] does it for one source and judges the result without any label of the target. It is
//! done for every source of a library. [`Transfer`] completes the chosen one with a threshold for
//! unknown windows.

use std::time::Instant;

use ndarray::{Array1, Array2, Axis};
use serde::Serialize;
use thiserror::Error;

use super::cautious::Cautious;
use super::consistency::{self, Consistency};
use super::plan::{self, ComponentPlan, PlanError, PlanSettings};
use super::propagate::{PropagateError, propagate};
use super::reference::Reference;
use super::target::{self, TargetMixture};
use crate::features::extract::Features;
use crate::mixture::held_out::HeldOut;
use crate::mixture::{InvalidMixture, LabelledMixture, MixtureError, largest};
use crate::source::library::Library;
use crate::source::{Parts, Source, SourceSettings, calibration, held_out_threshold};
use crate::transport::cost::CostError;
use crate::words::plural;

/// Smallest share of the windows at which a class counts as present in the pool, in units of an
/// equal share.
const LEAST_SHARE: f64 = 0.25;

/// Labels of one source, carried over to a mixture of the target.
#[derive(Debug, Clone)]
pub struct Carried {
    /// The target's mixture over features standardised by the source's constants.
    pub mixture: LabelledMixture,
    /// The plan.
    pub plan: ComponentPlan,
    /// Measures for judging the labels.
    pub support: Support,
    /// The common shift of all components, in units of the typical distance between classes.
    pub shift: f64,
    /// Seconds spent in EM.
    pub fit_seconds: f64,
    /// Seconds spent on cost, plan and labels.
    pub transport_seconds: f64,
}

/// Carried labels with a threshold for windows that are unlike everything recorded.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// The labels.
    pub carried: Carried,
    /// Windows with a lower log-likelihood are unknown.
    pub log_likelihood_min: Option<f64>,
    /// Windows held out while the mixture was calibrated.
    pub held_out: HeldOut,
}

/// Evidence for the carried labels, found without any label of the target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Support {
    /// Fraction of the target's mass for which the plan and the source itself agree on the label.
    /// The source does not see the plan.
    pub agreement: f64,
    /// Probability of the likeliest label, averaged over the target's mass.
    pub certainty: f64,
    /// Number of classes that the source itself finds in the pool.
    pub classes_found: usize,
    /// The label-free score of these settings on this target: the information that a window gives
    /// about its label, as a fraction of the largest possible. It is one if every window has a
    /// certain label and all classes have the same number of windows. It is lower if labels are
    /// blurred or classes are missing.
    pub score: f64,
    /// Fraction of the target's mass whose label stays the same if the target is moved back by the
    /// common shift and every component takes the label of the nearest source component.
    pub consistency: f64,
    /// Score times consistency. The predicted accuracy is a function of it.
    pub quality: f64,
}

/// Why no labels could be carried over.
#[derive(Debug, Error)]
pub enum TransferError {
    /// The pool is too small for the target's mixture.
    #[error(
        "{} too few for {} ({each} windows each); record longer, or ask for fewer `components`",
        plural(*windows, "target window is", "target windows are"),
        plural(*components, "component", "components")
    )]
    TooFew {
        /// Number of windows.
        windows: usize,
        /// Requested number of components.
        components: usize,
        /// Least number of windows for each component.
        each: usize,
    },
    /// EM failed.
    #[error("the target's windows could not be fitted: {0}")]
    Fit(#[from] MixtureError),
    /// A mixture cannot be evaluated.
    #[error(transparent)]
    Evaluate(#[from] InvalidMixture),
    /// There is no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The components cannot be compared.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// The labels cannot be carried along the plan.
    #[error("labels could not be carried over: {0}")]
    Propagate(#[from] PropagateError),
}

/// Settings of a transfer.
#[derive(Debug, Clone, Copy)]
pub struct TransferSettings<'a> {
    /// Target components per source class.
    pub components: usize,
    /// Variance floor, restarts and seed of the target's EM.
    pub em: &'a SourceSettings,
    /// Settings of the plan.
    pub plan: &'a PlanSettings,
}

/// Carries the labels of `source` over to the target's mixture `own` of the windows `x` (not
/// standardised).
pub fn carry(
    source: Parts<'_>,
    x: &Array2<f32>,
    own: &TargetMixture,
    plan: &PlanSettings,
) -> Result<Carried, TransferError> {
    let start = Instant::now();
    let fit = target::in_units_of(source, &own.mixture);
    let plan = plan::between(&source.mixture.mixture, &fit, plan)?;
    let labels = propagate(&plan.plan, &source.mixture.labels)?;
    let transport_seconds = start.elapsed().as_secs_f64();

    let reference = Reference::of(source)?;
    let posterior = Cautious::new(&reference).posterior(x)?;
    let Consistency { consistency, shift } =
        consistency::measure(source.mixture, &fit, &plan.plan, &labels)?;
    let support = Support::new(&labels, &own.responsibilities, &posterior, consistency);
    // The shift is in the source's units; distances between classes are in nats.
    let nats: f64 =
        shift.iter().zip(source.scale).map(|(d, scale)| (d / f64::from(*scale)).powi(2)).sum();
    let shift =
        (nats / shift.len().max(1) as f64).sqrt() / reference.class_distance.max(f64::MIN_POSITIVE);
    Ok(Carried {
        mixture: LabelledMixture { mixture: fit, labels },
        plan,
        support,
        shift,
        fit_seconds: own.seconds,
        transport_seconds,
    })
}

/// Labels that were carried to the target, with or without the promise being kept.
#[derive(Debug, Clone)]
pub struct CarriedLabels {
    /// The machine that they come from.
    pub source: Source,
    /// The target's mixture over features standardised by the source's constants.
    pub mixture: LabelledMixture,
}

impl CarriedLabels {
    /// The class of each target window (not standardised), without any threshold.
    pub fn classes(&self, x: &Array2<f32>) -> Result<Vec<usize>, InvalidMixture> {
        map_classes(&self.source, &self.mixture, x)
    }
}

/// The likeliest class of each target window (not standardised).
pub(super) fn map_classes(
    source: &Source,
    mixture: &LabelledMixture,
    x: &Array2<f32>,
) -> Result<Vec<usize>, InvalidMixture> {
    let LabelledMixture { mixture, labels } = mixture;
    let posterior = mixture.responsibilities(source.standardise(x).view())?.dot(labels);
    Ok(posterior.rows().into_iter().map(largest).collect())
}

impl Transfer {
    /// Adds the threshold for unknown windows, from windows that a second mixture was not fitted
    /// on.
    pub fn new(
        carried: Carried,
        library: &Library,
        source: &Source,
        target: &Features,
        em: &SourceSettings,
    ) -> Result<Self, TransferError> {
        let start = Instant::now();
        let calibration = calibration(target, &source.front_end);
        let components = carried.mixture.labels.nrows();
        let fitted = calibration.fit_rows(&target.x);
        let calibrated = target::fit_in(&fitted, target::unit(library), components, em)?;
        let calibrated = target::in_units_of(source.parts(), &calibrated);
        let x = source.standardise(&target.x);
        let log_likelihood_min = held_out_threshold(&calibrated, &x, &calibration)?;
        let scores = calibrated.log_likelihoods(calibration.held_out_rows(&x).view())?;
        let held_out = HeldOut { rows: calibration.held_out, log_likelihoods: scores.to_vec() };
        let fit_seconds = carried.fit_seconds + start.elapsed().as_secs_f64();
        Ok(Self { carried: Carried { fit_seconds, ..carried }, log_likelihood_min, held_out })
    }
}

impl Support {
    /// Compares `labels` of the target's components with the source's own `posterior` of the
    /// windows. `responsibilities` connect windows and components.
    fn new(
        labels: &Array2<f64>,
        responsibilities: &Array2<f64>,
        posterior: &Array2<f64>,
        consistency: f64,
    ) -> Self {
        let windows = posterior.nrows().max(1) as f64;
        let mass = responsibilities.sum_axis(Axis(0)) / windows;
        let votes = responsibilities.t().dot(posterior) / windows;
        let (mut agreement, mut certainty) = (0.0, 0.0);
        for ((labels, votes), mass) in labels.rows().into_iter().zip(votes.rows()).zip(&mass) {
            let overlap = |(label, vote): (&f64, &f64)| (mass * label).min(*vote);
            agreement += labels.iter().zip(votes).map(overlap).sum::<f64>();
            certainty += mass * labels.iter().copied().fold(0.0, f64::max);
        }
        let least = LEAST_SHARE / posterior.ncols().max(1) as f64;
        let found = posterior.sum_axis(Axis(0)).iter().filter(|n| **n / windows >= least).count();
        // Rounding can leave an information of nothing just below zero.
        let score = information(labels, &mass).clamp(0.0, 1.0);
        let quality = score * consistency;
        Self { agreement, certainty, classes_found: found, score, consistency, quality }
    }
}

/// Mutual information of component and label, relative to the entropy of equal class shares.
fn information(labels: &Array2<f64>, mass: &Array1<f64>) -> f64 {
    let entropy =
        |shares: &[f64]| -> f64 { shares.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum() };
    let blur: f64 =
        labels.rows().into_iter().zip(mass).map(|(row, mass)| mass * entropy(&row.to_vec())).sum();
    let most = (labels.ncols().max(2) as f64).ln();
    (entropy(&labels.t().dot(mass).to_vec()) - blur) / most
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn support(labels: &Array2<f64>, posterior: &Array2<f64>) -> Support {
        // One component per window.
        Support::new(labels, &Array2::eye(labels.nrows()), posterior, 0.5)
    }

    #[test]
    fn sure_labels_of_every_class_score_one_and_less_scores_less() {
        let sure = array![[1.0, 0.0], [0.0, 1.0]];
        let full = support(&sure, &sure);
        assert_eq!((full.agreement, full.certainty, full.classes_found), (1.0, 1.0, 2));
        assert!((full.score - 1.0).abs() < 1e-12, "{full:?}");
        assert!((full.quality - 0.5).abs() < 1e-12, "score times consistency: {full:?}");
        let blurred = support(&array![[0.7, 0.3], [0.2, 0.8]], &sure);
        assert!((blurred.agreement - 0.75).abs() < 1e-12, "{blurred:?}");
        assert!(blurred.score < 0.5, "{blurred:?}");
        let one_class = array![[1.0, 0.0], [1.0, 0.0]];
        let lost = support(&one_class, &one_class);
        assert_eq!((lost.score, lost.classes_found), (0.0, 1));
    }
}
