//! Opens reports of every kind in a real browser.

use crate::packages;
use crate::run::{on_path, root, run};
use std::path::PathBuf;
use std::process::Command;

/// Names of the browser's program, Debian's name first.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// The browser and a font. Without its recommended packages, the browser has no font.
const PACKAGES: [&str; 2] = ["chromium", "fonts-dejavu-core"];

/// Runs host-tools/cli/tests/cli/report_browser.rs. It needs Chromium and is marked `ignored`, so a
/// plain `cargo test` installs nothing.
pub(crate) fn check() -> Result<(), String> {
    let browser = find_or_install()?;
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).env("CHROMIUM", browser);
    // The whole workspace, as in the earlier tests, so that nothing is compiled again.
    cargo.args(["test", "--locked", "--workspace", "--test", "cli", "report_browser::"]);
    run("reports in Chromium", cargo.args(["--", "--include-ignored", "--nocapture"]))
}

/// Returns the browser's executable, and installs it if it is missing.
fn find_or_install() -> Result<PathBuf, String> {
    let found = || NAMES.iter().find_map(|name| on_path(name));
    if let Some(browser) = found() {
        return Ok(browser);
    }
    packages::install(&PACKAGES)?;
    found().ok_or_else(|| format!("{} is installed, but not on the path", NAMES[0]))
}
