//! Do the plan and a common shift tell the same story?
//!
//! The plan may match components across each other. If the machines differ mostly by one shift of
//! all features, the labels can be found in a second way: move the target back by the shift, and
//! take the label of the nearest source component. Labels that both ways agree on are mostly right.

use ndarray::{Array1, Array2, Axis};

use crate::mixture::{LabelledMixture, Mixture};
use crate::transport::cost::{self, CostError};

/// The comparison of a plan with a common shift.
#[derive(Debug, Clone, PartialEq)]
pub struct Consistency {
    /// Mass of the target whose label is the same both ways.
    pub consistency: f64,
    /// The common shift from the source to the target, in the mixtures' units.
    pub shift: Array1<f64>,
}

/// Compares the labels that `plan` carried to `target` with those of a common shift.
pub fn measure(
    source: &LabelledMixture,
    target: &Mixture,
    plan: &Array2<f64>,
    labels: &Array2<f64>,
) -> Result<Consistency, CostError> {
    let brought = plan.sum_axis(Axis(0)).mapv(|mass| mass.max(f64::MIN_POSITIVE));
    let barycentres = plan.t().dot(&source.mixture.means) / brought.insert_axis(Axis(1));
    let shift = (&target.means - &barycentres).t().dot(&target.weights);
    let back = Mixture { means: &target.means - &shift, ..target.clone() };
    let costs = cost::component_costs(&source.mixture, &back)?;
    let mut consistency = 0.0;
    for (l, weight) in target.weights.iter().enumerate() {
        let column = costs.column(l);
        let nearest = (0..column.len()).min_by(|a, b| column[*a].total_cmp(&column[*b]));
        // A component's label row may be spread over classes, so its share of each counts.
        let share = nearest.map_or(0.0, |k| source.labels.row(k).dot(&labels.row(l)));
        consistency += weight * share;
    }
    Ok(Consistency { consistency: consistency.clamp(0.0, 1.0), shift })
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::mixture::Covariance;

    fn mixture(means: Array2<f64>) -> Mixture {
        let n = means.nrows();
        Mixture {
            weights: Array1::from_elem(n, 1.0 / n as f64),
            covariance: Covariance::Diagonal(Array2::from_elem(means.dim(), 0.01)),
            means,
        }
    }

    #[test]
    fn a_plan_that_follows_the_shift_agrees_and_a_crossed_one_does_not() {
        let means = array![[0.0, 0.0], [4.0, 0.0], [0.0, 9.0]];
        let source = LabelledMixture { mixture: mixture(means.clone()), labels: Array2::eye(3) };
        let target = mixture(&means + 1.5);
        let third = 1.0 / 3.0;
        let straight = Array2::eye(3) * third;
        let same = measure(&source, &target, &straight, &Array2::eye(3)).unwrap();
        assert!((same.consistency - 1.0).abs() < 1e-12, "{same:?}");
        assert!(same.shift.iter().all(|d| (d - 1.5).abs() < 1e-12), "{same:?}");
        // Two of the three components are exchanged. The mean shift is still 1.5.
        let crossed = array![[0.0, third, 0.0], [third, 0.0, 0.0], [0.0, 0.0, third]];
        let labels = array![[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
        let other = measure(&source, &target, &crossed, &labels).unwrap();
        assert!((other.consistency - third).abs() < 1e-12, "{other:?}");
    }
}
