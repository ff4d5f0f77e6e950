//! Do carried labels contradict what is known of the machines?
//!
//! A plan between unlike machines can look perfect: every component gets one sure label. Two
//! questions find it out. Do the components lie where the source has the classes they are called
//! by? And does the part that is called healthy look healthy?

use ndarray::Array2;

use super::reference::{Reference, distance};
use super::simplex;
use crate::mixture::{Mixture, largest};

/// How plausible carried labels are.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Plausibility {
    /// Root mean square distance of the target's components from the classes of the source that
    /// they are called by, in units of the typical distance between two classes.
    pub offset: f64,
    /// Of the mass that is called healthy, the share that is nearer to the known healthy states
    /// than to any fault. `None` if the library has no healthy class.
    pub healthy: Option<f64>,
}

/// Limits of plausible labels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Largest offset from the classes of the source.
    pub offset: f64,
    /// Least share of what is called healthy that looks healthy.
    pub healthy: f64,
}

impl Limits {
    /// Limits if nothing is known about the pool. Plans that were wrong between unlike machines
    /// began at an offset of 0.99; right ones reached 0.83.
    pub const UNKNOWN: Self = Self { offset: 0.8, healthy: 0.5 };
    /// Limits if every class was declared to be in the pool: components may lie as far from their
    /// class as two classes from one another.
    pub const DECLARED: Self = Self { offset: 1.0, healthy: 0.0 };

    /// Whether nothing contradicts the labels.
    pub fn hold(&self, plausibility: &Plausibility) -> bool {
        self.near(plausibility) && self.looks_healthy(plausibility)
    }

    /// Whether the components lie where the source has their classes.
    pub fn near(&self, plausibility: &Plausibility) -> bool {
        plausibility.offset <= self.offset
    }

    /// Whether the part that is called healthy looks healthy.
    pub fn looks_healthy(&self, plausibility: &Plausibility) -> bool {
        plausibility.healthy.is_none_or(|share| share >= self.healthy)
    }
}

/// Judges the labels that the machine with this reference gave to the target's `mixture` (in nats).
pub fn judge(
    references: &[Reference],
    chosen: &Reference,
    mixture: &Mixture,
    labels: &Array2<f64>,
) -> Plausibility {
    let mut square = 0.0;
    for ((mean, weight), row) in
        mixture.means.rows().into_iter().zip(&mixture.weights).zip(labels.rows())
    {
        let class = chosen.class_means.row(largest(row));
        square += weight * distance(&mean, &class).powi(2);
    }
    let healthy = chosen.healthy.as_ref().map(|known| {
        let nearest = healthy_components(references, mixture, 1.0);
        let (mut called, mut agreed) = (0.0, 0.0);
        for ((weight, row), near) in mixture.weights.iter().zip(labels.rows()).zip(nearest) {
            called += weight * row[known.class];
            agreed += if near { weight * row[known.class] } else { 0.0 };
        }
        // A pool without anything healthy does not hold every class.
        if called > 0.0 { agreed / called } else { 0.0 }
    });
    Plausibility { offset: square.sqrt() / chosen.class_distance.max(f64::MIN_POSITIVE), healthy }
}

/// Whether each component is nearer to the healthy states of the known machines, or a mixture of
/// them, than to any fault. Its distance must be below `margin` of the distance to a fault.
pub fn healthy_components(references: &[Reference], mixture: &Mixture, margin: f64) -> Vec<bool> {
    let Some(first) = references.first() else { return Vec::new() };
    let classes = first.class_means.nrows();
    let hulls: Vec<Array2<f64>> = (0..classes).map(|class| hull(references, class)).collect();
    let healthy = first.healthy.as_ref().map(|known| known.class);
    let is_healthy = |mean: ndarray::ArrayView1<'_, f64>| {
        let away =
            |class: usize| simplex::nearest(&hulls[class], &mean, 0.0).squared_distance.sqrt();
        let Some(healthy) = healthy else { return false };
        let own = away(healthy);
        (0..classes).filter(|class| *class != healthy).all(|class| own < margin * away(class))
    };
    mixture.means.rows().into_iter().map(is_healthy).collect()
}

/// The mean of a class on every known machine.
fn hull(references: &[Reference], class: usize) -> Array2<f64> {
    let dims = references.first().map_or(0, |reference| reference.class_means.ncols());
    let mut hull = Array2::zeros((references.len(), dims));
    for (mut row, reference) in hull.rows_mut().into_iter().zip(references) {
        row.assign(&reference.class_means.row(class));
    }
    hull
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, array};

    use super::super::reference::tests::source;
    use super::*;
    use crate::mixture::Covariance;

    fn mixture(means: Array2<f64>) -> Mixture {
        let n = means.nrows();
        Mixture {
            weights: Array1::from_elem(n, 1.0 / n as f64),
            covariance: Covariance::Diagonal(Array2::ones(means.dim())),
            means,
        }
    }

    #[test]
    fn labels_in_their_place_are_plausible_and_exchanged_ones_are_not() {
        // Healthy at (1, 2), faults at (3, 2) and (1, 6); the class distance is √8.
        let references = [Reference::new(&source()).unwrap()];
        let target = mixture(array![[1.2, 2.0], [3.2, 2.0], [1.2, 6.0]]);
        let right = judge(&references, &references[0], &target, &Array2::eye(3));
        assert!(right.offset < 0.1 && right.healthy == Some(1.0), "{right:?}");
        let exchanged = array![[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]];
        let wrong = judge(&references, &references[0], &target, &exchanged);
        assert!(wrong.offset > 0.8 && wrong.healthy == Some(0.0), "{wrong:?}");
        let none = array![[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        assert_eq!(judge(&references, &references[0], &target, &none).healthy, Some(0.0));
    }

    #[test]
    fn a_state_between_two_known_healthy_ones_is_healthy() {
        let near = Reference::new(&source()).unwrap();
        let mut far = near.clone();
        far.class_means += 8.0;
        // Half way between the two healthy states, and far from either.
        let target = mixture(array![[5.0, 6.0], [3.0, 2.0]]);
        let both = healthy_components(&[near.clone(), far], &target, 1.0);
        assert_eq!(both, [true, false]);
        assert_eq!(healthy_components(&[near], &target, 1.0), [false, false]);
    }
}
