//! Detects a file's format from its first bytes, in case its name says otherwise.

use std::io::Read;
use std::path::Path;

use super::RecordingError;
use crate::files::input;

/// The first bytes of files, and the extension that goes with them.
const BEGINNINGS: [(&[u8], &str); 7] = [
    (b"RIFF", "wav"),
    (b"RF64", "wav"),
    (b"MATLAB 5.0 MAT-file", "mat"),
    (b"MATLAB 7.3 MAT-file", "mat"),
    (b"\x93NUMPY", "npy"),
    (b"PK\x03\x04", "npz"),
    (b"PAR1", "parquet"),
];

/// Refuses a file that is empty or that holds another format than its extension says.
pub(super) fn check(path: &Path, extension: &str) -> Result<(), RecordingError> {
    let io = |source| RecordingError::Io { path: path.into(), source };
    let mut beginning = Vec::new();
    input::open(path).map_err(io)?.take(32).read_to_end(&mut beginning).map_err(io)?;
    if beginning.is_empty() {
        return Err(RecordingError::empty(path));
    }
    let known = BEGINNINGS.iter().find(|(bytes, _)| beginning.starts_with(bytes));
    match known {
        Some((_, content)) if *content != extension => Err(RecordingError::OtherFormat {
            path: path.into(),
            extension: extension.into(),
            content,
        }),
        _ => Ok(()),
    }
}
