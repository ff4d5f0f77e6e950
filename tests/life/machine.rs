//! Samples of a machine in a given condition, the same in every run.

use std::f32::consts::TAU;

pub(crate) const RATE: f32 = 8192.0;
pub(crate) const WINDOW: usize = 256;
pub(crate) const SPEEDS_HZ: [f32; 2] = [24.5, 29.2];

/// The machine's fault, if any.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fault {
    None,
    Inner,
    Outer,
    /// A loose part. It rings like nothing in the recordings.
    Loose,
}

/// Uniform numbers, the same in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / 16_777_216.0
    }

    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() * (high - low) as f32) as usize
    }
}

/// A resonance of the housing.
#[derive(Default)]
pub(crate) struct Mode {
    past: [f32; 2],
}

impl Mode {
    fn step(&mut self, hz: f32, force: f32) -> f32 {
        const DECAY: f32 = 0.93;
        let [one, two] = self.past;
        let x = force + 2.0 * DECAY * (TAU * hz / RATE).cos() * one - DECAY * DECAY * two;
        self.past = [x, one];
        x
    }
}

/// Samples of a machine in a given condition.
pub(crate) struct Machine {
    pub(crate) random: Random,
    modes: [Mode; 3],
    /// Angle of the shaft, in turns.
    angle: f32,
    /// Progress to the fault's next strike, 0 to 1.
    strike: f32,
    colour: f32,
}

impl Machine {
    pub(crate) fn new(seed: u64) -> Self {
        let modes = [Mode::default(), Mode::default(), Mode::default()];
        Self { random: Random(seed), modes, angle: 0.0, strike: 0.0, colour: 0.0 }
    }

    /// Returns a window of samples. `loudness` is 0 at standstill and 1 while the machine runs;
    /// `severity` is that of the fault.
    pub(crate) fn window(
        &mut self,
        hz: f32,
        loudness: f32,
        fault: Fault,
        severity: f32,
    ) -> [f32; WINDOW] {
        // Strikes per turn of the shaft, and the resonance that they excite.
        let (strikes, mode_hz) = match fault {
            Fault::None => (0.0, 1900.0),
            Fault::Inner => (5.4, 1900.0),
            Fault::Outer => (3.6, 3100.0),
            Fault::Loose => (2.0, 900.0),
        };
        let mode = fault as usize % 3;
        let mut samples = [0.0; WINDOW];
        for sample in &mut samples {
            let noise = self.random.next() + self.random.next() - 1.0;
            self.colour += 0.35 * (noise - self.colour);
            self.angle = (self.angle + hz / RATE).fract();
            self.strike += strikes * hz / RATE;
            let mut force = 0.0;
            if self.strike >= 1.0 {
                self.strike = self.strike.fract() + 0.02 * noise;
                force = 6.0 * severity * (1.0 + 0.5 * noise);
            }
            let ring = self.modes[mode].step(mode_hz, force + 0.02 * noise);
            let turn = (TAU * self.angle).sin() * (0.3 + 0.02 * hz);
            *sample = 0.01 * noise + loudness * (turn + self.colour + 0.2 * noise + ring);
        }
        samples
    }
}
