//! The board: samples from an IIS3DWB, reports over RTT.

#![no_std]
#![no_main]

use cortex_m::singleton;
use cortex_m_rt::entry;
use defmt_rtt as _;
use embedded_hal::delay::DelayNs;
use firmware_examples::app::rtt::RttJournal;
use firmware_examples::app::{self, App, BoardMonitor, RETRY_MS, SLOTS};
use firmware_examples::model_region::model_region;
use panic_probe as _;
use rebearing::slots::{LayoutError, Slots};
use stm32f4xx_hal::flash::{FlashExt, LockedFlash};
use stm32f405::{Board, BoardWatchdog, CHIP};

rebearing::descriptor!(BoardMonitor, CHIP, SLOTS);

#[entry]
fn main() -> ! {
    // The chip is set up once, here.
    let Some(board) = Board::new() else { starve() };
    let Board { clock, mut sensor, mut wake, watchdog, mut flash, mut delay } = board;
    defmt::info!("clock: {} at {=u32} MHz", clock, clock.megahertz());
    if let Err(error) = check_layout(&mut flash) {
        defmt::error!("memory.x: {}", error);
        starve()
    }
    let mut journal = RttJournal;
    let Some(running) = app::start(model_region(), &mut journal) else { starve() };
    if let Err(error) = sensor.start() {
        defmt::warn!("sensor: {}", defmt::Debug2Format(&error));
    }
    // Not on the stack, so that the size of the binary tells what it takes.
    let app: Option<&'static mut App<RttJournal, BoardWatchdog>> =
        singleton!(: App<RttJournal, BoardWatchdog> = App::new(running, journal, watchdog));
    let Some(app) = app else { starve() };
    loop {
        match app.step(&mut sensor) {
            Ok(_) => wake.sleep(),
            // The driver starts the sensor again at the next step.
            Err(_) => delay.delay_ms(RETRY_MS),
        }
    }
}

/// Whether a new model could be stored in the slots, without writing anything.
fn check_layout(flash: &mut LockedFlash) -> Result<(), LayoutError> {
    let region = model_region().as_ptr_range();
    let offset = |address: *const u8| address.addr().wrapping_sub(flash.address()) as u32;
    let region = offset(region.start)..offset(region.end);
    Slots::new(flash.unlocked(), region).map(drop)
}

/// Nothing to do: the watchdog starts the board again.
fn starve() -> ! {
    loop {
        cortex_m::asm::wfi();
    }
}
