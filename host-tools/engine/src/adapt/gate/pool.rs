//! The healthy windows of a target, and mixtures of them.

use ndarray::{Array1, Array2, Axis};

use super::independent::independent;
use super::shrink::shrink;
use crate::adapt::reference::column_means;
use crate::features::extract::Features;
use crate::mixture::{self, Covariance, Mixture, MixtureError};
use crate::source::SourceSettings;

/// Variance floor of EM, in units of the pool's own variance. It only keeps EM going: the variances
/// are widened afterwards.
const VARIANCE_FLOOR: f64 = 1e-3;
/// Smallest divisor of a feature, in nats.
const LEAST_SCALE: f64 = 1e-3;
/// Most rows that a trial fit takes. More of them would only take longer.
const MOST_ROWS: usize = 10_000;

/// Windows of a healthy machine, with everything that a fit of them needs.
pub(super) struct HealthyPool<'a> {
    /// The windows, with features that are not standardised.
    pub(super) windows: &'a Features,
    /// Healthy variances of the source, in nats².
    pub(super) known: Array1<f64>,
    /// Independent windows in a row: the stride as a share of the window.
    pub(super) share: f64,
    /// Restarts and seed of EM.
    pub(super) em: &'a SourceSettings,
}

impl HealthyPool<'_> {
    /// Features of these rows.
    pub(super) fn rows(&self, rows: &[usize]) -> Array2<f32> {
        self.windows.x.select(Axis(0), rows)
    }

    /// Number of independent windows that these rows stand for.
    pub(super) fn independent(&self, rows: &[usize]) -> f64 {
        independent(&self.windows.recording, rows.iter().copied(), self.share)
    }

    /// Fits a mixture to all windows.
    pub(super) fn fit_all(&self, components: usize) -> Result<Mixture, MixtureError> {
        self.fit(&self.windows.x, self.windows.x.nrows(), components)
    }

    /// Fits a mixture to the windows at `rows`. Of very many, only every n-th is taken.
    pub(super) fn fit_some(
        &self,
        rows: &[usize],
        components: usize,
    ) -> Result<Mixture, MixtureError> {
        let every = rows.len().div_ceil(MOST_ROWS).max(1);
        let taken: Vec<usize> = rows.iter().copied().step_by(every).collect();
        self.fit(&self.rows(&taken), rows.len(), components)
    }

    /// Fits a mixture to `x`, which stands for `windows` windows.
    fn fit(
        &self,
        x: &Array2<f32>,
        windows: usize,
        components: usize,
    ) -> Result<Mixture, MixtureError> {
        let mean = column_means(x);
        let scale = scale(x, &mean);
        let z = Array2::from_shape_fn(x.dim(), |(row, i)| {
            ((f64::from(x[[row, i]]) - mean[i]) / scale[i]) as f32
        });
        let em = SourceSettings { variance_floor: VARIANCE_FLOOR, ..self.em.clone() };
        let fit = mixture::fit(z.view(), None, &em.em(components), &|_| ())?.mixture;
        let Covariance::Diagonal(variances) = fit.covariance else {
            unreachable!("EM was asked for diagonal covariances");
        };
        let mut variances = variances * &(&scale * &scale);
        let counts = &fit.weights * (self.share * windows as f64);
        shrink(&mut variances, &fit.weights, &counts, &self.known);
        Ok(Mixture {
            means: &fit.means * &scale + &mean,
            weights: fit.weights,
            covariance: Covariance::Diagonal(variances),
        })
    }
}

/// The divisor of each feature: its own standard deviation.
fn scale(x: &Array2<f32>, mean: &Array1<f64>) -> Array1<f64> {
    let mut squares = Array1::<f64>::zeros(x.ncols());
    for row in x.rows() {
        for ((square, x), mean) in squares.iter_mut().zip(row).zip(mean) {
            *square += (f64::from(*x) - mean).powi(2);
        }
    }
    squares.mapv(|square| (square / x.nrows().max(1) as f64).sqrt().max(LEAST_SCALE))
}
