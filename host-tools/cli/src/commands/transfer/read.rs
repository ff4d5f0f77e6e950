//! Reads the matrices of a transfer, and tells which file an error is about.

use std::path::Path;

use anyhow::Result;
use ndarray::Array2;
use rebearing_host::files::matrix::{self, Labels, Matrix};
use rebearing_host::matrices::{MatrixError, SavedMixture, Which};

use super::TransferArgs;
use crate::progress::Step;

/// The contents of the files, in one precision.
pub(super) struct Files<T> {
    pub(super) source: Source<T>,
    pub(super) target: Array2<T>,
    pub(super) test: Option<Array2<T>>,
}

/// The source's rows, or its mixture.
pub(super) enum Source<T> {
    Rows(Array2<T>, Labels),
    Mixture(Box<SavedMixture>),
}

/// Single precision if every matrix is, else double.
pub(super) enum AnyFiles {
    F32(Files<f32>),
    F64(Files<f64>),
}

pub(super) fn read(args: &TransferArgs) -> Result<AnyFiles> {
    let _step = Step::start("reading the matrices");
    let target = matrix::read(&args.target_x)?;
    let test = args.test_x.as_deref().map(matrix::read).transpose()?;
    let rows = args.source_x.as_deref().map(matrix::read).transpose()?;
    let labels = args.source_y.as_deref().map(matrix::read_labels).transpose()?;
    let single = |matrix: &Matrix| matches!(matrix, Matrix::F32(_));
    if [Some(&target), test.as_ref(), rows.as_ref()].into_iter().flatten().all(single) {
        let (target, test) = (into_f32(target), test.map(into_f32));
        let source = source(args, rows.map(into_f32), labels)?;
        return Ok(AnyFiles::F32(Files { source, target, test }));
    }
    let (target, test) = (target.into_f64(), test.map(Matrix::into_f64));
    let source = source(args, rows.map(Matrix::into_f64), labels)?;
    Ok(AnyFiles::F64(Files { source, target, test }))
}

fn into_f32(matrix: Matrix) -> Array2<f32> {
    match matrix {
        Matrix::F32(x) => x,
        Matrix::F64(x) => x.mapv(|x| x as f32),
    }
}

fn source<T>(
    args: &TransferArgs,
    rows: Option<Array2<T>>,
    labels: Option<Labels>,
) -> Result<Source<T>> {
    Ok(match (rows, labels, &args.source_mixture) {
        (_, _, Some(path)) => Source::Mixture(Box::new(SavedMixture::read(path)?)),
        (Some(rows), Some(labels), None) => Source::Rows(rows, labels),
        _ => anyhow::bail!("give --source-x and --source-y, or --source-mixture"),
    })
}

/// The error, with the file that it is about.
pub(super) fn with_file(args: &TransferArgs, error: MatrixError) -> anyhow::Error {
    let file: Option<&Path> = match error.which() {
        Some(Which::Source) => args.source_x.as_deref(),
        Some(Which::SourceLabels) => args.source_y.as_deref(),
        Some(Which::Target) => Some(&args.target_x),
        Some(Which::TargetLabels) => args.target_y.as_deref(),
        Some(Which::Test) => args.test_x.as_deref(),
        Some(Which::TestLabels) => args.test_y.as_deref(),
        None if matches!(error, MatrixError::NoLabels) => args.source_mixture.as_deref(),
        None => None,
    };
    let file = file.map(|file| file.display().to_string());
    let error = anyhow::Error::new(error);
    match file {
        Some(file) => error.context(file),
        None => error,
    }
}
