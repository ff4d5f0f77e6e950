//! The anti-alias filter: a sinc with a Kaiser window, split into phases.

use std::f64::consts::PI;

use super::PASS;
use super::ratio::Ratio;

/// Shape of the Kaiser window for side lobes at −105 dB: 0.1102·(105 − 8.7).
const BETA: f64 = 10.612;
/// Half the filter's length, in outputs. Kaiser's formula (105 − 7.95)/(2·2.285·π·0.05) gives 135.2
/// for a transition over the last twentieth of the band.
const HALF: u64 = 136;

/// A filter for one ratio. There are `up` places per input, and every `down`-th place is an output.
/// A phase is the set of taps for one of these places.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    pub(super) up: u64,
    pub(super) down: u64,
    /// Places from the middle of the filter to its end.
    half: u64,
    /// The taps of each phase, in the order of the inputs in time. Shorter phases begin with a
    /// zero.
    phases: Vec<Vec<f64>>,
}

impl Filter {
    pub(super) fn new(ratio: &Ratio) -> Self {
        let Ratio { up, down } = *ratio;
        let half = HALF * down;
        let taps = taps(half, down, up);
        let length = (2 * half + 1).div_ceil(up);
        let phases = (0..up)
            .map(|phase| {
                let tap = |k: u64| taps.get((phase + k * up) as usize).copied().unwrap_or(0.0);
                (0..length).rev().map(tap).collect()
            })
            .collect();
        Self { up, down, half, phases }
    }

    /// The first input that an output needs, and the taps from there on. Input indices start
    /// [`Self::reach`] inputs before the first real one.
    pub(super) fn taps(&self, output: u64) -> (u64, &[f64]) {
        let place = output * self.down + self.half;
        (place / self.up + 1, &self.phases[(place % self.up) as usize])
    }

    /// The most inputs that an output needs before the first input and after the last.
    pub(super) fn reach(&self) -> usize {
        self.phases[0].len()
    }
}

/// The filter's taps: a low-pass with its cut-off midway between the pass band and half the new
/// rate. The gain is `up`, to make up for the zeros between the inputs.
fn taps(half: u64, down: u64, up: u64) -> Vec<f64> {
    let cut = f64::midpoint(PASS, 1.0) / down as f64;
    let edge = bessel(BETA);
    let tap = |place: u64| {
        let at = place as f64 - half as f64;
        let x = PI * cut * at;
        // `libm`, because its sine has the same bits on every platform.
        let sinc = if at == 0.0 { cut } else { cut * libm::sin(x) / x };
        let across = at / half as f64;
        sinc * bessel(BETA * (1.0 - across * across).max(0.0).sqrt()) / edge
    };
    let taps: Vec<f64> = (0..=2 * half).map(tap).collect();
    let gain = up as f64 / taps.iter().sum::<f64>();
    taps.into_iter().map(|tap| tap * gain).collect()
}

/// The modified Bessel function of the first kind and order zero.
fn bessel(x: f64) -> f64 {
    let quarter = x * x / 4.0;
    let (mut sum, mut term, mut k) = (1.0, 1.0, 1.0);
    while term > sum * 1e-17 {
        term *= quarter / (k * k);
        sum += term;
        k += 1.0;
    }
    sum
}
