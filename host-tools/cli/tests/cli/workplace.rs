//! A folder to run commands in. It defines success and refusal, once for all commands.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A temporary folder, deleted with the value.
pub(crate) struct Workplace {
    directory: TempDir,
}

impl Workplace {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file, and creates the folders that lead to it.
    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder");
        fs::write(path, contents).expect("the file can be written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).expect("text")
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path().join(name).exists()
    }

    /// Runs a command and returns its output, whether it succeeds or not.
    pub(crate) fn output(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_rebearing"))
            .args(words)
            .current_dir(self.path())
            .output()
            .expect("the command runs")
    }

    /// Runs a command that must succeed, and returns its standard output. Arguments are split at
    /// whitespace.
    pub(crate) fn run(&self, arguments: &str) -> String {
        self.run_words(&words(arguments))
    }

    /// Like [`Workplace::run`], for arguments that contain spaces or are empty.
    pub(crate) fn run_words(&self, words: &[&str]) -> String {
        let output = self.output(words);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {errors}");
        assert!(errors.is_empty(), "{words:?}: progress is for terminals: {errors}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Runs a command that must succeed and must print exactly one JSON object.
    pub(crate) fn json(&self, arguments: &str) -> Value {
        self.json_words(&words(arguments))
    }

    /// Like [`Workplace::json`], for arguments that contain spaces or are empty.
    pub(crate) fn json_words(&self, words: &[&str]) -> Value {
        let text = self.run_words(&[words, &["--json"]].concat());
        let value: Value = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{words:?}: not one JSON object: {error}: {text}"));
        assert!(value.is_object(), "{words:?}: {value}");
        value
    }

    /// Asserts exit code 2, nothing on standard output, and a message that names all of `parts`.
    pub(crate) fn refused(&self, arguments: &str, parts: &[&str]) {
        self.refused_words(&words(arguments), parts);
    }

    /// Like [`Workplace::refused`], for arguments that contain spaces or are empty.
    pub(crate) fn refused_words(&self, words: &[&str], parts: &[&str]) {
        let output = self.output(words);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {message}");
        assert!(output.stdout.is_empty(), "{words:?}");
        assert!(!message.contains("panicked"), "{words:?}: {message}");
        for part in parts {
            assert!(message.contains(part), "{words:?}: no {part:?} in {message}");
        }
    }
}

fn words(arguments: &str) -> Vec<&str> {
    arguments.split_whitespace().collect()
}
