//! The optimal map between the Gaussians of the two domains (Flamary, Lounici, Ferrari 2019).

use ndarray::{Array2, ArrayRef2, Axis};

use super::{BaselineError, Carried, Samples, Settings, centred, column_means};
use crate::adapt::maps::GaussianMap;

/// Smallest diagonal entry of a Cholesky factor, relative to its largest. Below it, the covariance
/// is singular to the precision that its inverse needs.
const SINGULAR: f64 = 1e-6;

/// The affine map from the source's Gaussian to the target's, fitted to their samples.
///
/// Covariances are empirical (divided by n). If the source's covariance is singular, for example
/// with fewer samples than dims, [`ledoit_wolf`] shrinks both. Returns `None` if that is not
/// enough: two samples give no estimate of the shrinkage, and equal samples have no spread.
pub fn affine_map(source: &ArrayRef2<f64>, target: &ArrayRef2<f64>) -> Option<GaussianMap> {
    let (source_mean, target_mean) = (column_means(source), column_means(target));
    let (source, target) = (centred(source, &source_mean), centred(target, &target_mean));
    let (mut source_covariance, mut target_covariance) = (covariance(&source), covariance(&target));
    if is_singular(&source_covariance) {
        source_covariance = ledoit_wolf(&source).0;
        target_covariance = ledoit_wolf(&target).0;
    }
    GaussianMap::full((&source_mean, &source_covariance), (&target_mean, &target_covariance))
}

/// The covariance of centred samples, shrunk towards a multiple of the identity, and the amount ρ.
/// The result is `(1 − ρ) S + ρ tr(S)/d I` with the ρ that minimises the expected squared error
/// (Ledoit & Wolf 2004).
pub fn ledoit_wolf(samples: &ArrayRef2<f64>) -> (Array2<f64>, f64) {
    let (n, dims) = (samples.nrows() as f64, samples.ncols() as f64);
    let s = covariance(samples);
    let scale = s.diag().sum() / dims;
    let squared: f64 = s.iter().map(|v| v * v).sum();
    // ‖S − scale·I‖², and the variance of S as an estimate: (1/n²) Σ_i ‖x_i x_iᵀ − S‖².
    let distance = squared - dims * scale * scale;
    let fourth: f64 = samples.outer_iter().map(|x| x.dot(&x).powi(2)).sum();
    let variance = (fourth / n - squared) / n;
    let amount = if distance > 0.0 { (variance / distance).clamp(0.0, 1.0) } else { 1.0 };
    let mut shrunk = s * (1.0 - amount);
    shrunk.diag_mut().iter_mut().for_each(|v| *v += amount * scale);
    (shrunk, amount)
}

/// The full affine map.
pub(super) fn full(samples: &Samples, _: &Settings) -> Carried {
    let map = affine_map(&samples.source, &samples.pool).ok_or(BaselineError::NoSpread)?;
    Ok((apply(&map, &samples.source), 0.0))
}

/// The map between Gaussians with independent dims.
///
/// A dim that is constant in the source stays a point and moves to the target's mean.
pub(super) fn diagonal(samples: &Samples, _: &Settings) -> Carried {
    let (source_mean, target_mean) = (column_means(&samples.source), column_means(&samples.pool));
    let source_variances = samples.source.var_axis(Axis(0), 0.0);
    let mut target_variances = samples.pool.var_axis(Axis(0), 0.0);
    for (target, source) in target_variances.iter_mut().zip(&source_variances) {
        if *source <= 0.0 {
            *target = 0.0;
        }
    }
    let map =
        GaussianMap::diagonal((&source_mean, &source_variances), (&target_mean, &target_variances))
            .ok_or(BaselineError::NoSpread)?;
    Ok((apply(&map, &samples.source), 0.0))
}

fn apply(map: &GaussianMap, x: &Array2<f64>) -> Array2<f64> {
    let mut mapped = x.clone();
    for mut row in mapped.outer_iter_mut() {
        let image = map.apply(&row.to_vec());
        row.iter_mut().zip(image).for_each(|(to, from)| *to = from);
    }
    mapped
}

fn covariance(centred: &ArrayRef2<f64>) -> Array2<f64> {
    centred.t().dot(centred) / centred.nrows() as f64
}

fn is_singular(covariance: &Array2<f64>) -> bool {
    let dims = covariance.nrows();
    let matrix = nalgebra::DMatrix::from_fn(dims, dims, |i, j| covariance[[i, j]]);
    nalgebra::Cholesky::new(matrix).is_none_or(|cholesky| {
        let diagonal = cholesky.l_dirty().diagonal();
        diagonal.min() < SINGULAR * diagonal.max()
    })
}
