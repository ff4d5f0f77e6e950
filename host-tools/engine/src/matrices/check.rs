//! Checks of the given matrices and labels, each with the place.

use ndarray::ArrayView2;
use rayon::prelude::*;

use super::{Classes, MatrixError, Which};
use crate::files::matrix::Labels;
use crate::mixture::Sample;

/// Least number of rows and columns of source and target. One row has no spread, and one column
/// leaves nothing to compare.
const LEAST: usize = 2;

/// Refuses a matrix with too few rows or columns, or a value that is not a number.
pub(super) fn check_domain<T: Sample>(
    x: ArrayView2<'_, T>,
    which: Which,
) -> Result<(), MatrixError> {
    let (rows, columns) = x.dim();
    if rows < LEAST || columns < LEAST {
        return Err(MatrixError::Small { which, rows, columns });
    }
    check_values(x, which)
}

/// Refuses a matrix that does not have the source's columns.
pub(super) fn check_columns<T: Sample>(
    x: ArrayView2<'_, T>,
    which: Which,
    expected: usize,
) -> Result<(), MatrixError> {
    let columns = x.ncols();
    if columns != expected {
        return Err(MatrixError::Columns { which, columns, expected });
    }
    Ok(())
}

/// Refuses rows to label that do not suit the source.
pub(super) fn check_rows<T: Sample>(
    x: ArrayView2<'_, T>,
    which: Which,
    columns: usize,
) -> Result<(), MatrixError> {
    if x.nrows() == 0 {
        return Err(MatrixError::NoRow { which });
    }
    check_columns(x, which, columns)?;
    check_values(x, which)
}

fn check_values<T: Sample>(x: ArrayView2<'_, T>, which: Which) -> Result<(), MatrixError> {
    let found = (0..x.nrows()).into_par_iter().with_min_len(256).find_map_first(|row| {
        let values = x.row(row);
        // Adding first becomes vector code; looking for a position does not.
        let odd = values.iter().map(|v| u32::from(!v.finite())).sum::<u32>();
        let column = (odd > 0).then(|| values.iter().position(|v| !v.finite())).flatten()?;
        Some((row, column, values[column].into()))
    });
    match found {
        Some((row, column, value)) => Err(MatrixError::NotFinite { which, row, column, value }),
        None => Ok(()),
    }
}

/// Refuses labels that are not one for each row.
pub(super) fn check_length(labels: usize, rows: usize, which: Which) -> Result<(), MatrixError> {
    if labels != rows {
        return Err(MatrixError::Length { which, labels, rows });
    }
    Ok(())
}

/// The classes of labelled rows, and the class of each row. Refuses what is no source.
pub fn check_source<T: Sample>(
    x: ArrayView2<'_, T>,
    labels: &Labels,
) -> Result<(Classes, Vec<usize>), MatrixError> {
    check_domain(x, Which::Source)?;
    let (classes, rows) = Classes::of(labels);
    check_length(rows.len(), x.nrows(), Which::SourceLabels)?;
    check_classes(&classes, &rows)?;
    Ok((classes, rows))
}

/// The class of each label of target or test, one for each of `rows` rows.
pub fn check_labels(
    classes: &Classes,
    labels: &Labels,
    rows: usize,
    which: Which,
) -> Result<Vec<usize>, MatrixError> {
    check_length(labels.len(), rows, which)?;
    classes.indices(labels, which)
}

/// Refuses a single class, and a class with a single row.
pub(super) fn check_classes(classes: &Classes, rows: &[usize]) -> Result<(), MatrixError> {
    let names = classes.names();
    if let [label] = names.as_slice() {
        return Err(MatrixError::OneClass { label: label.clone() });
    }
    let mut counts = vec![0_usize; names.len()];
    for class in rows {
        counts[*class] += 1;
    }
    match rows.iter().position(|class| counts[*class] == 1) {
        Some(row) => Err(MatrixError::OneRow { label: names[rows[row]].clone(), row }),
        None => Ok(()),
    }
}
