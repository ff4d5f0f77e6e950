//! The board's main loop: samples from the sensor, reports over RTT, answers on the plant's bus.

use cortex_m::peripheral::SCB;
use embedded_hal::delay::DelayNs;
use firmware_examples::app::bus::Bus;
use firmware_examples::app::rtt::RttJournal;
use firmware_examples::app::{App, BoardMonitor, Models, RETRY_MS, Room};
use firmware_examples::model_region::model_region;
use rebearing::update::LayoutError;

use crate::{Board, BoardFlash, SAMPLING};

/// Runs the board for ever, with the models that `models` makes of its flash.
pub fn run<M: BoardMonitor, S: Models>(
    room: &mut Room<M>,
    models: impl FnOnce(BoardFlash) -> Result<S, LayoutError>,
) -> ! {
    // The chip is set up once, here.
    let Some(board) = Board::new() else { starve() };
    let Board { clock, mut sensor, mut wake, watchdog, flash, port, mut delay } = board;
    defmt::info!("clock: {} at {=u32} MHz", clock, clock.megahertz());
    let models = match models(flash) {
        Ok(models) => models,
        Err(error) => {
            defmt::error!("memory.x: {}", error);
            starve()
        }
    };
    // Every clock that the chip starts with is fast enough for the line.
    let Some(mut bus) = port.map(Bus::new) else { starve() };
    let mut app = match App::start(room, model_region(), &SAMPLING, models, RttJournal, watchdog) {
        Ok(app) => app,
        Err(mut waiting) => loop {
            if waiting.serve(&mut bus) {
                restart(&mut bus)
            }
            cortex_m::asm::wfi();
        },
    };
    if let Err(error) = sensor.start() {
        defmt::warn!("sensor: {}", defmt::Debug2Format(&error));
    }
    loop {
        let moved = app.step(&mut sensor);
        app.serve(&mut bus);
        if app.must_restart() {
            restart(&mut bus)
        }
        match moved {
            Ok(_) => wake.sleep(),
            // The driver restarts the sensor at the next step.
            Err(_) => delay.delay_ms(RETRY_MS),
        }
    }
}

/// Restarts the board, once the last answer is out.
pub(crate) fn restart(bus: &mut Bus<crate::SerialPort>) -> ! {
    while bus.is_sending() {
        cortex_m::asm::wfi();
    }
    SCB::sys_reset()
}

/// Does nothing until the watchdog restarts the board.
fn starve() -> ! {
    loop {
        cortex_m::asm::wfi();
    }
}
