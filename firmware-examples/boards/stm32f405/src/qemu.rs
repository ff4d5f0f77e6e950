//! The whole board in QEMU's netduinoplus2, except the sensor: the samples are made here.

use core::cell::Cell;
use core::fmt::Write as _;

use firmware_examples::app::bus::Bus;
use firmware_examples::app::port::Port as _;
use firmware_examples::app::text::TextJournal;
use firmware_examples::app::{App, BoardMonitor, LONGEST_WINDOW_MS, Plain, Room, Watchdog};
use firmware_examples::line::Line;
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::{Console, exit};
use firmware_examples::simulated::{Colour, Next, Phase, Simulated, TOUR, TOUR_WINDOWS};
use rebearing::monitor::Sampling;
use rebearing::update::{DeviceId, FlashOnly, ModelStore, SignedFor};

use crate::keys::KEYS;
use crate::ram_flash::{LAYOUT, RamFlash};
use crate::run::restart;
use crate::{Board, BoardWatchdog};

/// The simulated machine is sampled at the model's rate, in no unit. The watchdog is the board's.
pub const SAMPLING: Sampling = Sampling { longest_window_ms: LONGEST_WINDOW_MS, ..Sampling::ANY };

/// The board's watchdog, with a count of how often it was fed.
struct Counted {
    watchdog: BoardWatchdog,
    fed: usize,
}

impl Watchdog for &mut Counted {
    fn feed(&mut self) {
        self.watchdog.feed();
        self.fed += 1;
    }
}

/// Runs the application on a tour of the simulated machine and ends the emulation.
pub fn tour<M: BoardMonitor>(room: &mut Room<M>) -> ! {
    // Without a console there is nobody to tell, but the exit code still reports the failure.
    let Some(console) = Console::open() else { exit(Err(())) };
    exit(run(&console, room).ok_or(()))
}

fn run<M: BoardMonitor>(console: &Console, room: &mut Room<M>) -> Option<()> {
    let Board { clock, mut sensor, watchdog, .. } = Board::new()?;
    Line::new(console).text("clock MHz=").decimal(clock.megahertz() as usize).end();
    // The board's own driver, on a bus with nothing connected.
    let mut line = Line::new(console);
    // Writing to a line cannot fail.
    let _ = match sensor.start() {
        Ok(()) => write!(line, "sensor: started"),
        Err(error) => write!(line, "sensor: {error}"),
    };
    line.end();

    let bits = Cell::new(0);
    let journal = TextJournal { console, bits: &bits };
    let mut counted = Counted { watchdog, fed: 0 };
    let models = Plain::default();
    let app = App::start(room, model_region(), &SAMPLING, models, journal, &mut counted);
    let mut app = app.ok()?;
    let mut source = Simulated::new(TOUR, 1, TOUR_WINDOWS, app.model().front_end());
    let mut samples = 0;
    while source.next() != Next::End && !app.must_restart() {
        // The journal has the fault, and the source continues by itself.
        samples += app.step(&mut source).unwrap_or(0);
    }
    drop(app);
    let mut line = Line::new(console);
    line.text("done samples=").decimal(samples).text(" fed=").decimal(counted.fed);
    line.text(" bits=").hexadecimal(bits.get()).end();
    Some(())
}

/// The number of the emulated device.
const DEVICE: DeviceId = DeviceId(*b"QEMU netduino +2");
/// Batches of samples in a tick of the bus: twenty times as many as a sensor gives.
const BATCHES: usize = 4;
/// Silence that ends a frame. QEMU hands over bytes one by one, with pauses when the host is busy.
const SILENCE_MS: u8 = 20;
/// Windows of a phase on the bus: more than anybody waits for.
const ENDLESS: usize = 1_000_000;

/// Runs the application on white noise for ever, with signed models and the plant's bus.
pub fn bus<M: BoardMonitor>(room: &mut Room<M>) -> ! {
    let Some(console) = Console::open() else { exit(Err(())) };
    // Nothing ends it but a reset.
    exit(serve(&console, room).ok_or(()))
}

fn serve<M: BoardMonitor>(console: &Console, room: &mut Room<M>) -> Option<()> {
    let Board { watchdog, port, .. } = Board::new()?;
    let mut port = port?;
    port.with(|buffer| buffer.set_silence(SILENCE_MS));
    let mut bus = Bus::new(port);
    // SAFETY: this is the only call, and a reset starts everything anew.
    let flash = unsafe { RamFlash::new(model_region()) };
    let encoding = M::CAPACITIES.encoding;
    let signed_for = SignedFor { device: DEVICE, encoding, sampling: SAMPLING };
    let store = ModelStore::new(flash, &LAYOUT, KEYS, FlashOnly, signed_for).ok()?;
    let bits = Cell::new(0);
    let journal = TextJournal { console, bits: &bits };
    let region = RamFlash::region();
    let mut app = match App::start(room, region, &SAMPLING, store, journal, watchdog) {
        Ok(app) => app,
        Err(mut waiting) => loop {
            if waiting.serve(&mut bus) {
                restart(&mut bus)
            }
            cortex_m::asm::wfi();
        },
    };
    let front_end = *app.model().front_end();
    loop {
        let mut source = Simulated::new(&[Phase::Signal(Colour::White)], 1, ENDLESS, &front_end);
        while source.next() != Next::End {
            for _ in 0..BATCHES {
                // The journal has the fault, and the source continues by itself.
                let _ = app.step(&mut source);
            }
            app.serve(&mut bus);
            if app.must_restart() {
                restart(&mut bus)
            }
            // Until the next tick, so that the host has time for other things.
            cortex_m::asm::wfi();
        }
    }
}

/// Panic and fault handlers for a QEMU binary: they print a message and fail.
#[macro_export]
macro_rules! qemu_failures {
    () => {
        #[panic_handler]
        fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
            if let Some(console) = firmware_examples::semihosting::Console::open() {
                firmware_examples::line::Line::new(&console).text("error: a panic").end();
            }
            firmware_examples::semihosting::exit(Err(()))
        }

        firmware_examples::semihosting_faults!();
    };
}
