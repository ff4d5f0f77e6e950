//! The Python side's environment and the data. Both are made below the target directory if missing.

use crate::python::{self, copy, same};
use crate::run::{capture, root, run, target_dir};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the path of a script.
pub(super) fn script(name: &str) -> PathBuf {
    root().join("xtask/bench").join(name)
}

/// Returns the interpreter of an environment with the pinned packages. Builds it if it is missing.
pub(super) fn environment() -> Result<PathBuf, String> {
    python::environment("bench-venv", &script("requirements.txt"), "scikit-learn and POT")
}

/// Returns the folder of the data. Draws the data again if the script has changed.
pub(super) fn data(interpreter: &Path) -> Result<PathBuf, String> {
    let folder = target_dir("bench-data", "target/bench-data");
    let wanted = script("generate.py");
    let drawn = folder.join("generate.py");
    if !same(&wanted, &drawn) {
        let mut python = Command::new(interpreter);
        run("drawing the data", python.arg(&wanted).arg(&folder))?;
        copy(&wanted, &drawn)?;
    }
    Ok(folder)
}

/// Returns the line that says which interpreter this is.
pub(super) fn version(interpreter: &Path) -> String {
    capture(Command::new(interpreter).arg("--version")).unwrap_or_default()
}
