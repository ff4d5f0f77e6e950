//! The firmware of the boards: builds it, checks its ELF files, and runs it if QEMU has the chip.

use crate::emulation::{self, Machine};
use crate::firmware::{MANIFEST, target_dir};
use crate::qemu;
use crate::run::{root, run};
use crate::toolchain::{M0, M4F, Thumb};
use std::path::PathBuf;
use std::process::Command;

/// A package below firmware-examples/boards, and its binaries.
pub(crate) struct Board {
    package: &'static str,
    binaries: &'static [&'static str],
}

/// All boards; each has a Cortex-M4F.
pub(crate) const BOARDS: [Board; 2] = [
    Board {
        package: "stm32f405",
        binaries: &["stm32f405", "stm32f405-signed", TOURS[0].binary, TOURS[1].binary],
    },
    Board { package: "nrf52840", binaries: &["nrf52840"] },
];

/// A binary that boots in QEMU, with a model.
struct Tour {
    binary: &'static str,
    model: &'static str,
    /// The text that it prints.
    expected: &'static str,
}

/// One binary for each encoding of models.
const TOURS: [Tour; 2] = [
    Tour {
        binary: "stm32f405-qemu",
        model: "tests/golden/model-v1-gate.rbm",
        expected: "firmware-examples/boards/stm32f405/src/bin/stm32f405-qemu.txt",
    },
    Tour {
        binary: "stm32f405-qemu-i16",
        model: "tests/golden/model-v1-i16.rbm",
        expected: "firmware-examples/boards/stm32f405/src/bin/stm32f405-qemu-i16.txt",
    },
];

/// Slot A of memory.x.
const MODEL_ADDRESS: u32 = 0x080C_0000;

/// Builds a board's binaries and returns the ELF files by name.
pub(crate) fn build(thumb: Thumb, board: &Board) -> Result<Vec<(&'static str, PathBuf)>, String> {
    let directory = target_dir();
    let mut cargo = thumb.build(MANIFEST, M4F, &directory);
    cargo.args(["--release", "--package", board.package]);
    run(&format!("board {}", board.package), &mut cargo)?;
    let folder = directory.join(M4F).join("release");
    Ok(board.binaries.iter().map(|name| (*name, folder.join(name))).collect())
}

/// Builds every board, checks that no firmware is in a region that is erased with a model, and runs
/// those that QEMU has a board for.
pub(crate) fn check() -> Result<(), String> {
    let thumb = Thumb::for_targets(&[M4F])?;
    let mut elves = Vec::new();
    for board in &BOARDS {
        elves.extend(build(thumb, board)?);
    }
    look_into(elves.iter().map(|(_, elf)| elf))?;
    let emulator = qemu::find_or_install()?;
    for Tour { binary, model, expected } in TOURS {
        for (_, elf) in elves.iter().filter(|(name, _)| *name == binary) {
            // QEMU's board with this chip.
            let machine =
                Machine { name: "netduinoplus2", file: Some((model, MODEL_ADDRESS)), words: &[] };
            emulation::expect(&emulator, &machine, elf, expected)?;
        }
    }
    Ok(())
}

/// Runs host-tools/cli/tests/cli/tutorial.rs. It needs QEMU and the first board's ELF file, and is
/// marked `ignored`.
pub(crate) fn tutorial() -> Result<(), String> {
    qemu::find_or_install()?;
    let [board, ..] = &BOARDS;
    // The tutorial emulates both cores.
    let elves = build(Thumb::for_targets(&[M4F, M0])?, board)?;
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).envs(elves.first().map(|(_, elf)| ("BOARD_ELF", elf)));
    // The whole workspace, as in the earlier tests, so that nothing is compiled again.
    cargo.args(["test", "--locked", "--workspace", "--test", "cli", "tutorial::"]);
    run("docs/tutorial.md", cargo.args(["--", "--include-ignored"]))
}

/// Runs clippy on the boards, for their target: their HALs build for no other.
pub(crate) fn clippy() -> Result<(), String> {
    let Thumb::Active = Thumb::for_targets(&[M4F])? else {
        eprintln!("    the boards are left out: there is no clippy for a `core` built from source");
        return Ok(());
    };
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).args(["clippy", "--locked", "--release", "--target", M4F]);
    cargo.args(["--manifest-path", MANIFEST, "--target-dir"]).arg(target_dir());
    cargo.args(BOARDS.iter().flat_map(|board| ["--package", board.package]));
    run("clippy of the boards", cargo.args(["--", "-D", "warnings"]))
}

/// Runs host-tools/cli/tests/cli/board_elves.rs. It needs the ELF files and is marked `ignored`, so a
/// plain `cargo test` builds no firmware.
fn look_into<'a>(elves: impl Iterator<Item = &'a PathBuf>) -> Result<(), String> {
    let paths = std::env::join_paths(elves).map_err(|error| error.to_string())?;
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).env("BOARD_ELVES", paths);
    // The whole workspace, as in the earlier tests, so that nothing is compiled again.
    cargo.args(["test", "--locked", "--workspace", "--test", "cli", "board_elves::"]);
    run("the boards' ELF files", cargo.args(["--", "--include-ignored"]))
}
