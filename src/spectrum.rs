//! Window to power spectrum: a real FFT in place, by `microfft`.
//!
//! `microfft` packs the Nyquist bin into the imaginary part of bin 0. It is unpacked here
//! and nowhere else.

use microfft::Complex32;
use microfft::real::{
    rfft_32, rfft_64, rfft_128, rfft_256, rfft_512, rfft_1024, rfft_2048, rfft_4096,
};

/// The FFT lengths that a model may ask for.
pub const FFT_LENGTHS: [usize; 5] = [256, 512, 1024, 2048, 4096];

/// Spectrum of a real window of N samples: bins 0 (DC) to N/2 (Nyquist), not normalised.
#[derive(Debug, Clone, Copy)]
pub struct Spectrum<'b> {
    bins: &'b [Complex32],
}

#[cfg(feature = "defmt")]
impl defmt::Format for Spectrum<'_> {
    // The bins are microfft's, which knows nothing of defmt; thousands would flood a log anyway.
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
        // Each arm vanishes at compile time where FFT is too small for it.
        let bins: Option<&[Complex32]> = match length {
            32 => buffer.first_chunk_mut().map(|x| &rfft_32(x)[..]),
            64 => buffer.first_chunk_mut().map(|x| &rfft_64(x)[..]),
            128 => buffer.first_chunk_mut().map(|x| &rfft_128(x)[..]),
            256 => buffer.first_chunk_mut().map(|x| &rfft_256(x)[..]),
            512 => buffer.first_chunk_mut().map(|x| &rfft_512(x)[..]),
            1024 => buffer.first_chunk_mut().map(|x| &rfft_1024(x)[..]),
            2048 => buffer.first_chunk_mut().map(|x| &rfft_2048(x)[..]),
            4096 => buffer.first_chunk_mut().map(|x| &rfft_4096(x)[..]),
            _ => None,
        };
        Self { bins: bins.unwrap_or(&[]) }
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
        let Some(packed) = self.bins.first() else { return 0.0 };
        let nyquist = self.bins.len();
        let mut power = 0.0;
        if low == 0 && high > 0 {
            power += packed.re * packed.re;
        }
        let inner = self.bins.get(low.max(1)..high.min(nyquist)).unwrap_or(&[]);
        // Eight at a time, in order: a third fewer instructions.
        let (eights, rest) = inner.as_chunks::<8>();
        for eight in eights {
            for x in eight {
                power += x.re * x.re + x.im * x.im;
            }
        }
        for x in rest {
            power += x.re * x.re + x.im * x.im;
        }
        if low <= nyquist && high > nyquist {
            power += packed.im * packed.im;
        }
        power
    }

    /// Power |X|² of bin 1 without what a constant under the Hann window leaves there: such a
    /// constant has twice as much in bin 0, with the other sign.
    pub fn first_power(&self) -> f32 {
        let &[dc, first, ..] = self.bins else { return 0.0 };
        let re = first.re + 0.5 * dc.re;
        re * re + first.im * first.im
    }

    /// Power of each bin, DC to Nyquist.
    pub fn power(self) -> impl Iterator<Item = f32> + 'b {
        (0..self.len()).map(move |bin| self.band_power(bin, bin + 1))
    }
}
