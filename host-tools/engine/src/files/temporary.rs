//! Folders for temporary files.

use std::io;
use std::path::PathBuf;

use tempfile::TempDir;
use thiserror::Error;

/// Why there is no folder for temporary files.
#[derive(Debug, Error)]
#[error(
    "{}: no temporary folder can be made there: {reason}; set TMPDIR to a folder that exists and is \
     writable",
    place.display()
)]
pub struct TemporaryError {
    /// Where temporary folders are made.
    pub place: PathBuf,
    /// What the operating system said.
    pub reason: io::Error,
}

/// Makes a folder for temporary files, gone with the value.
///
/// The error names the place of such folders, not the name that was tried.
pub fn temporary_folder() -> Result<TempDir, TemporaryError> {
    tempfile::tempdir().map_err(|error| {
        let place = std::env::temp_dir();
        // tempfile's own text has the name that it tried.
        let reason = place.metadata().err().unwrap_or_else(|| error.kind().into());
        TemporaryError { place, reason }
    })
}
