//! The emulated device's firmware inside this command, where it was installed with one.

/// The firmware for the emulated Cortex-M4F and Cortex-M0, as ELF files.
#[derive(Debug, Clone, Copy)]
pub struct EmbeddedFirmware {
    /// For QEMU's mps2-an386.
    pub m4: &'static [u8],
    /// For QEMU's microbit.
    pub m0: &'static [u8],
}

/// The firmware that `cargo xtask install` put in; `None` in a command that was built otherwise.
#[cfg(embedded_firmware)]
pub const FIRMWARE: Option<EmbeddedFirmware> = Some(EmbeddedFirmware {
    m4: include_bytes!(env!("REBEARING_FIRMWARE_M4")),
    m0: include_bytes!(env!("REBEARING_FIRMWARE_M0")),
});

/// The firmware that `cargo xtask install` put in; `None` in a command that was built otherwise.
#[cfg(not(embedded_firmware))]
pub const FIRMWARE: Option<EmbeddedFirmware> = None;
