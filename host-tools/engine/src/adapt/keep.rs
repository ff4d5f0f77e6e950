//! The source's fault types, for a target that has not shown any faults of its own.
//!
//! A fault on another machine rarely has the size of the source's fault, but often its shape: the
//! direction in which it moves the features away from the healthy state. So types are separated by
//! u = √d·z/‖z‖ alone, with z = x − centre.

use ndarray::{Array1, Axis};

use super::reference::{HealthyReference, Reference};
use crate::mixture::{Covariance, LabelledMixture, Mixture};

/// Added to every variance of a direction. A direction has a root mean square of one.
const DIRECTION_VARIANCE: f64 = 0.3;

/// Fault types, told by direction.
#[derive(Debug, Clone)]
pub struct FaultTypes {
    /// Mixture over directions, without the healthy class.
    pub mixture: LabelledMixture,
    /// The healthy state from which the target's deviations are measured.
    pub centre: Array1<f64>,
}

impl FaultTypes {
    /// The fault types of a source, for a target whose healthy windows have the mean `target`.
    ///
    /// If the fault distance is large against the healthy shift, a fault hides the healthy state.
    /// The fault's features then depend little on that state, and moving them by its shift would do
    /// harm. On another machine they move with it. So the centre moves by the fraction h²/(1 + h²)
    /// of the shift, where h is the shift in units of the fault distance.
    pub fn new(reference: &Reference, healthy: &HealthyReference, target: &Array1<f64>) -> Self {
        let shift = healthy.shift(target);
        let share = shift.powi(2) / (1.0 + shift.powi(2));
        let centre = &healthy.mean + &((target - &healthy.mean) * share);

        let fault = |row: &usize| reference.labels[[*row, healthy.class]] < 0.5;
        let faults: Vec<usize> = (0..reference.labels.nrows()).filter(fault).collect();
        let labels = reference.labels.select(Axis(0), &faults);
        let mut means = reference.mixture.means.select(Axis(0), &faults) - &healthy.mean;
        let mut variances = reference.variances.select(Axis(0), &faults);
        let weights = reference.mixture.weights.select(Axis(0), &faults);
        let weights = &weights / weights.sum().max(f64::MIN_POSITIVE);
        for (mut mean, mut variances) in means.rows_mut().into_iter().zip(variances.rows_mut()) {
            let length = mean.dot(&mean).sqrt().max(f64::MIN_POSITIVE);
            let factor = (mean.len() as f64).sqrt() / length;
            mean *= factor;
            // To first order: the scatter of a window, seen from the healthy state.
            variances.mapv_inplace(|v| v * factor.powi(2) + DIRECTION_VARIANCE);
        }
        let mixture = Mixture { weights, means, covariance: Covariance::Diagonal(variances) };
        Self { mixture: LabelledMixture { mixture, labels }, centre }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::super::reference::tests::source;
    use super::*;

    #[test]
    fn types_are_directions_and_the_centre_follows_a_large_shift() {
        let reference = Reference::new(&source()).unwrap();
        let healthy = reference.healthy.as_ref().unwrap();
        let types = FaultTypes::new(&reference, healthy, &healthy.mean);
        assert_eq!(types.mixture.labels, array![[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        let root = 2.0_f64.sqrt();
        let expected = array![[root, 0.0], [0.0, root]];
        let off = (&types.mixture.mixture.means - &expected).mapv(f64::abs).sum();
        assert!(off < 1e-6, "{:?}", types.mixture.mixture.means);
        assert!((&types.centre - &healthy.mean).mapv(f64::abs).sum() < 1e-12);

        let moved_by = |distances: f64| {
            let target = &healthy.mean + distances * healthy.fault_distance;
            let types = FaultTypes::new(&reference, healthy, &target);
            (&types.centre - &healthy.mean)[0] / (&target - &healthy.mean)[0]
        };
        assert!((moved_by(1.0) - 0.5).abs() < 1e-9, "half way at one fault distance");
        assert!(moved_by(0.1) < 0.01 && moved_by(10.0) > 0.99);
    }
}
