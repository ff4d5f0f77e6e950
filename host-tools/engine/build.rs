//! Puts the emulated device's firmware into the command, where `cargo xtask install` has built it.
//!
//! `REBEARING_FIRMWARE` names the folder. Without it the command has no firmware of its own, and
//! builds one in a checkout of the project when it is asked for: building for Cortex-M takes a
//! toolchain that most machines lack, so that a plain `cargo install` never does it.

use std::path::PathBuf;

const FOLDER: &str = "REBEARING_FIRMWARE";

fn main() {
    println!("cargo::rustc-check-cfg=cfg(embedded_firmware)");
    println!("cargo::rerun-if-env-changed={FOLDER}");
    let Some(folder) = std::env::var_os(FOLDER).filter(|folder| !folder.is_empty()) else {
        return;
    };
    for (binary, variable) in [("qemu-m4", "FIRMWARE_M4"), ("qemu-m0", "FIRMWARE_M0")] {
        let file = PathBuf::from(&folder).join(binary);
        assert!(file.is_file(), "{FOLDER}: no file {}; use `cargo xtask install`", file.display());
        println!("cargo::rerun-if-changed={}", file.display());
        println!("cargo::rustc-env=REBEARING_{variable}={}", file.display());
    }
    println!("cargo::rustc-cfg=embedded_firmware");
}
