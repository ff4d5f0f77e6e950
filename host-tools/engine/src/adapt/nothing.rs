//! A model that names nothing: every window is unknown.

use ndarray::{Array1, Array2};

use crate::mixture::{Covariance, LabelledMixture, Mixture};

/// A log-likelihood in nats that no window reaches. Both encodings can hold it.
pub const UNREACHABLE: f64 = 1e6;

/// Whether no window reaches this log-likelihood, as it was read from a model file of either
/// encoding.
pub fn is_unreachable(log_likelihood_min: f64) -> bool {
    // The encodings round.
    log_likelihood_min >= 0.99 * UNREACHABLE
}

/// One component at `mean`, whose label is every class alike. With the threshold [`UNREACHABLE`]
/// no class name leaves the device.
pub fn nameless(mean: Array1<f64>, classes: usize) -> LabelledMixture {
    let dims = mean.len();
    let means = mean.insert_axis(ndarray::Axis(0));
    LabelledMixture {
        mixture: Mixture {
            weights: Array1::ones(1),
            means,
            covariance: Covariance::Diagonal(Array2::ones((1, dims))),
        },
        labels: Array2::from_elem((1, classes), 1.0 / classes.max(1) as f64),
    }
}
