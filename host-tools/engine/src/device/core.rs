//! The cores that QEMU emulates, and the models that each has room for.

use rebearing::monitor::{Capacities, Samples};
use rebearing::{Encoding, FrontEnd, IntegerModel};

/// A core that QEMU emulates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Core {
    /// QEMU's mps2-an386: models of both encodings, of every size.
    CortexM4F,
    /// QEMU's microbit, with 16 KiB of RAM: small i16 models.
    CortexM0,
}

impl Core {
    /// The smallest core that runs an i16 model.
    pub fn of_integer_model(model: &IntegerModel<'_>) -> Self {
        let FrontEnd { fft_len, axes, .. } = *model.front_end();
        let fits = Capacities { fft: fft_len, axes, ..M0_ROOM }.check(model).is_ok();
        let fits = fits && fft_len <= M0_ROOM.fft && model.alarm().average <= M0_AVERAGE;
        if fits { Self::CortexM0 } else { Self::CortexM4F }
    }

    /// The core as its maker names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::CortexM4F => "Cortex-M4F",
            Self::CortexM0 => "Cortex-M0",
        }
    }

    /// The machine of QEMU that has it.
    pub(super) fn machine(self) -> &'static str {
        match self {
            Self::CortexM4F => "mps2-an386",
            Self::CortexM0 => "microbit",
        }
    }

    /// Where the firmware's linker script has its MODEL region.
    pub(super) fn model_address(self) -> u32 {
        match self {
            Self::CortexM4F => 0x0020_0000,
            Self::CortexM0 => 0x0002_0000,
        }
    }
}

/// The largest monitor that the firmware for the Cortex-M0 has.
const M0_ROOM: Capacities = Capacities {
    encoding: Encoding::I16,
    samples: Samples::Counts,
    fft: 512,
    axes: 3,
    dims: 64,
    components: 40,
    classes: 16,
};
/// Most windows that its alarm averages.
const M0_AVERAGE: u32 = 16;
