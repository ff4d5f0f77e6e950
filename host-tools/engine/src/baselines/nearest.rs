//! The label of the nearest sample.

use ndarray::{Array2, ArrayRef2};

use crate::transport::cost::squared_distances;

/// A classifier that gives each row the label of the nearest sample. It has no setting and needs no
/// scale, so the literature on transport compares maps with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Nearest {
    /// Samples, one per row.
    pub samples: Array2<f64>,
    /// Class index of each sample.
    pub labels: Vec<usize>,
    /// Number of classes.
    pub classes: usize,
}

impl Nearest {
    /// One for the class of the nearest sample, zero for all others, n × C. Of several samples at
    /// the same distance, the first counts.
    pub fn posterior(&self, x: &ArrayRef2<f64>) -> Array2<f64> {
        let mut posterior = Array2::zeros((x.nrows(), self.classes));
        let distances = squared_distances(x, &self.samples);
        for (mut row, distances) in posterior.outer_iter_mut().zip(distances.outer_iter()) {
            let nearest = distances.iter().zip(&self.labels).min_by(|a, b| a.0.total_cmp(b.0));
            if let Some((_, &label)) = nearest {
                row[label] = 1.0;
            }
        }
        posterior
    }
}
