//! A mixture as it is saved: with labels, it is a source.

use ndarray::{Array1, Array2, Axis};

use super::{Classes, Scaling};
use crate::mixture::{Covariance, LabelledMixture, Mixture};

/// A saved mixture.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedMixture {
    /// The mixture, in the units of the data it was fitted to.
    pub mixture: Mixture,
    /// Its labels, if it was fitted to labelled rows.
    pub labels: Option<SavedLabels>,
}

/// The labels of a saved mixture, and what standardisation needs.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedLabels {
    /// The classes.
    pub classes: Classes,
    /// Label table, K × C.
    pub table: Array2<f64>,
    /// Mean and standard deviation of the columns of the data.
    pub columns: Scaling,
}

impl Scaling {
    /// The mixture of rows that are standardised by these constants.
    pub fn of_mixture(&self, labelled: &LabelledMixture) -> LabelledMixture {
        let LabelledMixture { mixture, labels } = labelled;
        let factors = Array1::from(self.factors());
        let squares = &factors * &factors;
        let means = (&mixture.means - &Array1::from(self.mean.clone())) * &factors;
        let both = |matrix: &Array2<f64>| matrix * &factors * factors.view().insert_axis(Axis(1));
        let covariance = match &mixture.covariance {
            Covariance::Diagonal(variances) => Covariance::Diagonal(variances * &squares),
            // A sphere becomes an ellipsoid.
            Covariance::Spherical(variances) => Covariance::Diagonal(
                variances.view().insert_axis(Axis(1)).dot(&squares.view().insert_axis(Axis(0))),
            ),
            Covariance::Tied(matrix) => Covariance::Tied(both(matrix)),
            Covariance::Full(matrices) => {
                let mut matrices = matrices.clone();
                for mut matrix in matrices.outer_iter_mut() {
                    let scaled = both(&matrix.to_owned());
                    matrix.assign(&scaled);
                }
                Covariance::Full(matrices)
            }
        };
        let mixture = Mixture { weights: mixture.weights.clone(), means, covariance };
        LabelledMixture { mixture, labels: labels.clone() }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array3, array};

    use super::*;

    /// A density has one over the unit of each feature, whatever the kind of the covariance.
    #[test]
    fn a_mixture_says_the_same_of_standardised_rows() {
        let scaling = Scaling { mean: vec![3.0, -1.0, 0.5], deviation: vec![0.5, 4.0, 0.0] };
        let matrix = array![[2.0, 0.3, 0.1], [0.3, 1.0, 0.2], [0.1, 0.2, 0.7]];
        let mut full = Array3::zeros((2, 3, 3));
        full.outer_iter_mut().for_each(|mut own| own.assign(&matrix));
        let x = array![[1.0, 2.0, 3.0], [2.5, -0.5, 0.0]];
        let z = scaling.applied(x.view().into());
        for covariance in [
            Covariance::Diagonal(array![[0.5, 1.0, 2.0], [1.0, 2.0, 0.1]]),
            Covariance::Spherical(array![0.5, 3.0]),
            Covariance::Tied(matrix),
            Covariance::Full(full),
        ] {
            let means = array![[1.0, 0.0, 2.0], [3.0, -1.0, 0.0]];
            let mixture = Mixture { weights: array![0.25, 0.75], means, covariance };
            let labelled = LabelledMixture { mixture, labels: Array2::eye(2) };
            let scaled = scaling.of_mixture(&labelled);
            let before = labelled.mixture.log_likelihoods(x.view()).unwrap();
            let after = scaled.mixture.log_likelihoods(z.view()).unwrap();
            let volume = 0.5_f64.ln() + 4.0_f64.ln();
            let off = (&before - &after + volume).mapv(f64::abs).sum();
            assert!(off < 1e-12, "{off} {:?}", labelled.mixture.covariance.kind());
        }
    }
}
