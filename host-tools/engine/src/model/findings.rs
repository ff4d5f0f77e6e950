//! The device's own findings about rows of features.
//!
//! A monitor takes its windows end to end, but host tools let them overlap. So this module calls
//! the device's function on each row. A test compares the two.

use ndarray::Array2;
use rebearing::Model;
use rebearing::classify::{Classified, classify};

use crate::features::standardise::standardised;

/// The device's findings about each row of features.
#[derive(Debug, Clone)]
pub struct Findings {
    /// Label and log-likelihoods of each row.
    pub rows: Vec<Classified>,
    /// Posterior of each class, rows × C.
    pub posterior: Array2<f64>,
}

/// Evaluates `model` on rows of features that are not standardised.
pub fn findings(model: &Model<'_>, x: &Array2<f32>) -> Findings {
    let x = standardised(x, model.shift(), model.scale());
    let (classifier, healthy) = (model.classifier(), model.healthy().unwrap_or(0));
    let mut direction = vec![0.0; model.dims()];
    let mut responsibilities = vec![0.0; model.components().len()];
    let mut row_posterior = vec![0.0; model.classes()];
    let mut posterior = Array2::zeros((x.nrows(), model.classes()));
    let rows = x
        .rows()
        .into_iter()
        .zip(posterior.rows_mut())
        .map(|(z, mut posterior)| {
            let z = z.to_vec();
            let classified = classify(
                classifier,
                healthy,
                &z,
                &mut direction,
                &mut responsibilities,
                &mut row_posterior,
            );
            posterior.iter_mut().zip(&row_posterior).for_each(|(p, q)| *p = f64::from(*q));
            classified
        })
        .collect();
    Findings { rows, posterior }
}
