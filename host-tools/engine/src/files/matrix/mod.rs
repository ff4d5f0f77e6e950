//! Matrices and labels in files. The extension gives the format: `.npy`, `.csv` or `.parquet`.
//!
//! ```text
//!  extension ─┬─► .npy      one array ────────────────┐
//!             ├─► .csv      with or without a header ─┼─► Matrix or Labels
//!             └─► .parquet  columns of numbers ───────┘
//! ```
//!
//! A table may hold label, domain, recording and time of each row beside the numbers. These columns
//! are left out of the matrix.
//!
//! ```
//! use ndarray::array;
//! use rebearing_host::files::matrix::{self, Labels};
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("x.csv");
//! let columns = ["level".to_owned(), "kurtosis".to_owned()];
//! matrix::write(&file, array![[0.1, 3.0], [0.2, 5.5]].view(), &columns)?;
//! assert_eq!(matrix::read(&file)?.into_f64(), array![[0.1, 3.0], [0.2, 5.5]]);
//!
//! let file = folder.path().join("y.npy");
//! let labels = Labels::Texts(vec!["Healthy".into(), "Ball".into()]);
//! matrix::write_labels(&file, &labels)?;
//! assert_eq!(matrix::read_labels(&file)?, labels);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod csv;
mod error;
mod labels;
mod npy_labels;
#[cfg_attr(not(feature = "parquet"), path = "no_parquet.rs")]
mod parquet;
mod table;

use std::io::Read as _;
use std::path::Path;

use ndarray::ArrayView2;

pub use self::error::MatrixError;
pub use self::labels::Labels;
pub use self::table::{Beside, Block, Table, rows_file, write_table};
use crate::files::content::{BEGINNING, extension_of};
use crate::files::input;
use crate::files::npy;
pub use crate::files::npy::Matrix;
use crate::files::output;

/// Columns of a table that are about a row, and are no features.
pub const BESIDE: [&str; 4] = ["label", "domain", "recording", "time"];
/// The column of labels in a table.
pub const LABEL: &str = BESIDE[0];

/// Reads a matrix, rows × columns. A vector is one column.
///
/// A CSV file has a header if some cell of its first row is no number. From a Parquet file all
/// columns of integers and floats are taken, and a null becomes NaN. The columns in [`BESIDE`] are
/// left out. `.npy` and Parquet keep single precision. NaN and infinity are not refused.
pub fn read(path: &Path) -> Result<Matrix, MatrixError> {
    let matrix = match Format::of_input(path)? {
        Format::Npy => npy::read_matrix(path),
        Format::Csv => csv::read(path).map(Matrix::F64),
        Format::Parquet => parquet::read(path),
    }?;
    let (rows, columns) = matrix.dim();
    if rows == 0 || columns == 0 {
        let shape = format!("no numbers in it, {rows} rows × {columns} columns");
        return Err(MatrixError::content(path, format!("{shape}; give at least one row of them")));
    }
    Ok(matrix)
}

/// Reads one label a row: integers or texts.
///
/// A CSV or Parquet file has either one column or a column called `label`. Floats that are whole
/// numbers are integers. A row without a label is refused.
pub fn read_labels(path: &Path) -> Result<Labels, MatrixError> {
    let labels = match Format::of_input(path)? {
        Format::Npy => npy_labels::read(path),
        Format::Csv => csv::read_labels(path),
        Format::Parquet => parquet::read_labels(path),
    }?;
    if labels.is_empty() {
        return Err(MatrixError::content(path, "no labels in it; give one for each row"));
    }
    Ok(labels)
}

/// Writes a matrix in double precision, whole or not at all. `.npy` has no room for the names of
/// the columns.
#[expect(clippy::needless_pass_by_value, reason = "a view is small, and callers have no reference")]
pub fn write(path: &Path, x: ArrayView2<f64>, columns: &[String]) -> Result<(), MatrixError> {
    if Format::of_output(path)? == Format::Npy {
        return npy::write_matrix(path, &x);
    }
    write_table(path, &Table { beside: Vec::new(), columns, blocks: vec![Block::F64(x)] })
}

/// Writes labels, whole or not at all. CSV and Parquet have one column, `label`.
pub fn write_labels(path: &Path, labels: &Labels) -> Result<(), MatrixError> {
    if Format::of_output(path)? == Format::Npy {
        let content = npy_labels::bytes(labels);
        return Ok(output::write(path, &content)?);
    }
    let values = match labels {
        Labels::Integers(numbers) => Beside::Integers(numbers.clone()),
        Labels::Texts(texts) => {
            Beside::Texts(texts.iter().map(|text| Some(text.as_str())).collect())
        }
    };
    write_table(path, &Table { beside: vec![(LABEL, values)], columns: &[], blocks: Vec::new() })
}

/// Fails at once if the extension of an output is unknown, so that a command can refuse before long
/// work.
pub fn check_extension(path: &Path) -> Result<(), MatrixError> {
    Format::of_output(path).map(drop)
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Npy,
    Csv,
    Parquet,
}

impl Format {
    fn of(path: &Path, verb: &str) -> Result<Self, MatrixError> {
        match extension(path).as_str() {
            "npy" => Ok(Self::Npy),
            "csv" => Ok(Self::Csv),
            "parquet" => Ok(Self::Parquet),
            other => Err(MatrixError::content(
                path,
                format!(
                    "matrices are not {verb} with the extension {other:?}; use .npy, .csv or .parquet"
                ),
            )),
        }
    }

    fn of_output(path: &Path) -> Result<Self, MatrixError> {
        let format = Self::of(path, "written")?;
        if format == Self::Parquet && cfg!(not(feature = "parquet")) {
            return Err(MatrixError::content(path, NO_PARQUET));
        }
        Ok(format)
    }

    /// The format of a regular file, whose first bytes must be of that format too.
    fn of_input(path: &Path) -> Result<Self, MatrixError> {
        let io = |source| MatrixError::read(path, source);
        let file = input::open(path).map_err(io)?;
        let format = Self::of(path, "read")?;
        let mut beginning = Vec::new();
        file.take(BEGINNING).read_to_end(&mut beginning).map_err(io)?;
        match extension_of(&beginning) {
            Some(content) if content != extension(path) => {
                let extension = extension(path);
                Err(MatrixError::content(
                    path,
                    format!(
                        "is a {content} file by its first bytes, but is named .{extension}; name it .{content}"
                    ),
                ))
            }
            _ => Ok(format),
        }
    }
}

/// The message of a build without Parquet.
const NO_PARQUET: &str = "this build has no Parquet; build the tool with the feature `parquet`, or \
                          use .csv or .npy";

fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}
