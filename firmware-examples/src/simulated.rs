//! Samples made on the device: a source for boards that have no sensor, which is all that QEMU has.
//!
//! Coloured noise, and everything that goes wrong with a sensor, in phases. Whole numbers
//! throughout, so that every core makes the same samples. Nothing here is specific to firmware:
//! `tests/soak.rs` of the project runs this very file on the host and compares.

use rebearing::acquisition::{Rails, Sample, SampleSource};
use rebearing::{FrontEnd, SensorFault};

/// One sample in so many of a clipped or broken phase is a bad one: each window has some.
const BAD_EVERY: usize = 64;
/// Samples handed out at a time, so that windows end in the middle of what is handed out.
const CHUNK: usize = 100;

/// A sample type, and how a sensor of it fails.
pub trait SimulatedSample: Sample {
    /// A sample that is not a number; at the rail where the type has none.
    const NOT_FINITE: Self;
    /// The ends of the sensor's range.
    const RAILS: Rails<Self>;
    /// Every state of the golden models, and everything that goes wrong with such a sensor.
    const PHASES: &'static [Phase];
    /// A whole number as a sample.
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

/// The shape of a spectrum, by a filter of three taps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// The same power at all frequencies.
    White,
    /// More at low ones.
    Low,
    /// More at high ones.
    High,
    /// More in the middle.
    Middle,
}

/// A stretch of samples, of which every window gets the same kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// A machine in some state.
    Signal(Colour),
    /// A stuck sensor.
    Flat,
    /// A sensor driven beyond its range now and then.
    Clipped,
    /// A sensor that gives something that is no number now and then.
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

/// What a board without a sensor is shown once: every state of the golden model with a gate, and
/// what goes wrong with a sensor of whole numbers.
pub const TOUR: &[Phase] = &[
    Phase::Signal(Colour::White),
    Phase::Signal(Colour::Low),
    Phase::Flat,
    Phase::Signal(Colour::High),
    Phase::Clipped,
    Phase::Signal(Colour::Middle),
];
/// Windows of a phase of the tour: enough for an alarm, and for a sensor that has failed.
pub const TOUR_WINDOWS: usize = 12;

/// What the next read gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// [`SensorFault::LostSamples`], as each phase begins with a gap.
    Gap,
    /// Samples of a phase.
    Samples(Phase),
    /// Nothing any more.
    End,
}

/// A source that goes through its phases again and again, a gap before each.
#[derive(Debug, Clone)]
pub struct Simulated {
    phases: &'static [Phase],
    /// Phases still to come.
    left: usize,
    /// The phase under way, and how many of its samples are still to come.
    phase: Phase,
    samples: usize,
    /// Windows of a phase, samples of the first, and samples from one to the next.
    windows: usize,
    whole: usize,
    step: usize,
    state: u32,
    before: [i16; 2],
}

impl Simulated {
    /// `repeats` times the phases, each long enough for so many windows of a model with this
    /// front end.
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

    /// What the next read gives, for whoever wants to check what comes of it.
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
        // After a clipped window the monitor starts from nothing; after all others it goes on
        // with the samples that overlap.
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

    /// Uniform noise of eleven bits, by Marsaglia's xorshift.
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
