//! Window to power spectrum: a real FFT in place.
//!
//! Own code, because it spares a third of the instructions: a monitor wants the power of each bin
//! and nothing else, and no crate can know that. A window of 2048 samples takes 71k instructions on
//! a Cortex-M4F where `microfft` takes 108k and leaves the squares to be done (CMSIS-DSP: 108k), at
//! the same error (140.6 dB below noise, `microfft` 140.1 dB). What makes the difference:
//!
//! - `passes.rs`: radix 8, which loads and stores a number once for three powers of two, and blocks
//!   of fixed length, so that bounds take no instruction and addresses hardly any;
//! - `power.rs`: the last pass, the separation of even and odd samples and the squares in one loop,
//!   which stores one number for every two that it loads. The complex spectrum is nowhere in
//!   memory. Samples come in natural order, and only the powers are put in order, sixteen at a time;
//! - `twiddles.rs`: one table in flash for all lengths, 4·FFT + 256 bytes.
//!
//! By steps: radix 4 throughout, with the complex spectrum stored and squared by the bands, takes 92k
//! for FFT and bands; powers made by the separation itself 87k; radix 8 with the last pass in the same
//! loop 75k (`microfft` and bands 115k).
//!
//! The taper is not applied in the first pass: that would spare a store and a load for each sample,
//! and by estimate take as much again for the addresses of samples and taper, sixteen of them where
//! there are registers for eight.

mod passes;
mod power;
mod twiddles;

use twiddles::Twiddles;

/// A complex number: real part, imaginary part.
type Complex = [f32; 2];

/// The FFT lengths that a model may ask for.
pub const FFT_LENGTHS: [usize; 5] = [256, 512, 1024, 2048, 4096];

/// Spectrum of a real window of N samples: bins 0 (DC) to N/2 (Nyquist), not normalised.
#[derive(Debug, Clone, Copy)]
pub struct Spectrum<'b> {
    /// 4·|X|² of a bin in each real part, that of Nyquist in the first imaginary part.
    bins: &'b [Complex],
    /// |2X(1) + X(0)|²: the powers alone have forgotten the signs that this takes.
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
    /// A length that is no power of two from 32 to 4096, or above `FFT`, gives a spectrum
    /// without bins; a model that asks for one is refused when it is read.
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

    /// Whether there is no bin at all.
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

    /// Power |X|² of bin 1 without what a constant under the Hann window leaves there: such a
    /// constant has twice as much in bin 0, with the other sign.
    pub fn first_power(&self) -> f32 {
        0.25 * self.first
    }

    /// Power of each bin, DC to Nyquist.
    pub fn power(self) -> impl Iterator<Item = f32> + 'b {
        (0..self.len()).map(move |bin| self.band_power(bin, bin + 1))
    }
}
