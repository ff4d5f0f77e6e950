//! The board: samples from an IIS3DWB, reports over RTT, registers on the plant's bus. A model comes
//! by probe.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use defmt_rtt as _;
use firmware_examples::app::{FloatMonitor, Plain, Room, SLOTS};
use firmware_examples::model_region::model_region;
use panic_probe as _;
use rebearing::update::Slots;
use stm32f405::{CHIP, SAMPLING, run};

/// For i16 models of 2048 points, use `CountMonitor<2048>`.
type BoardMonitor = FloatMonitor;

rebearing::descriptor!(BoardMonitor, CHIP, SLOTS, SAMPLING);

#[entry]
fn main() -> ! {
    // Not on the stack, so the size of the binary shows how much RAM it takes.
    static mut ROOM: Room<BoardMonitor> = Room::new(BoardMonitor::vacant());
    run(ROOM, |flash| {
        // Checks that a new model could be stored in the slots. Writes nothing.
        let region = flash.place(model_region());
        Slots::new(flash, region).map(|_| Plain::default())
    })
}
