//! Folders for temporary files.

use std::io;
use std::path::PathBuf;

use tempfile::TempDir;
use thiserror::Error;

/// The reason why a folder for temporary files cannot be made.
#[derive(Debug, Error)]
#[error(
    "{}: no temporary folder can be made there: {reason}; set TMPDIR to a folder that exists and is \
     writable",
    place.display()
)]
pub struct TemporaryError {
    /// The folder in which temporary folders are made.
    pub place: PathBuf,
    /// The operating system's reason.
    pub reason: io::Error,
}

/// Makes a folder for temporary files. Dropping the value removes the folder.
///
/// The error names the place of such folders, not the folder name that was tried.
pub fn temporary_folder() -> Result<TempDir, TemporaryError> {
    tempfile::tempdir().map_err(|error| {
        let place = std::env::temp_dir();
        // tempfile's own message contains the name that it tried.
        let reason = place.metadata().err().unwrap_or_else(|| error.kind().into());
        TemporaryError { place, reason }
    })
}
