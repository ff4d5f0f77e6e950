//! The board in QEMU's netduinoplus2: all of it but the sensor, whose samples are made here.
//!
//! `stm32f405-qemu.txt` beside this file is what it prints.

#![no_std]
#![no_main]

use core::cell::Cell;
use core::fmt::Write as _;
use cortex_m_rt::entry;
use firmware_examples::app::text::TextJournal;
use firmware_examples::app::{self, App, BoardLine, BoardMonitor, Journal, SLOTS, Watchdog};
use firmware_examples::line::Line;
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::{Console, exit};
use firmware_examples::simulated::{Next, Simulated, TOUR, TOUR_WINDOWS};
use firmware_examples::soak::mix;
use rebearing::Model;
use rebearing::drift::DriftBlock;
use rebearing::slots::{NoModel, Slot};
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

/// The journal, and every bit of posteriors and log-likelihoods in one word: lines are rounded.
struct Exact<'c> {
    journal: TextJournal<'c>,
    bits: &'c Cell<u32>,
}

impl Journal for Exact<'_> {
    fn started(&mut self, slot: Slot, model: &Model<'_>) {
        self.journal.started(slot, model);
    }

    fn no_model(&mut self, reason: &NoModel) {
        self.journal.no_model(reason);
    }

    fn report(&mut self, line: &BoardLine<'_>) {
        if let Ok(finding) = &line.report.finding {
            let nats = finding.gate_log_likelihood.iter().chain(&finding.log_likelihood);
            for number in finding.posterior.iter().chain(nats) {
                self.bits.set(mix(self.bits.get(), number.to_bits()));
            }
        }
        self.journal.report(line);
    }

    fn drifted(&mut self, block: &DriftBlock) {
        self.journal.drifted(block);
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

    let bits = Cell::new(0);
    let mut journal = Exact { journal: TextJournal(console), bits: &bits };
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
        .text(" bits=")
        .hexadecimal(bits.get())
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
