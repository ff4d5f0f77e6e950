//! What the firmware binaries share: the model's flash region and the emulator's services.

#![no_std]

pub mod line;
pub mod model_region;
pub mod semihosting;
