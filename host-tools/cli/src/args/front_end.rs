//! Options of the commands that compute features.

use anyhow::Result;
use clap::Args;

use rebearing_host::features::bands::Bands;
use rebearing_host::features::front_end::{Blocks, EqualBands, FrontEndSettings};

/// Options for how samples become features.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct FrontEndArgs {
    /// Points of the FFT: 256, 512, 1024, 2048 or 4096.
    #[arg(long, value_name = "N", default_value_t = 2048)]
    fft: usize,
    /// Samples from one FFT segment to the next [default: half the FFT].
    #[arg(long, value_name = "N")]
    hop: Option<usize>,
    /// Segments that are averaged in a window.
    #[arg(long, value_name = "N", default_value_t = 2)]
    segments: usize,
    /// Bands from 0 to half the sample rate: N equal ones, or mel:N mel-like ones, which are
    /// narrow at low frequencies and wide at high ones.
    #[arg(long, value_name = "N|mel:N", default_value = "32")]
    bands: Bands,
    /// Blocks of features: bands, orders (bands of shaft orders) and envelope (orders of the
    /// envelope spectrum). Orders and envelope need the rpm of every recording in the manifest.
    #[arg(long, value_name = "BLOCK,…", default_value_t = Blocks::default())]
    blocks: Blocks,
}

impl FrontEndArgs {
    /// Returns the front end for recordings with this rate and this number of axes.
    pub(crate) fn settings(&self, rate_hz: f64, axes: usize) -> Result<FrontEndSettings> {
        let hop = self.hop.unwrap_or(self.fft / 2);
        let Self { fft, segments, bands, blocks, .. } = *self;
        let front_end = FrontEndSettings::equal_bands(EqualBands {
            rate_hz,
            axes,
            fft_len: fft,
            hop,
            segments,
            bands: bands.number,
        })?;
        Ok(front_end.spaced(bands.spacing).with_blocks(blocks)?)
    }
}
