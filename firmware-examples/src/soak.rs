//! Ten thousand decision windows one after the other, each checked: what a device does in weeks
//! of duty, in a minute.
//!
//! A monitor goes through the phases of [`crate::simulated`]. Each report must be the next by its
//! index and have the verdict of its phase, with a posterior that is a probability, and there
//! must be as many as the length of the phases allows. The host runs the same file, and must get
//! the same counts and the same bits.

use core::fmt;

use rebearing::acquisition::{Rails, SampleSource};
use rebearing::monitor::acquire;
use rebearing::{AnyMonitor, FrontEnd, IntegerMonitor, Label, Monitor, SensorFault};

use crate::simulated::{Colour, Next, Phase, Simulated};

/// Reports of a run.
pub const REPORTS: usize = 10_000;
/// Reports after which the stack is not to grow any more.
pub const SETTLED: u32 = 100;

/// What became of one decision window, whichever monitor it was.
#[derive(Debug, Clone, Copy)]
pub struct Outcome {
    index: u32,
    finding: Result<Found, SensorFault>,
}

/// What matters of a finding.
#[derive(Debug, Clone, Copy)]
struct Found {
    label: Label,
    /// Every probability is one, and they sum up to one or to nothing.
    probable: bool,
    /// All numbers of the finding in one.
    bits: u32,
}

/// A monitor with samples to feed it from.
pub trait Line {
    /// The phases that it has a verdict for.
    const PHASES: &'static [Phase];
    /// Decision windows of a phase.
    const WINDOWS: usize;
    /// Whether it reports a gap.
    const REPORTS_GAPS: bool;
    /// Moves what the source has into the monitor; each report goes to `on_outcome`.
    fn acquire(&mut self, source: &mut Simulated, on_outcome: impl FnMut(Outcome));
}

impl<const FFT: usize, const DIMS: usize, const COMPONENTS: usize, const CLASSES: usize> Line
    for Monitor<'_, f32, FFT, 1, DIMS, COMPONENTS, CLASSES>
{
    const PHASES: &'static [Phase] = &[
        Phase::Signal(Colour::White),
        Phase::Signal(Colour::Low),
        Phase::Flat,
        Phase::Signal(Colour::High),
        Phase::Clipped,
        Phase::Signal(Colour::White),
        Phase::NotFinite,
        Phase::Signal(Colour::Middle),
    ];
    const WINDOWS: usize = 9;
    const REPORTS_GAPS: bool = true;

    fn acquire(&mut self, source: &mut Simulated, mut on_outcome: impl FnMut(Outcome)) {
        let rails = Rails { least: -32768.0, most: 32767.0 };
        let mut samples = [[0.0; 1]; 128];
        acquire(source, &rails, &mut samples, self, |report| {
            let finding = report.result.map(|finding| {
                let total: f32 = finding.posterior.iter().sum();
                let each = finding.posterior.iter().all(|p| (0.0..=1.0).contains(p));
                let numbers = finding.posterior.iter().chain(&finding.log_likelihood);
                let numbers = numbers.chain(&finding.gate_log_likelihood);
                Found {
                    label: finding.label,
                    probable: each && (total == 0.0 || (total - 1.0).abs() < 1e-3),
                    bits: numbers.fold(0, |bits, x| mix(bits, x.to_bits())),
                }
            });
            on_outcome(Outcome { index: report.index, finding });
        });
    }
}

impl<const FFT: usize, const DIMS: usize, const COMPONENTS: usize, const CLASSES: usize> Line
    for IntegerMonitor<'_, FFT, 1, DIMS, COMPONENTS, CLASSES>
{
    // Integers are always finite, and this monitor is not told of rails.
    const PHASES: &'static [Phase] = &[
        Phase::Signal(Colour::White),
        Phase::Signal(Colour::Low),
        Phase::Flat,
        Phase::Signal(Colour::High),
        Phase::Signal(Colour::Middle),
    ];
    const WINDOWS: usize = 10;
    const REPORTS_GAPS: bool = false;

    fn acquire(&mut self, source: &mut Simulated, mut on_outcome: impl FnMut(Outcome)) {
        let mut samples = [[0_i16; 1]; 128];
        let Ok(count) = source.read(&mut samples) else {
            self.clear();
            return;
        };
        self.push_slice(samples.get(..count).unwrap_or_default(), |report| {
            let finding = report.result.map(|finding| {
                let total: u32 = finding.posterior.iter().map(|p| u32::from(*p)).sum();
                let posterior = finding.posterior.iter().map(|p| u32::from(*p));
                let likelihoods = finding.log_likelihood.iter().chain(&finding.gate_log_likelihood);
                let numbers = posterior.chain(likelihoods.map(|x| x.cast_unsigned()));
                Found {
                    label: finding.label,
                    // Probabilities in Q15, each rounded.
                    probable: total == 0 || total.abs_diff(1 << 15) < 32,
                    bits: numbers.fold(0, mix),
                }
            });
            on_outcome(Outcome { index: report.index, finding });
        });
    }
}

/// FNV-1a over words.
pub fn mix(bits: u32, word: u32) -> u32 {
    (bits ^ word).wrapping_mul(0x0100_0193)
}

/// What there was, and the first thing that was not as it should be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Reports.
    pub reports: u32,
    /// Reports of the first three classes.
    pub classes: [u32; 3],
    /// Reports of unknown.
    pub unknown: u32,
    /// Reports of unknown fault.
    pub unknown_fault: u32,
    /// Reports of a fault of the sensor.
    pub faults: u32,
    /// All numbers of all findings in one.
    pub bits: u32,
    /// Number of the report and what was wrong.
    pub wrong: Option<(u32, &'static str)>,
}

impl Summary {
    fn wrong(&mut self, what: &'static str) {
        self.wrong = self.wrong.or(Some((self.reports, what)));
    }

    /// Counts an outcome, and checks it against what was to come.
    fn take(&mut self, outcome: &Outcome, next: Next) {
        if outcome.index != self.reports {
            self.wrong("index");
        }
        let expected = match next {
            Next::Gap => Some(SensorFault::LostSamples),
            Next::Samples(phase) => phase.fault(),
            Next::End => return self.wrong("a report after the end"),
        };
        if outcome.finding.err() != expected {
            self.wrong("verdict");
        }
        match outcome.finding {
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
        self.reports += 1;
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reports, classes: [a, b, c], unknown, unknown_fault, faults, bits, wrong } =
            self;
        write!(f, "soak reports={reports} class0={a} class1={b} class2={c} unknown={unknown} ")?;
        write!(f, "unknown_fault={unknown_fault} sensor_faults={faults} bits={bits:08x} wrong=")?;
        match wrong {
            None => f.write_str("nothing"),
            Some((report, what)) => write!(f, "{what} at report {report}"),
        }
    }
}

/// Sends [`REPORTS`] decision windows through `line`, whose model has this front end;
/// `on_settled` is called once, after [`SETTLED`] of them.
pub fn soak<L: Line>(
    line: &mut L,
    front_end: &FrontEnd<'_>,
    mut on_settled: impl FnMut(),
) -> Summary {
    let each = L::PHASES.len() * (L::WINDOWS + usize::from(L::REPORTS_GAPS));
    let source = &mut Simulated::new(L::PHASES, REPORTS / each, L::WINDOWS, front_end);
    let mut summary = Summary::default();
    let mut settled = false;
    let (mut phases, mut in_phase) = (0, 0);
    loop {
        let next = source.next();
        if next == Next::Gap || next == Next::End {
            if phases > 0 && in_phase != L::WINDOWS {
                summary.wrong("number of reports in a phase");
            }
            phases += 1;
            in_phase = 0;
        }
        if next == Next::End {
            return summary;
        }
        let before = summary.reports;
        line.acquire(source, |outcome| summary.take(&outcome, next));
        let made = summary.reports - before;
        if next == Next::Gap {
            if made != u32::from(L::REPORTS_GAPS) {
                summary.wrong("number of reports of a gap");
            }
        } else {
            in_phase += made as usize;
        }
        if !settled && summary.reports >= SETTLED {
            settled = true;
            on_settled();
        }
    }
}

/// Whether the stack went on growing once it had settled, by its depths then and at the end; all
/// of what was painted counts as grown.
pub fn grown(settled: Option<usize>, end: Option<usize>) -> bool {
    settled.is_none() || end != settled
}
