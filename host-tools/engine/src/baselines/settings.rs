//! Settings of all methods.

use super::InfoOtOptions;
use crate::adapt::plan::PlanSettings;
use crate::adapt::softmax;
use crate::mixture::CovarianceKind;

/// Settings of all methods.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Seed of everything random.
    pub seed: u64,
    /// Source components per class.
    pub components_per_class: usize,
    /// Target components; twice the number of classes if `None`, at most one per pool row.
    pub target_components: Option<usize>,
    /// Shape of the covariances.
    pub covariance: CovarianceKind,
    /// Smallest variance of a component.
    pub variance_floor: f64,
    /// Number of starts of each EM.
    pub restarts: usize,
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
    /// Settings of the classifier.
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
            plan: PlanSettings::default(),
            epsilon: 1e-2,
            max_samples: 1000,
            infoot: InfoOtOptions::default(),
            softmax: softmax::Options::default(),
        }
    }
}
