//! For its flash and RAM: as `size-newest`, with a Modbus server that takes no model.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use firmware_examples::sizes::{OnBus, Room};

#[entry]
fn main() -> ! {
    static mut ROOM: Room<OnBus> = Room::new();
    ROOM.run(OnBus::new())
}

firmware_examples::panics_stop!();
