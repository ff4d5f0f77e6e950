//! What the firmware binaries share: the model's flash region, the emulator's services, and the
//! counting of instructions.

#![no_std]

pub mod bench;
pub mod line;
pub mod model_region;
pub mod semihosting;
pub mod verdict;
