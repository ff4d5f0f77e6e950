//! The application of every board: from samples to findings, alarms and a drift watch. It hands all
//! of them on. Only completed work feeds the watchdog.
//!
//! ```text
//!  SampleSource ─► acquire ─► monitor ─► finding ─┬─► Alarm ──────► state ─┬─► Journal
//!   (IIS3DWB,                                     └─► DriftWatch ─► drift ─┼─► Registers ─► Bus
//!    simulated)                                                            ├─► Models: trial, alarm
//!                                                                          └─► Feeding ─► Watchdog
//! ```
//!
//! A model is used only if it is made for the board's [`Sampling`]; else the one in the other slot
//! is. While it runs, a block of it is checked with every window. A model that has rotted, or that
//! has failed its trial, is told in the journal and used no more: the board restarts.
//!
//! It takes either monitor: [`FloatMonitor`] for f32 models, [`CountMonitor`] for i16 models. The
//! differences between boards are behind [`Journal`], [`Watchdog`], [`Port`](port::Port) and
//! [`Models`]. A board's own code makes these, a [`Room`] in a `static`, and a source. Then it calls
//! [`App::step`] and [`App::serve`] for ever.

pub mod bus;
mod kept;
mod models;
pub mod port;
mod results;
#[cfg(feature = "defmt")]
pub mod rtt;
#[cfg(test)]
mod tests;
pub mod text;

use core::fmt;

use rebearing::acquisition::{AsyncSampleSource, Rails, SampleSource};
use rebearing::bus::{Registers, Request};
use rebearing::model::format::MAX_AVERAGE;
use rebearing::model::{AnyModel, Body, Scrub};
use rebearing::monitor::{AnyFinding, Place, Sampling, acquire, acquire_async};
use rebearing::operation::alarm::AlarmState;
use rebearing::operation::{DriftBlock, DriftWatch, ReportLine};
use rebearing::update::{Outcome, PassedOver, Slot, Standing};
use rebearing::{Alarm, AnyMonitor, SensorFault, Vacant};

use bus::{Bus, IDENTITY};
use port::Port;
use results::Results;

pub use models::{Models, Plain};

/// The boards' monitor of f32 models: one axis and up to 2048 points, 32 features, 64 components
/// and 8 classes.
pub type FloatMonitor = rebearing::monitor!(
    'static, model: f32, samples: i16, fft: 2048, axes: 1, features: 32, components: 64, classes: 8
);
/// The boards' monitor of i16 models, with a fixed number of points.
pub type CountMonitor<const FFT: usize> =
    rebearing::IntegerMonitor<'static, FFT, AXES, 32, 64, CLASSES>;
/// The boards' alarm, with room for as many windows as any model may ask for. So it accepts
/// every model that `rebearing flash` finds to fit the monitor.
pub type BoardAlarm = Alarm<CLASSES, { MAX_AVERAGE as usize }>;
/// A finding of a board that runs models with the body `B`.
pub type BoardFinding<B> = AnyFinding<<B as Body<'static>>::Numbers, AXES, CLASSES>;
/// The report line of a finding.
pub type BoardLine<'a, B> = ReportLine<'a, 'static, B, AXES, CLASSES>;
/// Number of axes of the boards' sensor in use.
pub const AXES: usize = 1;
/// Largest number of classes in a model.
pub const CLASSES: usize = 8;

/// Model slots in the boards' MODEL region.
pub const SLOTS: u32 = 2;
/// Samples moved at a time: the number in the sensor's FIFO when it raises INT1.
const BATCH: usize = 128;

/// A board restarts after this long without completed work. The time is longer than erasing one
/// flash sector of 128 KB (up to 4 s), because the processor is halted meanwhile.
pub const WATCHDOG_MS: u32 = 8000;
/// Longest window of a model. Half of the watchdog's time: its oscillator may be half as fast again
/// as it should be, and a gap in the samples may cost a window that was nearly done.
pub const LONGEST_WINDOW_MS: u32 = WATCHDOG_MS / 2;
/// Bytes of the model that are checked again with every window.
const SCRUB: usize = 256;
/// Pause after a sensor fault, before the next try.
pub const RETRY_MS: u32 = 100;

/// A monitor that boards can use: it takes counts, with the boards' number of axes and classes.
pub trait BoardMonitor: AnyMonitor<'static, AXES, CLASSES, Sample = i16> + 'static {}

impl<M: AnyMonitor<'static, AXES, CLASSES, Sample = i16> + 'static> BoardMonitor for M {}

/// A finding as a journal gets it.
pub struct Entry<'a, B: Body<'static>> {
    /// The report line of the finding.
    pub line: BoardLine<'a, B>,
    /// The finding.
    pub finding: &'a BoardFinding<B>,
    /// The alarm's state after the finding.
    pub alarm: &'a AlarmState,
}

/// The board's log of events: over RTT, or over semihosting in QEMU.
pub trait Journal {
    /// A model was found in this slot, and a monitor of `ram` bytes runs it.
    fn started<B: Body<'static>>(&mut self, slot: Slot, model: &AnyModel<'static, B>, ram: usize);
    /// Neither slot holds a usable model.
    fn no_model(&mut self, reason: &dyn fmt::Display);
    /// The model is older than it might be, because the other slot was passed over.
    fn passed_over(&mut self, reason: &PassedOver);
    /// The model's standing in a store of signed models, and the trial that this start ended.
    fn standing(&mut self, standing: Standing, ended: Option<Outcome>);
    /// The model's trial has ended.
    fn trial_ended(&mut self, outcome: Outcome);
    /// The finding of a window, and the alarm's state after it.
    fn finding<B: Body<'static>>(&mut self, entry: &Entry<'_, B>);
    /// A block of windows is unlike the windows that the model was made from: please re-adapt.
    fn drifted(&mut self, block: &DriftBlock);
    /// The model in this slot no longer holds what was written. It is used no more, and the board is
    /// about to restart.
    fn rotten(&mut self, slot: Slot);
}

/// A board's watchdog.
pub trait Watchdog {
    /// Lets the board run on for another [`WATCHDOG_MS`].
    fn feed(&mut self);
}

/// Room for the large parts of the application, for a `static`. All zeros until started.
pub struct Room<M> {
    monitor: Vacant<M>,
    alarm: Place<BoardAlarm>,
    samples: [[i16; AXES]; BATCH],
}

impl<M> Room<M> {
    /// Room around a monitor that is not started yet.
    pub const fn new(monitor: Vacant<M>) -> Self {
        Self { monitor, alarm: Place::Empty, samples: [[0; AXES]; BATCH] }
    }
}

/// A board without a model: it waits for one.
pub struct Waiting<S, W> {
    models: S,
    watchdog: W,
    registers: Registers<'static>,
}

impl<S: Models, W: Watchdog> Waiting<S, W> {
    /// Answers what has arrived on the bus. Returns true if the board is asked to restart.
    pub fn serve(&mut self, bus: &mut Bus<impl Port>) -> bool {
        self.watchdog.feed();
        bus.poll(&self.registers, self.models.receiver()) == Some(Request::Restart)
    }
}

/// The running application.
pub struct App<'r, M, J, W, S>
where
    M: BoardMonitor,
{
    monitor: &'r mut M,
    samples: &'r mut [[i16; AXES]],
    results: Results<'r, M::Body, J, W, S>,
}

impl<'r, M: BoardMonitor, J: Journal, W: Watchdog, S: Models> App<'r, M, J, W, S> {
    /// Starts the application with the model that `models` chooses from the MODEL region among those
    /// that fit the monitor and the board's sampling, and announces that model.
    #[expect(clippy::result_large_err, reason = "there is no heap to put it on")]
    pub fn start(
        room: &'r mut Room<M>,
        region: &'static [u8],
        sampling: &Sampling,
        mut models: S,
        mut journal: J,
        watchdog: W,
    ) -> Result<Self, Waiting<S, W>> {
        let mut registers = Registers::new(IDENTITY);
        let accept = |model: AnyModel<'static, _>| {
            M::CAPACITIES.check(&model)?;
            sampling.check(&model)?;
            Ok(model)
        };
        let Room { monitor, alarm, samples } = room;
        // A model that fits the monitor fits the alarm too.
        let Some((slot, model, monitor, alarm)) =
            models.choose(region, accept, &mut journal).and_then(|(slot, model)| {
                *alarm = Place::Taken(BoardAlarm::of_model(&model).ok()?);
                Some((slot, model, monitor.start(model).ok()?, alarm.get_mut()?))
            })
        else {
            return Err(Waiting { models, watchdog, registers });
        };
        alarm.restore(models.kept_alarm());
        registers.set_model(&model);
        journal.started(slot, &model, size_of::<M>());
        let watch = model.drift().map(DriftWatch::new);
        let scrub = Scrub::new(&model);
        let results =
            Results::new((slot, scrub), alarm, watch, journal, watchdog, (models, registers));
        Ok(Self { monitor, samples, results })
    }

    /// Answers what has arrived on the bus.
    pub fn serve(&mut self, bus: &mut Bus<impl Port>) {
        self.results.serve(bus);
    }

    /// Returns true once the model has rotted or failed its trial, or somebody asked for a restart.
    /// The application does nothing more, and the watchdog is not fed.
    pub fn must_restart(&self) -> bool {
        self.results.must_restart()
    }

    /// The model in use.
    pub fn model(&self) -> &AnyModel<'static, M::Body> {
        self.monitor.model()
    }

    /// Moves the samples that have arrived at `source` through the monitor; returns how many.
    ///
    /// Zero means: sleep until the sensor has samples. A fault means: wait a little before trying
    /// the sensor again. Nothing moves before a restart.
    pub fn step(
        &mut self,
        source: &mut impl SampleSource<i16, AXES>,
    ) -> Result<usize, SensorFault> {
        let Self { monitor, samples, results } = self;
        if results.must_restart() {
            return Ok(0);
        }
        let model = *monitor.model();
        let on_finding = |finding| results.take(&model, finding);
        let count = acquire(source, &Rails::FULL, samples, *monitor, on_finding);
        results.finish(count, &model, monitor.features())
    }

    /// Like [`App::step`], but waits for samples.
    pub async fn step_async(
        &mut self,
        source: &mut impl AsyncSampleSource<i16, AXES>,
    ) -> Result<usize, SensorFault> {
        let Self { monitor, samples, results } = self;
        if results.must_restart() {
            // Never returns, so that an executor sleeps until the watchdog bites.
            core::future::pending::<()>().await;
        }
        let model = *monitor.model();
        let on_finding = |finding| results.take(&model, finding);
        let count = acquire_async(source, &Rails::FULL, samples, *monitor, on_finding).await;
        results.finish(count, &model, monitor.features())
    }
}
