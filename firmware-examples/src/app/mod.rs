//! The application of every board: from samples to reports, verdicts and a drift watch, all of
//! them handed on, and a watchdog that only completed work feeds.
//!
//! ```text
//!  SampleSource ─► acquire ─► Monitor ─► report ─┬─► Decision ─► verdict ─┬─► Journal
//!   (IIS3DWB,                                    └─► DriftWatch ─► drift ─┤
//!    simulated)                                                           └─► Feeding ─► Watchdog
//! ```
//!
//! What differs from board to board is behind [`Journal`] and [`Watchdog`]; a board's own code
//! makes those and a source, and then calls [`App::step`] for ever.

#[cfg(feature = "defmt")]
pub mod rtt;
pub mod text;

use rebearing::acquisition::{AsyncSampleSource, Rails, SampleSource, acquire, acquire_async};
use rebearing::decision::{State, Verdict};
use rebearing::drift::{DriftBlock, DriftWatch};
use rebearing::model::format::MAX_AVERAGE;
use rebearing::report_line::ReportLine;
use rebearing::slots::{self, NoModel, Slot};
use rebearing::watchdog::Feeding;
use rebearing::{Decision, Model, ModelError, Monitor, Report, SensorFault};

/// What the boards hold: models of up to 2048 points, 32 features, 64 components and 8 classes,
/// of one axis.
pub type BoardMonitor = Monitor<'static, i16, 2048, AXES, 32, 64, CLASSES>;
/// What they report.
pub type BoardReport = Report<AXES, CLASSES>;
/// What they tell of it.
pub type BoardLine<'a> = ReportLine<'a, AXES, CLASSES>;
/// What they decide by: any number of windows that a model may ask for, so that a model which
/// `rebearing flash` finds to fit the monitor is not refused for this.
pub type BoardDecision = Decision<CLASSES, { MAX_AVERAGE as usize }>;
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
    /// The result of a decision window, and what was decided after it.
    fn report(&mut self, line: &BoardLine<'_>);
    /// A block of decision windows is unlike those that the model was made of: please re-adapt.
    fn drifted(&mut self, block: &DriftBlock);
}

/// A board's watchdog.
pub trait Watchdog {
    /// Lets the board run on for another [`WATCHDOG_MS`].
    fn feed(&mut self);
}

/// What runs one model.
pub struct Running {
    monitor: BoardMonitor,
    decision: BoardDecision,
    watch: Option<DriftWatch<'static>>,
}

impl Running {
    #[allow(clippy::large_types_passed_by_value, reason = "the monitor keeps it")]
    fn new(model: Model<'static>) -> Result<Self, ModelError> {
        Ok(Self {
            decision: BoardDecision::of_model(&model)?,
            watch: model.drift().map(DriftWatch::new),
            monitor: BoardMonitor::new(model)?,
        })
    }

    /// The model.
    pub fn model(&self) -> &Model<'static> {
        self.monitor.model()
    }
}

/// The newest model of the MODEL region, running and announced.
///
/// Without a model there is nothing to do: the caller sleeps until `rebearing flash` resets it.
pub fn start(region: &'static [u8], journal: &mut impl Journal) -> Option<Running> {
    match slots::newest(region, Running::new) {
        Ok((slot, running)) => {
            journal.started(slot, running.model());
            Some(running)
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
    /// The application around what [`start`] made.
    pub fn new(running: Running, journal: J, watchdog: W) -> Self {
        let Running { monitor, decision, watch } = running;
        let feeding = Feeding::new();
        let results =
            Results { decision, watch, last: None, journal, watchdog, feeding, fault: None };
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
            results.decide(&model, report);
        });
        results.finish(count, &model, monitor.features())
    }

    /// [`App::step`] that waits for samples.
    pub async fn step_async(
        &mut self,
        source: &mut impl AsyncSampleSource<i16, AXES>,
    ) -> Result<usize, SensorFault> {
        let Self { monitor, samples, results } = self;
        let model = *monitor.model();
        let on_report = |report| results.decide(&model, report);
        let count = acquire_async(source, &Rails::FULL, samples, monitor, on_report).await;
        results.finish(count, &model, monitor.features())
    }
}

/// What comes behind the monitor.
struct Results<J, W> {
    decision: BoardDecision,
    watch: Option<DriftWatch<'static>>,
    /// Decided, and not yet in the journal.
    last: Option<(BoardReport, Verdict)>,
    journal: J,
    watchdog: W,
    feeding: Feeding,
    /// Of the last report, if it had one.
    fault: Option<SensorFault>,
}

impl<J: Journal, W: Watchdog> Results<J, W> {
    /// The one place where every report of every board comes by.
    fn decide(&mut self, model: &Model<'_>, report: BoardReport) {
        // Two in one batch: the monitor has the features of the second by now.
        self.hand_on(model, None);
        self.fault = report.finding.as_ref().err().copied();
        let verdict = self.decision.report(&report);
        // A machine that stands still, or starts, is unlike the one that was recorded.
        let runs = matches!(verdict.state, State::Filling | State::Running);
        let watch = self.watch.as_mut().filter(|_| runs);
        let block = watch.and_then(|watch| watch.report(&report));
        if let Some(block) = block.filter(|block| block.cause.is_some()) {
            self.journal.drifted(&block);
        }
        self.last = Some((report, verdict));
    }

    /// Puts what was decided into the journal.
    fn hand_on(&mut self, model: &Model<'_>, features: Option<&[f32]>) {
        let Some((report, verdict)) = self.last.take() else { return };
        let drift = self.watch.as_ref().map(DriftWatch::raised);
        let (report, verdict) = (&report, Some(&verdict));
        self.journal.report(&BoardLine { model, report, verdict, drift, features });
        self.feeding.handed_on(report);
    }

    fn finish(
        &mut self,
        count: usize,
        model: &Model<'_>,
        features: &[f32],
    ) -> Result<usize, SensorFault> {
        self.hand_on(model, Some(features));
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
