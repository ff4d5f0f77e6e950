//! Python environments below the target directory, with pinned packages.

use crate::consent::{self, Need};
use crate::packages;
use crate::run::{run, target_dir};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the interpreter of the environment `name` with the packages that the file `wanted` lists.
/// Builds it if it is missing. `what` names the packages for a person.
pub(crate) fn environment(name: &str, wanted: &Path, what: &str) -> Result<PathBuf, String> {
    let home = target_dir(name, &format!("target/{name}"));
    let interpreter = home.join("bin/python");
    let installed = home.join("requirements.txt");
    if same(wanted, &installed) {
        return Ok(interpreter);
    }
    let how = format!("{} -m pip install -r {}", interpreter.display(), wanted.display());
    consent::allow(&Need::new(format!("{what}, to compare with"), how))?;
    let venv = || {
        let mut python = Command::new("python3");
        run("a Python environment", python.args(["-m", "venv", "--clear"]).arg(&home))
    };
    // Debian has this module in its own package.
    venv().or_else(|_| packages::install(&["python3-venv"]).and_then(|()| venv()))?;
    let mut pip = Command::new(&interpreter);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]);
    run(what, pip.arg(wanted))?;
    // Copied last: if the copy is there, everything before it went well.
    copy(wanted, &installed)?;
    Ok(interpreter)
}

/// Returns true if both files are there and the same.
pub(crate) fn same(a: &Path, b: &Path) -> bool {
    fs::read(a).is_ok_and(|a| fs::read(b).is_ok_and(|b| a == b))
}

/// Copies a file.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(drop).map_err(|error| format!("{}: {error}", to.display()))
}
