//! Standardisation of features: its constants, and the device's own operation.

use ndarray::{Array2, Axis};

/// Smallest standard deviation that a feature is divided by; features are in nats.
const MIN_STD: f64 = 1e-3;

/// Returns the mean and 1/standard deviation of each column, as the device's constants.
pub fn standardisation(x: &Array2<f32>) -> (Vec<f32>, Vec<f32>) {
    let n = x.nrows().max(1) as f64;
    x.axis_iter(Axis(1))
        .map(|column| {
            let mean = column.iter().map(|x| f64::from(*x)).sum::<f64>() / n;
            let variance = column.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / n;
            (mean as f32, variance.sqrt().max(MIN_STD).recip() as f32)
        })
        .unzip()
}

/// Returns a standardised copy of a feature matrix, by the device's own operation.
pub fn standardised(x: &Array2<f32>, shift: &[f32], scale: &[f32]) -> Array2<f32> {
    let mut x = x.as_standard_layout().into_owned();
    for mut row in x.rows_mut() {
        if let Some(row) = row.as_slice_mut() {
            rebearing::features::bands::standardise(row, shift, scale);
        }
    }
    x
}
