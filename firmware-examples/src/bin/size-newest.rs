//! For its flash and RAM: a monitor of the newest model in two slots.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use firmware_examples::sizes::{Newest, Room};

#[entry]
fn main() -> ! {
    static mut ROOM: Room<Newest> = Room::new();
    ROOM.run(Newest)
}

firmware_examples::panics_stop!();
