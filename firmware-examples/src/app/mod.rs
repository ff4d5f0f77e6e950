//! The application of every board: from samples to reports that are handed on, and a watchdog
//! that only completed work feeds.
//!
//! ```text
//!  SampleSource ─► acquire ─► Monitor ─► report ─► hand_on ─► Journal
//!   (IIS3DWB,                                         │
//!    simulated)                                       └─► Feeding ─► Watchdog
//! ```
//!
//! What differs from board to board is behind [`Journal`] and [`Watchdog`]; a board's own code
//! makes those and a source, and then calls [`App::step`] for ever.

#[cfg(feature = "defmt")]
pub mod rtt;
pub mod text;

use rebearing::acquisition::{AsyncSampleSource, Rails, SampleSource, acquire, acquire_async};
use rebearing::slots::{self, NoModel, Slot};
use rebearing::watchdog::Feeding;
use rebearing::{Model, Monitor, Report, SensorFault};

/// What the boards hold: models of up to 2048 points, 32 features, 64 components and 8 classes,
/// of one axis.
pub type BoardMonitor = Monitor<'static, i16, 2048, AXES, 32, 64, CLASSES>;
/// What they report.
pub type BoardReport = Report<AXES, CLASSES>;
/// Axes of the boards' sensor that are used.
pub const AXES: usize = 1;
const CLASSES: usize = 8;

/// Model slots in the boards' MODEL region.
pub const SLOTS: u32 = 2;
/// Samples moved at a time: what the sensor's FIFO holds when it calls.
const BATCH: usize = 128;

/// After this long without completed work a board starts again. Longer than the erasing of one
/// flash sector of 128 KB (up to 4 s), during which the processor stands still.
pub const WATCHDOG_MS: u32 = 8000;
/// Pause after a fault of the sensor, before it is tried again.
pub const RETRY_MS: u32 = 100;

/// Where a board tells what happens: over RTT, or over semihosting in QEMU.
pub trait Journal {
    /// A model was found in this slot, and the monitor runs it.
    fn started(&mut self, slot: Slot, model: &Model<'_>);
    /// Neither slot holds a model that can be used.
    fn no_model(&mut self, reason: &NoModel);
    /// The result of a decision window.
    fn report(&mut self, model: &Model<'_>, report: &BoardReport);
}

/// A board's watchdog.
pub trait Watchdog {
    /// Lets the board run on for another [`WATCHDOG_MS`].
    fn feed(&mut self);
}

/// The newest model of the MODEL region in a monitor, announced.
///
/// Without a model there is nothing to do: the caller sleeps until `rebearing flash` resets it.
pub fn start(region: &'static [u8], journal: &mut impl Journal) -> Option<BoardMonitor> {
    match slots::newest(region, BoardMonitor::new) {
        Ok((slot, monitor)) => {
            journal.started(slot, monitor.model());
            Some(monitor)
        }
        Err(reason) => {
            journal.no_model(&reason);
            None
        }
    }
}

/// The application in the middle of its work.
pub struct App<J, W> {
    monitor: BoardMonitor,
    samples: [[i16; AXES]; BATCH],
    results: Results<J, W>,
}

impl<J: Journal, W: Watchdog> App<J, W> {
    /// The application around a monitor that [`start`] made.
    pub const fn new(monitor: BoardMonitor, journal: J, watchdog: W) -> Self {
        let results = Results { journal, watchdog, feeding: Feeding::new(), fault: None };
        Self { monitor, samples: [[0; AXES]; BATCH], results }
    }

    /// Moves what has arrived at `source` through the line; how many samples that were.
    ///
    /// None means that it is time to sleep until the sensor calls, a fault that it is time to
    /// wait a little before the sensor is tried again.
    pub fn step(
        &mut self,
        source: &mut impl SampleSource<i16, AXES>,
    ) -> Result<usize, SensorFault> {
        let Self { monitor, samples, results } = self;
        let model = *monitor.model();
        let count = acquire(source, &Rails::FULL, samples, monitor, |report| {
            results.hand_on(&model, &report);
        });
        results.finish(count)
    }

    /// [`App::step`] that waits for samples.
    pub async fn step_async(
        &mut self,
        source: &mut impl AsyncSampleSource<i16, AXES>,
    ) -> Result<usize, SensorFault> {
        let Self { monitor, samples, results } = self;
        let model = *monitor.model();
        let on_report = |report| results.hand_on(&model, &report);
        let count = acquire_async(source, &Rails::FULL, samples, monitor, on_report).await;
        results.finish(count)
    }
}

/// What comes behind the monitor.
struct Results<J, W> {
    journal: J,
    watchdog: W,
    feeding: Feeding,
    /// Of the last report, if it had one.
    fault: Option<SensorFault>,
}

impl<J: Journal, W: Watchdog> Results<J, W> {
    /// The one place where every report of every board comes by: what decides over several
    /// windows, or when to sleep next, is called here, before the report counts as handed on.
    fn hand_on(&mut self, model: &Model<'_>, report: &BoardReport) {
        self.fault = report.finding.as_ref().err().copied();
        self.journal.report(model, report);
        self.feeding.handed_on(report);
    }

    fn finish(&mut self, count: usize) -> Result<usize, SensorFault> {
        self.feeding.arrived(count);
        if self.feeding.due() {
            self.watchdog.feed();
        }
        match self.fault.take() {
            // Nothing moved, and a report of why.
            Some(fault) if count == 0 => Err(fault),
            _ => Ok(count),
        }
    }
}
