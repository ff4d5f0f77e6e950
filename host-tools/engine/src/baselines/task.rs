//! The input of a method, checked.

use ndarray::ArrayView2;

use super::BaselineError;
use crate::mixture::Sample;

/// The input of a method.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a, T: Sample> {
    /// Source features, one row per window.
    pub source: ArrayView2<'a, T>,
    /// Class index of each source row.
    pub labels: &'a [usize],
    /// Number of classes.
    pub classes: usize,
    /// Target features to adapt to.
    pub pool: ArrayView2<'a, T>,
}

impl<T: Sample> Task<'_, T> {
    /// Refuses shapes that do not fit, values that are no numbers, and classes without a row.
    pub(super) fn check(&self) -> Result<(), BaselineError> {
        let dims = self.source.ncols();
        check_rows("source", self.source, dims)?;
        check_rows("pool", self.pool, dims)?;
        if self.labels.len() != self.source.nrows() {
            let (labels, rows) = (self.labels.len(), self.source.nrows());
            return Err(BaselineError::Labels { labels, rows });
        }
        for class in 0..self.classes {
            if !self.labels.contains(&class) {
                return Err(BaselineError::AbsentClass { class });
            }
        }
        match self.labels.iter().enumerate().find(|(_, label)| **label >= self.classes) {
            Some((row, &label)) => Err(BaselineError::Label { row, label, classes: self.classes }),
            None => Ok(()),
        }
    }
}

/// Refuses a matrix that is empty, has not `dims` columns, or has a value that is no number.
pub(super) fn check_rows<T: Sample>(
    what: &'static str,
    x: ArrayView2<'_, T>,
    dims: usize,
) -> Result<(), BaselineError> {
    let (rows, columns) = x.dim();
    if rows == 0 || columns == 0 || columns != dims {
        return Err(BaselineError::Shape { what, rows, columns, dims });
    }
    for ((row, column), &value) in x.indexed_iter() {
        let value: f64 = value.into();
        if !value.is_finite() {
            return Err(BaselineError::NotFinite { what, row, column, value });
        }
    }
    Ok(())
}
