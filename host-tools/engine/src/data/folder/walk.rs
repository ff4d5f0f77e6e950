//! Lists the files below a folder, and gives a reason for each file that is not a recording.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::PassedOver;
use crate::files::cell;

/// A file that may be a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Path below the folder, with `/` between the names.
    pub(super) name: String,
    /// Path from the working directory.
    pub(super) path: PathBuf,
}

/// Every file below `folder` whose extension has a reader, in the order of names. Links are
/// followed, each file is taken once, and circular links end where they began.
pub(super) fn walk(folder: &Path, extensions: &[&str]) -> (Vec<Candidate>, Vec<PassedOver>) {
    let mut candidates = Vec::new();
    let mut passed_over = Vec::new();
    let mut taken: HashMap<PathBuf, String> = HashMap::new();
    let mut entries = WalkDir::new(folder).follow_links(true).sort_by_file_name().into_iter();
    while let Some(entry) = entries.next() {
        let mut pass_over = |path: &Path, reason: String| {
            let name = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
            passed_over.push(PassedOver { name, reason });
        };
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let reason = match (error.loop_ancestor(), error.io_error()) {
                    (Some(_), _) => "a link to a folder above it".into(),
                    (None, Some(io)) => format!("cannot be read: {io}"),
                    (None, None) => error.to_string(),
                };
                pass_over(error.path().unwrap_or(folder), reason);
                continue;
            }
        };
        let path = entry.path();
        let hidden = entry.depth() > 0 && entry.file_name().to_string_lossy().starts_with('.');
        if entry.file_type().is_dir() {
            if hidden {
                pass_over(path, "hidden".into());
                entries.skip_current_dir();
            }
            continue;
        }
        match candidate(folder, path, hidden, entry.file_type(), extensions) {
            Err(reason) => pass_over(path, reason),
            Ok(candidate) => {
                // If one file had two names, its windows would be on both sides of a split.
                let file = path.canonicalize().unwrap_or_else(|_| path.into());
                if let Some(first) = taken.get(&file) {
                    pass_over(path, format!("the same file as {first}"));
                } else {
                    taken.insert(file, candidate.name.clone());
                    candidates.push(candidate);
                }
            }
        }
    }
    (candidates, passed_over)
}

fn candidate(
    folder: &Path,
    path: &Path,
    hidden: bool,
    kind: std::fs::FileType,
    extensions: &[&str],
) -> Result<Candidate, String> {
    if hidden {
        return Err("hidden".into());
    }
    // Opening a pipe would block until someone writes to it.
    if !kind.is_file() {
        return Err("no file".into());
    }
    let extension =
        path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    if !extensions.contains(&extension.as_str()) {
        return Err(match extension.as_str() {
            "" => "no extension that says its format".into(),
            extension => format!("no reader for .{extension}"),
        });
    }
    let names = path.strip_prefix(folder).unwrap_or(path).iter();
    let names: Option<Vec<&str>> = names.map(|name| name.to_str()).collect();
    let name =
        names.ok_or("its name is not UTF-8, which a manifest cannot say: rename it")?.join("/");
    if cell::breaks_line(&name) {
        return Err("its name has a line break, which a manifest cannot say: rename it".into());
    }
    if name.trim() != name {
        return Err("its path begins or ends with a space, which a manifest cannot say".into());
    }
    Ok(Candidate { name, path: path.into() })
}
