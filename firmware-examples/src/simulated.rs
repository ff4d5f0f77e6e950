//! Samples made on the device: a source for boards without a sensor. QEMU has only such boards.
//!
//! The source gives coloured noise and every kind of sensor fault, in phases. It uses only whole
//! numbers, so every core makes the same samples. Nothing here is specific to firmware: the
//! project's `tests/soak.rs` runs this very file on the host and compares.

use rebearing::acquisition::{Rails, Sample, SampleSource};
use rebearing::{FrontEnd, SensorFault};

/// In a clipped or broken phase, one sample in this many is bad, so each window has some.
const BAD_EVERY: usize = 64;
/// Samples handed out at a time. Windows therefore end in the middle of a chunk.
const CHUNK: usize = 100;

/// A sample type, and the ways in which its sensor fails.
pub trait SimulatedSample: Sample {
    /// A sample that is not a number; a sample at the rail if the type has no such value.
    const NOT_FINITE: Self;
    /// The ends of the sensor's range.
    const RAILS: Rails<Self>;
    /// Every state of the golden models, and every fault that such a sensor can have.
    const PHASES: &'static [Phase];
    /// Converts a whole number to a sample.
    fn count(count: i16) -> Self;
}

impl SimulatedSample for f32 {
    const NOT_FINITE: Self = Self::NAN;
    const RAILS: Rails<Self> = Rails { least: -32768.0, most: 32767.0 };
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
    fn count(count: i16) -> Self {
        Self::from(count)
    }
}

impl SimulatedSample for i16 {
    const NOT_FINITE: Self = Self::MAX;
    const RAILS: Rails<Self> = Rails::FULL;
    // Integers are always finite.
    const PHASES: &'static [Phase] = &[
        Phase::Signal(Colour::White),
        Phase::Signal(Colour::Low),
        Phase::Flat,
        Phase::Signal(Colour::High),
        Phase::Clipped,
        Phase::Signal(Colour::White),
        Phase::Flat,
        Phase::Signal(Colour::Middle),
    ];
    fn count(count: i16) -> Self {
        count
    }
}

/// The shape of a spectrum, made by a filter of three taps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// The same power at all frequencies.
    White,
    /// More power at low frequencies.
    Low,
    /// More power at high frequencies.
    High,
    /// More power at middle frequencies.
    Middle,
}

/// A stretch of samples. All its windows get the same kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// A machine in some state.
    Signal(Colour),
    /// A stuck sensor.
    Flat,
    /// A sensor that is now and then driven beyond its range.
    Clipped,
    /// A sensor that now and then gives a value that is not a number.
    NotFinite,
}

impl Phase {
    /// The fault that a monitor should find; `None` for a signal.
    pub fn fault(self) -> Option<SensorFault> {
        match self {
            Self::Signal(_) => None,
            Self::Flat => Some(SensorFault::Flat),
            Self::Clipped => Some(SensorFault::Clipped),
            Self::NotFinite => Some(SensorFault::NotFinite),
        }
    }
}

/// The phases shown once to a board without a sensor: every state of the golden model with a gate,
/// and the faults of a sensor of whole numbers.
pub const TOUR: &[Phase] = &[
    Phase::Signal(Colour::White),
    Phase::Signal(Colour::Low),
    Phase::Flat,
    Phase::Signal(Colour::High),
    Phase::Clipped,
    Phase::Signal(Colour::Middle),
];
/// Windows in a phase of the tour: enough for an alarm, and for a failed sensor.
pub const TOUR_WINDOWS: usize = 12;

/// The result of the next read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// [`SensorFault::LostSamples`], because each phase begins with a gap.
    Gap,
    /// Samples of a phase.
    Samples(Phase),
    /// Nothing more.
    End,
}

/// A source that repeats its phases, with a gap before each.
#[derive(Debug, Clone)]
pub struct Simulated {
    phases: &'static [Phase],
    /// Number of phases still to come.
    left: usize,
    /// The current phase.
    phase: Phase,
    /// Samples of the phase still to come.
    samples: usize,
    /// Windows in a phase.
    windows: usize,
    /// Samples of the first window.
    whole: usize,
    /// Samples from one window to the next.
    step: usize,
    state: u32,
    before: [i16; 2],
}

impl Simulated {
    /// Repeats the phases `repeats` times. Each is long enough for the given number of windows of a
    /// model with this front end.
    pub fn new(
        phases: &'static [Phase],
        repeats: usize,
        windows: usize,
        front_end: &FrontEnd<'_>,
    ) -> Self {
        let whole = front_end.fft_len + (front_end.segments - 1) * front_end.hop;
        Self {
            phases,
            left: repeats * phases.len(),
            phase: Phase::Flat,
            samples: 0,
            windows,
            whole,
            step: front_end.segments * front_end.hop,
            state: 0x2545_F491,
            before: [0; 2],
        }
    }

    /// The result of the next read, for callers that check the findings.
    pub fn next(&self) -> Next {
        match (self.samples, self.left) {
            (0, 0) => Next::End,
            (0, _) => Next::Gap,
            _ => Next::Samples(self.phase),
        }
    }

    fn start_phase(&mut self) {
        let done =
            (self.phases.len() - self.left % self.phases.len().max(1)) % self.phases.len().max(1);
        self.phase = self.phases.get(done).copied().unwrap_or(Phase::Flat);
        self.left -= 1;
        // After a clipped window the monitor starts from nothing. After all others it continues
        // with the overlapping samples.
        self.samples = match self.phase {
            Phase::Clipped => self.windows * self.whole,
            _ => self.whole + (self.windows - 1) * self.step,
        };
    }

    fn sample<S: SimulatedSample>(&mut self) -> S {
        let white = self.noise();
        let [last, last_but_one] = self.before;
        self.before = [white, last];
        let bad = self.samples.is_multiple_of(BAD_EVERY);
        let colour = match self.phase {
            Phase::Flat => return S::count(1),
            Phase::Clipped if bad => return S::count(i16::MAX),
            Phase::NotFinite if bad => return S::NOT_FINITE,
            Phase::Signal(colour) => colour,
            Phase::Clipped | Phase::NotFinite => Colour::White,
        };
        S::count(match colour {
            Colour::White => white,
            Colour::Low => white + last,
            Colour::High => white - last,
            Colour::Middle => white - last_but_one,
        })
    }

    /// Uniform noise of eleven bits by Marsaglia's xorshift.
    fn noise(&mut self) -> i16 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        (self.state >> 21) as i16 - 1024
    }
}

impl<S: SimulatedSample> SampleSource<S, 1> for Simulated {
    fn read(&mut self, samples: &mut [[S; 1]]) -> Result<usize, SensorFault> {
        if self.samples == 0 {
            if self.left == 0 {
                return Ok(0);
            }
            self.start_phase();
            return Err(SensorFault::LostSamples);
        }
        let mut count = 0;
        for place in samples.iter_mut().take(self.samples.min(CHUNK)) {
            *place = [self.sample()];
            self.samples -= 1;
            count += 1;
        }
        Ok(count)
    }
}
