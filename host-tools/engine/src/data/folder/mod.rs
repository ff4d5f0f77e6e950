//! A folder tree understood as a manifest: which file is a recording of what.
//!
//! ```text
//!  walk ─► candidates ─► pattern, given or guessed ─► probe of each file ─► Understood ─► rows
//! ```
//!
//! Nothing is left out without a word: what is passed over is listed with the reason.

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
use crate::words::plural;

/// Extensions of files that may be recordings.
const EXTENSIONS: [&str; 8] = ["wav", "mat", "npy", "npz", "csv", "tsv", "txt", "parquet"];

/// What the user says of all files; what a path or a file says itself goes before it.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// How paths are read; guessed where absent.
    pub pattern: Option<Pattern>,
    /// Domain where the pattern has none [default: the folder's name].
    pub domain: Option<String>,
    /// Sample rate of files that carry none.
    pub rate_hz: Option<f64>,
    /// Shaft speed.
    pub rpm: Option<f64>,
    /// Channel, with `*` for what differs from file to file; several axes separated by `;`.
    pub channel: Option<String>,
    /// Unit of the samples.
    pub unit: Option<Unit>,
    /// Full scale of the sensor.
    pub full_scale: Option<FullScale>,
}

/// A file that is not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PassedOver {
    /// Its path below the folder.
    #[serde(rename = "path")]
    pub name: String,
    /// Why.
    pub reason: String,
}

/// A recording as it was understood.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Its path below the folder.
    #[serde(rename = "path")]
    pub name: String,
    /// Its path from here.
    #[serde(skip)]
    pub file: PathBuf,
    /// The fault label, if there is one.
    pub label: Option<String>,
    /// The machine, speed or load.
    pub domain: String,
    /// Sample rate, if anything says it.
    pub rate_hz: Option<f64>,
    /// Whether the file itself carries the rate.
    pub carries_rate: bool,
    /// Shaft speed, if known.
    pub rpm: Option<f64>,
    /// The channel to read, if one must be named.
    pub channel: Option<String>,
    /// Axes that are then read; none while a choice is open.
    pub axes: Option<usize>,
    /// The channels between which a choice is open.
    pub choice: Vec<String>,
}

/// A folder as it was understood.
#[derive(Debug, Clone)]
pub struct Understood {
    /// The folder.
    pub folder: PathBuf,
    /// How paths were read.
    pub pattern: Pattern,
    /// Whether nobody gave the pattern.
    pub guessed: bool,
    /// The recordings, in the order of their paths; never none.
    pub entries: Vec<Entry>,
    /// Files that are not taken.
    pub passed_over: Vec<PassedOver>,
}

/// Why a folder makes no manifest.
#[derive(Debug, Error)]
pub enum FolderError {
    /// It cannot be read.
    #[error("{}: cannot be read: {source}; give a folder of recordings", folder.display())]
    Io {
        /// The folder.
        folder: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// No file in it is a recording.
    #[error(
        "{}: no recording found{}; recordings are {}{}",
        folder.display(),
        pattern.as_ref().map(|pattern| format!(" that fits {pattern}")).unwrap_or_default(),
        EXTENSIONS.join(", "),
        first.as_ref().map(|PassedOver { name, reason }| format!("; passed over: {name:?}: {reason}")).unwrap_or_default()
    )]
    Nothing {
        /// The folder.
        folder: PathBuf,
        /// The pattern, where one was given.
        pattern: Option<String>,
        /// The first file that was passed over.
        first: Option<PassedOver>,
    },
    /// A path from the manifest to a recording that CSV in UTF-8 cannot hold.
    #[error(
        "{}: a manifest cannot say this path, which is not UTF-8 or begins or ends with a space; \
         rename the folder, or write the manifest into it", path.display()
    )]
    Unsayable {
        /// The path.
        path: PathBuf,
    },
    /// Recordings whose sample rate nothing says.
    #[error(
        "{} no sample rate, such as {name:?}: give `rate_hz`, or {{rate}} in the pattern; no \
         manifest was written",
        plural(*count, "recording carries", "recordings carry")
    )]
    NoRate {
        /// How many.
        count: usize,
        /// The first.
        name: String,
    },
    /// Recordings that leave a choice of channel.
    #[error(
        "{} a choice of channel, such as {name:?}: {}; name one with \
         `channel` (several axes as `x;y;z`, * for what differs from file to file); no manifest \
         was written",
        plural(*count, "recording leaves", "recordings leave"),
        choice.join(", ")
    )]
    NoChannel {
        /// How many.
        count: usize,
        /// The first.
        name: String,
        /// What it has.
        choice: Vec<String>,
    },
}

/// Looks at every file below `folder`; `progress` hears how many of how many are done.
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

/// A file as its path and its content say, or why it is passed over.
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
    /// The rows of a manifest that lies in `beside`, a folder that exists.
    pub fn rows(&self, beside: &Path, wishes: &Wishes) -> Result<Vec<Row>, FolderError> {
        let open: Vec<&Entry> = self.entries.iter().filter(|e| !e.choice.is_empty()).collect();
        if let Some(first) = open.first() {
            let (name, choice) = (first.name.clone(), first.choice.clone());
            return Err(FolderError::NoChannel { count: open.len(), name, choice });
        }
        // Links are resolved first: a way up over a link leads elsewhere.
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
        self.entries.iter().enumerate().map(row).collect()
    }

    /// The labels that stand for a healthy machine.
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
