//! Healthy or not: a mixture of the target's own healthy windows, with a threshold. Windows that
//! the mixture was not fitted on set the threshold.

use ndarray::{Array1, Array2, Axis};
use thiserror::Error;

use super::reference::{HealthyReference, column_means};
use crate::features::extract::Features;
use crate::mixture::held_out::{HeldOut, LEAST_HELD_OUT};
use crate::mixture::{self, Covariance, InvalidMixture, Mixture, MixtureError};
use crate::source::SourceSettings;
use crate::source::unknown::{self, Calibration};
use crate::words::plural;

/// Number of components of a gate: a healthy machine has few states.
const COMPONENTS: usize = 2;
/// Variance floor of the gate, in units of its scale squared.
const VARIANCE_FLOOR: f64 = 0.1;

/// Decides whether a window is healthy.
#[derive(Debug, Clone)]
pub struct Gate {
    /// Mixture of the healthy windows, over features that are not standardised.
    pub mixture: Mixture,
    /// Windows with at least this log-likelihood are healthy.
    pub log_likelihood_min: f64,
    /// Mean of the windows it was fitted on.
    pub mean: Array1<f64>,
    /// Number of windows it was fitted on.
    pub windows: usize,
    /// Windows held out while the threshold was set, and their log-likelihoods in the gate's units.
    pub held_out: HeldOut,
}

/// Why there is no gate.
#[derive(Debug, Error)]
pub enum GateError {
    /// There are too few windows to fit on and to hold out.
    #[error(
        "{} too few for a gate: at least {least} must be held out to set its \
         threshold, and {held_out} are left for that; record the healthy machine for longer",
        plural(*windows, "healthy window is", "healthy windows are"),
        least = LEAST_HELD_OUT
    )]
    TooFew {
        /// Number of windows.
        windows: usize,
        /// Number of windows held out.
        held_out: usize,
    },
    /// EM failed.
    #[error("the healthy windows could not be fitted: {0}")]
    Fit(#[from] MixtureError),
    /// The mixture cannot be evaluated.
    #[error("the gate cannot be evaluated: {0}")]
    Evaluate(#[from] InvalidMixture),
}

impl Gate {
    /// Fits a gate to windows of a healthy machine.
    pub fn fit(
        windows: &Features,
        known: &HealthyReference,
        calibration: &Calibration,
        em: &SourceSettings,
    ) -> Result<Self, GateError> {
        let mean = column_means(&windows.x);
        let scale = scale(&windows.x, &mean, known);
        let z = Array2::from_shape_fn(windows.x.dim(), |(row, i)| {
            ((f64::from(windows.x[[row, i]]) - mean[i]) / scale[i]) as f32
        });
        let em = SourceSettings { variance_floor: VARIANCE_FLOOR, ..em.clone() }.em(COMPONENTS);
        let (fitted, held_out) = (calibration.fit_rows(&z), calibration.held_out_rows(&z));
        let too_few = GateError::TooFew { windows: windows.x.nrows(), held_out: held_out.nrows() };
        if fitted.nrows() < COMPONENTS {
            return Err(too_few);
        }
        let calibrated = mixture::fit(fitted.view(), None, &em, &|_| ())?.mixture;
        let scores = |x: &Array2<f32>| calibrated.log_likelihoods(x.view());
        let held_out_scores = scores(&held_out)?.to_vec();
        let threshold =
            unknown::threshold(&scores(&fitted)?.to_vec(), &held_out_scores).ok_or(too_few)?;

        let fit = mixture::fit(z.view(), None, &em, &|_| ())?.mixture;
        // The density is in other units, so the volume of the scaling enters it.
        let volume = scale.mapv(f64::ln).sum();
        Ok(Self {
            mixture: in_nats(&fit, &mean, &scale),
            log_likelihood_min: threshold - volume,
            mean,
            windows: windows.x.nrows(),
            held_out: HeldOut {
                rows: calibration.held_out.clone(),
                log_likelihoods: held_out_scores.iter().map(|score| score - volume).collect(),
            },
        })
    }

    /// The same gate, with row numbers of a pool. `rows` are the pool's rows it was fitted on.
    #[must_use]
    pub fn of_rows(mut self, rows: &[usize]) -> Self {
        for row in &mut self.held_out.rows {
            *row = rows[*row];
        }
        self
    }

    /// Whether each window is healthy.
    pub fn accepts(&self, x: &Array2<f32>) -> Result<Vec<bool>, InvalidMixture> {
        let scores = self.mixture.log_likelihoods(x.view())?;
        Ok(scores.iter().map(|score| *score >= self.log_likelihood_min).collect())
    }
}

/// The divisor of each feature.
fn scale(x: &Array2<f32>, mean: &Array1<f64>, known: &HealthyReference) -> Array1<f64> {
    let own = x.axis_iter(Axis(1)).zip(mean).map(|(column, mean)| {
        let square: f64 = column.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum();
        (square / column.len().max(1) as f64).sqrt()
    });
    known.scale(own)
}

fn in_nats(mixture: &Mixture, shift: &Array1<f64>, scale: &Array1<f64>) -> Mixture {
    let covariance = match &mixture.covariance {
        Covariance::Diagonal(variances) => Covariance::Diagonal(variances * &(scale * scale)),
        other => other.clone(),
    };
    let means = &mixture.means * scale + shift;
    Mixture { weights: mixture.weights.clone(), means, covariance }
}

#[cfg(test)]
mod tests {
    use super::super::reference::Reference;
    use super::super::reference::tests::source;
    use super::*;
    use crate::simulate::random::Random;

    fn windows(n: usize, centre: [f64; 2], seed: u64) -> Features {
        let mut random = Random::new(seed, 0);
        let x = Array2::from_shape_fn((n, 2), |(_, i)| (centre[i] + 0.1 * random.normal()) as f32);
        Features { x, recording: vec![0; n], stride: 256 }
    }

    fn fit(windows: &Features) -> Result<Gate, GateError> {
        let healthy = Reference::new(&source()).unwrap().healthy.unwrap();
        Gate::fit(windows, &healthy, &Calibration::new(windows, 1), &SourceSettings::default())
    }

    #[test]
    fn healthy_windows_pass_and_others_do_not() {
        let gate = fit(&windows(100, [1.3, 2.2], 1)).unwrap();
        let share = |x: &Features| {
            let accepted = gate.accepts(&x.x).unwrap();
            accepted.iter().filter(|accepted| **accepted).count() as f64 / accepted.len() as f64
        };
        assert!(share(&windows(2000, [1.3, 2.2], 2)) >= 0.999);
        assert!(share(&windows(2000, [3.3, 2.2], 3)) <= 0.001);
        assert_eq!(gate.windows, 100);
    }

    #[test]
    fn too_few_windows_are_refused() {
        for n in [1, 2, 20] {
            let message = fit(&windows(n, [1.0, 2.0], 1)).unwrap_err().to_string();
            assert!(message.contains(&n.to_string()) && message.contains("longer"), "{message}");
        }
        assert!(fit(&windows(40, [1.0, 2.0], 1)).is_ok());
    }
}
