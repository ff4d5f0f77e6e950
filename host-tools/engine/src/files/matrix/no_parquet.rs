//! Stands in for Parquet if the tool was built without it.

use std::path::Path;

use super::{Labels, Matrix, MatrixError, NO_PARQUET};

pub(super) fn read(path: &Path) -> Result<Matrix, MatrixError> {
    Err(MatrixError::content(path, NO_PARQUET))
}

pub(super) fn read_labels(path: &Path) -> Result<Labels, MatrixError> {
    Err(MatrixError::content(path, NO_PARQUET))
}
