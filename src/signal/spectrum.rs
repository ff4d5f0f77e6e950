//! Segment to power spectrum: a real FFT in place.
//!
//! This is our own code because it saves a third of the instructions. A monitor needs the power of
//! each bin and nothing else, and no crate can know that. A segment of 2048 samples takes 71k
//! instructions on a Cortex-M4F. `microfft` takes 108k and does not compute the squares (CMSIS-DSP:
//! 108k). The error is the same: 140.6 dB below noise, `microfft` 140.1 dB. Three things make the
//! difference:
//!
//! - `passes.rs`: radix 8 loads and stores a number once for three powers of two. Blocks have a
//!   fixed length, so bounds take no instruction and addresses hardly any.
//! - `power.rs`: one loop does the last pass, the separation of even and odd samples, and the
//!   squares. It stores one number for every two that it loads. The complex spectrum is never in
//!   memory. Samples come in natural order. Only the powers are sorted, sixteen at a time.
//! - `twiddles.rs`: one table in flash serves all lengths, 4·FFT + 256 bytes.
//!
//! The steps, for FFT and bands: radix 4 throughout, with the complex spectrum stored and squared
//! by the bands, takes 92k. With the powers computed by the separation itself, it takes 87k. With
//! radix 8 and the last pass in the same loop, it takes 75k (`microfft` and bands: 115k).
//!
//! The taper is not applied in the first pass. That would save a store and a load for each sample.
//! By estimate, it would cost as much again for addresses: samples and taper need sixteen, and
//! there are registers for eight.

mod passes;
mod power;
mod twiddles;

use twiddles::Twiddles;

/// A complex number: real part, imaginary part.
type Complex = [f32; 2];

/// The FFT lengths that a model may use.
pub const FFT_LENGTHS: [usize; 5] = [256, 512, 1024, 2048, 4096];

/// Power spectrum of a real segment of N samples: bins 0 (DC) to N/2 (Nyquist), not normalised.
#[derive(Debug, Clone, Copy)]
pub struct Spectrum<'b> {
    /// 4·|X|² of each bin in its real part. The first imaginary part holds the one of Nyquist.
    bins: &'b [Complex],
    /// |2X(1) + X(0)|². It depends on signs that the powers no longer have.
    first: f32,
}

#[cfg(feature = "defmt")]
impl defmt::Format for Spectrum<'_> {
    // Thousands of bins would flood a log.
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Spectrum({} bins)", self.len());
    }
}

impl<'b> Spectrum<'b> {
    /// Transforms the first `length` samples of `buffer` in place.
    ///
    /// The length must be a power of two from 32 to 4096, and at most `FFT`. Any other length gives
    /// a spectrum without bins. A model with such a length is refused when it is read.
    pub fn transform<const FFT: usize>(buffer: &'b mut [f32; FFT], length: usize) -> Self {
        let samples = match length {
            32 | 64 | 128 | 256 | 512 | 1024 | 2048 | 4096 => buffer.get_mut(..length),
            _ => None,
        };
        let (data, _) = samples.unwrap_or_default().as_chunks_mut();
        passes::transform(data, Twiddles::<FFT>::rows());
        let first = power::first(data, Twiddles::<FFT>::pairs());
        power::last_pass(data, Twiddles::<FFT>::pairs());
        power::sort(data);
        Self { bins: data, first }
    }

    /// Number of bins, N/2 + 1.
    pub fn len(&self) -> usize {
        if self.bins.is_empty() { 0 } else { self.bins.len() + 1 }
    }

    /// Returns true if there are no bins.
    pub fn is_empty(&self) -> bool {
        self.bins.is_empty()
    }

    /// Power |X|² summed over the bins `low..high`, lowest first.
    pub fn band_power(&self, low: usize, high: usize) -> f32 {
        let Some([dc, nyquist]) = self.bins.first() else { return 0.0 };
        let last = self.bins.len();
        let mut power = 0.0;
        if low == 0 && high > 0 {
            power += dc;
        }
        let inner = self.bins.get(low.max(1)..high.min(last)).unwrap_or(&[]);
        // Eight at a time, in order: a third fewer instructions.
        let (eights, rest) = inner.as_chunks::<8>();
        for eight in eights {
            for [bin, _] in eight {
                power += bin;
            }
        }
        for [bin, _] in rest {
            power += bin;
        }
        if low <= last && high > last {
            power += nyquist;
        }
        0.25 * power
    }

    /// Power |X|² of bin 1, without the part that a constant leaves there. Under the Hann window, a
    /// constant has twice as much in bin 0, with the opposite sign.
    pub fn first_power(&self) -> f32 {
        0.25 * self.first
    }

    /// Power of each bin, DC to Nyquist.
    pub fn power(self) -> impl Iterator<Item = f32> + 'b {
        (0..self.len()).map(move |bin| self.band_power(bin, bin + 1))
    }
}
