//! A machine's life through monitor and alarm: healthy operation at two speeds, stops, faults that
//! develop, faults that nobody recorded, and a sensor that fails now and then.
//!
//! These must hold for ever: no overflow (tests are built with overflow checks), only finite
//! numbers, no growth of memory, no missed fault. `cargo xtask operation` runs a million windows
//! and prints the figures; `cargo test` runs a share of them. The test measures the memory of its
//! process, so no other test shares its binary.

mod fitted;
mod machine;

use fitted::{OneAxis, RUN_UP, fitted};
use machine::{Fault, Machine, SPEEDS_HZ, WINDOW};
use rebearing::operation::alarm::{AlarmState, State};
use rebearing::{Alarm, AnyMonitor, Classification, Label, SensorFault};

/// Counts of events, in windows.
#[derive(Debug, Default)]
struct Statistics {
    windows: usize,
    stops: usize,
    faults: usize,
    missed: usize,
    misnamed: usize,
    alarms: usize,
    false_alarms: usize,
    /// Windows from the beginning of each fault to its alarm.
    delays: Vec<usize>,
    /// How far each fault had grown by then.
    grown: Vec<f32>,
    alarmed: usize,
    latched: usize,
    idle: usize,
    outage: usize,
}

/// A period of operation in one condition.
struct Phase {
    windows: usize,
    fault: Fault,
    /// Windows in which the fault grows to its full size.
    growth: usize,
}

/// The machine, its sensor and the device, window by window.
struct Operation<'m> {
    machine: Machine,
    monitor: OneAxis<'m>,
    alarm: Alarm<3, 8>,
    found: Statistics,
    was_active: bool,
    /// Windows for which the sensor stays stuck.
    stuck: usize,
    speed: usize,
}

impl Operation<'_> {
    /// Runs one window of samples through the device, and returns the alarm's state after it.
    fn step(&mut self, loudness: f32, fault: Fault, severity: f32) -> AlarmState {
        let hz = SPEEDS_HZ[self.speed] * (0.2 + 0.8 * loudness);
        let mut samples = self.machine.window(hz, loudness, fault, severity);
        let chance = self.machine.random.next();
        if self.stuck > 0 {
            self.stuck -= 1;
            samples = [3.7; WINDOW];
        } else if chance < 0.002 {
            samples[100] = f32::NAN;
        } else if chance < 0.004 {
            self.monitor.mark(SensorFault::Clipped);
        } else if chance < 0.0045 {
            self.stuck = self.machine.random.between(2, 60);
        }
        let mut state = None;
        for sample in samples {
            if let Some(finding) = self.monitor.push([sample]) {
                if let Ok(found) = &finding.result {
                    check(found);
                }
                state = Some(self.alarm.update(&finding));
            }
        }
        let state = state.expect("a window of samples is a window");
        let active = state.alarm.is_some_and(|alarm| alarm.active);
        let found = &mut self.found;
        found.windows += 1;
        found.alarms += usize::from(active && !self.was_active);
        found.alarmed += usize::from(active);
        found.latched += usize::from(state.alarm.is_some() && !active);
        found.idle += usize::from(state.state == State::Idle);
        found.outage += usize::from(matches!(state.state, State::SensorFault(_)));
        if active && !self.was_active && severity == 0.0 {
            found.false_alarms += 1;
        }
        self.was_active = active;
        state
    }

    /// Runs a start, the phase, and a stop that repairs any fault.
    fn phase(&mut self, phase: &Phase) {
        for n in 0..RUN_UP {
            self.step(n as f32 / RUN_UP as f32, phase.fault, 0.0);
        }
        let mut delay = None;
        let mut named = None;
        let alarms = self.found.alarms;
        for n in 0..phase.windows {
            if self.machine.random.next() < 0.001 {
                self.speed = 1 - self.speed;
            }
            let severity = match phase.fault {
                Fault::None => 0.0,
                _ => (n as f32 / phase.growth as f32).min(1.0),
            };
            let state = self.step(1.0, phase.fault, severity);
            // An alarm that is still on from before does not count.
            if self.found.alarms > alarms {
                delay = delay.or(Some((n, severity)));
                named = state.alarm.map(|alarm| alarm.label);
            }
            // Somebody looks at the device now and then.
            if self.machine.random.next() < 0.0004 {
                self.alarm.acknowledge();
            }
        }
        if phase.fault != Fault::None {
            self.found.faults += 1;
            match delay {
                Some((delay, grown)) => {
                    self.found.delays.push(delay);
                    self.found.grown.push(grown);
                }
                None => self.found.missed += 1,
            }
            let expected = match phase.fault {
                Fault::Inner => Label::Class(1),
                Fault::Outer => Label::Class(2),
                _ => Label::Unknown,
            };
            self.found.misnamed += usize::from(named.is_some_and(|label| label != expected));
        }
        self.found.stops += 1;
        for n in (0..RUN_UP).rev() {
            self.step(n as f32 / RUN_UP as f32, Fault::None, 0.0);
        }
        for n in 0..self.machine.random.between(60, 300) {
            let state = self.step(0.0, Fault::None, 0.0);
            let settled = self.stuck == 0 && n > 3;
            let asleep = matches!(state.state, State::Idle | State::SensorFault(_));
            assert!(!settled || asleep, "{state:?} while the machine stands");
        }
    }
}

fn check(found: &Classification<1, 3>) {
    assert!(found.posterior.iter().all(|p| p.is_finite()), "{found:?}");
    assert!(found.log_likelihood.is_some_and(f32::is_finite), "{found:?}");
    assert!(found.statistics[0].rms.is_finite(), "{found:?}");
}

/// Returns the memory of this process in bytes, if the system tells it.
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    text.split(' ').nth(1)?.parse::<u64>().ok().map(|pages| 4096 * pages)
}

/// Runs at least `windows` windows of operation and prints the results.
fn operate(windows: usize) {
    let bytes = fitted();
    let model = bytes.model();
    let mut operation = Operation {
        machine: Machine::new(20_816),
        monitor: OneAxis::new(model).expect("it fits"),
        alarm: Alarm::of_model(&model).expect("it fits"),
        found: Statistics {
            delays: Vec::with_capacity(windows / 1000),
            grown: Vec::with_capacity(windows / 1000),
            ..Statistics::default()
        },
        was_active: false,
        stuck: 0,
        speed: 0,
    };
    let mut early = None;
    let mut repaired = false;
    while operation.found.windows < windows {
        let random = &mut operation.machine.random;
        let fault = match random.between(0, 8) {
            0 => Fault::Inner,
            1 => Fault::Outer,
            2 => Fault::Loose,
            _ => Fault::None,
        };
        // After a repair the machine runs a healthy phase.
        let fault = if repaired { Fault::None } else { fault };
        repaired = fault != Fault::None;
        let growth = random.between(50, 400);
        let phase = Phase { windows: growth + random.between(200, 3000), fault, growth };
        operation.phase(&phase);
        if early.is_none() && operation.found.windows > windows / 4 {
            early = memory();
        }
    }
    let grown = memory().zip(early).map(|(now, early)| now.saturating_sub(early));
    let counters = *operation.alarm.counters();
    let found = operation.found;
    let mean = found.delays.iter().sum::<usize>() as f64 / found.delays.len().max(1) as f64;
    let largest = found.delays.iter().max().copied().unwrap_or(0);
    let grown_at = found.grown.iter().sum::<f32>() / found.grown.len().max(1) as f32;
    let grown_most = found.grown.iter().copied().fold(0.0, f32::max);
    println!(
        "{} windows, {} stops, {} faults: {} alarms, {} false, {} missed, {} misnamed; alarm \
         {mean:.1} windows after a fault begins to grow, {largest} at most, at {grown_at:.2} of its \
         size, {grown_most:.2} at most; on for {} windows, latched for \
         {}, idle for {}, sensor fault for {}; memory grew by {grown:?} bytes",
        found.windows,
        found.stops,
        found.faults,
        found.alarms,
        found.false_alarms,
        found.missed,
        found.misnamed,
        found.alarmed,
        found.latched,
        found.idle,
        found.outage
    );
    println!("{counters:?}");
    assert_eq!(counters.windows as usize, found.windows);
    let parts = [counters.judged, counters.idle, counters.settling, counters.sensor_faults];
    assert_eq!(parts.iter().sum::<u32>(), counters.windows, "every window is counted once");
    assert_eq!(counters.alarms as usize, found.alarms);
    assert!(found.faults > 0 && found.missed == 0, "{} of {}", found.missed, found.faults);
    assert!(found.false_alarms * 10_000 <= found.windows, "{}", found.false_alarms);
    assert!(found.misnamed * 20 <= found.faults, "{} of {}", found.misnamed, found.faults);
    // The standard library may take a page or two, whatever the number of windows.
    assert!(grown.is_none_or(|grown| grown < 256 * 1024), "memory grew by {grown:?} bytes");
}

#[test]
fn fifty_thousand_windows_of_operation() {
    operate(50_000);
}

#[test]
#[ignore = "takes a minute: cargo xtask operation"]
fn a_million_windows_of_operation() {
    operate(1_000_000);
}
