//! The emulator: found, installed, or unpacked below the target directory.
//!
//! Installing needs root and may want to remove packages that the user has. For example, QEMU's
//! tools from backports conflict with the release's emulator. Unpacking the same packages does
//! neither.

use crate::packages;
use crate::run::{capture, on_path, target_dir};
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::{fs, io};

/// The program, and the Debian package that holds it.
const QEMU: &str = "qemu-system-arm";

/// Returns the emulator's executable, and installs or unpacks it if it is missing.
pub(crate) fn find_or_install() -> Result<PathBuf, String> {
    let home = target_dir("qemu", "target/qemu");
    let script = home.join(QEMU);
    if let Some(found) = on_path(QEMU).or_else(|| script.is_file().then(|| script.clone())) {
        return Ok(found);
    }
    let by_hand = match packages::install(&[QEMU]) {
        Ok(()) => return on_path(QEMU).ok_or(format!("{QEMU} is installed, but not on the path")),
        Err(by_hand) => by_hand,
    };
    // Unpacked to a side folder and then renamed, so a broken or concurrent run leaves nothing half
    // done.
    let aside = home.with_extension(process::id().to_string());
    let unpacked = unpack(&aside).and_then(|()| {
        // If another run was faster, its copy is as good.
        fs::rename(&aside, &home).or_else(|_| fs::remove_dir_all(&aside)).map_err(text)
    });
    match unpacked {
        Ok(()) => Ok(script),
        Err(error) => {
            eprintln!("    cannot unpack {QEMU} in {}: {error}", aside.display());
            Err(by_hand)
        }
    }
}

/// Unpacks the emulator, and writes a script next to it that starts it from there.
fn unpack(into: &Path) -> Result<(), String> {
    packages::unpack(&[QEMU], into)?;
    let script = into.join(QEMU);
    fs::write(&script, SCRIPT).map_err(text)?;
    capture(Command::new("chmod").arg("+x").arg(&script)).map(drop).ok_or("no chmod here".into())
}

/// Runs the unpacked emulator with the libraries next to it, even if the directory is moved.
const SCRIPT: &str = r#"#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
for directory in "$here"/usr/lib/*-linux-gnu* "$here"/lib/*-linux-gnu*; do
    LD_LIBRARY_PATH=$directory${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
done
export LD_LIBRARY_PATH
exec "$here/usr/bin/qemu-system-arm" -L "$here/usr/share/qemu" "$@"
"#;

#[expect(clippy::needless_pass_by_value, reason = "the signature that map_err wants")]
fn text(error: io::Error) -> String {
    error.to_string()
}
