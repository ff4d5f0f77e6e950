//! The board in QEMU's netduinoplus2: all of it but the sensor, whose samples are made here.
//!
//! `stm32f405-qemu.txt` beside this file is what it prints.

#![no_std]
#![no_main]

use core::fmt::Write as _;
use cortex_m_rt::entry;
use firmware_examples::app::text::TextJournal;
use firmware_examples::app::{self, App, BoardMonitor, SLOTS, Watchdog};
use firmware_examples::line::Line;
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::{Console, exit};
use firmware_examples::simulated::{Next, Simulated, TOUR, TOUR_WINDOWS};
use stm32f405::{Board, BoardWatchdog, CHIP};

rebearing::descriptor!(BoardMonitor, CHIP, SLOTS);

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

#[entry]
fn main() -> ! {
    // Without a console there is nobody to tell, but the exit code still says that it failed.
    let Some(console) = Console::open() else { exit(Err(())) };
    exit(run(&console).ok_or(()))
}

fn run(console: &Console) -> Option<()> {
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

    let mut journal = TextJournal(console);
    let running = app::start(model_region(), &mut journal)?;
    let mut source = Simulated::new(TOUR, 1, TOUR_WINDOWS, running.model().front_end());
    let mut counted = Counted { watchdog, fed: 0 };
    let mut app = App::new(running, journal, &mut counted);
    let mut samples = 0;
    while source.next() != Next::End {
        // A fault is in the journal, and the source goes on by itself.
        samples += app.step(&mut source).unwrap_or(0);
    }
    drop(app);
    Line::new(console)
        .text("done samples=")
        .decimal(samples)
        .text(" fed=")
        .decimal(counted.fed)
        .end();
    Some(())
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    if let Some(console) = Console::open() {
        Line::new(&console).text("error: a panic").end();
    }
    exit(Err(()))
}

firmware_examples::semihosting_faults!();
