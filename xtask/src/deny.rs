//! `cargo xtask deny`: licences, sources and advisories of everything that is linked.

use crate::firmware;
use crate::run::{on_path, root, run, target_dir};
use std::path::PathBuf;
use std::process::Command;

const PROGRAM: &str = "cargo-deny";
/// The workspaces, each with its own lock file.
const MANIFESTS: [&str; 3] = ["Cargo.toml", firmware::MANIFEST, "fuzz/Cargo.toml"];

/// Checks every workspace by deny.toml.
pub(crate) fn check() -> Result<(), String> {
    let program = find_or_install()?;
    let deny = |manifest: &str, words: &[&str]| {
        let mut command = Command::new(&program);
        // A bare file name would have no folder to look in, so the path is absolute.
        command.current_dir(root()).arg("--manifest-path").arg(root().join(manifest));
        command.arg("--all-features").arg("--config").arg(root().join("deny.toml")).args(words);
        command
    };
    for manifest in MANIFESTS {
        let what = format!("licences, bans and sources of {manifest}");
        let mut command = deny(manifest, &["check"]);
        run(&what, command.args(["licenses", "bans", "sources"]))?;
    }
    // The advisories come from another server than the crates, and not every network lets them
    // through.
    if run("fetching the advisories", &mut deny(MANIFESTS[0], &["fetch", "db"])).is_err() {
        eprintln!("NOT CHECKED: the advisories could not be fetched");
        return Ok(());
    }
    for manifest in MANIFESTS {
        let mut command = deny(manifest, &["check"]);
        run(&format!("advisories of {manifest}"), command.arg("advisories"))?;
    }
    Ok(())
}

/// Returns the program, and builds it if it is missing, which takes minutes.
fn find_or_install() -> Result<PathBuf, String> {
    let home = target_dir(PROGRAM, "target/cargo-deny");
    let own = home.join("bin").join(PROGRAM);
    if let Some(found) = on_path(PROGRAM).or_else(|| own.is_file().then(|| own.clone())) {
        return Ok(found);
    }
    let mut cargo = Command::new("cargo");
    cargo.args(["install", "--locked", "--root"]).arg(&home).arg(PROGRAM);
    run("building cargo-deny, which takes some minutes", &mut cargo)?;
    Ok(own)
}
