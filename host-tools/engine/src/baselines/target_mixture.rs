//! The target's mixture, with one start of EM at the source.

use ndarray::{Array1, ArrayView2};

use super::{BaselineError, Settings};
use crate::mixture::{Covariance, EmSettings, Mixture, Sample, Start, fit};

/// Fits the target's mixture to `pool`. The likeliest of all starts wins.
///
/// Beside the random starts, EM starts once at the source's means, moved by the map that
/// gives the source the target's mean and spread in every dim. Random starts find poor optima if
/// there are many dims and few rows. The likelihood is no sure judge: with very few rows, a component
/// on one or two of them is so likely that a worse fit wins. The start needs as many components as
/// the source has.
pub(super) fn target_mixture<T: Sample>(
    source: &Mixture,
    pool: ArrayView2<'_, T>,
    em: EmSettings,
    settings: &Settings,
) -> Result<Mixture, BaselineError> {
    let random = fit(pool, None, &em, &|_| ())?;
    if !settings.start_at_source || source.components() != random.mixture.components() {
        return Ok(random.mixture);
    }
    let start = Start::Means(moved_means(source, &random.mixture));
    let moved = fit(pool, None, &EmSettings { start, ..em }, &|_| ())?;
    let better = moved.log_likelihood > random.log_likelihood;
    Ok(if better { moved.mixture } else { random.mixture })
}

/// The means of `source`, moved so that its mean and spread are those of `target`. A mixture fitted
/// to a pool has the pool's mean and spread.
fn moved_means(source: &Mixture, target: &Mixture) -> ndarray::Array2<f64> {
    let (source_mean, source_spread) = mean_and_spread(source);
    let (target_mean, target_spread) = mean_and_spread(target);
    (&source.means - &source_mean) * (target_spread / source_spread) + target_mean
}

/// Mean and standard deviation of a mixture in each dim.
fn mean_and_spread(mixture: &Mixture) -> (Array1<f64>, Array1<f64>) {
    let mean = mixture.weights.dot(&mixture.means);
    let mut variance = Array1::zeros(mean.len());
    for (k, (&weight, own)) in mixture.weights.iter().zip(mixture.means.outer_iter()).enumerate() {
        for (dim, sum) in variance.iter_mut().enumerate() {
            let within = match &mixture.covariance {
                Covariance::Diagonal(variances) => variances[[k, dim]],
                Covariance::Spherical(variances) => variances[k],
                Covariance::Tied(matrix) => matrix[[dim, dim]],
                Covariance::Full(matrices) => matrices[[k, dim, dim]],
            };
            *sum += weight * (within + (own[dim] - mean[dim]).powi(2));
        }
    }
    // The variance floor keeps every spread above zero.
    (mean, variance.mapv_into(f64::sqrt))
}
