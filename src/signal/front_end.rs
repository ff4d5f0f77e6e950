//! The numbers of the front end: rate, segments, bands.

use super::orders::{Orders, ShaftSpeedError};

/// Maximum number of features per axis, all blocks together.
pub const MAX_BANDS: usize = 256;

/// How samples become features.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FrontEnd<'a> {
    /// Sample rate in Hz.
    pub rate_hz: f32,
    /// Axes of a sample.
    pub axes: usize,
    /// Points of the FFT.
    pub fft_len: usize,
    /// Samples from one segment to the next.
    pub hop: usize,
    /// Segments averaged in a window.
    pub segments: usize,
    /// Bin edges of the bands: band b holds bins `band_edges[b]..band_edges[b + 1]`.
    pub band_edges: &'a [u32],
    /// Bands of shaft orders, in addition to the bands in Hz. They need a shaft speed.
    pub orders: Option<Orders>,
}

impl FrontEnd<'_> {
    /// Bands in Hz per axis.
    pub fn bands(&self) -> usize {
        self.band_edges.len().saturating_sub(1)
    }

    /// Features per axis, of all blocks.
    pub fn axis_features(&self) -> usize {
        self.bands() + self.orders.map_or(0, |orders| orders.features())
    }

    /// Features of all axes together.
    pub fn dims(&self) -> usize {
        self.axis_features() * self.axes
    }

    /// Checks that the features can be computed at a shaft speed of `hz` turns per second. Without
    /// orders, every positive speed is accepted.
    pub fn check_shaft_speed(&self, hz: f32) -> Result<(), ShaftSpeedError> {
        if !(hz.is_finite() && hz > 0.0) {
            return Err(ShaftSpeedError::NotPositive);
        }
        match self.orders {
            Some(orders) if orders.top() * hz > 0.5 * self.rate_hz => {
                Err(ShaftSpeedError::TooHigh { most_hz: 0.5 * self.rate_hz / orders.top() })
            }
            _ => Ok(()),
        }
    }

    /// Samples that one window spans.
    pub fn window_len(&self) -> usize {
        self.fft_len + self.hop * self.segments.saturating_sub(1)
    }
}
