//! Settings of all methods.

use super::InfoOtOptions;
use crate::adapt::plan::PlanSettings;
use crate::adapt::softmax;
use crate::mixture::CovarianceKind;

/// The classifier that methods with a map train on the carried source samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassifierKind {
    /// A one-layer softmax, as in the paper on GMM-OTDA.
    Softmax,
    /// The label of the nearest carried sample, as in the papers on OTDA. `gmm-otda-t` carries
    /// weighted samples and always trains a softmax.
    Nearest,
}

/// Settings of all methods.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Seed of everything random.
    pub seed: u64,
    /// Source components per class.
    pub components_per_class: usize,
    /// Target components; as many per class as the source has if `None`. At most one per pool row.
    pub target_components: Option<usize>,
    /// Shape of the covariances.
    pub covariance: CovarianceKind,
    /// Smallest variance of a component.
    pub variance_floor: f64,
    /// Number of random starts of each EM.
    pub restarts: usize,
    /// Whether the target's EM also starts at the source's means. The likeliest start wins.
    pub start_at_source: bool,
    /// Settings of the plan between mixtures.
    pub plan: PlanSettings,
    /// Epsilon of `otda-sinkhorn` and `hot-da`, relative to the largest cost.
    pub epsilon: f64,
    /// Largest number of samples of each domain in a plan between samples, because the cost grows
    /// with the product of both numbers. More samples are thinned, evenly in time and within each
    /// class of the source.
    pub max_samples: usize,
    /// Settings of `infoot`.
    pub infoot: InfoOtOptions,
    /// The classifier on the carried samples.
    pub classifier: ClassifierKind,
    /// Settings of the softmax. Its penalty is relative to the total variance of the source's
    /// columns, so that it holds for any unit and any number of features.
    pub softmax: softmax::Options,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 0,
            components_per_class: 2,
            target_components: None,
            covariance: CovarianceKind::Diagonal,
            variance_floor: 0.01,
            restarts: 3,
            start_at_source: true,
            plan: PlanSettings::default(),
            epsilon: 2e-2,
            max_samples: 2000,
            infoot: InfoOtOptions::default(),
            classifier: ClassifierKind::Softmax,
            // scikit-learn's tolerance. 1e-6 takes twice as long and moves accuracies by 0.15 points.
            softmax: softmax::Options { tolerance: 1e-4, ..softmax::Options::default() },
        }
    }
}
