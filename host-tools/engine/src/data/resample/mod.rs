//! Recordings at a lower sample rate: an anti-alias filter, then every n-th value.
//!
//! The filter is a linear-phase polyphase FIR. Its delay is removed, so output 0 is at the time of
//! input 0. Frequencies above half the new rate are attenuated by more than 100 dB. Frequencies
//! below [`PASS`] of half the new rate change by at most 0.001 dB. In between the filter rolls off.
//!
//! The crate `rubato` is ten times as fast and its filter is as good, but we do not use it. Its
//! results have different bits with AVX than without (tried with 5.0). The recording, and the hash
//! of a model fitted from it, would then depend on the computer. Also, its FFT takes only whole
//! rates and begins with a step from zero. Here every output is one sum in `f64` in a fixed order.
//! It does not depend on the processor or on how the input is cut into chunks.

mod filter;
mod ratio;

use filter::Filter;
pub use ratio::{ResampleError, same_rate};

/// Pass band of the filter, as a fraction of half the new rate.
pub const PASS: f64 = 0.95;

/// Converts frames to a lower rate, chunk by chunk.
#[derive(Debug, Clone)]
pub struct Resampler {
    filter: Filter,
    axes: usize,
    /// The last inputs of each axis, in time order.
    history: Vec<Vec<f64>>,
    /// Number of inputs already discarded, including the padding before the first input.
    forgotten: u64,
    /// Number of input frames so far.
    taken: u64,
    /// Number of output frames so far.
    given: u64,
    /// The last input frame. It is repeated after the end.
    last: Vec<f64>,
}

impl Resampler {
    /// A resampler from `from_hz` to `to_hz`, for frames of `axes` values.
    pub fn new(from_hz: f64, to_hz: f64, axes: usize) -> Result<Self, ResampleError> {
        let filter = Filter::new(&ratio::ratio(from_hz, to_hz)?);
        let mut resampler = Self {
            filter,
            axes,
            history: vec![Vec::new(); axes],
            forgotten: 0,
            taken: 0,
            given: 0,
            last: Vec::new(),
        };
        resampler.restart();
        Ok(resampler)
    }

    /// Number of output frames for `frames` input frames.
    pub fn frames(&self, frames: u64) -> u64 {
        let (up, down) = (u128::from(self.filter.up), u128::from(self.filter.down));
        (u128::from(frames) * up).div_ceil(down) as u64
    }

    /// Takes whole frames with interleaved axes, and appends the finished outputs to `out`.
    pub fn push(&mut self, frames: &[f32], out: &mut Vec<f32>) {
        let count = frames.len() / self.axes;
        let Some(last) = count.checked_sub(1) else { return };
        if self.taken == 0 {
            // A recording must not begin with a step from zero, so its first value is repeated
            // before it.
            let before = self.filter.reach();
            for (axis, history) in self.history.iter_mut().enumerate() {
                history.resize(before, f64::from(frames[axis]));
            }
        }
        for frame in frames.chunks_exact(self.axes) {
            for (history, value) in self.history.iter_mut().zip(frame) {
                history.push(f64::from(*value));
            }
        }
        self.taken += count as u64;
        let last = &frames[last * self.axes..count * self.axes];
        self.last = last.iter().map(|value| f64::from(*value)).collect();
        self.give(self.frames(u64::MAX), out);
    }

    /// Appends the remaining outputs of a stretch of time, and gets ready for the next one.
    pub fn finish(&mut self, out: &mut Vec<f32>) {
        let all = self.frames(self.taken);
        let after = self.filter.reach();
        for (history, last) in self.history.iter_mut().zip(&self.last) {
            history.resize(history.len() + after, *last);
        }
        self.give(all, out);
        self.restart();
    }

    fn restart(&mut self) {
        self.history.iter_mut().for_each(Vec::clear);
        (self.forgotten, self.taken, self.given) = (0, 0, 0);
        self.last.clear();
    }

    /// Appends outputs below `end` as far as the history reaches, and discards inputs that no later
    /// output needs.
    fn give(&mut self, end: u64, out: &mut Vec<f32>) {
        let length = self.history.first().map_or(0, Vec::len);
        let mut oldest = 0;
        // Uses the widest vectors that the processor has: more than half of the time is spent here.
        pulp::Arch::new().dispatch(|| {
            while self.given < end {
                let (start, taps) = self.filter.taps(self.given);
                let at = (start - self.forgotten) as usize;
                oldest = at;
                if at + taps.len() > length {
                    break;
                }
                for history in &self.history {
                    let inputs = &history[at..at + taps.len()];
                    out.push(dot(inputs, taps) as f32);
                }
                self.given += 1;
            }
        });
        // In large steps, because each one moves the kept inputs.
        if oldest > 1 << 14 {
            let oldest = oldest.min(length);
            for history in &mut self.history {
                history.drain(..oldest);
            }
            self.forgotten += oldest as u64;
        }
    }
}

/// Resamples a whole stretch of time at once: interleaved frames to interleaved frames.
pub fn resample(
    frames: &[f32],
    axes: usize,
    from_hz: f64,
    to_hz: f64,
) -> Result<Vec<f32>, ResampleError> {
    let mut resampler = Resampler::new(from_hz, to_hz, axes)?;
    let mut out = Vec::new();
    resampler.push(frames, &mut out);
    resampler.finish(&mut out);
    Ok(out)
}

/// The sum of products, in eight lanes with a fixed order. The bits are the same with and without
/// vector instructions, because no product is fused with its sum.
#[inline(always)]
#[allow(clippy::inline_always, reason = "what is not inlined is compiled for the baseline")]
fn dot(inputs: &[f64], taps: &[f64]) -> f64 {
    let (inputs, inputs_rest) = inputs.as_chunks::<8>();
    let (taps, taps_rest) = taps.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for (inputs, taps) in inputs.iter().zip(taps) {
        for lane in 0..8 {
            lanes[lane] += inputs[lane] * taps[lane];
        }
    }
    let rest: f64 = inputs_rest.iter().zip(taps_rest).map(|(x, h)| x * h).sum();
    let [a, b, c, d, e, f, g, h] = lanes;
    (((a + e) + (b + f)) + ((c + g) + (d + h))) + rest
}
