//! Builds the firmware binaries and prints where they are.

use crate::consent::{self, Need};
use crate::qemu;
use crate::run::{self, run};
use crate::toolchain::{M0, M4F, Thumb};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The manifest of the firmware's own workspace.
pub(crate) const MANIFEST: &str = "firmware-examples/Cargo.toml";
/// The binary for QEMU's mps2-an386 and microbit boards.
pub(crate) const QEMU_BINARY: &str = "qemu";

/// The profile with checks of overflow.
const CHECKED: &str = "checked";

/// Where the firmware's workspace is built.
pub(crate) fn target_dir() -> PathBuf {
    run::target_dir("firmware", "firmware-examples/target")
}

/// Builds firmware binary `name` for `target` and returns the ELF file.
pub(crate) fn build(thumb: Thumb, name: &str, target: &str) -> Result<PathBuf, String> {
    build_with(thumb, name, target, &[])
}

/// As [`build`], with features of the firmware's crate.
pub(crate) fn build_with(
    thumb: Thumb,
    name: &str,
    target: &str,
    features: &[&str],
) -> Result<PathBuf, String> {
    let directory = target_dir();
    let mut cargo = thumb.build(MANIFEST, target, &directory);
    cargo.args(["--release", "--bin", name]);
    if !features.is_empty() {
        cargo.arg("--features").arg(features.join(","));
    }
    run(&format!("firmware {name} for {target}"), &mut cargo)?;
    Ok(directory.join(target).join("release").join(name))
}

/// The aim of a firmware's optimisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Optimize {
    /// As its release profile has it.
    Speed,
    Size,
}

impl Optimize {
    /// Returns the `opt-level`.
    pub(crate) fn level(self) -> &'static str {
        match self {
            Self::Speed => "3",
            Self::Size => "s",
        }
    }
}

/// As [`build`], optimised for speed or for size. The latter has its own folder, so neither build
/// replaces the other's files.
pub(crate) fn build_for(
    thumb: Thumb,
    name: &str,
    target: &str,
    optimize: Optimize,
) -> Result<PathBuf, String> {
    if optimize == Optimize::Speed {
        return build(thumb, name, target);
    }
    let directory = run::target_dir("firmware-small", "firmware-examples/target/small");
    let mut cargo = thumb.build(MANIFEST, target, &directory);
    cargo.args(["--release", "--bin", name]);
    cargo.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", optimize.level());
    run(&format!("firmware {name} for {target}, small"), &mut cargo)?;
    Ok(directory.join(target).join("release").join(name))
}

/// As [`build`], with checks of overflow and all assertions.
pub(crate) fn build_checked(thumb: Thumb, name: &str, target: &str) -> Result<PathBuf, String> {
    let directory = target_dir();
    let mut cargo = thumb.build(MANIFEST, target, &directory);
    cargo.args(["--profile", CHECKED, "--bin", name]);
    run(&format!("firmware {name} for {target}, checked"), &mut cargo)?;
    Ok(directory.join(target).join(CHECKED).join(name))
}

/// As [`build`], without symbols and debug information. This is what an emulator needs, in a file
/// small enough to carry around. It has its own folder, so neither build replaces the other's
/// files.
pub(crate) fn build_stripped(thumb: Thumb, name: &str, target: &str) -> Result<PathBuf, String> {
    let directory = run::target_dir("firmware-stripped", "firmware-examples/target/stripped");
    let mut cargo = thumb.build(MANIFEST, target, &directory);
    cargo.args(["--release", "--bin", name]);
    cargo.env("CARGO_PROFILE_RELEASE_DEBUG", "false").env("CARGO_PROFILE_RELEASE_STRIP", "true");
    run(&format!("firmware {name} for {target}, stripped"), &mut cargo)?;
    Ok(directory.join(target).join("release").join(name))
}

/// Builds the bench's binary that links emlearn's `object` file.
pub(crate) fn build_emlearn(thumb: Thumb, target: &str, object: &Path) -> Result<PathBuf, String> {
    let name = "bench-emlearn";
    let directory = target_dir();
    let mut cargo = thumb.build(MANIFEST, target, &directory);
    cargo.args(["--release", "--bin", name, "--features", "emlearn"]).env("BENCH_EMLEARN", object);
    run(&format!("firmware {name} for {target}"), &mut cargo)?;
    Ok(directory.join(target).join("release").join(name))
}

/// Sets up what is missing, builds the firmware for QEMU and prints the paths of both.
pub(crate) fn print(json: bool) -> Result<(), String> {
    let needs: Vec<Need> = qemu::need().into_iter().chain(Thumb::need(&[M4F, M0])).collect();
    consent::settle(&needs)?;
    let emulator = qemu::find_or_install()?;
    let thumb = Thumb::for_targets(&[M4F, M0])?;
    let elf = build(thumb, QEMU_BINARY, M4F)?;
    let elf_m0 = build(thumb, QEMU_BINARY, M0)?;
    let paths = [("elf", &elf), ("elf_m0", &elf_m0), ("qemu", &emulator)];
    if json {
        let members = paths.map(|(name, path)| format!("\"{name}\":{}", quoted(path)));
        println!("{{{}}}", members.join(","));
    } else {
        for (name, path) in paths {
            println!("{name:<6} {}", path.display());
        }
    }
    Ok(())
}

/// Returns a path as a JSON string.
fn quoted(path: &Path) -> String {
    let mut text = String::from('"');
    for character in path.to_string_lossy().chars() {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            control if control.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\u{:04x}", u32::from(control));
            }
            other => text.push(other),
        }
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_quotes_and_a_newline_is_valid_json() {
        assert_eq!(quoted(Path::new("a\"b\\c\nd")), r#""a\"b\\c\u000ad""#);
    }
}
