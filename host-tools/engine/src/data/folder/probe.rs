//! Finds out what a file itself says: its rate and its channels.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::data::manifest::REQUIRED;
use crate::data::recording::{self, Recording, RecordingError};
use crate::files::input;

/// The facts found in a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Found {
    pub(super) rate_hz: Option<f64>,
    /// The channel to name in the manifest; `None` if the file leaves no choice.
    pub(super) channel: Option<String>,
    pub(super) axes: Option<usize>,
    /// The channels of the file, if it leaves a choice.
    pub(super) choice: Vec<String>,
}

impl Found {
    fn new(recording: &Recording, channel: Option<String>) -> Self {
        let Recording { rate_hz, axes, .. } = *recording;
        Self { rate_hz, channel, axes: Some(axes), choice: Vec::new() }
    }
}

/// Looks into a file for `channel`, whose names may contain `*`. Returns the reason if the file is
/// not a recording.
pub(super) fn probe(path: &Path, channel: Option<&str>) -> Result<Found, String> {
    let why = |error: RecordingError| {
        let (text, prefix) = (error.to_string(), format!("{}: ", path.display()));
        text.strip_prefix(&prefix).unwrap_or(&text).to_owned()
    };
    // Reads only headers if the format has them, and keeps no samples.
    let read = |channel: Option<&str>| recording::read_within(path, channel, 0);
    match read(channel) {
        Ok(recording) => Ok(Found::new(&recording, channel.map(Into::into))),
        Err(error @ RecordingError::ChannelNeeded { .. }) => {
            Ok(Found { choice: error.channels(), ..Found::default() })
        }
        Err(error @ RecordingError::NoSuchChannel { .. }) => {
            let channel = channel.unwrap_or_default();
            if has_no_names(path) {
                // A file with one unnamed axis leaves no choice, whatever channel names other files
                // have.
                return match read(None) {
                    Ok(recording) if recording.axes == 1 => Ok(Found::new(&recording, None)),
                    _ => Err(why(error)),
                };
            }
            match matching(channel, &error.channels()) {
                Matched::None => Err(why(error)),
                Matched::Several(choice) => Ok(Found { choice, ..Found::default() }),
                Matched::One(name) => {
                    read(Some(&name)).map(|found| Found::new(&found, Some(name))).map_err(why)
                }
            }
        }
        Err(error) => Err(why(error)),
    }
}

/// Whether the channels of a file have only numbers, no names.
fn has_no_names(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("wav") || e.eq_ignore_ascii_case("npy"))
}

/// Result of matching a name that may contain `*`.
enum Matched {
    None,
    One(String),
    Several(Vec<String>),
}

/// The channels that `wanted` matches, one for each name between its `;`.
fn matching(wanted: &str, channels: &[String]) -> Matched {
    let mut axes = Vec::new();
    for name in wanted.split(';').map(str::trim) {
        let parts: Vec<String> = name.split('*').map(regex::escape).collect();
        let Ok(matcher) = regex::Regex::new(&format!("^{}$", parts.join(".*"))) else {
            return Matched::None;
        };
        let found: Vec<&String> = channels.iter().filter(|name| matcher.is_match(name)).collect();
        match found.as_slice() {
            [] => return Matched::None,
            [one] => axes.push((*one).clone()),
            several => return Matched::Several(several.iter().copied().cloned().collect()),
        }
    }
    Matched::One(axes.join(";"))
}

/// Whether a file is a manifest, not a recording: its first line has the required columns.
pub(super) fn is_manifest(path: &Path) -> bool {
    let table = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"));
    let mut line = Vec::new();
    let first = table
        .then(|| input::open(path))
        .and_then(Result::ok)
        .map(|file| BufReader::new(file.take(4096)).read_until(b'\n', &mut line));
    if !matches!(first, Some(Ok(_))) {
        return false;
    }
    let line = String::from_utf8_lossy(&line);
    let columns: Vec<&str> =
        line.trim_start_matches('\u{feff}').split(',').map(str::trim).collect();
    REQUIRED.iter().all(|column| columns.contains(column))
}
