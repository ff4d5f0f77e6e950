//! The board with signed models in QEMU's netduinoplus2, on the plant's bus through its first serial
//! port. The flash is in RAM, which outlasts a reset. The samples are made here.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use firmware_examples::app::{FloatMonitor, Room, SLOTS};
use stm32f405::{CHIP, qemu};

rebearing::descriptor!(FloatMonitor, CHIP, SLOTS, qemu::SAMPLING, signed);

#[entry]
fn main() -> ! {
    static mut ROOM: Room<FloatMonitor> = Room::new(FloatMonitor::vacant());
    qemu::bus(ROOM)
}

stm32f405::qemu_failures!();
