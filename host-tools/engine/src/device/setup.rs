//! Sets up the emulated device's firmware and QEMU from a checkout of the project.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::option;

/// The emulator's program. Debian's package has the same name.
pub(super) const QEMU: &str = "qemu-system-arm";
/// The variable that sets cargo's build folder.
const TARGET_DIR: &str = "CARGO_TARGET_DIR";

/// The action if a program is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setup {
    /// Name it and install it.
    Install,
    /// Ask if somebody is there to answer. Otherwise refuse, and say how to install it.
    Ask,
}

/// Builds the firmware with `cargo xtask firmware`, which also takes care of missing programs.
/// Returns its output: the paths of firmware and QEMU.
pub(super) fn firmware(setup: Setup) -> Result<Vec<u8>> {
    let checkout = checkout().context(
        "this command was installed without the emulated device's firmware: run it in a \
         checkout of the project, or install it there with `cargo xtask install`",
    )?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut cargo = Command::new(cargo);
    cargo.args(["xtask", "firmware"]).arg(option("json")).current_dir(&checkout);
    cargo.envs(build_folder(&checkout).map(|folder| (TARGET_DIR, folder)));
    match setup {
        Setup::Install => cargo.arg(option("yes")).stdin(Stdio::null()),
        // The user answers the question on this input.
        Setup::Ask => cargo.stdin(Stdio::inherit()),
    };
    let output = cargo
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo, which builds the device's firmware; install it with rustup")?;
    if !output.status.success() {
        bail!("the emulated device is not available; `cargo xtask firmware` says why above");
    }
    Ok(output.stdout)
}

/// The project's checkout: the folder where this tool was built, or a parent of the current one.
pub fn checkout() -> Option<PathBuf> {
    let is_checkout = |dir: &Path| dir.join("firmware-examples/Cargo.toml").is_file();
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Path::to_path_buf);
    let current = std::env::current_dir().ok();
    let above = current.iter().flat_map(|dir| dir.ancestors()).map(Path::to_path_buf);
    built_in.into_iter().chain(above).find(|dir| is_checkout(dir))
}

/// QEMU on the path, or the unpacked one.
pub(super) fn qemu() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = std::env::split_paths(&path).map(|folder| folder.join(QEMU));
    installed.filter(|file| file.is_file()).chain(unpacked_qemu()).next()
}

/// The QEMU that `cargo xtask firmware` unpacks if it may not install one.
pub fn unpacked_qemu() -> Option<PathBuf> {
    let checkout = checkout()?;
    let build = build_folder(&checkout).unwrap_or_else(|| checkout.join("target"));
    Some(build.join("qemu").join(QEMU)).filter(|file| file.is_file())
}

/// The folder to build a checkout in, if not in the checkout itself. `CARGO_TARGET_DIR` sets it.
/// For an installed command it is the user's cache, because a checkout belongs to the developer.
fn build_folder(checkout: &Path) -> Option<PathBuf> {
    let said = std::env::var_os(TARGET_DIR).filter(|folder| !folder.is_empty());
    if let Some(folder) = said {
        return Some(checkout.join(folder));
    }
    let whole = |path: PathBuf| path.canonicalize().unwrap_or(path);
    let root = whole(checkout.to_path_buf());
    // Cargo sets this to the package folder of the command that it runs.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let mut places = package.into_iter().chain(std::env::current_exe().ok());
    let from_checkout = places.any(|place| whole(place).starts_with(&root));
    if from_checkout { None } else { cache_folder() }
}

/// The project's folder in the user's cache: `$XDG_CACHE_HOME/rebearing` or `~/.cache/rebearing`.
fn cache_folder() -> Option<PathBuf> {
    let said = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = said.filter(|folder| folder.is_absolute());
    let cache = cache.or_else(|| std::env::home_dir().map(|home| home.join(".cache")));
    cache.map(|cache| cache.join("rebearing"))
}
