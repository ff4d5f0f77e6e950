//! The method itself: a mixture of the target's windows, with labels carried along the plan.

use std::time::Instant;

use ndarray::{Array1, Array2, Axis};
use serde::Serialize;
use thiserror::Error;

use super::cautious::Cautious;
use super::plan::{self, ComponentPlan, PlanError, PlanSettings};
use super::propagate::{PropagateError, propagate};
use crate::features::extract::Features;
use crate::mixture::held_out::HeldOut;
use crate::mixture::{self, InvalidMixture, LabelledMixture, MixtureError};
use crate::source::{Source, SourceSettings, calibration, held_out_threshold};
use crate::words::plural;

/// Smallest number of windows per target component.
const WINDOWS_PER_COMPONENT: usize = 8;
/// Smallest share of the windows at which a class counts as present in the pool, in units of an
/// equal share.
const LEAST_SHARE: f64 = 0.25;

/// Labels carried over to a mixture of the target.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// The target's mixture over features standardised by the source's constants.
    pub mixture: LabelledMixture,
    /// Windows with a lower log-likelihood are unknown.
    pub log_likelihood_min: Option<f64>,
    /// Windows held out while the mixture was calibrated.
    pub held_out: HeldOut,
    /// The plan.
    pub plan: ComponentPlan,
    /// Measures for judging the labels.
    pub support: Support,
    /// Seconds spent in EM.
    pub fit_seconds: f64,
    /// Seconds spent on cost, plan and labels.
    pub transport_seconds: f64,
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
}

/// Why no labels could be carried over.
#[derive(Debug, Error)]
pub enum TransferError {
    /// The pool is too small for the target's mixture.
    #[error(
        "{} too few for {} ({WINDOWS_PER_COMPONENT} windows each); record longer, or ask for fewer `components`",
        plural(*windows, "target window is", "target windows are"),
        plural(*components, "component", "components")
    )]
    TooFew {
        /// Number of windows.
        windows: usize,
        /// Requested number of components.
        components: usize,
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
    /// The labels cannot be carried along the plan.
    #[error("labels could not be carried over: {0}")]
    Propagate(#[from] PropagateError),
}

/// Fits the target's mixture and carries the labels of `source` over to it.
pub fn transfer(
    source: &Source,
    cautious: &Cautious,
    target: &Features,
    components_per_class: usize,
    em: &SourceSettings,
    plan: &PlanSettings,
) -> Result<Transfer, TransferError> {
    let x = source.standardise(&target.x);
    let components = components_per_class * source.classes.len();
    let windows = x.nrows();
    if windows < WINDOWS_PER_COMPONENT * components {
        return Err(TransferError::TooFew { windows, components });
    }

    let start = Instant::now();
    let em = em.em(components);
    let calibration = calibration(target, &source.front_end);
    let calibrated = mixture::fit(calibration.fit_rows(&x).view(), None, &em, &|_| ())?;
    let log_likelihood_min = held_out_threshold(&calibrated.mixture, &x, &calibration)?;
    let scores = calibrated.mixture.log_likelihoods(calibration.held_out_rows(&x).view())?;
    let held_out = HeldOut { rows: calibration.held_out, log_likelihoods: scores.to_vec() };
    let fit = mixture::fit(x.view(), None, &em, &|_| ())?.mixture;
    let fit_seconds = start.elapsed().as_secs_f64();

    let start = Instant::now();
    let plan = plan::between(&source.mixture.mixture, &fit, plan)?;
    let labels = propagate(&plan.plan, &source.mixture.labels)?;
    let transport_seconds = start.elapsed().as_secs_f64();

    let posterior = cautious.posterior(&target.x)?;
    let responsibilities = fit.responsibilities(x.view())?;
    let support = Support::new(&labels, &responsibilities, &posterior);
    Ok(Transfer {
        mixture: LabelledMixture { mixture: fit, labels },
        log_likelihood_min,
        held_out,
        plan,
        support,
        fit_seconds,
        transport_seconds,
    })
}

impl Support {
    /// Compares `labels` of the target's components with the source's own `posterior` of the
    /// windows. `responsibilities` connect windows and components.
    fn new(labels: &Array2<f64>, responsibilities: &Array2<f64>, posterior: &Array2<f64>) -> Self {
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
        let score = information(labels, &mass);
        Self { agreement, certainty, classes_found: found, score }
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
        Support::new(labels, &Array2::eye(labels.nrows()), posterior)
    }

    #[test]
    fn sure_labels_of_every_class_score_one_and_less_scores_less() {
        let sure = array![[1.0, 0.0], [0.0, 1.0]];
        let full = support(&sure, &sure);
        assert_eq!((full.agreement, full.certainty, full.classes_found), (1.0, 1.0, 2));
        assert!((full.score - 1.0).abs() < 1e-12, "{full:?}");
        let blurred = support(&array![[0.7, 0.3], [0.2, 0.8]], &sure);
        assert!((blurred.agreement - 0.75).abs() < 1e-12, "{blurred:?}");
        assert!(blurred.score < 0.5, "{blurred:?}");
        let one_class = array![[1.0, 0.0], [1.0, 0.0]];
        let lost = support(&one_class, &one_class);
        assert_eq!((lost.score, lost.classes_found), (0.0, 1));
    }
}
