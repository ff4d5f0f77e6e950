//! Stands in for the Parquet reader if the tool was built without it.

use std::path::Path;

use super::{Recording, RecordingError};

pub(super) fn read(
    path: &Path,
    _channels: &[&str],
    _in_memory: usize,
) -> Result<Recording, RecordingError> {
    Err(RecordingError::malformed(
        path,
        "a Parquet file (by its extension), which this build does not read; build the tool with \
         the feature `parquet`, or write the columns as CSV",
    ))
}
