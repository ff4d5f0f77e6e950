//! The command line as it was given, with the defaults of what was not: what a report prints so
//! that it can be repeated.

use std::path::Path;

use anyhow::{Context, Result};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory};
use sha2::{Digest, Sha256};

use super::Cli;
use crate::report::{FileHash, Origin, Setting};
use crate::source::hex;

/// Options that do not change what is done.
const ASIDE: [&str; 3] = ["help", "version", "json"];

/// The command that this process was started with, and the files that it is about.
///
/// Where it was not started by this command line (as a library, say) there is none to repeat.
pub(super) fn origin(files: Vec<FileHash>) -> Origin {
    let mut command = Cli::command();
    command.build();
    let matches = command.clone().try_get_matches_from(std::env::args_os());
    let found = matches.ok().and_then(|matches| {
        let (name, matches) = matches.subcommand()?;
        let options = settings(command.find_subcommand(name)?, matches);
        Some((format!("rebearing {name}{}", line(&options)), options))
    });
    let (command, options) = found.unwrap_or_default();
    Origin { command, options, files }
}

/// Every option that has a value, in the order of the help.
fn settings(command: &Command, matches: &ArgMatches) -> Vec<Setting> {
    let mut settings = Vec::new();
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        let Some(source) = matches.value_source(id).filter(|_| !ASIDE.contains(&id)) else {
            continue;
        };
        let Some(name) = argument.get_long().map(|long| format!("--{long}")) else { continue };
        let raw = matches.get_raw(id).into_iter().flatten();
        let values: Vec<String> = raw.map(|value| quoted(&value.to_string_lossy())).collect();
        let default = source == ValueSource::DefaultValue;
        let value = match argument.get_action().takes_values() {
            true => values.join(" "),
            // A switch that is off is not on the command line.
            false if values == ["true"] => String::new(),
            false => continue,
        };
        settings.push(Setting { name, value, default });
    }
    settings
}

fn line(settings: &[Setting]) -> String {
    settings.iter().fold(String::new(), |line, Setting { name, value, .. }| {
        if value.is_empty() { format!("{line} {name}") } else { format!("{line} {name} {value}") }
    })
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:=@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A file that was read, and its SHA-256.
pub(super) fn file_hash(what: &'static str, path: &Path) -> Result<FileHash> {
    let bytes = std::fs::read(path)
        .with_context(|| format!("{}: cannot be read again for its SHA-256", path.display()))?;
    Ok(bytes_hash(what, path, &bytes))
}

/// A file with these bytes.
pub(super) fn bytes_hash(what: &'static str, path: &Path, bytes: &[u8]) -> FileHash {
    let sha256 = hex(&Sha256::digest(bytes));
    FileHash { what, path: path.display().to_string(), sha256 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> (String, Vec<Setting>) {
        let mut command = Cli::command();
        command.build();
        let matches = command.clone().try_get_matches_from(words).unwrap();
        let (name, matches) = matches.subcommand().unwrap();
        let settings = settings(command.find_subcommand(name).unwrap(), matches);
        (line(&settings), settings)
    }

    #[test]
    fn a_command_line_repeats_itself_with_its_defaults() {
        let given =
            ["rebearing", "adapt", "--source", "it's a.json", "--snapshot", "a.rbs", "b.rbs"];
        let (text, settings) =
            of(&[&given[..], &["--out", "m.rbm", "--json", "--no-hold"]].concat());
        assert!(text.contains(r"--source 'it'\''s a.json'"), "{text}");
        assert!(text.contains("--snapshot a.rbs b.rbs") && !text.contains("--json"), "{text}");
        assert!(text.contains("--seed 0") && text.contains("--tau 0.8"), "{text}");
        assert!(text.contains("--no-hold"), "{text}");
        let seed = settings.iter().find(|setting| setting.name == "--seed").unwrap();
        assert!(seed.default && seed.value == "0");
        // Read again by a shell's rules, it gives the same settings.
        let words: Vec<String> = settings
            .iter()
            .flat_map(|s| {
                let values = s.value.replace(r"'it'\''s a.json'", "it's_a.json");
                let values: Vec<String> = values.split_whitespace().map(Into::into).collect();
                std::iter::once(s.name.clone()).chain(values)
            })
            .map(|word| word.replace("it's_a.json", "it's a.json"))
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (again, _) = of(&[&["rebearing", "adapt"][..], &words].concat());
        assert_eq!(again, text);
    }
}
