//! Two-pole filters: a structural mode that rings, and the mounting of a sensor.

use std::f64::consts::TAU;

/// A damped mode with two poles. It is cheap to compute and stable for any damping above 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resonator {
    /// Weights of the present input and of the input two samples ago.
    input: [f64; 2],
    /// Weights of the last two outputs, the latest first.
    feedback: [f64; 2],
    inputs: [f64; 2],
    outputs: [f64; 2],
}

impl Resonator {
    /// A mode of the structure. It has zeros at 0 and fs/2, and an impulse of 1 rings with
    /// amplitude 1.
    pub(super) fn mode(frequency_hz: f64, damping: f64, rate_hz: f64) -> Self {
        Self::new([0.5, -0.5], feedback(frequency_hz, damping, rate_hz))
    }

    /// The contact of a sensor with the machine: gain 1 at 0 Hz, a resonance, and a falling gain
    /// above it.
    pub(super) fn mounting(frequency_hz: f64, damping: f64, rate_hz: f64) -> Self {
        let feedback = feedback(frequency_hz, damping, rate_hz);
        Self::new([1.0 - feedback[0] - feedback[1], 0.0], feedback)
    }

    fn new(input: [f64; 2], feedback: [f64; 2]) -> Self {
        Self { input, feedback, inputs: [0.0; 2], outputs: [0.0; 2] }
    }

    pub(super) fn step(&mut self, x: f64) -> f64 {
        let y = self.input[0] * x
            + self.input[1] * self.inputs[1]
            + self.feedback[0] * self.outputs[0]
            + self.feedback[1] * self.outputs[1];
        self.inputs = [x, self.inputs[0]];
        self.outputs = [y, self.outputs[0]];
        y
    }
}

fn feedback(frequency_hz: f64, damping: f64, rate_hz: f64) -> [f64; 2] {
    let turn = TAU * frequency_hz / rate_hz;
    let radius = libm::exp(-damping * turn);
    let damped = turn * (1.0 - damping * damping).max(0.0).sqrt();
    [2.0 * radius * libm::cos(damped), -radius * radius]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_rings_at_its_frequency_and_dies_at_its_damping() {
        let (frequency, damping, rate) = (1000.0, 0.02, 20_000.0);
        let mut mode = Resonator::mode(frequency, damping, rate);
        let ring: Vec<f64> = (0..2000).map(|n| mode.step(if n == 0 { 1.0 } else { 0.0 })).collect();
        let peak = |range: &[f64]| range.iter().fold(0f64, |m, x| m.max(x.abs()));
        assert!((peak(&ring[..20]) - 1.0).abs() < 0.1, "{}", peak(&ring[..20]));
        let crossings = ring[..400].windows(2).filter(|w| w[0] * w[1] < 0.0).count();
        assert!((crossings as f64 - 2.0 * frequency * 400.0 / rate).abs() <= 1.0);
        // After one time constant, 1/(ζω), the fraction 1/e is left.
        let constant = (rate / (damping * TAU * frequency)) as usize;
        let left = peak(&ring[constant..constant + 20]) / peak(&ring[..20]);
        assert!((left - 0.368).abs() < 0.04, "{left}");
    }

    #[test]
    fn a_mounting_passes_slow_motion_unchanged() {
        let mut mounting = Resonator::mounting(6000.0, 0.15, 20_000.0);
        let last = (0..1000).map(|_| mounting.step(1.0)).last().unwrap();
        assert!((last - 1.0).abs() < 1e-9);
    }
}
