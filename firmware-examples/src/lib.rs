//! Code shared by the firmware binaries: the application of the boards, the model's flash region,
//! the emulator's services, samples made on the device, and the counting of instructions.

#![no_std]

#[cfg(test)]
extern crate std;

pub mod app;
pub mod bench;
pub mod emulated;
pub mod faults;
pub mod line;
pub mod model_region;
pub mod semihosting;
pub mod simulated;
pub mod sizes;
pub mod soak;
