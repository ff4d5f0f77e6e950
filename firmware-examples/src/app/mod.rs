//! The application of every board: from samples to findings, alarms and a drift watch, all of them
//! handed on, and a watchdog that only completed work feeds.
//!
//! ```text
//!  SampleSource ─► acquire ─► monitor ─► finding ─┬─► Alarm ──────► state ─┬─► Journal
//!   (IIS3DWB,                                     └─► DriftWatch ─► drift ─┤
//!    simulated)                                                            └─► Feeding ─► Watchdog
//! ```
//!
//! It takes either monitor: [`FloatMonitor`] for f32 models, [`CountMonitor`] for i16 models. What
//! differs from board to board is behind [`Journal`] and [`Watchdog`]; a board's own code makes
//! those, a [`Room`] in a `static` and a source, and then calls [`App::step`] for ever.

mod results;
#[cfg(feature = "defmt")]
pub mod rtt;
pub mod text;

use rebearing::acquisition::{AsyncSampleSource, Rails, SampleSource};
use rebearing::model::format::MAX_AVERAGE;
use rebearing::model::{AnyModel, Body};
use rebearing::monitor::{AnyFinding, Place, acquire, acquire_async};
use rebearing::operation::alarm::AlarmState;
use rebearing::operation::{DriftBlock, DriftWatch, ReportLine};
use rebearing::update::{self, NoModel, Slot};
use rebearing::{Alarm, AnyMonitor, SensorFault, Vacant};

use results::Results;

/// The boards' monitor of f32 models: up to 2048 points, 32 features, 64 components and 8 classes,
/// of one axis.
pub type FloatMonitor = rebearing::monitor!(
    'static, model: f32, samples: i16, fft: 2048, axes: 1, features: 32, components: 64, classes: 8
);
/// The boards' monitor of i16 models, whose number of points is fixed.
pub type CountMonitor<const FFT: usize> =
    rebearing::IntegerMonitor<'static, FFT, AXES, 32, 64, CLASSES>;
/// The boards' alarm: any number of windows that a model may ask for, so that a model which
/// `rebearing flash` finds to fit the monitor is not refused for this.
pub type BoardAlarm = Alarm<CLASSES, { MAX_AVERAGE as usize }>;
/// A finding of a board whose models have the body `B`.
pub type BoardFinding<B> = AnyFinding<<B as Body<'static>>::Numbers, AXES, CLASSES>;
/// The line of a finding.
pub type BoardLine<'a, B> = ReportLine<'a, 'static, B, AXES, CLASSES>;
/// Axes of the boards' sensor that are used.
pub const AXES: usize = 1;
/// Most classes of a model.
pub const CLASSES: usize = 8;

/// Model slots in the boards' MODEL region.
pub const SLOTS: u32 = 2;
/// Samples moved at a time: what the sensor's FIFO holds when it calls.
const BATCH: usize = 128;

/// After this long without completed work a board starts again. Longer than the erasing of one
/// flash sector of 128 KB (up to 4 s), during which the processor stands still.
pub const WATCHDOG_MS: u32 = 8000;
/// Pause after a fault of the sensor, before it is tried again.
pub const RETRY_MS: u32 = 100;

/// A monitor that boards can have: of counts, with as many axes and classes as they use.
pub trait BoardMonitor: AnyMonitor<'static, AXES, CLASSES, Sample = i16> + 'static {}

impl<M: AnyMonitor<'static, AXES, CLASSES, Sample = i16> + 'static> BoardMonitor for M {}

/// A finding as a journal gets it.
pub struct Entry<'a, B: Body<'static>> {
    /// Its line.
    pub line: BoardLine<'a, B>,
    /// The finding.
    pub finding: &'a BoardFinding<B>,
    /// The alarm's state after it.
    pub alarm: &'a AlarmState,
}

/// Where a board tells what happens: over RTT, or over semihosting in QEMU.
pub trait Journal {
    /// A model was found in this slot, and a monitor of so many bytes runs it.
    fn started<B: Body<'static>>(&mut self, slot: Slot, model: &AnyModel<'static, B>, ram: usize);
    /// Neither slot holds a model that can be used.
    fn no_model(&mut self, reason: &NoModel);
    /// The finding of a window, and the alarm's state after it.
    fn finding<B: Body<'static>>(&mut self, entry: &Entry<'_, B>);
    /// A block of windows is unlike those that the model was made of: please re-adapt.
    fn drifted(&mut self, block: &DriftBlock);
}

/// A board's watchdog.
pub trait Watchdog {
    /// Lets the board run on for another [`WATCHDOG_MS`].
    fn feed(&mut self);
}

/// Room for the large parts of the application, for a `static`: all zeros until it is started.
pub struct Room<M> {
    monitor: Vacant<M>,
    alarm: Place<BoardAlarm>,
    samples: [[i16; AXES]; BATCH],
}

impl<M> Room<M> {
    /// Room around a monitor that was not started.
    pub const fn new(monitor: Vacant<M>) -> Self {
        Self { monitor, alarm: Place::Empty, samples: [[0; AXES]; BATCH] }
    }
}

/// The application in the middle of its work.
pub struct App<'r, M, J, W>
where
    M: BoardMonitor,
{
    monitor: &'r mut M,
    samples: &'r mut [[i16; AXES]],
    results: Results<'r, M::Body, J, W>,
}

impl<'r, M: BoardMonitor, J: Journal, W: Watchdog> App<'r, M, J, W> {
    /// The application with the newest model of the MODEL region, which is announced.
    ///
    /// `None` without a model: there is nothing to do then, and the caller sleeps until
    /// `rebearing flash` resets it.
    pub fn start(
        room: &'r mut Room<M>,
        region: &'static [u8],
        mut journal: J,
        watchdog: W,
    ) -> Option<Self> {
        let newest = update::newest(region, |model| {
            M::CAPACITIES.check(&model)?;
            Ok(model)
        });
        let (slot, model) = match newest {
            Ok(found) => found,
            Err(reason) => {
                journal.no_model(&reason);
                return None;
            }
        };
        let Room { monitor, alarm, samples } = room;
        // A model that fits the monitor fits the alarm too.
        *alarm = Place::Taken(BoardAlarm::of_model(&model).ok()?);
        let alarm = alarm.get_mut()?;
        let monitor = monitor.start(model).ok()?;
        journal.started(slot, &model, size_of::<M>());
        let results = Results::new(alarm, model.drift().map(DriftWatch::new), journal, watchdog);
        Some(Self { monitor, samples, results })
    }

    /// The model in use.
    pub fn model(&self) -> &AnyModel<'static, M::Body> {
        self.monitor.model()
    }

    /// Moves the samples that have arrived at `source` through the monitor; returns how many.
    ///
    /// Zero means that it is time to sleep until the sensor calls, a fault that it is time to wait
    /// a little before the sensor is tried again.
    pub fn step(
        &mut self,
        source: &mut impl SampleSource<i16, AXES>,
    ) -> Result<usize, SensorFault> {
        let Self { monitor, samples, results } = self;
        let model = *monitor.model();
        let on_finding = |finding| results.take(&model, finding);
        let count = acquire(source, &Rails::FULL, samples, *monitor, on_finding);
        results.finish(count, &model, monitor.features())
    }

    /// [`App::step`] that waits for samples.
    pub async fn step_async(
        &mut self,
        source: &mut impl AsyncSampleSource<i16, AXES>,
    ) -> Result<usize, SensorFault> {
        let Self { monitor, samples, results } = self;
        let model = *monitor.model();
        let on_finding = |finding| results.take(&model, finding);
        let count = acquire_async(source, &Rails::FULL, samples, *monitor, on_finding).await;
        results.finish(count, &model, monitor.features())
    }
}
