//! Why a recording could not be read.

use std::path::{Path, PathBuf};

use super::MAX_AXES;

/// Why a recording could not be read: the file, the place in it, and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The operating system refused to read the file.
    #[error("{}: cannot read the recording: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error from the operating system.
        source: std::io::Error,
    },
    /// The extension has no reader.
    #[error(
        "{}: no reader for the extension {extension:?}; use .wav, .mat (v5 to v7), .npy, .npz, \
         .csv, .tsv, .txt or .parquet",
        path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// Its extension, in lower case.
        extension: String,
    },
    /// The file is truncated, or its content does not match its extension.
    #[error("{}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The problem, its place and its remedy.
        reason: String,
    },
    /// The file has no samples.
    #[error("{}: no samples in it; record again or take the file out of the list", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file leaves a choice of channels and none was given.
    #[error("{}: which channel? name one (several axes as `a;b;c`) of: {available}", path.display())]
    ChannelNeeded {
        /// The file.
        path: PathBuf,
        /// The channels of the file.
        available: String,
    },
    /// The file has no such channel.
    #[error("{}: no channel {channel:?}; the file has: {available}", path.display())]
    NoSuchChannel {
        /// The file.
        path: PathBuf,
        /// The requested channel.
        channel: String,
        /// The channels of the file.
        available: String,
    },
    /// The axes of one recording have different numbers of samples.
    #[error(
        "{}: {first} has {first_len} samples and {other} has {other_len}; axes recorded together \
         have the same number",
        path.display()
    )]
    UnequalAxes {
        /// The file.
        path: PathBuf,
        /// The first axis.
        first: String,
        /// Its number of samples.
        first_len: usize,
        /// An axis with another length.
        other: String,
        /// Its number of samples.
        other_len: usize,
    },
    /// There are more axes than an accelerometer has.
    #[error(
        "{}: {axes} axes, but a recording has at most {MAX_AXES}; choose by channel, as `0;1;2`",
        path.display()
    )]
    TooManyAxes {
        /// The file.
        path: PathBuf,
        /// Number of axes.
        axes: usize,
    },
    /// The file holds another format than its extension says.
    #[error(
        "{}: is a {content} file by its first bytes, but is named .{extension}; name it .{content}",
        path.display()
    )]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Its extension, in lower case.
        extension: String,
        /// The right extension for this content.
        content: &'static str,
    },
    /// The work needs all samples at once, but the file is streamed.
    #[error(
        "{}: its {megabytes} MB of samples are read piece by piece, and this needs them all in \
         memory at once; cut the file into shorter recordings",
        path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Size of its samples as 32-bit floats.
        megabytes: usize,
    },
}

impl RecordingError {
    /// The channel names of the file, if the error is about channels. They come from `available`,
    /// without the sizes after the names and without the column of time. A name that contains ", "
    /// is split. The file has no channel with such a part's name, and reading it gives an error.
    pub fn channels(&self) -> Vec<String> {
        match self {
            Self::ChannelNeeded { available, .. } | Self::NoSuchChannel { available, .. } => {
                available.split(", ").filter_map(name_of).map(Into::into).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn empty(path: &Path) -> Self {
        Self::Empty { path: path.into() }
    }

    pub(super) fn malformed(path: &Path, reason: impl Into<String>) -> Self {
        Self::Malformed { path: path.into(), reason: reason.into() }
    }
}

/// The name before a size such as ` (1024×1)`; `None` if the text is not a channel.
fn name_of(described: &str) -> Option<&str> {
    match described.rsplit_once(" (") {
        Some((_, "time)")) => None,
        Some((name, size)) if size.trim_end_matches(')').split('×').all(is_count) => Some(name),
        _ => Some(described).filter(|name| *name != "…"),
    }
}

fn is_count(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::RecordingError;

    #[test]
    fn channels_are_named_without_what_describes_them() {
        let available = "t (time), ax (g), X105_DE_time (121265×1), v (3), plain, …".into();
        let error = RecordingError::ChannelNeeded { path: "x".into(), available };
        assert_eq!(error.channels(), ["ax (g)", "X105_DE_time", "v", "plain"]);
        assert!(RecordingError::Empty { path: "x".into() }.channels().is_empty());
    }
}
