//! The emulated boards, and how to run a firmware binary on one.

use std::path::Path;
use std::process::Command;

use crate::bench::json::Answer;
use crate::run::capture;
use crate::toolchain::{M0, M4F, M33F};

/// A board that QEMU emulates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Board {
    /// The core's name in rows, as the firmware prints it.
    pub(super) core: &'static str,
    /// The target that the firmware is built for.
    pub(super) target: &'static str,
    machine: &'static str,
    /// Start of the MODEL region in its memory.x.
    model: u32,
    /// Bytes of the MODEL region.
    pub(super) model_room: u64,
    /// Whether it has a floating-point unit.
    pub(super) floats: bool,
    /// Address and size in bytes of the memory for emlearn's numbers.
    external: (u32, u64),
}

/// All the boards.
pub(super) const BOARDS: [Board; 3] = [
    Board {
        core: "cortex-m4f",
        target: M4F,
        machine: "mps2-an386",
        model: 0x0020_0000,
        model_room: 2 << 20,
        floats: true,
        external: (0x2100_0000, 16 << 20),
    },
    Board {
        core: "cortex-m33",
        target: M33F,
        machine: "mps2-an505",
        model: 0x1020_0000,
        model_room: 2 << 20,
        floats: true,
        external: (0x8000_0000, 16 << 20),
    },
    Board {
        core: "cortex-m0",
        target: M0,
        machine: "microbit",
        model: 0x0002_0000,
        model_room: 128 << 10,
        floats: false,
        // The rest of the flash, because there is no memory outside the chip.
        external: (0x0002_0000, 128 << 10),
    },
];

impl Board {
    /// Runs `elf` with `data` in the MODEL region and returns the rows that it prints.
    ///
    /// One instruction takes one nanosecond of the board's time, so the firmware counts
    /// instructions by its clock. A firmware that finds a wrong result ends with an error.
    pub(super) fn run(self, qemu: &Path, elf: &Path, data: &Path) -> Result<Vec<Answer>, String> {
        self.run_at(qemu, elf, data, self.model)
    }

    /// As [`Board::run`], with the data outside the chip if the board has such memory.
    pub(super) fn run_external(
        self,
        qemu: &Path,
        elf: &Path,
        data: &Path,
    ) -> Result<Vec<Answer>, String> {
        self.run_at(qemu, elf, data, self.external.0)
    }

    /// Bytes for data outside the chip.
    pub(super) fn external_room(self) -> u64 {
        self.external.1
    }

    fn run_at(
        self,
        qemu: &Path,
        elf: &Path,
        data: &Path,
        address: u32,
    ) -> Result<Vec<Answer>, String> {
        let mut command = Command::new(qemu);
        command.args(["-M", self.machine, "-icount", "shift=0", "-display", "none"]);
        command.args(["-monitor", "none", "-serial", "none", "-chardev", "stdio,id=console"]);
        command.args(["-semihosting-config", "enable=on,target=native,chardev=console"]);
        command.arg("-kernel").arg(elf);
        // QEMU needs a comma in a file name written twice.
        let name = data.display().to_string().replace(',', ",,");
        command.arg("-device");
        command.arg(format!("loader,file={name},addr={address:#x},force-raw=on"));
        let output = command.output().map_err(|error| format!("{}: {error}", qemu.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let complaint = || {
            let said = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
            format!("{} on {} with {}: {}", elf.display(), self.core, data.display(), said.trim())
        };
        if !output.status.success() {
            return Err(complaint());
        }
        text.lines().map(Answer::parse).collect::<Result<_, _>>().map_err(|_| complaint())
    }
}

/// Returns the version of the emulator.
pub(super) fn version(qemu: &Path) -> String {
    let text = capture(Command::new(qemu).arg("--version")).unwrap_or_default();
    text.lines().next().unwrap_or("QEMU").to_owned()
}
