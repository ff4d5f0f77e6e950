//! `cargo xtask install`: the command with the emulated device's firmware in it.

use crate::Failure;
use crate::firmware::{self, QEMU_BINARY};
use crate::run::{root, run, target_dir};
use crate::toolchain::{M0, M4F, Thumb};
use std::fs;
use std::process::Command;

/// Builds the firmware and installs the command with it. `options` go to `cargo install`.
pub(crate) fn install(options: &[&str]) -> Result<(), Failure> {
    let folder = target_dir("embedded-firmware", "target/embedded-firmware");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let thumb = Thumb::for_targets(&[M4F, M0])?;
    for (name, target) in [("qemu-m4", M4F), ("qemu-m0", M0)] {
        let elf = firmware::build_stripped(thumb, QEMU_BINARY, target)?;
        let copy = folder.join(name);
        let size = fs::copy(&elf, &copy).map_err(|error| format!("{}: {error}", copy.display()))?;
        eprintln!("    {name}: {} kB", size / 1000);
    }
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).env("REBEARING_FIRMWARE", &folder);
    cargo.args(["install", "--locked", "--path", "host-tools/cli"]).args(options);
    Ok(run("the command, with the device's firmware in it", &mut cargo)?)
}
