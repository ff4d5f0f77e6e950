//! Why a file of a matrix or of labels could not be read or written.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::files::output::OutputError;

/// Why a file of a matrix or of labels could not be read or written.
#[derive(Debug, Error)]
pub enum MatrixError {
    /// The file cannot be opened or read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error from the operating system.
        source: io::Error,
    },
    /// The content of the file is wrong.
    #[error("{}: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The problem, its place and its remedy.
        problem: String,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] OutputError),
}

impl MatrixError {
    pub(super) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.into(), source }
    }

    pub(super) fn content(path: &Path, problem: impl Into<String>) -> Self {
        Self::Content { path: path.into(), problem: problem.into() }
    }
}
