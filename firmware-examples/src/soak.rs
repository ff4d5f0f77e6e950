//! Ten thousand windows one after the other, each checked: weeks of a device's duty in a minute.
//!
//! A monitor goes through the phases of [`crate::simulated`]. Each finding must have the next index
//! and the result of its phase, and its posterior must be a probability. The number of findings
//! must be exactly what the length of the phases allows. The host runs the same file and must get
//! the same counts and the same bits.

use core::fmt;

use rebearing::acquisition::Sample;
use rebearing::model::Numbers;
use rebearing::monitor::{AnyFinding, acquire};
use rebearing::{AnyMonitor, FrontEnd, Label, SensorFault};

use crate::simulated::{Next, Phase, Simulated, SimulatedSample};

/// Findings in a run.
pub const FINDINGS: usize = 10_000;
/// After this many findings the stack must not grow any more.
pub const SETTLED: u32 = 100;
/// Windows in a phase. The gap before it is one more finding.
const WINDOWS: usize = 9;

/// The part of a finding that is checked, the same for both monitors.
#[derive(Debug, Clone, Copy)]
pub struct Outcome {
    index: u32,
    result: Result<Found, SensorFault>,
}

#[derive(Debug, Clone, Copy)]
struct Found {
    label: Label,
    /// True if the probabilities sum to one or are all zero.
    probable: bool,
    /// A hash of all numbers of the finding.
    bits: u32,
}

impl Outcome {
    fn of<N: Numbers, const AXES: usize, const CLASSES: usize>(
        finding: &AnyFinding<N, AXES, CLASSES>,
    ) -> Self {
        let result = finding.result.as_ref().map_err(|fault| *fault).map(|found| {
            let total: u32 = found.posterior.iter().map(|p| N::permille(*p)).sum();
            let nats = found.log_likelihood.iter().chain(&found.gate_log_likelihood);
            let numbers = found.posterior.iter().map(|p| N::probability_bits(*p));
            let numbers = numbers.chain(nats.map(|nats| N::log_likelihood_bits(*nats)));
            Found {
                label: found.label,
                // Each probability is rounded.
                probable: total == 0 || total.abs_diff(1000) <= CLASSES as u32,
                bits: numbers.fold(0, mix),
            }
        });
        Self { index: finding.index, result }
    }
}

/// One step of FNV-1a over words.
pub fn mix(bits: u32, word: u32) -> u32 {
    (bits ^ word).wrapping_mul(0x0100_0193)
}

/// The counts of a run, and the first error in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of findings.
    pub findings: u32,
    /// Findings with one of the first three classes.
    pub classes: [u32; 3],
    /// Findings with the result unknown.
    pub unknown: u32,
    /// Findings with the result unknown fault.
    pub unknown_fault: u32,
    /// Findings with a sensor fault.
    pub faults: u32,
    /// A hash of all numbers of all findings.
    pub bits: u32,
    /// Number of the first wrong finding, and what was wrong.
    pub wrong: Option<(u32, &'static str)>,
}

impl Summary {
    fn wrong(&mut self, what: &'static str) {
        self.wrong = self.wrong.or(Some((self.findings, what)));
    }

    /// Counts an outcome and checks it against the expected one.
    fn take(&mut self, outcome: &Outcome, next: Next) {
        if outcome.index != self.findings {
            self.wrong("index");
        }
        let expected = match next {
            Next::Gap => Some(SensorFault::LostSamples),
            Next::Samples(phase) => phase.fault(),
            Next::End => return self.wrong("a finding after the end"),
        };
        if outcome.result.err() != expected {
            self.wrong("sensor fault");
        }
        match outcome.result {
            Ok(Found { label, probable, bits }) => {
                if !probable {
                    self.wrong("posterior");
                }
                match label {
                    Label::Class(class) => match self.classes.get_mut(class) {
                        Some(count) => *count += 1,
                        None => self.wrong("class"),
                    },
                    Label::Unknown => self.unknown += 1,
                    Label::UnknownFault => self.unknown_fault += 1,
                }
                self.bits = mix(self.bits, bits);
            }
            Err(_) => self.faults += 1,
        }
        self.findings += 1;
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { findings, classes: [a, b, c], unknown, unknown_fault, faults, bits, wrong } =
            self;
        write!(f, "soak findings={findings} class0={a} class1={b} class2={c} unknown={unknown} ")?;
        write!(f, "unknown_fault={unknown_fault} sensor_faults={faults} bits={bits:08x} wrong=")?;
        match wrong {
            None => f.write_str("nothing"),
            Some((finding, what)) => write!(f, "{what} at finding {finding}"),
        }
    }
}

/// Sends [`FINDINGS`] windows through `monitor`. Calls `on_settled` once, after [`SETTLED`] of
/// them.
pub fn soak<'m, M, const CLASSES: usize>(monitor: &mut M, on_settled: impl FnMut()) -> Summary
where
    M: AnyMonitor<'m, 1, CLASSES>,
    M::Sample: SimulatedSample,
{
    let front_end = *monitor.model().front_end();
    let phases = M::Sample::PHASES;
    soak_with(phases, &front_end, on_settled, |source, take| step(monitor, source, take))
}

/// Moves the samples that the source has into the monitor; each outcome goes to `take`.
pub fn step<'m, M, const CLASSES: usize>(
    monitor: &mut M,
    source: &mut Simulated,
    take: &mut dyn FnMut(Outcome),
) where
    M: AnyMonitor<'m, 1, CLASSES>,
    M::Sample: SimulatedSample,
{
    let mut samples = [[M::Sample::ZERO; 1]; 128];
    let rails = &M::Sample::RAILS;
    acquire(source, rails, &mut samples, monitor, |finding| take(Outcome::of(&finding)));
}

/// Like [`soak`], with another step function, such as a broken monitor's.
pub fn soak_with(
    phases: &'static [Phase],
    front_end: &FrontEnd<'_>,
    mut on_settled: impl FnMut(),
    mut step: impl FnMut(&mut Simulated, &mut dyn FnMut(Outcome)),
) -> Summary {
    let each = phases.len() * (WINDOWS + 1);
    let source = &mut Simulated::new(phases, FINDINGS / each.max(1), WINDOWS, front_end);
    let mut summary = Summary::default();
    let mut settled = false;
    let (mut phases, mut in_phase) = (0, 0);
    loop {
        let next = source.next();
        if next == Next::Gap || next == Next::End {
            if phases > 0 && in_phase != WINDOWS {
                summary.wrong("number of findings in a phase");
            }
            phases += 1;
            in_phase = 0;
        }
        if next == Next::End {
            return summary;
        }
        let before = summary.findings;
        step(source, &mut |outcome| summary.take(&outcome, next));
        let made = summary.findings - before;
        if next == Next::Gap {
            if made != 1 {
                summary.wrong("number of findings of a gap");
            }
        } else {
            in_phase += made as usize;
        }
        if !settled && summary.findings >= SETTLED {
            settled = true;
            on_settled();
        }
    }
}

/// Returns true if the stack kept growing after it had settled, by its depths then and at the end.
/// If all painted bytes were used, that counts as grown.
pub fn grown(settled: Option<usize>, end: Option<usize>) -> bool {
    settled.is_none() || end != settled
}
