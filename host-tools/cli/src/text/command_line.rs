//! The command line with all its options and defaults. A report prints it so that it can be
//! repeated.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, Result};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory};
use sha2::{Digest, Sha256};

use crate::commands::Cli;
use rebearing_host::files::{hex, input};
use rebearing_host::model::deployed::DeployedModel;
use rebearing_host::report::{FileHash, Hints, Origin, Setting};

/// Options that do not change what is done.
const ASIDE: [&str; 3] = ["help", "version", "json"];

/// Hints for the reader of a report on how to get more.
const HINTS: Hints = Hints {
    bearing: "--bearing BALLS,BALL,PITCH",
    plan: "rebearing adapt --report",
    pool_healthy: "--pool-is healthy",
    pool_all: "--pool-is all",
};

/// An option, and its words on the command line.
struct Given {
    setting: Setting,
    words: Vec<OsString>,
}

/// Returns the command that started this process, and its files.
///
/// The command is empty if the process was started in another way, for example as a library.
pub(crate) fn origin(files: Vec<FileHash>) -> Origin {
    let (command, options) = repeated(std::env::args_os()).unwrap_or_default();
    Origin { command, options, files, hints: HINTS }
}

/// Returns the command line with its defaults, and every option.
fn repeated(words: impl Iterator<Item = OsString>) -> Option<(String, Vec<Setting>)> {
    let mut command = Cli::command();
    command.build();
    let matches = command.clone().try_get_matches_from(words).ok()?;
    let (name, matches) = matches.subcommand()?;
    let given = given(command.find_subcommand(name)?, matches);
    let mut line = format!("rebearing {name}");
    for one in &given {
        let Setting { name: option, value, default } = &one.setting;
        // Some defaults are allowed only together with an option that was not given.
        let beside = || given.iter().filter(|other| !other.setting.default);
        if *default && !accepts(&command, name, beside().chain([one])) {
            continue;
        }
        line = format!("{line} {option}");
        if !value.is_empty() {
            line = format!("{line} {value}");
        }
    }
    Some((line, given.into_iter().map(|one| one.setting).collect()))
}

/// Returns true if the command accepts these options.
fn accepts<'a>(command: &Command, name: &str, given: impl Iterator<Item = &'a Given>) -> bool {
    let options = given.flat_map(|one| one.words.iter().cloned());
    let words = ["rebearing".into(), name.into()].into_iter().chain(options);
    command.clone().try_get_matches_from(words).is_ok()
}

/// Returns every option with a value, in the order of the help.
fn given(command: &Command, matches: &ArgMatches) -> Vec<Given> {
    let mut all = Vec::new();
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        let Some(source) = matches.value_source(id).filter(|_| !ASIDE.contains(&id)) else {
            continue;
        };
        let Some(name) = argument.get_long().map(|long| format!("--{long}")) else { continue };
        let raw = matches.get_raw(id).into_iter().flatten();
        let mut values: Vec<OsString> = raw.map(Into::into).collect();
        if !argument.get_action().takes_values() {
            // A switch that is off is not on the command line.
            if values != ["true"] {
                continue;
            }
            values.clear();
        }
        let quoted: Vec<String> =
            values.iter().map(|word| quoted(&word.to_string_lossy())).collect();
        let default = source == ValueSource::DefaultValue;
        let setting = Setting { name: name.clone(), value: quoted.join(" "), default };
        all.push(Given { setting, words: [vec![name.into()], values].concat() });
    }
    all
}

/// Returns a word quoted for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:=@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns a file and its SHA-256.
fn file_hash(what: &'static str, path: &Path) -> Result<FileHash> {
    let bytes = input::read_whole(path, input::MOST_LIBRARY)
        .with_context(|| format!("{}: cannot be read again for its SHA-256", path.display()))?;
    Ok(bytes_hash(what, path, &bytes))
}

/// Returns a file with these bytes and their SHA-256.
fn bytes_hash(what: &'static str, path: &Path, bytes: &[u8]) -> FileHash {
    let sha256 = hex(&Sha256::digest(bytes));
    FileHash { what, path: path.display().to_string(), sha256 }
}

/// Returns the files that a report is about.
pub(crate) fn files(
    model: &DeployedModel,
    out: &Path,
    source: &Path,
    manifest: Option<&Path>,
) -> Result<Vec<FileHash>> {
    let mut files = vec![bytes_hash("Model file", out, model.bytes())];
    files.push(file_hash("Source file", source)?);
    if let Some(manifest) = manifest {
        files.push(manifest_file(manifest)?);
    }
    Ok(files)
}

/// Returns a manifest and its SHA-256.
pub(crate) fn manifest_file(path: &Path) -> Result<FileHash> {
    file_hash("Manifest", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &str) -> (String, Vec<Setting>) {
        repeated(words.split(' ').map(Into::into)).expect("a command line")
    }

    #[test]
    fn a_command_line_repeats_itself_with_its_defaults() {
        let given = "rebearing adapt --source a.json --snapshot a.rbs b.rbs --out m.rbm --no-hold";
        let (text, settings) = of(&format!("{given} --json"));
        assert!(text.contains("--snapshot a.rbs b.rbs") && !text.contains("--json"), "{text}");
        assert!(text.contains("--seed 0") && text.contains("--tau 0.8"), "{text}");
        assert!(text.contains("--no-hold"), "{text}");
        let seed = settings.iter().find(|setting| setting.name == "--seed").unwrap();
        assert!(seed.default && seed.value == "0");
        // A default that only counts beside another option would make the line one to refuse.
        assert!(!text.contains("--severity-band"), "{text}");
        assert_eq!(of(&text).0, text);
        let severe = of(&format!("{given} --severity 1.4,2.8,4.5 --unit g")).0;
        assert!(severe.contains("--severity-band 10,1000"), "{severe}");
        assert_eq!(of(&severe).0, severe);
        assert!(repeated(["rebearing", "adapt"].into_iter().map(Into::into)).is_none());
    }

    #[test]
    fn words_are_quoted_as_a_shell_wants_them() {
        for (word, shell) in
            [("a/b-1.5", "a/b-1.5"), ("", "''"), ("it's", r"'it'\''s'"), ("x;y", "'x;y'")]
        {
            assert_eq!(quoted(word), shell);
        }
    }
}
