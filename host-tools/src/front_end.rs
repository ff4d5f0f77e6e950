//! How samples become features, as the host fits, stores and checks it.

use rebearing::model::format;
use rebearing::spectrum::FFT_LENGTHS;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Front end of a model: equal bands of a Welch-averaged Hann spectrum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrontEndSettings {
    /// Sample rate in Hz.
    pub rate_hz: f64,
    /// Axes of a sample.
    pub axes: usize,
    /// Points of the FFT.
    pub fft_len: usize,
    /// Samples from one segment to the next.
    pub hop: usize,
    /// Segments averaged in a decision window.
    pub segments: usize,
    /// Bin edges of the bands; band b holds bins `band_edges[b]..band_edges[b + 1]`.
    pub band_edges: Vec<u32>,
}

/// Why front-end settings cannot be used.
#[derive(Debug, Error, PartialEq)]
pub enum FrontEndError {
    /// The FFT length is none that the device has.
    #[error("--fft {0} is not supported; use 256, 512, 1024, 2048 or 4096")]
    FftLength(usize),
    /// The hop leaves gaps or does not move.
    #[error("--hop {hop} must be between 1 and the FFT length, {fft_len}")]
    Hop {
        /// Hop asked for.
        hop: usize,
        /// FFT length.
        fft_len: usize,
    },
    /// A decision window without segments, or an endless one.
    #[error("--segments {0} must be between 1 and 65536")]
    Segments(usize),
    /// Bands that would be empty, or more than the format holds.
    #[error("--bands {bands} must be between 2 and {most} for an FFT of this length")]
    Bands {
        /// Bands asked for.
        bands: usize,
        /// Most that are possible.
        most: usize,
    },
}

impl FrontEndSettings {
    /// Equal bands over 0…rate/2.
    pub fn equal_bands(
        rate_hz: f64,
        axes: usize,
        fft_len: usize,
        hop: usize,
        segments: usize,
        bands: usize,
    ) -> Result<Self, FrontEndError> {
        if !FFT_LENGTHS.contains(&fft_len) {
            return Err(FrontEndError::FftLength(fft_len));
        }
        if !(1..=fft_len).contains(&hop) {
            return Err(FrontEndError::Hop { hop, fft_len });
        }
        if !(1..=format::MAX_SEGMENTS).contains(&segments) {
            return Err(FrontEndError::Segments(segments));
        }
        // One band alone has no shape once its level is removed.
        let most = format::MAX_BANDS.min(fft_len / 2);
        if !(2..=most).contains(&bands) {
            return Err(FrontEndError::Bands { bands, most });
        }
        // The Nyquist bin is left out: a sensor's anti-alias filter decides what is in it.
        let bins = fft_len / 2;
        let band_edges = (0..=bands).map(|b| (b * bins / bands) as u32).collect();
        Ok(Self { rate_hz, axes, fft_len, hop, segments, band_edges })
    }

    /// Bands per axis.
    pub fn bands(&self) -> usize {
        self.band_edges.len().saturating_sub(1)
    }

    /// Features in all: bands × axes.
    pub fn dims(&self) -> usize {
        self.bands() * self.axes
    }

    /// Samples that one decision window spans.
    pub fn window_len(&self) -> usize {
        self.fft_len + self.hop * self.segments.saturating_sub(1)
    }
}
