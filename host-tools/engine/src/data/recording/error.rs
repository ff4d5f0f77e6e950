//! Why a recording could not be read.

use std::path::{Path, PathBuf};

use super::MAX_AXES;

/// Why a recording could not be read: the file, the place in it, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The operating system refused.
    #[error("{}: cannot read the recording: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// No reader for the extension.
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
    /// The file is not what its extension says, or is cut off.
    #[error("{}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, where, and what to do.
        reason: String,
    },
    /// The file has no samples.
    #[error("{}: no samples in it; record again or take the file out of the list", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file leaves a choice and no channel was given.
    #[error("{}: which channel? name one (several axes as `a;b;c`) of: {available}", path.display())]
    ChannelNeeded {
        /// The file.
        path: PathBuf,
        /// What the file has.
        available: String,
    },
    /// The file has no such channel.
    #[error("{}: no channel {channel:?}; the file has: {available}", path.display())]
    NoSuchChannel {
        /// The file.
        path: PathBuf,
        /// The channel that was asked for.
        channel: String,
        /// What the file has.
        available: String,
    },
    /// Axes of one recording must have the same number of samples.
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
        /// An axis of another length.
        other: String,
        /// Its number of samples.
        other_len: usize,
    },
    /// More axes than an accelerometer has.
    #[error(
        "{}: {axes} axes, but a recording has at most {MAX_AXES}; choose by channel, as `0;1;2`",
        path.display()
    )]
    TooManyAxes {
        /// The file.
        path: PathBuf,
        /// How many there are.
        axes: usize,
    },
    /// The content is that of another format.
    #[error(
        "{}: is a {content} file by its first bytes, but is named .{extension}; name it .{content}",
        path.display()
    )]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Its extension, in lower case.
        extension: String,
        /// The extension that files of this content have.
        content: &'static str,
    },
    /// Work that needs all samples at once, on a file that is streamed.
    #[error(
        "{}: its {megabytes} MB of samples are read piece by piece, and this needs them all in \
         memory at once; cut the file into shorter recordings",
        path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its samples as 32-bit floats.
        megabytes: usize,
    },
}

impl RecordingError {
    /// The names of the channels that a file has, where the error is about them: `available`
    /// without the sizes behind the names and without time. A name that holds ", " comes apart;
    /// the file then has no channel of the parts' names, and says so when it is read.
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

/// The name before a size such as ` (1024×1)`; none of what is no channel.
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
