//! The board in QEMU's netduinoplus2: all of it but the sensor, whose samples are made here.

use core::cell::Cell;
use core::fmt::Write as _;

use firmware_examples::app::text::TextJournal;
use firmware_examples::app::{App, BoardMonitor, Room, Watchdog};
use firmware_examples::line::Line;
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::{Console, exit};
use firmware_examples::simulated::{Next, Simulated, TOUR, TOUR_WINDOWS};

use crate::{Board, BoardWatchdog};

/// The board's watchdog, and how often it was fed.
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

/// Shows the application a tour of the simulated machine and ends the emulation.
pub fn tour<M: BoardMonitor>(room: &mut Room<M>) -> ! {
    // Without a console there is nobody to tell, but the exit code still says that it failed.
    let Some(console) = Console::open() else { exit(Err(())) };
    exit(run(&console, room).ok_or(()))
}

fn run<M: BoardMonitor>(console: &Console, room: &mut Room<M>) -> Option<()> {
    let Board { clock, mut sensor, watchdog, .. } = Board::new()?;
    Line::new(console).text("clock MHz=").decimal(clock.megahertz() as usize).end();
    // The board's own driver, on a bus that nothing is on.
    let mut line = Line::new(console);
    // A line takes whatever is written to it.
    let _ = match sensor.start() {
        Ok(()) => write!(line, "sensor: started"),
        Err(error) => write!(line, "sensor: {error}"),
    };
    line.end();

    let bits = Cell::new(0);
    let journal = TextJournal { console, bits: &bits };
    let mut counted = Counted { watchdog, fed: 0 };
    let mut app = App::start(room, model_region(), journal, &mut counted)?;
    let mut source = Simulated::new(TOUR, 1, TOUR_WINDOWS, app.model().front_end());
    let mut samples = 0;
    while source.next() != Next::End {
        // A fault is in the journal, and the source goes on by itself.
        samples += app.step(&mut source).unwrap_or(0);
    }
    drop(app);
    let mut line = Line::new(console);
    line.text("done samples=").decimal(samples).text(" fed=").decimal(counted.fed);
    line.text(" bits=").hexadecimal(bits.get()).end();
    Some(())
}

/// What a binary for QEMU does when it panics or faults: says so, and fails.
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
