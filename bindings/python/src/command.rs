//! The command line, for the console script `rebearing`.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command `rebearing` with these words and returns its exit code. The first word is the
/// name of the program.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| rebearing_cli::run(words))
}
