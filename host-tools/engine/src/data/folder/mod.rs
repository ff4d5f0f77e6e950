//! Turns a folder tree into a manifest: finds out what each file is a recording of.
//!
//! ```text
//!  walk ─► candidates ─► pattern, given or guessed ─► probe of each file ─► Understood ─► rows
//! ```
//!
//! No file is left out silently: each skipped file is listed with the reason.

mod guess;
mod pattern;
mod probe;
mod walk;

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;
use thiserror::Error;

pub use guess::is_healthy;
pub use pattern::{FIELDS, Pattern, PatternError, rate_hz};

use self::pattern::Said;
use crate::data::manifest::Row;
use crate::data::resample::same_rate;
use crate::data::units::{FullScale, Unit};
use crate::files::cell;
use crate::words::plural;

/// Extensions of files that may be recordings.
const EXTENSIONS: [&str; 8] = ["wav", "mat", "npy", "npz", "csv", "tsv", "txt", "parquet"];

/// The user's statements about all files. The statements of a path or a file take precedence.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// The pattern for reading paths; guessed if absent.
    pub pattern: Option<Pattern>,
    /// Domain if the pattern has none [default: the folder's name].
    pub domain: Option<String>,
    /// Sample rate of files that do not carry one.
    pub rate_hz: Option<f64>,
    /// Shaft speed.
    pub rpm: Option<f64>,
    /// Channel, with `*` for the part that differs from file to file; several axes are separated by
    /// `;`.
    pub channel: Option<String>,
    /// Unit of the samples.
    pub unit: Option<Unit>,
    /// Full scale of the sensor.
    pub full_scale: Option<FullScale>,
}

/// A file that was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PassedOver {
    /// Path of the file, relative to the folder.
    #[serde(rename = "path")]
    pub name: String,
    /// The reason.
    pub reason: String,
}

/// A recording, with everything known about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Path of the file, relative to the folder.
    #[serde(rename = "path")]
    pub name: String,
    /// Path of the file from the working directory.
    #[serde(skip)]
    pub file: PathBuf,
    /// The fault label, if there is one.
    pub label: Option<String>,
    /// The machine, speed or load.
    pub domain: String,
    /// Sample rate, if known.
    pub rate_hz: Option<f64>,
    /// Whether the file itself carries the rate.
    pub carries_rate: bool,
    /// Shaft speed, if known.
    pub rpm: Option<f64>,
    /// The channel to read, if one must be named.
    pub channel: Option<String>,
    /// Number of axes that are then read; `None` while the choice of a channel is open.
    pub axes: Option<usize>,
    /// The channels to choose from while the choice is open.
    pub choice: Vec<String>,
}

/// The result of looking through a folder.
#[derive(Debug, Clone)]
pub struct Understood {
    /// The folder.
    pub folder: PathBuf,
    /// The pattern the paths were read with.
    pub pattern: Pattern,
    /// Whether the pattern was guessed.
    pub guessed: bool,
    /// The recordings, in the order of their paths; never empty.
    pub entries: Vec<Entry>,
    /// The skipped files.
    pub passed_over: Vec<PassedOver>,
}

/// Why no manifest can be made from a folder.
#[derive(Debug, Error)]
pub enum FolderError {
    /// The folder cannot be read.
    #[error("{}: cannot be read: {source}; give a folder of recordings", folder.display())]
    Io {
        /// The folder.
        folder: PathBuf,
        /// The error from the operating system.
        source: std::io::Error,
    },
    /// No file in the folder is a recording.
    #[error(
        "{}: no recording found{}; recordings are {}{}",
        folder.display(),
        pattern.as_ref().map(|pattern| format!(" that fits {pattern}")).unwrap_or_default(),
        EXTENSIONS.join(", "),
        first.as_ref().map(|PassedOver { name, reason }| format!("; skipped {name:?}: {reason}")).unwrap_or_default()
    )]
    Nothing {
        /// The folder.
        folder: PathBuf,
        /// The pattern, if one was given.
        pattern: Option<String>,
        /// The first file that was skipped.
        first: Option<PassedOver>,
    },
    /// The path from the manifest to a recording cannot be written in UTF-8 CSV.
    #[error(
        "{}: a manifest cannot hold this path, because it is not UTF-8 or begins or ends with a \
         space; rename the folder, or write the manifest into it", path.display()
    )]
    Unsayable {
        /// The path.
        path: PathBuf,
    },
    /// A spreadsheet would run a part of a name.
    #[error(
        "{text:?}: a spreadsheet may run the part after the separator as a formula; rename the \
         file or channel; no manifest was written"
    )]
    Runs {
        /// The name.
        text: String,
    },
    /// The sample rate of some recordings is unknown.
    #[error(
        "{} no sample rate, such as {name:?}: give `rate_hz`, or {{rate}} in the pattern; no \
         manifest was written",
        plural(*count, "recording carries", "recordings carry")
    )]
    NoRate {
        /// Number of these recordings.
        count: usize,
        /// The first of them.
        name: String,
    },
    /// Some recordings leave the choice of a channel open.
    #[error(
        "{} a choice of channel, such as {name:?}: {}; name one with \
         `channel` (several axes as `x;y;z`, * for a part that differs from file to file); no \
         manifest was written",
        plural(*count, "recording leaves", "recordings leave"),
        choice.join(", ")
    )]
    NoChannel {
        /// Number of these recordings.
        count: usize,
        /// The first of them.
        name: String,
        /// The channels of the first one.
        choice: Vec<String>,
    },
}

/// Looks at every file below `folder`. `progress` gets the number of files done and the total.
pub fn understand(
    folder: &Path,
    wishes: &Wishes,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Understood, FolderError> {
    let io = |source| FolderError::Io { folder: folder.into(), source };
    std::fs::read_dir(folder).map_err(io)?;
    let whole = folder.canonicalize().map_err(io)?;
    let (candidates, mut passed_over) = walk::walk(folder, &EXTENSIONS);
    let (candidates, manifests): (Vec<_>, Vec<_>) =
        candidates.into_iter().partition(|candidate| !probe::is_manifest(&candidate.path));
    passed_over.extend(
        manifests.into_iter().map(|it| PassedOver { name: it.name, reason: "a manifest".into() }),
    );
    let names: Vec<&str> = candidates.iter().map(|candidate| candidate.name.as_str()).collect();
    let nothing = |passed_over: &[PassedOver]| FolderError::Nothing {
        folder: folder.into(),
        pattern: wishes.pattern.as_ref().map(|pattern| pattern.text().into()),
        first: passed_over.first().cloned(),
    };
    let pattern = match &wishes.pattern {
        Some(pattern) => pattern.clone(),
        None => guess::guess(&names).ok_or_else(|| nothing(&passed_over))?,
    };
    let domain = wishes.domain.clone().unwrap_or_else(|| {
        let name = whole.file_name().map(|name| name.to_string_lossy().trim().to_owned());
        // The root of a file system has no name.
        name.filter(|name| !name.is_empty()).unwrap_or_else(|| "recordings".into())
    });

    let (total, done) = (candidates.len(), std::sync::atomic::AtomicUsize::new(0));
    let looked_at: Vec<Result<Entry, PassedOver>> = candidates
        .into_par_iter()
        .map(|walk::Candidate { name, path }| {
            let entry = entry(&name, &path, &pattern, &domain, wishes);
            progress(done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1, total);
            entry.map_err(|reason| PassedOver { name, reason })
        })
        .collect();
    let mut entries = Vec::new();
    for one in looked_at {
        match one {
            Ok(entry) => entries.push(entry),
            Err(over) => passed_over.push(over),
        }
    }
    passed_over.sort_by(|a, b| a.name.cmp(&b.name));
    if entries.is_empty() {
        return Err(nothing(&passed_over));
    }
    let guessed = wishes.pattern.is_none();
    Ok(Understood { folder: folder.into(), pattern, guessed, entries, passed_over })
}

/// Builds an entry from a file's path and content, or returns the reason for skipping it.
fn entry(
    name: &str,
    path: &Path,
    pattern: &Pattern,
    domain: &str,
    wishes: &Wishes,
) -> Result<Entry, String> {
    let said = pattern.read(name).ok_or("its path does not fit the pattern")?;
    let said_number = |field: &str, read: fn(&str) -> Option<f64>| {
        let text = said.get(field);
        let number = text.map(|text| read(text).ok_or(format!("{field} {text:?} is no number")));
        number.transpose()
    };
    let rpm = said_number("rpm", pattern::rpm)?.or(wishes.rpm);
    let said_rate = said_number("rate", rate_hz)?;
    let channel = said.get("channel").or(wishes.channel.as_deref());
    let found = probe::probe(path, channel)?;
    if let (Some(own), Some(said)) = (found.rate_hz, said_rate)
        && !same_rate(own, said)
    {
        return Err(format!("it carries {own} Hz, but its path says {said} Hz"));
    }
    Ok(Entry {
        name: name.into(),
        file: path.into(),
        label: text_of(&said, "label"),
        domain: text_of(&said, "domain").unwrap_or_else(|| domain.into()),
        rate_hz: found.rate_hz.or(said_rate).or(wishes.rate_hz),
        carries_rate: found.rate_hz.is_some(),
        rpm,
        channel: found.channel,
        axes: found.axes,
        choice: found.choice,
    })
}

fn text_of(said: &Said, field: &str) -> Option<String> {
    said.get(field).map(Into::into)
}

impl Understood {
    /// The rows of a manifest that will be written into the existing folder `beside`.
    pub fn rows(&self, beside: &Path, wishes: &Wishes) -> Result<Vec<Row>, FolderError> {
        let open: Vec<&Entry> = self.entries.iter().filter(|e| !e.choice.is_empty()).collect();
        if let Some(first) = open.first() {
            let (name, choice) = (first.name.clone(), first.choice.clone());
            return Err(FolderError::NoChannel { count: open.len(), name, choice });
        }
        // Links are resolved first: `..` after a link leads to another place.
        let whole = |path: &Path| {
            path.canonicalize().map_err(|source| FolderError::Io { folder: path.into(), source })
        };
        let (folder, beside) = (whole(&self.folder)?, whole(beside)?);
        let without_rate = self.entries.iter().filter(|entry| entry.rate_hz.is_none());
        let count = without_rate.count();
        let row = |(index, entry): (usize, &Entry)| {
            let rate_hz = entry
                .rate_hz
                .ok_or_else(|| FolderError::NoRate { count, name: entry.name.clone() })?;
            let path = entry.name.split('/').fold(folder.clone(), |path, name| path.join(name));
            let relative = pathdiff::diff_paths(&path, &beside).unwrap_or_else(|| path.clone());
            let names: Option<Vec<&str>> = relative.iter().map(|name| name.to_str()).collect();
            let name = names.map(|names| names.join("/")).filter(|name| name.trim() == name);
            Ok(Row {
                line: index as u64 + 2,
                name: name.ok_or(FolderError::Unsayable { path: relative })?,
                path,
                label: entry.label.clone(),
                domain: entry.domain.clone(),
                rate_hz,
                rpm: entry.rpm,
                channel: entry.channel.clone(),
                unit: wishes.unit.clone(),
                full_scale: wishes.full_scale.clone(),
            })
        };
        let rows = self.entries.iter().enumerate().map(row).collect::<Result<Vec<Row>, _>>()?;
        for row in &rows {
            let texts =
                [Some(&row.name), row.label.as_ref(), Some(&row.domain), row.channel.as_ref()];
            if let Some(text) = texts.into_iter().flatten().find(|text| cell::runs_inside(text)) {
                return Err(FolderError::Runs { text: text.clone() });
            }
        }
        Ok(rows)
    }

    /// The labels that mean a healthy machine.
    pub fn healthy(&self) -> Vec<&str> {
        let labels = self.entries.iter().filter_map(|entry| entry.label.as_deref());
        let mut healthy: Vec<&str> = labels.filter(|label| is_healthy(label)).collect();
        healthy.sort_unstable();
        healthy.dedup();
        healthy
    }
}

#[cfg(test)]
mod tests {
    use super::EXTENSIONS;
    use crate::data::recording::{RecordingError, read};

    #[test]
    fn every_extension_has_a_reader_or_says_what_it_lacks() {
        for extension in EXTENSIONS {
            let error = read(format!("absent.{extension}").as_ref(), None).unwrap_err();
            assert!(!matches!(error, RecordingError::UnknownFormat { .. }), "{error}");
        }
    }
}
