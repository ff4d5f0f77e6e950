//! Paths as text in JSON.

use std::path::Path;

use serde::Serializer;

/// Writes a path as text. JSON has no other form for a path that is not UTF-8, so each such byte
/// becomes U+FFFD.
pub(crate) fn shown<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}
