//! Windows of every kind for alarms, and a naive reference of the alarm.

use proptest::collection::vec;
use proptest::prelude::*;
use rebearing::model::{AlarmParameters, IdleRms, ONE, Rms};
use rebearing::operation::alarm::{AlarmState, Summary};
use rebearing::{Alarm, Label, SensorFault};

/// Number of classes: healthy and two faults.
pub const CLASSES: usize = 3;
pub type Small = Alarm<CLASSES, 32>;

pub const BELOW: f32 = 0.5;
pub const UNTIL: f32 = 1.0;

pub fn idle() -> IdleRms {
    IdleRms { below: Rms::of_samples(BELOW).unwrap(), until: Rms::of_samples(UNTIL).unwrap() }
}

/// A window of any kind.
#[derive(Debug, Clone)]
pub enum Window {
    Known { posterior: [u16; CLASSES], rms: f32 },
    Unknown { label: Label, rms: f32 },
    Fault(SensorFault),
}

impl Window {
    pub fn step(&self, alarm: &mut Small) -> AlarmState {
        match self {
            Self::Known { posterior, rms } => alarm.step(Ok(Summary {
                label: Label::Class(0),
                posterior,
                rms: Rms::of_samples(*rms).unwrap(),
            })),
            Self::Unknown { label, rms } => alarm.step(Ok(Summary {
                label: *label,
                // The mixture's posterior has no meaning for such a window.
                posterior: &[ONE, ONE, ONE],
                rms: Rms::of_samples(*rms).unwrap(),
            })),
            Self::Fault(fault) => alarm.step(Err(*fault)),
        }
    }

    pub fn runs(&self) -> bool {
        matches!(self, Self::Known { rms, .. } | Self::Unknown { rms, .. } if *rms >= UNTIL)
    }

    /// Returns the probability in Q15 that the machine is not healthy.
    pub fn faulty(&self) -> u64 {
        match self {
            Self::Known { posterior, .. } => u64::from(posterior[1]) + u64::from(posterior[2]),
            Self::Unknown { .. } => u64::from(ONE),
            Self::Fault(_) => 0,
        }
    }
}

/// A second alarm, written from the description and not from the code: a list of all windows since
/// the last start, means in f64, no countdowns.
pub struct Naive {
    parameters: AlarmParameters,
    since_start: usize,
    pub judged: Vec<Window>,
    faults_in_a_row: u32,
    pub idle: bool,
    pub outage: bool,
    /// For each window, whether the mean after it was past the raising threshold.
    above: Vec<bool>,
    /// For each window, whether the mean after it was past the clearing threshold.
    below: Vec<bool>,
    active: bool,
}

impl Naive {
    pub fn new(parameters: AlarmParameters) -> Self {
        Self {
            parameters,
            since_start: 0,
            judged: Vec::new(),
            faults_in_a_row: 0,
            idle: false,
            outage: false,
            above: Vec::new(),
            below: Vec::new(),
            active: false,
        }
    }

    fn restart(&mut self) {
        self.since_start = 0;
        self.judged.clear();
        self.above.clear();
        self.below.clear();
    }

    /// Returns true if the alarm is on after `window`.
    pub fn step(&mut self, window: &Window) -> bool {
        let p = self.parameters;
        let rms = match window {
            Window::Fault(_) => {
                self.faults_in_a_row += 1;
                if self.faults_in_a_row >= p.fault_windows && !self.outage {
                    self.outage = true;
                    self.idle = false;
                    self.restart();
                }
                return self.active;
            }
            Window::Known { rms, .. } | Window::Unknown { rms, .. } => *rms,
        };
        self.faults_in_a_row = 0;
        self.outage = false;
        let was_idle = self.idle;
        if p.idle.is_some() {
            self.idle = if was_idle { rms < UNTIL } else { rms < BELOW };
        }
        if self.idle || was_idle {
            self.restart();
        }
        if self.idle {
            return self.active;
        }
        self.since_start += 1;
        if self.since_start <= p.settle as usize {
            return self.active;
        }
        self.judged.push(window.clone());
        let n = p.average as usize;
        if self.judged.len() < n {
            return self.active;
        }
        let sum: u64 = self.judged.iter().rev().take(n).map(Window::faulty).sum();
        let mean = sum as f64 / n as f64;
        self.above.push(mean >= f64::from(p.raise));
        self.below.push(mean < f64::from(p.clear));
        let delay = p.delay as usize;
        let all =
            |past: &[bool]| past.len() >= delay && past[past.len() - delay..].iter().all(|x| *x);
        let changes = if self.active { all(&self.below) } else { all(&self.above) };
        if changes {
            self.active = !self.active;
            self.above.clear();
            self.below.clear();
        }
        self.active
    }
}

/// A posterior that sums to one.
pub fn posteriors() -> impl Strategy<Value = [u16; CLASSES]> {
    (0..=ONE, 0..=ONE).prop_map(|(a, b)| {
        let (low, high) = (a.min(b), a.max(b));
        [low, high - low, ONE - high]
    })
}

pub fn levels() -> impl Strategy<Value = f32> {
    prop_oneof![6 => Just(2.0_f32), 1 => 0.0_f32..2.0, 1 => Just(0.0_f32)]
}

pub fn windows() -> impl Strategy<Value = Window> {
    prop_oneof![
        // Windows that are sure of one class, as most windows are.
        6 => (0..CLASSES, levels()).prop_map(|(class, rms)| {
            let mut posterior = [0; CLASSES];
            posterior[class] = ONE;
            Window::Known { posterior, rms }
        }),
        6 => (posteriors(), levels()).prop_map(|(posterior, rms)| Window::Known { posterior, rms }),
        2 => levels().prop_map(|rms| Window::Unknown { label: Label::UnknownFault, rms }),
        2 => Just(Window::Fault(SensorFault::Flat)),
    ]
}

/// Windows in runs of the same kind, so that the mean stays past a threshold long enough.
pub fn operation() -> impl Strategy<Value = Vec<Window>> {
    vec((windows(), 1_usize..12), 1..60)
        .prop_map(|runs| runs.into_iter().flat_map(|(window, times)| vec![window; times]).collect())
}

pub fn parameters() -> impl Strategy<Value = AlarmParameters> {
    (1_u32..=32, 2..=ONE, 1_u32..8, 0_u32..6, 1_u32..6, any::<bool>(), any::<bool>(), 0.0_f64..1.0)
        .prop_map(|(average, raise, delay, settle, fault_windows, hold, stops, share)| {
            AlarmParameters {
                average,
                raise,
                clear: (1 + (share * f64::from(raise - 2)) as u16).min(raise - 1),
                delay,
                settle,
                fault_windows,
                hold,
                idle: stops.then(idle),
            }
        })
}

pub fn alarm(parameters: AlarmParameters) -> Small {
    Small::new(parameters, CLASSES, Some(0)).expect("valid parameters")
}

pub fn is_active(state: &AlarmState) -> bool {
    state.alarm.is_some_and(|alarm| alarm.active)
}
