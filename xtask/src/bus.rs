//! A new model on its whole way: from the command through the plant's bus to the board in QEMU.

use crate::run::{root, run, target_dir};
use crate::toolchain::{M4F, Thumb};
use crate::{firmware, python, qemu};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The board with signed models, for QEMU.
const BINARY: &str = "stm32f405-bus-qemu";

/// Runs host-tools/cli/tests/cli/bus_in_qemu.rs. It needs QEMU, a firmware with the test's own key
/// and a Modbus client in Python, and is marked `ignored`, so a plain `cargo test` installs nothing.
pub(crate) fn check() -> Result<(), String> {
    let emulator = qemu::find_or_install()?;
    let wanted = root().join("xtask/bus/requirements.txt");
    let interpreter = python::environment("bus-venv", &wanted, "pymodbus")?;
    let folder = target_dir("bus", "target/bus");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let key = folder.join("plant");
    test("a key for the board", "bus_in_qemu::a_key_is_made", &[("BUS_KEY", &key)])?;

    let directory = firmware::target_dir();
    let mut cargo = Thumb::for_targets(&[M4F])?.build(firmware::MANIFEST, M4F, &directory);
    cargo.env("REBEARING_KEY", key.with_extension("pub"));
    cargo.args(["--release", "--package", "stm32f405", "--bin", BINARY]);
    run("the board with this key", &mut cargo)?;
    let elf = directory.join(M4F).join("release").join(BINARY);
    let given: [(&str, &Path); 4] = [
        ("BUS_KEY", &key),
        ("BUS_QEMU", &emulator),
        ("BUS_ELF", &elf),
        ("BUS_PYTHON", &interpreter),
    ];
    test("a model over the bus", "bus_in_qemu::a_model_is_sent", &given)
}

fn test(what: &str, name: &str, given: &[(&str, &Path)]) -> Result<(), String> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).envs(given.iter().copied());
    // The whole workspace, as in the earlier tests, so that nothing is compiled again.
    cargo.args(["test", "--locked", "--workspace", "--test", "cli", name]);
    run(what, cargo.args(["--", "--include-ignored", "--nocapture"]))
}
