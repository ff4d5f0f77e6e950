//! For its flash and RAM: a Modbus server and a store that takes unsigned models.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use firmware_examples::sizes::{Room, Stored, stop};
use rebearing::update::Unsigned;

#[entry]
fn main() -> ! {
    static mut ROOM: Room<Stored<Unsigned>> = Room::new();
    match Stored::new(Unsigned) {
        Some(store) => ROOM.run(store),
        None => stop(),
    }
}

firmware_examples::panics_stop!();
