//! The board, with signed models: a new one comes over the plant's bus, runs on trial, and the old one
//! returns if it fails.
//!
//! `REBEARING_KEY=K.pub cargo build …` builds in the public key that `rebearing key new` made.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use defmt_rtt as _;
use firmware_examples::app::{FloatMonitor, Room, SLOTS};
use firmware_examples::model_region::{ledger_region, model_region};
use panic_probe as _;
use rebearing::Encoding;
use rebearing::update::{FlashOnly, Layout, ModelStore, SignedFor};
use stm32f405::keys::{KEYS, device_id};
use stm32f405::{CHIP, SAMPLING, run};

/// For i16 models of 2048 points, use `CountMonitor<2048>` and `Encoding::I16`.
type BoardMonitor = FloatMonitor;

rebearing::descriptor!(BoardMonitor, CHIP, SLOTS, SAMPLING, signed);

#[entry]
fn main() -> ! {
    // Not on the stack, so the size of the binary shows how much RAM it takes.
    static mut ROOM: Room<BoardMonitor> = Room::new(BoardMonitor::vacant());
    run(ROOM, |flash| {
        let layout =
            Layout { slots: flash.place(model_region()), ledger: flash.place(ledger_region()) };
        let signed_for =
            SignedFor { device: device_id(), encoding: Encoding::F32, sampling: SAMPLING };
        ModelStore::new(flash, &layout, KEYS, FlashOnly, signed_for)
    })
}
