//! Recordings: files of vibration samples, whatever their format, as frames of one to three axes.
//!
//! One file a format; the extension decides. The readers keep values as the file has them
//! (integers as counts, `f64` narrowed to `f32`) and keep NaN and infinity too, because a
//! prediction must be able to report a sensor fault; fitting asks
//! [`Recording::first_non_finite`] and refuses.

mod csv;
mod error;
mod mat;
mod npy;
mod wav;

use std::path::{Path, PathBuf};

pub(crate) use self::csv::{describe, line_of};
pub use error::RecordingError;

/// The most axes that a recording may have: those of a three-axis accelerometer.
pub const MAX_AXES: usize = 3;

/// The samples of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// The file that was read.
    pub path: PathBuf,
    /// The sampling rate that the file itself carries; only WAV files do.
    pub rate_hz: Option<f64>,
    /// The shaft speed in turns per minute, where the manifest or the command line gives one.
    pub rpm: Option<f64>,
    /// Values per frame, one to three.
    pub axes: usize,
    /// Contiguous stretches of time, none of them empty: interleaved frames, `axes` values each.
    pub segments: Vec<Vec<f32>>,
}

/// Where a value stands in a recording; all counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Index of the segment.
    pub segment: usize,
    /// Index of the frame in its segment.
    pub frame: usize,
    /// Index of the axis in its frame.
    pub axis: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { segment, frame, axis } = self;
        write!(f, "segment {segment}, frame {frame}, axis {axis}")
    }
}

impl Recording {
    /// Frames in each segment.
    pub fn segment_frames(&self) -> Vec<usize> {
        self.segments.iter().map(|s| s.len() / self.axes).collect()
    }

    /// Frames in all segments together.
    pub fn frames(&self) -> usize {
        self.segment_frames().iter().sum()
    }

    /// The shaft speed in turns per second, as the device is told it.
    pub fn shaft_hz(&self) -> Option<f32> {
        self.rpm.map(|rpm| (rpm / 60.0) as f32)
    }

    /// The first NaN or infinity, if there is one.
    pub fn first_non_finite(&self) -> Option<Place> {
        self.segments.iter().enumerate().find_map(|(segment, samples)| {
            let index = samples.iter().position(|x| !x.is_finite())?;
            Some(Place { segment, frame: index / self.axes, axis: index % self.axes })
        })
    }

    /// One segment from one column per axis.
    fn from_columns(
        path: &Path,
        rate_hz: Option<f64>,
        columns: &[(String, Vec<f32>)],
    ) -> Result<Self, RecordingError> {
        let Some((first_name, first)) = columns.first() else {
            return Err(RecordingError::empty(path));
        };
        if columns.len() > MAX_AXES {
            return Err(RecordingError::TooManyAxes { path: path.into(), axes: columns.len() });
        }
        if let Some((name, column)) = columns.iter().find(|(_, c)| c.len() != first.len()) {
            return Err(RecordingError::UnequalAxes {
                path: path.into(),
                first: first_name.clone(),
                first_len: first.len(),
                other: name.clone(),
                other_len: column.len(),
            });
        }
        if first.is_empty() {
            return Err(RecordingError::empty(path));
        }
        let interleaved = (0..first.len())
            .flat_map(|frame| columns.iter().map(move |(_, column)| column[frame]))
            .collect();
        Ok(Self {
            path: path.into(),
            rate_hz,
            rpm: None,
            axes: columns.len(),
            segments: vec![interleaved],
        })
    }
}

/// Extensions of files that there is a reader for.
pub const EXTENSIONS: [&str; 5] = ["wav", "mat", "npy", "csv", "tsv"];

/// Stands in until samples can be left on disk.
pub fn read_within(
    path: &Path,
    channel: Option<&str>,
    _in_memory: usize,
) -> Result<Recording, RecordingError> {
    read(path, channel)
}

/// The recording in a file, by its extension: `.mat` (v5), `.npy`, `.csv`, `.tsv` or `.wav`.
///
/// `channel` names the variable of a `.mat`, the column of a CSV (by name, or by index from 0)
/// or the channel of a WAV (by index from 0); several axes are separated by `;`. Without it the
/// file must leave no choice.
pub fn read(path: &Path, channel: Option<&str>) -> Result<Recording, RecordingError> {
    let channels = parse_channels(path, channel)?;
    let extension =
        path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let read = match extension.as_str() {
        "mat" => mat::read,
        "npy" => npy::read,
        "csv" | "tsv" => csv::read,
        "wav" => wav::read,
        _ => {
            return Err(RecordingError::UnknownFormat { path: path.into(), extension });
        }
    };
    let bytes =
        std::fs::read(path).map_err(|source| RecordingError::Io { path: path.into(), source })?;
    if bytes.is_empty() {
        return Err(RecordingError::empty(path));
    }
    read(path, &bytes, &channels)
}

/// The names between the `;`; none when no channel is given.
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
