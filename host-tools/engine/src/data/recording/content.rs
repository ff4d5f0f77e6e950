//! Refuses a file whose first bytes belong to another format than its name.

use std::io::Read;
use std::path::Path;

use super::RecordingError;
use crate::files::content::{BEGINNING, extension_of};
use crate::files::input;

/// Refuses a file that is empty or that holds another format than its extension says.
pub(super) fn check(path: &Path, extension: &str) -> Result<(), RecordingError> {
    let io = |source| RecordingError::Io { path: path.into(), source };
    let mut beginning = Vec::new();
    input::open(path).map_err(io)?.take(BEGINNING).read_to_end(&mut beginning).map_err(io)?;
    if beginning.is_empty() {
        return Err(RecordingError::empty(path));
    }
    match extension_of(&beginning) {
        Some(content) if content != extension => Err(RecordingError::OtherFormat {
            path: path.into(),
            extension: extension.into(),
            content,
        }),
        _ => Ok(()),
    }
}
