//! The Python side's environment and the data. Both are made below the target directory if missing.

use crate::packages;
use crate::run::{capture, root, run, target_dir};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the path of a script.
pub(super) fn script(name: &str) -> PathBuf {
    root().join("xtask/bench").join(name)
}

/// Returns the interpreter of an environment with the pinned packages. Builds it if it is missing.
pub(super) fn environment() -> Result<PathBuf, String> {
    let home = target_dir("bench-venv", "target/bench-venv");
    let interpreter = home.join("bin/python");
    let wanted = script("requirements.txt");
    let installed = home.join("requirements.txt");
    if same(&wanted, &installed) {
        return Ok(interpreter);
    }
    let venv = || {
        let mut python = Command::new("python3");
        run("a Python environment", python.args(["-m", "venv", "--clear"]).arg(&home))
    };
    // Debian has this module in its own package.
    venv().or_else(|_| packages::install(&["python3-venv"]).and_then(|()| venv()))?;
    let mut pip = Command::new(&interpreter);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]);
    run("scikit-learn and POT", pip.arg(&wanted))?;
    // Copied last: if the copy is there, everything before it went well.
    copy(&wanted, &installed)?;
    Ok(interpreter)
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

fn same(a: &Path, b: &Path) -> bool {
    fs::read(a).is_ok_and(|a| fs::read(b).is_ok_and(|b| a == b))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(drop).map_err(|error| format!("{}: {error}", to.display()))
}
