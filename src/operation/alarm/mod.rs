//! Findings over time to an alarm: whether there is one, and of what.
//!
//! ```text
//!                rms below `below`                  `settle` windows       `average` windows
//!        ┌────────────────────────── any but ──┐   ┌──────────────┐       ┌───────────────┐
//!        ▼                           SensorFault   │              ▼       │               ▼
//!      Idle ── rms at least `until` ──────────► Settling ───────► Filling ──────────► Running
//!                                                  ▲                                      │
//!   SensorFault ── a window without a fault ───────┘        mean of the last `average`    │
//!        ▲                                                  posteriors: the alarm below   ▼
//!        └── `fault_windows` windows in a row with a fault, from anywhere
//!
//!             mean ≥ raise, `delay` in a row        mean < clear, `delay` in a row
//!     none ───────────────────────────────► active ─────────────────────────────► latched
//!       ▲                                    │  ▲                                  │  │
//!       │      the same, acknowledged before │  └──────── mean ≥ raise, … ─────────┘  │
//!       ├────────────────────────────────────┘                                        │
//!       └───────────────────────── acknowledged, or no `hold` ────────────────────────┘
//! ```
//!
//! Everything is in integers. Posteriors of [`Monitor`](crate::Monitor) are rounded to Q15. So the
//! mean is exact at any time, and chips with and without floats raise the same alarms. A step takes
//! the same time however many windows are averaged.

mod kept;
mod mean;
mod state;

pub use kept::KeptAlarm;
pub use mean::SlidingMean;
pub use state::{AlarmState, Counters, Raised, State};

use crate::acquisition::SensorFault;
use crate::classify::Label;
use crate::model::format::NO_CLASS;
use crate::model::{AlarmParameters, AnyModel, IdleRms, ModelError, Numbers, ONE, Rms};
use crate::monitor::AnyFinding;
use state::count;

/// The numbers of a window that an alarm goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Summary<'a> {
    /// The class, or what is unknown.
    pub label: Label,
    /// Probability of each class in Q15.
    pub posterior: &'a [u16],
    /// The largest rms of any axis.
    pub rms: Rms,
}

/// Debounces the findings of a monitor, in fixed memory.
///
/// The type's parameters are capacities: most classes, and most windows that are averaged.
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1.rbm") } }
/// use rebearing::{Alarm, AnyMonitor, Model, Monitor, include_model};
///
/// let model = Model::parse(include_model!(path!()))?;
/// let mut monitor = Monitor::<f32, 256, 1, 4, 3, 3>::new(model)?;
/// let mut alarm = Alarm::<3, 8>::of_model(&model)?;
/// # let mut states = 0;
/// for n in 0..10_000 {
///     if let Some(finding) = monitor.push([(n as f32 * 0.7).sin()]) {
///         let state = alarm.update(&finding);
///         println!("{:?}, alarm: {:?}", state.state, state.alarm);
///         # states += 1;
///     }
/// }
/// # assert_eq!(alarm.counters().windows, states);
/// # Ok::<(), rebearing::ModelError>(())
/// ```
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Alarm<const CLASSES: usize, const WINDOWS: usize> {
    parameters: AlarmParameters,
    /// Number of classes.
    classes: u32,
    /// The class that raises no alarm, or [`NO_CLASS`].
    healthy: u32,
    mean: SlidingMean<CLASSES, WINDOWS>,
    /// The label of the last unknown window.
    unknown: Label,
    state: State,
    raised: Option<Raised>,
    /// Windows still to settle.
    settling: u32,
    /// Windows in a row with a sensor fault.
    faults: u32,
    /// Windows in a row beyond the threshold that would change the alarm.
    passed: u32,
    /// The label that would replace the alarm's, and for how many windows in a row.
    rival: Label,
    rival_passed: u32,
    counters: Counters,
}

impl<const CLASSES: usize, const WINDOWS: usize> Alarm<CLASSES, WINDOWS> {
    /// Bytes of RAM that an alarm of this type takes.
    pub const RAM: usize = size_of::<Self>();

    /// [`Alarm::RAM`] on a 32-bit device, also when asked on a 64-bit host.
    pub const DEVICE_RAM: usize = alarm_device_ram(CLASSES, WINDOWS);

    /// An alarm by `parameters` for a model with `classes` classes, of which `healthy` raises
    /// no alarm. Without one every class does.
    ///
    /// Refuses parameters out of their range, and more than the type holds.
    pub fn new(
        parameters: AlarmParameters,
        classes: usize,
        healthy: Option<usize>,
    ) -> Result<Self, ModelError> {
        const {
            // Keeps the figure that the host prints true.
            assert!(size_of::<usize>() != 4 || Self::RAM == Self::DEVICE_RAM);
        }
        parameters.check()?;
        let capacities = [
            ("classes", classes, CLASSES),
            ("windows to average", parameters.average as usize, WINDOWS),
        ];
        for (what, needs, holds) in capacities {
            if needs > holds {
                return Err(ModelError::DoesNotFit { what, needs, holds });
            }
        }
        Ok(Self {
            parameters,
            classes: classes as u32,
            healthy: healthy.map_or(NO_CLASS, |class| class as u32),
            mean: SlidingMean::new(parameters.average),
            unknown: Label::Unknown,
            state: State::Settling,
            raised: None,
            settling: parameters.settle,
            faults: 0,
            passed: 0,
            rival: Label::Unknown,
            rival_passed: 0,
            counters: Counters::default(),
        })
    }

    /// An alarm by the parameters of `model`.
    pub fn of_model<B>(model: &AnyModel<'_, B>) -> Result<Self, ModelError> {
        Self::new(model.alarm(), model.classes(), model.healthy())
    }

    /// Takes the next finding of a monitor and returns the state after it.
    pub fn update<N: Numbers, const AXES: usize>(
        &mut self,
        finding: &AnyFinding<N, AXES, CLASSES>,
    ) -> AlarmState {
        let found = match &finding.result {
            Ok(found) => found,
            Err(fault) => return self.step(Err(*fault)),
        };
        let mut posterior = [0; CLASSES];
        for (q15, p) in posterior.iter_mut().zip(&found.posterior) {
            let Some(p) = N::q15(*p) else { return self.step(Err(SensorFault::NotFinite)) };
            *q15 = p;
        }
        let mut largest = Rms::of_counts(0);
        for axis in &found.statistics {
            // A monitor never gives such an rms, but a finding is a public type.
            let Some(rms) = N::rms(axis) else { return self.step(Err(SensorFault::NotFinite)) };
            largest = largest.max(rms);
        }
        self.step(Ok(Summary { label: found.label, posterior: &posterior, rms: largest }))
    }

    /// Takes a window, or the reason why it was not analysed, and returns the state after it.
    pub fn step(&mut self, window: Result<Summary<'_>, SensorFault>) -> AlarmState {
        count(&mut self.counters.windows);
        match window {
            Ok(summary) => self.observe(summary),
            Err(fault) => self.fault(fault),
        }
        self.state()
    }

    /// Counts a window with a sensor fault, which says nothing about the machine.
    fn fault(&mut self, fault: SensorFault) {
        count(&mut self.counters.sensor_faults);
        self.faults = self.faults.saturating_add(1);
        if self.faults < self.parameters.fault_windows {
            return;
        }
        if !matches!(self.state, State::SensorFault(_)) {
            count(&mut self.counters.outages);
            self.forget();
        }
        self.state = State::SensorFault(fault);
    }

    fn observe(&mut self, window: Summary<'_>) {
        self.faults = 0;
        if matches!(self.state, State::SensorFault(_)) {
            self.settle();
        }
        if !self.runs(window.rms) {
            count(&mut self.counters.idle);
            if self.state != State::Idle {
                self.forget();
                self.state = State::Idle;
            }
            return;
        }
        if self.state == State::Idle {
            count(&mut self.counters.starts);
            self.settle();
        }
        if self.settling > 0 {
            self.settling -= 1;
            count(&mut self.counters.settling);
            return;
        }
        count(&mut self.counters.judged);
        let unknown = !matches!(window.label, Label::Class(_));
        if unknown {
            count(&mut self.counters.unknown);
            self.unknown = window.label;
        }
        self.mean.push(window.posterior, unknown);
        if self.mean.is_full() {
            self.state = State::Running;
            self.judge();
        } else {
            self.state = State::Filling;
        }
    }

    fn runs(&self, rms: Rms) -> bool {
        let Some(IdleRms { below, until }) = self.parameters.idle else { return true };
        rms >= until || (rms >= below && self.state != State::Idle)
    }

    /// Settles as after a start: older windows no longer describe the machine.
    fn settle(&mut self) {
        self.forget();
        self.state = State::Settling;
        self.settling = self.parameters.settle;
    }

    fn forget(&mut self) {
        self.mean.clear();
        self.passed = 0;
        self.rival_passed = 0;
    }

    /// Raises, clears or renames the alarm by a mean that is full.
    fn judge(&mut self) {
        let AlarmParameters { raise, clear, delay, hold, .. } = self.parameters;
        // Comparing sums instead of means saves a division. They are at most 2⁸·2¹⁵.
        let windows = self.mean.length();
        let [raise, clear] = [raise, clear].map(|threshold| u32::from(threshold) * windows);
        let (sum, label, largest) = self.faulty();
        let Some(mut alarm) = self.raised.filter(|alarm| alarm.active) else {
            self.passed = if sum >= raise { self.passed.saturating_add(1) } else { 0 };
            if self.passed >= delay {
                count(&mut self.counters.alarms);
                self.raised = Some(Raised { label, active: true, acknowledged: false });
                self.passed = 0;
                self.rival_passed = 0;
            }
            return;
        };
        self.passed = if sum < clear { self.passed.saturating_add(1) } else { 0 };
        if self.passed >= delay {
            self.passed = 0;
            self.rival_passed = 0;
            alarm.active = false;
            self.raised = Some(alarm).filter(|alarm| hold && !alarm.acknowledged);
            return;
        }
        let rivals = label != alarm.label && largest >= raise;
        self.rival_passed = match rivals {
            false => 0,
            true if label == self.rival => self.rival_passed.saturating_add(1),
            true => 1,
        };
        self.rival = label;
        if self.rival_passed >= delay {
            self.rival_passed = 0;
            alarm.label = label;
            alarm.acknowledged = false;
        }
        self.raised = Some(alarm);
    }

    /// The sum over the ring of everything that is not healthy, and the label with the largest part
    /// of it. Of equal parts the first class wins, and a class wins over the unknown.
    fn faulty(&self) -> (u32, Label, u32) {
        let mut sum = self.mean.unknown_sum();
        let (mut label, mut largest) = (self.unknown, 0);
        for (class, part) in self.mean.sums().iter().enumerate() {
            if self.healthy == class as u32 {
                continue;
            }
            sum += part;
            if *part > largest {
                (label, largest) = (Label::Class(class), *part);
            }
        }
        let unknown = self.mean.unknown_sum();
        if unknown > largest { (sum, self.unknown, unknown) } else { (sum, label, largest) }
    }

    /// The state after the last window.
    pub fn state(&self) -> AlarmState {
        let level = (self.state == State::Running).then(|| {
            let (sum, ..) = self.faulty();
            // Posteriors may sum to a little more than one.
            (sum / self.mean.length().max(1)).min(u32::from(ONE)) as u16
        });
        AlarmState { state: self.state, alarm: self.raised, level }
    }

    /// Acknowledges the alarm. A latched alarm ends; one that is on ends when it clears.
    pub fn acknowledge(&mut self) {
        self.raised = match self.raised {
            Some(alarm) if alarm.active => Some(Raised { acknowledged: true, ..alarm }),
            _ => None,
        };
    }

    /// The alarm as a word that outlasts a reset. Keep it whenever it changes.
    pub fn kept(&self) -> KeptAlarm {
        KeptAlarm::new(self.raised)
    }

    /// Restores the alarm that was kept before a reset. Call it before the first window.
    ///
    /// An alarm that was on is on again, until the mean says otherwise by the usual rules; one that
    /// was latched is latched again. A reset acknowledges nothing. A class that the model does not
    /// have, or that is now the healthy one, becomes a fault of unknown type.
    ///
    /// If there is an alarm already, it keeps its name, and must be acknowledged if either must.
    pub fn restore(&mut self, kept: KeptAlarm) {
        let Some(mut kept) = kept.raised() else { return };
        if let Label::Class(class) = kept.label
            && (class >= self.classes as usize || class as u32 == self.healthy)
        {
            kept.label = Label::UnknownFault;
        }
        self.raised = Some(match self.raised {
            Some(own) => Raised { acknowledged: own.acknowledged && kept.acknowledged, ..own },
            None => kept,
        });
        self.passed = 0;
        self.rival_passed = 0;
    }

    /// Settles again, for example after a command has changed the machine or its speed. Alarm and
    /// counters stay.
    pub fn restart(&mut self) {
        self.faults = 0;
        self.settle();
    }

    /// Mean probability in Q15 of each class over the last windows, once there are enough.
    pub fn means(&self) -> Option<[u16; CLASSES]> {
        let windows = self.mean.length().max(1);
        self.mean.is_full().then(|| self.mean.sums().map(|sum| (sum / windows) as u16))
    }

    /// Its parameters.
    pub fn parameters(&self) -> &AlarmParameters {
        &self.parameters
    }

    /// Counts of events since the start.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Restores counters that were stored while the power was off.
    pub fn set_counters(&mut self, counters: Counters) {
        self.counters = counters;
    }
}

/// RAM of an alarm on a 32-bit device, by the same sum as its fields.
///
/// `Alarm::new` asserts at compile time, on 32-bit targets, that this is the size. More classes or
/// windows than any alarm has count as 2¹⁴, so that nothing overflows.
pub const fn alarm_device_ram(classes: usize, windows: usize) -> usize {
    /// Parameters, counters and state.
    const STATE: usize = 144;
    const MOST: usize = 1 << 14;
    let classes = if classes < MOST { classes } else { MOST };
    let windows = if windows < MOST { windows } else { MOST };
    let ring = (2 * classes * windows + windows).next_multiple_of(4);
    STATE + ring + 4 * classes
}
