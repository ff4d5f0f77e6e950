//! Recordings: files of vibration samples in any format, as frames of one to three axes.
//!
//! ```text
//!  extension ─► reader of the format ─► Source ─┬─► memory, if small ─┬─► each_chunk ─► features,
//!  (and what the first bytes say)               └─► stays on disk ────┘                 labels, …
//! ```
//!
//! There is one source file for each format, and the extension decides which one reads a file. A
//! reader looks at the headers and hands the samples to a [`Source`], which streams them. A small
//! file is read into memory through it. Readers keep the values of the file: integers stay counts,
//! and `f64` is narrowed to `f32`. They also keep NaN and infinity, because a prediction must be
//! able to report a sensor fault. Fitting calls [`Recording::first_non_finite`] and refuses such a
//! recording.

mod bytes;
mod content;
mod converted;
mod error;
mod mat;
mod npy;
mod npz;
mod packed;
#[cfg_attr(not(feature = "parquet"), path = "no_parquet.rs")]
mod parquet;
mod samples;
mod stream;
mod table;
mod wav;

use std::path::Path;

pub(crate) use crate::files::csv_place::{describe, line_of};
pub use converted::Conversion;
pub use error::RecordingError;
pub use samples::{IN_MEMORY, Place, Recording, Samples, Stored};
pub use stream::{CHUNK_FRAMES, Frames, SideBySide, Skipped, Source};

/// The largest number of axes of a recording: those of a three-axis accelerometer.
pub const MAX_AXES: usize = 3;

/// Reads the recording in a file. The extension gives the format: `.wav`, `.mat` (v5 to v7),
/// `.npy`, `.npz`, `.csv`, `.tsv`, `.txt` or `.parquet`.
///
/// `channel` names the variable of a `.mat` (dotted inside structures), the array of an `.npz`, the
/// column of a table (by name, or by index from 0) or the channel of a WAV (by index from 0).
/// Several axes are separated by `;`. Without it the file must leave no choice.
///
/// ```
/// use rebearing_host::data::recording;
///
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("monday.csv");
/// std::fs::write(&file, "x,y\n0.1,1.0\n0.2,2.0\n0.3,3.0\n")?;
/// let recording = recording::read(&file, Some("y"))?;
/// assert_eq!((recording.axes, recording.frames()), (1, 3));
/// assert_eq!(recording.stretches()?[0], [1.0, 2.0, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(path: &Path, channel: Option<&str>) -> Result<Recording, RecordingError> {
    read_within(path, channel, IN_MEMORY)
}

/// Like [`read`], but leaves the samples on disk if they would take more than `in_memory` bytes.
pub fn read_within(
    path: &Path,
    channel: Option<&str>,
    in_memory: usize,
) -> Result<Recording, RecordingError> {
    let channels = parse_channels(path, channel)?;
    let extension =
        path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let read = match extension.as_str() {
        "wav" => wav::read,
        "mat" => mat::read,
        "npy" => npy::read,
        "npz" => npz::read,
        "parquet" => parquet::read,
        "csv" | "tsv" | "txt" => table::read,
        _ => return Err(RecordingError::UnknownFormat { path: path.into(), extension }),
    };
    content::check(path, &extension)?;
    read(path, &channels, in_memory)
}

/// The names between the `;`; empty if no channel is given.
fn parse_channels<'a>(
    path: &Path,
    channel: Option<&'a str>,
) -> Result<Vec<&'a str>, RecordingError> {
    let Some(channel) = channel.filter(|c| !c.trim().is_empty()) else {
        return Ok(Vec::new());
    };
    let names: Vec<&str> = channel.split(';').map(str::trim).collect();
    if names.iter().any(|name| name.is_empty()) {
        return Err(RecordingError::malformed(
            path,
            format!("channel {channel:?} has an empty name; write one name an axis, as `x;y;z`"),
        ));
    }
    if names.len() > MAX_AXES {
        return Err(RecordingError::TooManyAxes { path: path.into(), axes: names.len() });
    }
    Ok(names)
}
