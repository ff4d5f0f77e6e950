//! Checks for everything that the commands need on this machine. Each check says what was found, or
//! what to do.
//!
//! The host's own work needs only a folder for temporary files. Everything else serves a purpose
//! that not everybody has. So if it is missing, that is a failure only if the user asked for it.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;

use crate::text::colour;
use rebearing_host::device::embedded::FIRMWARE;
use rebearing_host::device::flash::{FlashError, Probe};
use rebearing_host::device::setup;
use rebearing_host::files::{TemporaryError, temporary_folder};

/// The oldest Rust that builds the project.
const MSRV: &str = env!("CARGO_PKG_RUST_VERSION");
/// The targets that firmware is built for: Cortex-M0, M4F and M33F.
const TARGETS: [&str; 3] =
    ["thumbv6m-none-eabi", "thumbv7em-none-eabihf", "thumbv8m.main-none-eabihf"];
const QEMU: &str = "qemu-system-arm";

/// The purpose that a check serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// Everything that runs on this machine alone: fit, adapt, predict, evaluate and the like.
    Host,
    /// The emulated device: `emulate`, and the last part of `demo`.
    Emulate,
    /// Building firmware.
    Firmware,
    /// A real board: `flash`, and `watch --rtt`.
    Board,
}

impl Purpose {
    /// All purposes.
    pub const ALL: [Self; 4] = [Self::Host, Self::Emulate, Self::Firmware, Self::Board];

    /// The purpose in one word, the same on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Emulate => "emulate",
            Self::Firmware => "firmware",
            Self::Board => "board",
        }
    }
}

/// The result of one check.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// Name of the thing checked.
    pub name: &'static str,
    /// The purposes that need it; empty if it is only information.
    #[serde(rename = "for")]
    pub purposes: Vec<Purpose>,
    /// True if it is as it should be.
    pub ok: bool,
    /// A description of what was found.
    pub found: String,
    /// Advice if it is not as it should be.
    pub remedy: Option<String>,
}

impl Check {
    fn new(name: &'static str, purposes: &[Purpose], result: Result<String, Missing>) -> Self {
        let purposes = purposes.to_vec();
        match result {
            Ok(found) => Self { name, purposes, ok: true, found, remedy: None },
            Err(Missing { found, remedy }) => {
                Self { name, purposes, ok: false, found, remedy: Some(remedy) }
            }
        }
    }
}

struct Missing {
    found: String,
    remedy: String,
}

fn missing(found: impl Display, remedy: impl Into<String>) -> Missing {
    Missing { found: format!("{found}"), remedy: remedy.into() }
}

/// Runs all checks.
pub fn checks() -> Vec<Check> {
    use Purpose::{Board, Emulate, Firmware, Host};
    // A command with the firmware inside does not build any to emulate a device.
    let build: &[Purpose] = if FIRMWARE.is_some() { &[Firmware] } else { &[Firmware, Emulate] };
    vec![
        Check::new("temporary files", &[Host], temporary_files()),
        Check::new("terminal", &[], Ok(terminal())),
        Check::new("cargo", build, version("cargo")),
        Check::new("rustc", build, version("rustc")),
        Check::new("thumb targets", build, targets()),
        Check::new("linker", build, linker()),
        Check::new("checkout", &[Emulate], checkout()),
        Check::new("QEMU", &[Emulate], qemu()),
        Check::new("probe-rs", &[Board], probe_rs()),
        Check::new("probe access", &[Board], probe_access()),
    ]
}

fn temporary_files() -> Result<String, Missing> {
    match temporary_folder() {
        Ok(_) => Ok(std::env::temp_dir().display().to_string()),
        Err(TemporaryError { place, reason }) => Err(missing(
            format!("{}: {reason}", place.display()),
            "set TMPDIR to a folder that exists and is writable",
        )),
    }
}

fn terminal() -> String {
    let colours = if colour::on_stdout() { "colours" } else { "no colours" };
    match ratatui::crossterm::terminal::size() {
        Ok((columns, rows)) => format!("{columns} columns, {rows} rows, {colours}"),
        Err(_) => format!("none, {colours}"),
    }
}

/// Returns the output of a program.
fn said(program: &str, arguments: &[&str]) -> io::Result<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("{program} ends with {}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Checks that a Rust program is at least as new as the project needs.
fn version(program: &str) -> Result<String, Missing> {
    let remedy = format!("install Rust {MSRV} or later: https://rustup.rs");
    let found = said(program, &["--version"]).map_err(|error| missing(error, &remedy))?;
    // For instance `rustc 1.95.0 (59807616e 2026-04-14)`.
    let number = found.split_whitespace().nth(1).unwrap_or_default();
    let new_enough = numbers(number).is_some_and(|number| Some(number) >= numbers(MSRV));
    if new_enough { Ok(found) } else { Err(missing(found, "run `rustup update`")) }
}

/// The first two numbers of a version.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split(['.', '-']).map_while(|number| number.parse().ok());
    numbers.next().zip(numbers.next())
}

fn sysroot() -> Result<PathBuf, Missing> {
    said("rustc", &["--print", "sysroot"])
        .map(PathBuf::from)
        .map_err(|error| missing(error, "install Rust first"))
}

fn targets() -> Result<String, Missing> {
    let libraries = sysroot()?.join("lib/rustlib");
    let absent: Vec<&str> =
        TARGETS.into_iter().filter(|target| !libraries.join(target).is_dir()).collect();
    if absent.is_empty() {
        return Ok(TARGETS.join(", "));
    }
    let remedy = format!("run `rustup target add {}`", absent.join(" "));
    Err(missing(format!("no {}", absent.join(", ")), remedy))
}

/// Checks for a linker. Nothing else from binutils is needed: ELF files are read here, and flashed
/// as they are.
fn linker() -> Result<String, Missing> {
    let sysroot = sysroot()?;
    let hosts = std::fs::read_dir(sysroot.join("lib/rustlib")).into_iter().flatten().flatten();
    let name = format!("rust-lld{}", std::env::consts::EXE_SUFFIX);
    let own = hosts.map(|host| host.path().join("bin").join(&name)).find(|path| path.is_file());
    match own {
        Some(_) => Ok("rust-lld, which comes with Rust".into()),
        None => {
            on_path("arm-none-eabi-ld").map(|path| path.display().to_string()).ok_or_else(|| {
                missing(
                    "neither rust-lld nor arm-none-eabi-ld",
                    "install Rust by https://rustup.rs",
                )
            })
        }
    }
}

fn checkout() -> Result<String, Missing> {
    if FIRMWARE.is_some() {
        return Ok("not needed: the device's firmware is inside this command".into());
    }
    setup::checkout().map(|path| path.display().to_string()).ok_or_else(|| {
        missing("none here", "run this command in a checkout: the device's firmware is in it")
    })
}

fn qemu() -> Result<String, Missing> {
    let program = on_path(QEMU).or_else(setup::unpacked_qemu).ok_or_else(|| {
        missing(format!("no {QEMU}"), format!("install {QEMU}, or run `cargo xtask firmware`"))
    })?;
    let found = said(&program.to_string_lossy(), &["--version"])
        .map_err(|error| missing(error, format!("install {QEMU} again")))?;
    Ok(found.lines().next().unwrap_or_default().to_owned())
}

fn probe_rs() -> Result<String, Missing> {
    Probe::check_version().map_err(|error| {
        let found = match &error {
            FlashError::OldProbeRs { said } => said.clone(),
            _ => "no probe-rs".into(),
        };
        missing(found, "install probe-rs 0.29 or later: https://probe.rs")
    })
}

/// Checks if a user may use a probe, in the cheapest way: by the names of udev's rules.
fn probe_access() -> Result<String, Missing> {
    if !cfg!(target_os = "linux") {
        return Ok("nothing to set up on this system".into());
    }
    let folders = ["/etc/udev/rules.d", "/lib/udev/rules.d", "/usr/lib/udev/rules.d"];
    let names = ["probe-rs", "jlink", "stlink", "cmsis-dap", "openocd"];
    let rules = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let rule = rules.flatten().map(|file| file.path()).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        names.iter().any(|known| name.contains(known))
    });
    match rule {
        Some(path) => Ok(path.display().to_string()),
        None => Err(missing(
            "no udev rule for debug probes",
            "install 69-probe-rs.rules (https://probe.rs/docs), or run as root",
        )),
    }
}

fn on_path(program: &str) -> Option<PathBuf> {
    let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(&name)).find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn versions_are_compared_by_number() {
        assert_eq!(numbers("1.95.0"), Some((1, 95)));
        assert_eq!(numbers("1.95"), Some((1, 95)));
        assert!(numbers("1.100.0-nightly") > numbers("1.95"));
        assert_eq!(numbers("new"), None);
    }
}
