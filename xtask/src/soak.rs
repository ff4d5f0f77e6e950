//! Ten thousand windows on emulated cores, made and checked on the device.

use crate::emulation::{self, Machine};
use crate::toolchain::{M0, M4F, Thumb};
use crate::{firmware, qemu};

/// The binary. The model is linked in.
const BINARY: &str = "soak";
/// Target, QEMU machine, and the file next to the binary with its summary line.
const SOAKS: [(&str, &str, &str); 2] =
    [(M4F, "mps2-an386", "soak-m4.txt"), (M0, "microbit", "soak-m0.txt")];

/// Runs it on each machine and compares the summary lines.
pub(crate) fn check() -> Result<(), String> {
    let thumb = Thumb::for_targets(&[M4F, M0])?;
    let emulator = qemu::find_or_install()?;
    for (target, machine, expected) in SOAKS {
        let elf = firmware::build(thumb, BINARY, target)?;
        let machine = Machine { name: machine, file: None, words: &[] };
        let expected = format!("firmware-examples/src/bin/{expected}");
        emulation::expect(&emulator, &machine, &elf, &expected)?;
    }
    Ok(())
}
