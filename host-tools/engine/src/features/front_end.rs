//! Settings of the front end: how samples become features.

use std::fmt;
use std::str::FromStr;

use rebearing::FrontEnd;
use rebearing::Orders;
use rebearing::model::format;
use rebearing::signal::FFT_LENGTHS;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::features::bands::Spacing;

/// Front end of a model: bands of a Welch-averaged Hann spectrum, and bands of shaft orders if the
/// shaft speed is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrontEndSettings {
    /// Sample rate in Hz.
    pub rate_hz: f64,
    /// Number of axes in a sample.
    pub axes: usize,
    /// Points of the FFT.
    pub fft_len: usize,
    /// Samples from one segment to the next.
    pub hop: usize,
    /// Number of segments averaged in a window.
    pub segments: usize,
    /// Bin edges of the bands; band b holds bins `band_edges[b]..band_edges[b + 1]`.
    pub band_edges: Vec<u32>,
    /// Additional bands of shaft orders. They need the shaft speed of every recording.
    #[serde(default)]
    pub orders: Option<OrderSettings>,
}

/// Bands of shaft orders.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OrderSettings {
    /// Whether the spectrum has bands of shaft orders.
    pub spectrum: bool,
    /// Whether the envelope's spectrum has bands of shaft orders.
    pub envelope: bool,
    /// Number of bands in each.
    pub bands: usize,
    /// Lower edge of the first band, in orders.
    pub first: f32,
    /// Width of a band, in orders.
    pub width: f32,
}

/// The blocks of features of a front end, as `--blocks` names them. Bands are always included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Blocks {
    /// Bands of shaft orders of the spectrum.
    pub orders: bool,
    /// Bands of shaft orders of the envelope's spectrum.
    pub envelope: bool,
}

impl Blocks {
    /// The names of the blocks.
    pub fn names(self) -> Vec<&'static str> {
        let all = [("bands", true), ("orders", self.orders), ("envelope", self.envelope)];
        all.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect()
    }
}

impl fmt::Display for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().join(","))
    }
}

/// The error for a text that is no list of blocks.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "the blocks are bands, orders and envelope, and bands must be one of them, as bands,orders,envelope"
)]
pub struct UnknownBlocks;

impl FromStr for Blocks {
    type Err = UnknownBlocks;

    fn from_str(text: &str) -> Result<Self, UnknownBlocks> {
        let names: Vec<&str> = text.split(',').map(str::trim).collect();
        let known = ["bands", "orders", "envelope"];
        // Only bands in Hz can show a resonance of the machine's frame.
        if !names.contains(&"bands") || names.iter().any(|name| !known.contains(name)) {
            return Err(UnknownBlocks);
        }
        Ok(Self { orders: names.contains(&"orders"), envelope: names.contains(&"envelope") })
    }
}

/// Why front-end settings cannot be used.
#[derive(Debug, Error, PartialEq)]
pub enum FrontEndError {
    /// The device has no FFT of this length.
    #[error("`fft_len` {0} is not supported; use 256, 512, 1024, 2048 or 4096")]
    FftLength(usize),
    /// The hop leaves gaps or does not move.
    #[error("`hop` {hop} must be between 1 and the FFT length, {fft_len}")]
    Hop {
        /// The requested hop.
        hop: usize,
        /// FFT length.
        fft_len: usize,
    },
    /// A window would have no segments, or too many.
    #[error("`segments` {0} must be between 1 and 65536")]
    Segments(usize),
    /// Some bands would be empty, or there are more than the format holds.
    #[error("`bands` {bands} must be between 2 and {most} for an FFT of this length")]
    Bands {
        /// The requested number of bands.
        bands: usize,
        /// The largest possible number of bands.
        most: usize,
    },
}

/// A front end of equal bands over 0 to half the sample rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EqualBands {
    /// Sample rate in Hz.
    pub rate_hz: f64,
    /// Axes of the sensor.
    pub axes: usize,
    /// Points of the FFT: 256, 512, 1024, 2048 or 4096.
    pub fft_len: usize,
    /// Samples from one segment to the next, at most `fft_len`.
    pub hop: usize,
    /// Segments averaged in a window.
    pub segments: usize,
    /// Number of bands.
    pub bands: usize,
}

impl EqualBands {
    /// The usual ones: 32 bands of a 2048-point FFT every 1024 samples, two segments in a window.
    pub fn usual(rate_hz: f64, axes: usize) -> Self {
        Self { rate_hz, axes, fft_len: 2048, hop: 1024, segments: 2, bands: 32 }
    }
}

impl FrontEndSettings {
    /// Returns a front end with equal bands over 0…rate/2.
    pub fn equal_bands(settings: EqualBands) -> Result<Self, FrontEndError> {
        let EqualBands { rate_hz, axes, fft_len, hop, segments, bands } = settings;
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
        // The Nyquist bin is left out, because the sensor's anti-alias filter decides what is in
        // it.
        let band_edges = Spacing::Equal.edges(bands, fft_len / 2, rate_hz / fft_len as f64);
        Ok(Self { rate_hz, axes, fft_len, hop, segments, band_edges, orders: None })
    }

    /// Returns the front end with the same number of bands over the same frequencies, in this
    /// spacing.
    ///
    /// ```
    /// use rebearing_host::features::bands::Spacing;
    /// use rebearing_host::features::front_end::{EqualBands, FrontEndSettings};
    ///
    /// let equal = FrontEndSettings::equal_bands(EqualBands::usual(12_000.0, 1))?;
    /// let mel = equal.clone().spaced(Spacing::Mel);
    /// // In bins of 5.9 Hz: the first band is narrower, the last one wider.
    /// assert_eq!((equal.band_edges[1], equal.band_edges[31]), (32, 992));
    /// assert_eq!((mel.band_edges[1], mel.band_edges[31]), (9, 946));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn spaced(self, spacing: Spacing) -> Self {
        let top = self.band_edges.last().copied().unwrap_or(0) as usize;
        Self { band_edges: spacing.edges(self.bands(), top, self.bin_hz()), ..self }
    }

    /// Returns the front end with the same number of bands in the same spacing over the first
    /// `share` of 0…rate/2. Bands of no known [`Spacing`] become equal.
    pub fn below(self, share: f64) -> Result<Self, FrontEndError> {
        let bands = self.bands();
        let bins = (share * (self.fft_len / 2) as f64) as usize;
        if bands > bins {
            return Err(FrontEndError::Bands { bands, most: bins });
        }
        let spacing = Spacing::of(&self.band_edges, self.bin_hz()).unwrap_or_default();
        Ok(Self { band_edges: spacing.edges(bands, bins, self.bin_hz()), ..self })
    }

    /// Returns the front end with these blocks. A block of orders has 32 bands of half an order
    /// each, from 0.5 orders up.
    pub fn with_blocks(self, blocks: Blocks) -> Result<Self, FrontEndError> {
        let Blocks { orders: spectrum, envelope } = blocks;
        let orders = OrderSettings { spectrum, envelope, bands: 32, first: 0.5, width: 0.5 };
        let settings = Self { orders: (spectrum || envelope).then_some(orders), ..self };
        if settings.axis_features() > format::MAX_BANDS {
            let most = format::MAX_BANDS + settings.bands() - settings.axis_features();
            return Err(FrontEndError::Bands { bands: settings.bands(), most });
        }
        Ok(settings)
    }

    /// The blocks of features.
    pub fn blocks(&self) -> Blocks {
        self.orders.map_or(Blocks::default(), |orders| Blocks {
            orders: orders.spectrum,
            envelope: orders.envelope,
        })
    }

    /// The front end as the device crate takes it.
    pub fn device(&self) -> FrontEnd<'_> {
        FrontEnd {
            rate_hz: self.rate_hz as f32,
            axes: self.axes,
            fft_len: self.fft_len,
            hop: self.hop,
            segments: self.segments,
            band_edges: &self.band_edges,
            orders: self.orders.map(|orders| Orders {
                spectrum: orders.spectrum,
                envelope: orders.envelope,
                bands: orders.bands,
                first: orders.first,
                width: orders.width,
            }),
        }
    }

    /// Hertz from one bin of the spectrum to the next.
    pub fn bin_hz(&self) -> f64 {
        self.rate_hz / self.fft_len as f64
    }

    /// Number of bands in Hz per axis.
    pub fn bands(&self) -> usize {
        self.band_edges.len().saturating_sub(1)
    }

    /// Number of features per axis, of all blocks.
    pub fn axis_features(&self) -> usize {
        self.device().axis_features()
    }

    /// Number of features of all axes.
    pub fn dims(&self) -> usize {
        self.axis_features() * self.axes
    }

    /// Number of samples that one window spans.
    pub fn window_len(&self) -> usize {
        self.fft_len + self.hop * self.segments.saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::{Blocks, EqualBands, FrontEndError, FrontEndSettings};
    use crate::features::bands::Spacing;

    #[test]
    fn blocks_are_read_as_they_are_written() {
        for text in ["bands", "bands,orders", "bands,envelope", "bands,orders,envelope"] {
            assert_eq!(text.parse::<Blocks>().unwrap().to_string(), text);
        }
        for bad in ["", "orders", "bands,order", "bands,,orders"] {
            assert!(bad.parse::<Blocks>().is_err(), "{bad}");
        }
    }

    #[test]
    fn blocks_must_find_room_in_the_format() {
        let bands = |bands| {
            FrontEndSettings::equal_bands(EqualBands { bands, ..EqualBands::usual(1e4, 3) })
                .unwrap()
        };
        let all = Blocks { orders: true, envelope: true };
        assert_eq!(bands(32).with_blocks(all).unwrap().dims(), 3 * 96);
        assert_eq!(bands(192).with_blocks(all).unwrap().dims(), 3 * 256);
        let error = bands(193).with_blocks(all).unwrap_err();
        assert_eq!(error, FrontEndError::Bands { bands: 193, most: 192 });
        assert_eq!(bands(256).with_blocks(Blocks::default()).unwrap(), bands(256));
    }

    #[test]
    fn bands_keep_their_spacing_below_a_share_of_the_spectrum() {
        let equal = FrontEndSettings::equal_bands(EqualBands::usual(12_000.0, 1)).unwrap();
        for spacing in [Spacing::Equal, Spacing::Mel] {
            let below = equal.clone().spaced(spacing).below(0.95).unwrap();
            assert_eq!(below.band_edges, spacing.edges(32, 972, 12_000.0 / 2048.0));
        }
        let error = equal.spaced(Spacing::Mel).below(0.03).unwrap_err();
        assert_eq!(error, FrontEndError::Bands { bands: 32, most: 30 });
    }
}
