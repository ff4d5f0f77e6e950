//! A Rust toolchain for Cortex-M and the host's own components: found, or installed.

use crate::consent::{self, Need};
use crate::packages;
use crate::run::{capture, on_path, root, run};
use std::path::Path;
use std::process::Command;

/// Armv6-M: Cortex-M0, M0+, M1; no floating-point unit.
pub(crate) const M0: &str = "thumbv6m-none-eabi";
/// Armv7E-M with a floating-point unit: Cortex-M4F and M7. QEMU runs this target here.
pub(crate) const M4F: &str = "thumbv7em-none-eabihf";
/// Armv8-M with a floating-point unit: Cortex-M33F and later.
pub(crate) const M33F: &str = "thumbv8m.main-none-eabihf";
/// All targets that the device crate is built for.
pub(crate) const TARGETS: [&str; 3] = [M4F, M0, M33F];

/// The oldest compiler that builds the crates (`rust-version` of the workspace).
pub(crate) const OLDEST: (u32, u32) = (1, 95);

/// Debian's compiler, cargo and library sources: the current ones, and the newer ones that stable
/// releases carry for building browsers.
const DEBIAN: [[&str; 3]; 2] =
    [["rustc", "cargo", "rust-src"], ["rustc-web", "cargo-web", "rust-web-src"]];
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_SOURCES: &str = "/usr/lib/rustlib/src/rust/library/core/Cargo.toml";
/// Debian's linker, because Debian has no rust-lld.
const GNU_LD: &str = "arm-none-eabi-ld";
const GNU_LD_PACKAGE: &str = "binutils-arm-none-eabi";

/// A way to build for Cortex-M.
#[derive(Clone, Copy)]
pub(crate) enum Thumb {
    /// The active toolchain has `core` for the targets, and rust-lld.
    Active,
    /// Debian's compiler builds `core` from source and GNU ld links.
    Debian,
}

impl Thumb {
    /// A toolchain for `targets`, if there is none.
    pub(crate) fn need(targets: &[&str]) -> Option<Need> {
        if active_has(targets) || debian_is_complete() {
            return None;
        }
        let rustup = format!("rustup target add {}", targets.join(" "));
        // As in `for_targets`, but with the package lists at hand: to fetch them takes leave.
        let how = debian_packages(packages::offered)
            .map_or(rustup, |names| format!("sudo apt-get install {}", names.join(" ")));
        Some(Need::new(format!("Rust for {}", targets.join(", ")), how))
    }

    /// A toolchain for `targets`, installing one if there is none.
    pub(crate) fn for_targets(targets: &[&str]) -> Result<Self, String> {
        if active_has(targets) {
            return Ok(Self::Active);
        }
        if debian_is_complete() {
            return Ok(Self::Debian);
        }
        Self::need(targets).as_ref().map_or(Ok(()), consent::allow)?;
        if let Some(packages) = debian_packages(packages::candidate) {
            return Self::install_debian(&packages, targets);
        }
        let mut rustup = Command::new("rustup");
        if run("adding the thumb targets", rustup.args(["target", "add"]).args(targets)).is_ok() {
            return Ok(Self::Active);
        }
        // Old package lists may not know of a compiler as recent as ours.
        let packages = packages::update().ok().and_then(|()| debian_packages(packages::candidate));
        let packages = packages.ok_or_else(|| by_hand(targets))?;
        Self::install_debian(&packages, targets)
    }

    fn install_debian(packages: &[&str], targets: &[&str]) -> Result<Self, String> {
        let by_hand = by_hand(targets);
        packages::install(packages).map_err(|error| format!("{error} (or {by_hand})"))?;
        if debian_is_complete() {
            return Ok(Self::Debian);
        }
        Err(format!("{} is no complete toolchain; {by_hand}", packages.join(" ")))
    }

    /// Returns `cargo build` for `target`, without the flags and toolchain of the cargo that runs
    /// xtask.
    pub(crate) fn build(self, manifest: &str, target: &str, target_dir: &Path) -> Command {
        let mut command = match self {
            Self::Active => Command::new("cargo"),
            Self::Debian => Command::new(DEBIAN_CARGO),
        };
        for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET"] {
            command.env_remove(variable);
        }
        command.args(["build", "--quiet", "--locked", "--target", target]);
        command.arg("--manifest-path").arg(root().join(manifest));
        command.arg("--target-dir").arg(target_dir);
        if let Self::Debian = self {
            for variable in ["RUSTUP_TOOLCHAIN", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"] {
                command.env_remove(variable);
            }
            let linker =
                format!("CARGO_TARGET_{}_LINKER", target.to_uppercase().replace(['-', '.'], "_"));
            // build-std is not stable yet. A stable compiler allows it if it is told to.
            command.env("RUSTC", DEBIAN_RUSTC).env("RUSTC_BOOTSTRAP", "1").env(linker, GNU_LD);
            command.args(["-Z", "build-std=core"]);
        }
        command
    }
}

/// The toolchain's `component`, if `cargo <subcommand>` does not work without it.
pub(crate) fn component_need(subcommand: &str, component: &str) -> Option<Need> {
    let how = format!("rustup component add {component}");
    (!works(subcommand)).then(|| Need::new(format!("cargo {subcommand}"), how))
}

fn works(subcommand: &str) -> bool {
    capture(Command::new("cargo").args([subcommand, "--version"])).is_some()
}

/// Makes sure that `cargo <subcommand>` works, which comes with the toolchain's `component`.
pub(crate) fn component(subcommand: &str, component: &str) -> Result<(), String> {
    let Some(need) = component_need(subcommand, component) else { return Ok(()) };
    consent::allow(&need)?;
    let mut rustup = Command::new("rustup");
    let added = run(&format!("adding {component}"), rustup.args(["component", "add", component]));
    if added.is_ok() && works(subcommand) {
        return Ok(());
    }
    Err(format!(
        "cargo {subcommand} is missing; please run: rustup component add {component} \
         (with Debian's own toolchain: apt-get install {component}-web or rust-{component}-web)"
    ))
}

fn by_hand(targets: &[&str]) -> String {
    format!("please run: rustup target add {}", targets.join(" "))
}

fn active_has(targets: &[&str]) -> bool {
    let sysroot = capture(Command::new("rustc").args(["--print", "sysroot"]));
    sysroot.is_some_and(|sysroot| {
        let installed = Path::new(&sysroot).join("lib/rustlib");
        targets.iter().all(|target| installed.join(target).join("lib").is_dir())
    })
}

fn debian_is_complete() -> bool {
    let version = capture(Command::new(DEBIAN_RUSTC).arg("--version"));
    version.is_some_and(|text| text.split(' ').nth(1).is_some_and(recent))
        && Path::new(DEBIAN_CARGO).is_file()
        && Path::new(DEBIAN_SOURCES).is_file()
        && on_path(GNU_LD).is_some()
}

/// The packages of a recent compiler, if apt offers one; `version` asks apt for a version.
fn debian_packages(version: fn(&str) -> Option<String>) -> Option<[&'static str; 4]> {
    DEBIAN.iter().find_map(|&[rustc, cargo, sources]| {
        let version = version(rustc)?;
        recent(&version).then_some([rustc, cargo, sources, GNU_LD_PACKAGE])
    })
}

/// Returns whether a version such as `1.96.0+dfsg1-1` is new enough.
fn recent(version: &str) -> bool {
    let mut numbers = version.split('.').map_while(|number| number.parse().ok());
    numbers.next().zip(numbers.next()).is_some_and(|version: (u32, u32)| version >= OLDEST)
}
