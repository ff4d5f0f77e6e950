//! The board: samples from an IIS3DWB, reports over RTT.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use defmt_rtt as _;
use embedded_hal::delay::DelayNs;
use firmware_examples::app::rtt::RttJournal;
use firmware_examples::app::{App, FloatMonitor, RETRY_MS, Room, SLOTS};
use firmware_examples::model_region::model_region;
use panic_probe as _;
use rebearing::update::{LayoutError, Slots};
use stm32f4xx_hal::flash::{FlashExt, LockedFlash};
use stm32f405::{Board, CHIP, SAMPLING};

/// For i16 models of 2048 points, use `CountMonitor<2048>`.
type BoardMonitor = FloatMonitor;

rebearing::descriptor!(BoardMonitor, CHIP, SLOTS, SAMPLING);

#[entry]
fn main() -> ! {
    // Not on the stack, so the size of the binary shows how much RAM it takes.
    static mut ROOM: Room<BoardMonitor> = Room::new(BoardMonitor::vacant());
    // The chip is set up once, here.
    let Some(board) = Board::new() else { starve() };
    let Board { clock, mut sensor, mut wake, watchdog, mut flash, mut delay } = board;
    defmt::info!("clock: {} at {=u32} MHz", clock, clock.megahertz());
    if let Err(error) = check_layout(&mut flash) {
        defmt::error!("memory.x: {}", error);
        starve()
    }
    let app = App::start(ROOM, model_region(), &SAMPLING, RttJournal, watchdog);
    let Some(mut app) = app else { starve() };
    if let Err(error) = sensor.start() {
        defmt::warn!("sensor: {}", defmt::Debug2Format(&error));
    }
    loop {
        match app.step(&mut sensor) {
            Ok(_) => wake.sleep(),
            // The driver restarts the sensor at the next step.
            Err(_) => delay.delay_ms(RETRY_MS),
        }
    }
}

/// Checks that a new model could be stored in the slots. Writes nothing.
fn check_layout(flash: &mut LockedFlash) -> Result<(), LayoutError> {
    let region = model_region().as_ptr_range();
    let offset = |address: *const u8| address.addr().wrapping_sub(flash.address()) as u32;
    let region = offset(region.start)..offset(region.end);
    Slots::new(flash.unlocked(), region).map(drop)
}

/// Does nothing until the watchdog restarts the board.
fn starve() -> ! {
    loop {
        cortex_m::asm::wfi();
    }
}
