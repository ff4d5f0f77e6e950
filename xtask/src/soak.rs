//! Ten thousand windows on emulated cores, made and checked on the device.

use crate::emulation::{self, Machine};
use crate::toolchain::{M0, M4F, Thumb};
use crate::{firmware, qemu};

/// Binary, target and QEMU machine. The model is linked in.
const SOAKS: [(&str, &str, &str); 2] =
    [("soak-m4", M4F, "mps2-an386"), ("soak-m0", M0, "microbit")];

/// Runs each binary and compares its summary line with the file next to it.
pub(crate) fn check() -> Result<(), String> {
    let thumb = Thumb::for_targets(&[M4F, M0])?;
    let emulator = qemu::find_or_install()?;
    for (name, target, machine) in SOAKS {
        let elf = firmware::build(thumb, name, target)?;
        let machine = Machine { name: machine, file: None };
        let expected = format!("firmware-examples/src/bin/{name}.txt");
        emulation::expect(&emulator, &machine, &elf, &expected)?;
    }
    Ok(())
}
