//! The board in QEMU's netduinoplus2, with an f32 model.
//!
//! Its expected output is in `stm32f405-qemu.txt`, in the same folder.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use firmware_examples::app::{FloatMonitor, Room, SLOTS};
use stm32f405::{CHIP, qemu};

rebearing::descriptor!(FloatMonitor, CHIP, SLOTS, qemu::SAMPLING);

#[entry]
fn main() -> ! {
    static mut ROOM: Room<FloatMonitor> = Room::new(FloatMonitor::vacant());
    qemu::tour(ROOM)
}

stm32f405::qemu_failures!();
