//! `cargo xtask deny`: licences, sources and advisories of everything that is linked.
//!
//! The step `deny` of `test` checks licences, sources and versions without `cargo-deny`, whose build
//! takes minutes. It checks the advisories only if `cargo-deny` is there.

use crate::consent::{self, Need};
use crate::run::{on_path, root, run, target_dir};
use crate::{firmware, licences};
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = "cargo-deny";
/// The workspaces, each with its own lock file.
const MANIFESTS: [&str; 3] = ["Cargo.toml", firmware::MANIFEST, "fuzz/Cargo.toml"];

/// Checks every workspace by deny.toml, with `cargo-deny`. It fails if the advisories cannot be
/// fetched, because nothing checked them.
pub(crate) fn check() -> Result<(), String> {
    let program = find_or_install()?;
    licences::check(&MANIFESTS)?;
    for manifest in MANIFESTS {
        let what = format!("licences, bans and sources of {manifest}");
        let mut command = deny(&program, manifest, &["check"]);
        run(&what, command.args(["licenses", "bans", "sources"]))?;
    }
    if advisories(&program)? {
        return Ok(());
    }
    Err("NOT CHECKED: advisories, because they could not be fetched; all else holds".into())
}

/// The step of `test`. Returns what was not checked, with the reason.
pub(crate) fn step() -> Result<Option<String>, String> {
    licences::check(&MANIFESTS)?;
    let reason = match find() {
        None => "cargo-deny is not installed; `cargo xtask deny` builds it",
        Some(program) if advisories(&program)? => return Ok(None),
        Some(_) => "they could not be fetched",
    };
    Ok(Some(format!("advisories ({reason})")))
}

/// Checks the advisories. Returns false if they could not be fetched: they come from another server
/// than the crates, and not every network lets them through.
fn advisories(program: &Path) -> Result<bool, String> {
    let mut fetch = deny(program, MANIFESTS[0], &["fetch", "db"]);
    if run("fetching the advisories", &mut fetch).is_err() {
        return Ok(false);
    }
    for manifest in MANIFESTS {
        let mut command = deny(program, manifest, &["check"]);
        run(&format!("advisories of {manifest}"), command.arg("advisories"))?;
    }
    Ok(true)
}

fn deny(program: &Path, manifest: &str, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    // A bare file name would have no folder to look in, so the path is absolute.
    command.current_dir(root()).arg("--manifest-path").arg(root().join(manifest));
    command.arg("--all-features").arg("--config").arg(root().join("deny.toml")).args(words);
    command
}

/// Returns the program if it is there.
fn find() -> Option<PathBuf> {
    let own = target_dir(PROGRAM, "target/cargo-deny").join("bin").join(PROGRAM);
    on_path(PROGRAM).or_else(|| own.is_file().then_some(own))
}

/// Returns the program, and builds it if it is missing, which takes minutes.
fn find_or_install() -> Result<PathBuf, String> {
    if let Some(found) = find() {
        return Ok(found);
    }
    let home = target_dir(PROGRAM, "target/cargo-deny");
    let own = home.join("bin").join(PROGRAM);
    let how = format!("cargo install --locked {PROGRAM}");
    consent::allow(&Need::new(format!("{PROGRAM}, which checks licences and advisories"), how))?;
    let mut cargo = Command::new("cargo");
    cargo.args(["install", "--locked", "--root"]).arg(&home).arg(PROGRAM);
    run("building cargo-deny, which takes some minutes", &mut cargo)?;
    Ok(own)
}
