//! The plan of the house: folders stand in the order of the data, and know no command line.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of `src/`; each imports only those before it.
const ORDER: [&str; 17] = [
    "progress",
    "words",
    "files",
    "data",
    "simulate",
    "features",
    "mixture",
    "transport",
    "model",
    "source",
    "adapt",
    "baselines",
    "device",
    "build",
    "evaluate",
    "evidence",
    "report",
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the sources are there").flatten();
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// Every source but lib.rs: its place in the order, its path below `src/`, and its lines of code.
fn code() -> Vec<(usize, String, Vec<String>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let below = |path: &Path| path.strip_prefix(&root).expect("below src").to_path_buf();
    let mut all = Vec::new();
    for path in sources(&root).into_iter().filter(|path| below(path) != Path::new("lib.rs")) {
        let name = below(&path);
        let first = name.iter().next().expect("a name").to_string_lossy().replace(".rs", "");
        let place = ORDER.iter().position(|folder| *folder == first);
        let place = place.unwrap_or_else(|| panic!("{first} has no place in the order"));
        let text = fs::read_to_string(&path).expect("sources are text");
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        all.push((place, name.display().to_string(), lines.map(str::to_owned).collect()));
    }
    assert!(all.len() > 100, "only {} sources", all.len());
    all
}

/// The folders that a line of code names by `crate::`.
fn named(line: &str) -> impl Iterator<Item = &str> {
    line.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        &rest[..end.unwrap_or(rest.len())]
    })
}

#[test]
fn a_folder_imports_only_folders_before_it() {
    let mut against = Vec::new();
    for (place, name, lines) in code() {
        for folder in lines.iter().flat_map(|line| named(line)) {
            // Whatever is not a folder would hide where it comes from.
            match ORDER.iter().position(|known| *known == folder) {
                Some(other) if other <= place => (),
                _ => against.push(format!("{name} uses crate::{folder}")),
            }
        }
    }
    assert!(against.is_empty(), "{against:#?}");
}

#[test]
fn no_option_of_a_command_line_and_no_printing_is_in_the_library() {
    let mut found = Vec::new();
    for (_, name, lines) in code() {
        for line in lines {
            let option = line.split("--").skip(1).any(|rest| rest.starts_with(char::is_alphabetic));
            // Another program's own option, in the words that repair a file.
            let foreign = line.contains("sox --ignore-length");
            let prints = ["println!", "print!", "process::exit"].iter().any(|w| line.contains(w));
            if (option && !foreign) || prints {
                found.push(format!("{name}: {line}"));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
