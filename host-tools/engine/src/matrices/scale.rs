//! Standardisation of matrices: by which constants, and the operation.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, CowArray, Ix2};
use rayon::prelude::*;

use crate::mixture::Sample;

/// Rows in one task, for any number of threads.
const BLOCK: usize = 1024;

/// The constants by which matrices are standardised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Not at all. A standardised column weighs as much as any other, which hurts where the columns
    /// are in one unit.
    #[default]
    None,
    /// Both domains by the mean and standard deviation of the source's columns.
    Source,
    /// Each domain by its own mean and standard deviation.
    Each,
}

/// Mean and standard deviation of each column.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// Mean of each column.
    pub mean: Vec<f64>,
    /// Standard deviation of each column (divisor n). It is zero for a constant column.
    pub deviation: Vec<f64>,
}

impl Scaling {
    /// Measures the columns of a matrix. The result does not depend on the number of threads.
    pub fn measure<T: Sample>(x: ArrayView2<'_, T>) -> Self {
        let n = x.nrows().max(1) as f64;
        let sum = |of: &(dyn Fn(f64, usize) -> f64 + Sync)| -> Vec<f64> {
            let blocks: Vec<ArrayView2<'_, T>> = x.axis_chunks_iter(Axis(0), BLOCK).collect();
            let blocks: Vec<Vec<f64>> = blocks
                .into_par_iter()
                .map(|block| {
                    let mut sums = vec![0.0; block.ncols()];
                    for row in block.rows() {
                        for (j, (sum, value)) in sums.iter_mut().zip(row).enumerate() {
                            *sum += of((*value).into(), j);
                        }
                    }
                    sums
                })
                .collect();
            let mut total = vec![0.0; x.ncols()];
            for block in blocks {
                total.iter_mut().zip(block).for_each(|(total, part)| *total += part);
            }
            total
        };
        let mean: Vec<f64> = sum(&|value, _| value).into_iter().map(|sum| sum / n).collect();
        let squares = sum(&|value, j| (value - mean[j]).powi(2));
        let deviation = squares.iter().zip(&mean).map(|(square, mean)| {
            let variance = square / n;
            // Rounding of the mean leaves this much in a constant column, as scikit-learn has it.
            let rounding = (n * mean * f64::EPSILON).powi(2) + n * f64::EPSILON * variance;
            if variance <= rounding { 0.0 } else { variance.sqrt() }
        });
        Self { deviation: deviation.collect(), mean }
    }

    /// The factor of each column: one over the deviation, and one for a constant column.
    pub fn factors(&self) -> Vec<f64> {
        self.deviation.iter().map(|d| if *d > 0.0 { d.recip() } else { 1.0 }).collect()
    }

    /// Mean of the columns' variances.
    pub fn mean_variance(&self) -> f64 {
        let sum: f64 = self.deviation.iter().map(|d| d * d).sum();
        sum / self.deviation.len().max(1) as f64
    }

    /// The same columns after they were standardised by their own constants.
    pub(super) fn standardised(&self) -> Self {
        let unit = |d: &f64| if *d > 0.0 { 1.0 } else { 0.0 };
        let deviation = self.deviation.iter().map(unit).collect();
        Self { mean: vec![0.0; self.mean.len()], deviation }
    }

    /// Standardises rows in place, in their own precision.
    pub fn apply<T: Sample>(&self, x: ArrayViewMut2<'_, T>) {
        let factors = self.factors();
        let mut x = x;
        let blocks: Vec<_> = x.axis_chunks_iter_mut(Axis(0), BLOCK).collect();
        blocks.into_par_iter().for_each(|mut block| {
            for mut row in block.rows_mut() {
                for ((value, mean), factor) in row.iter_mut().zip(&self.mean).zip(&factors) {
                    *value = T::from_f64(((*value).into() - mean) * factor);
                }
            }
        });
    }

    /// Takes standardised rows back to the units of the columns.
    pub fn undo(&self, x: ArrayViewMut2<'_, f64>) {
        let factors = self.factors();
        let mut x = x;
        for mut row in x.rows_mut() {
            for ((value, mean), factor) in row.iter_mut().zip(&self.mean).zip(&factors) {
                *value = *value / factor + mean;
            }
        }
    }

    /// Standardises a matrix. An owned one is not copied.
    pub fn applied<T: Sample>(&self, x: CowArray<'_, T, Ix2>) -> Array2<T> {
        let mut x = x.into_owned();
        self.apply(x.view_mut());
        x
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn columns_get_mean_zero_and_deviation_one_and_constants_stay_finite() {
        let x = array![[1.0, 5.0, 0.1], [3.0, 5.0, 0.1], [5.0, 5.0, 0.1]];
        let scaling = Scaling::measure(x.view());
        assert_eq!(scaling.mean[..2], [3.0, 5.0]);
        assert_eq!(scaling.deviation[1..], [0.0, 0.0]);
        let scaled = scaling.applied(x.view().into());
        let root = 1.5_f64.sqrt();
        assert!((&scaled.column(0) - &array![-root, 0.0, root]).iter().all(|d| d.abs() < 1e-15));
        assert_eq!(scaled.column(1), array![0.0, 0.0, 0.0]);
        assert!((scaling.mean_variance() - 8.0 / 9.0).abs() < 1e-15);
        let again = Scaling::measure(scaled.view());
        assert_eq!(again.deviation[1..], scaling.standardised().deviation[1..]);
    }
}
