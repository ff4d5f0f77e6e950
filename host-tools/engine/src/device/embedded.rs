//! The firmware of the emulated device, if this command was installed with it.

/// The firmware for the emulated Cortex-M4F and Cortex-M0, as ELF files.
#[derive(Debug, Clone, Copy)]
pub struct EmbeddedFirmware {
    /// For QEMU's mps2-an386.
    pub m4: &'static [u8],
    /// For QEMU's microbit.
    pub m0: &'static [u8],
}

/// The firmware that `cargo xtask install` included; `None` in a command built in another way.
#[cfg(embedded_firmware)]
pub const FIRMWARE: Option<EmbeddedFirmware> = Some(EmbeddedFirmware {
    m4: include_bytes!(env!("REBEARING_FIRMWARE_M4")),
    m0: include_bytes!(env!("REBEARING_FIRMWARE_M0")),
});

/// The firmware that `cargo xtask install` included; `None` in a command built in another way.
#[cfg(not(embedded_firmware))]
pub const FIRMWARE: Option<EmbeddedFirmware> = None;
