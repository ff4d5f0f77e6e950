//! Matrices and labels from Parquet files.

use std::path::Path;

use ndarray::Array2;

use super::labels::Collector;
use super::{BESIDE, LABEL, Labels, Matrix, MatrixError};
use crate::files::parquet::{self, Column, Kind, Problem, Rows, integers, texts};
use crate::words::listed;

/// Size of a matrix in bytes that is allowed at any compression ratio.
const ALWAYS: u64 = 256 << 20;
/// Largest compression ratio of a larger matrix. The last bits of a measurement are noise, which
/// does not compress.
const MOST_COMPRESSION: u64 = 200;

fn refused(path: &Path, problem: Problem) -> MatrixError {
    match problem {
        Problem::Io(source) => MatrixError::read(path, source),
        Problem::Content(problem) => MatrixError::content(path, problem),
    }
}

/// Reads the columns of numbers, without those that are about a row.
pub(super) fn read(path: &Path) -> Result<Matrix, MatrixError> {
    let directory = parquet::open(path).map_err(|problem| refused(path, problem))?;
    let is_feature =
        |column: &Column| column.kind.is_number() && !BESIDE.contains(&column.name.as_str());
    let names: Vec<&str> = directory.columns.iter().map(|column| column.name.as_str()).collect();
    let columns: Vec<Column> =
        directory.columns.iter().filter(|c| is_feature(c)).cloned().collect();
    if columns.is_empty() {
        let problem = format!("no column of numbers in it; the file has: {}", listed(&names));
        return Err(MatrixError::content(path, problem));
    }
    let width = columns.len();
    let needs = (directory.rows as u64).saturating_mul(width as u64).saturating_mul(8);
    if needs > ALWAYS && needs / MOST_COMPRESSION > directory.bytes {
        return Err(MatrixError::content(
            path,
            format!(
                "{} rows × {width} columns are announced in {} bytes, too many for measured \
                 numbers; write the matrix as .npy",
                directory.rows, directory.bytes
            ),
        ));
    }
    let single = columns.iter().all(|column| column.kind == Kind::Single);
    let mut rows = Rows::open(path, columns).map_err(|problem| refused(path, problem))?;
    let (mut chunk, mut singles, mut doubles) = (Vec::new(), Vec::new(), Vec::new());
    while rows.next(&mut chunk).map_err(|problem| refused(path, problem))? {
        for row in 0..chunk.first().map_or(0, Vec::len) {
            let numbers = chunk.iter().map(|column| column[row]);
            if single {
                singles.extend(numbers.map(|number| number as f32));
            } else {
                doubles.extend(numbers);
            }
        }
    }
    let shape = ((singles.len() + doubles.len()) / width, width);
    let matrix = if single {
        Array2::from_shape_vec(shape, singles).map(Matrix::F32)
    } else {
        Array2::from_shape_vec(shape, doubles).map(Matrix::F64)
    };
    matrix.map_err(|error| MatrixError::content(path, format!("cannot be arranged: {error}")))
}

/// Reads the only column, or the one called `label`.
pub(super) fn read_labels(path: &Path) -> Result<Labels, MatrixError> {
    let directory = parquet::open(path).map_err(|problem| refused(path, problem))?;
    let column = match directory.columns.as_slice() {
        [only] => Some(only),
        several => several.iter().find(|column| column.name == LABEL),
    };
    let Some(column) = column else {
        let names: Vec<&str> = directory.columns.iter().map(|c| c.name.as_str()).collect();
        let problem = format!(
            "which column has the labels? call it `{LABEL}`; the file has: {}",
            listed(&names)
        );
        return Err(MatrixError::content(path, problem));
    };
    let mut labels = Collector::default();
    let result = match column.kind {
        Kind::Text => texts(path, column, |text| match text {
            Some(text) => labels.text(text).map_err(Problem::Content),
            None => Err(Problem::Content(labels.missing())),
        }),
        Kind::Signed | Kind::Unsigned | Kind::Boolean => {
            integers(path, column, |number| match number {
                Some(number) => labels.integer(number).map_err(Problem::Content),
                None => Err(Problem::Content(labels.missing())),
            })
        }
        Kind::Single | Kind::Double => floats(path, column, &mut labels),
        Kind::Other => Err(Problem::Content(format!(
            "column {}: labels are whole numbers or text; write it with pandas as one of them",
            column.name
        ))),
    };
    result.map_err(|problem| refused(path, problem))?;
    Ok(labels.labels())
}

fn floats(path: &Path, column: &Column, labels: &mut Collector) -> Result<(), Problem> {
    let mut rows = Rows::open(path, vec![column.clone()])?;
    let mut chunk = Vec::new();
    while rows.next(&mut chunk)? {
        for &number in chunk.iter().flatten() {
            labels.float(number).map_err(Problem::Content)?;
        }
    }
    Ok(())
}
