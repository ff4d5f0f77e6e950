//! The board in QEMU's netduinoplus2, with an i16 model of 256 points.
//!
//! Its expected output is in `stm32f405-qemu-i16.txt`, in the same folder.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use firmware_examples::app::{CountMonitor, Room, SLOTS};
use stm32f405::{CHIP, qemu};

rebearing::descriptor!(CountMonitor<256>, CHIP, SLOTS, qemu::SAMPLING);

#[entry]
fn main() -> ! {
    static mut ROOM: Room<CountMonitor<256>> = Room::new(CountMonitor::vacant());
    qemu::tour(ROOM)
}

stm32f405::qemu_failures!();
