//! Options of the commands that bring recordings to one rate, and what they say about it.

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use super::rate::rate;
use rebearing_host::data::domain::{Domain, Resample};
use rebearing_host::data::resample::PASS;
use rebearing_host::features::front_end::FrontEndSettings;
use rebearing_host::words::plural;

/// Whether recordings of different rates are brought to one.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ResampleArgs {
    /// Brings recordings of different rates to the lowest of them, or to HZ, with an anti-alias
    /// filter; the bands then end where the filter begins to roll off, at 0.95 of half the rate.
    /// Without it, different rates in a domain are refused.
    #[arg(long, value_name = "HZ", num_args = 0..=1, default_missing_value = LOWEST, value_parser = to)]
    resample: Option<Resample>,
}

/// Stands for a rate that is not given.
const LOWEST: &str = "lowest";

fn to(text: &str) -> Result<Resample, String> {
    if text == LOWEST { Ok(Resample::Lowest) } else { rate(text).map(Resample::To) }
}

impl ResampleArgs {
    /// What is asked for.
    pub(crate) fn choice(self) -> Resample {
        self.resample.unwrap_or(Resample::No)
    }

    /// The front end whose bands the filter leaves alone, where it is used.
    pub(crate) fn front_end(self, front_end: FrontEndSettings) -> Result<FrontEndSettings> {
        match self.resample {
            None => Ok(front_end),
            Some(_) => Ok(front_end.below(PASS)?),
        }
    }
}

/// Where the filter begins to roll off, in Hz.
pub(crate) fn pass_hz(rate_hz: f64) -> f64 {
    PASS * rate_hz / 2.0
}

/// How many of the last bands reach to where the filter rolls off.
pub(crate) fn rolled_off(band_edges: &[u32], fft_len: usize, rate_hz: f64) -> usize {
    let bin_hz = rate_hz / fft_len as f64;
    // An edge is a whole bin, and may lie one above what was asked for.
    let beyond = |edge: &&u32| (f64::from(**edge) - 1.0) * bin_hz > pass_hz(rate_hz);
    band_edges.iter().skip(1).filter(beyond).count()
}

/// The same in words, for what was resampled.
pub(crate) fn rolled_off_text(bands: usize, rate_hz: f64) -> String {
    let reaching = match bands {
        1 => "the last band reaches".into(),
        several => format!("the last {several} bands reach"),
    };
    format!(
        "the filter takes out what is above {} Hz, where {reaching}: fit with --resample to leave \
         that out",
        pass_hz(rate_hz)
    )
}

/// What was resampled, in words; nothing if nothing was.
pub(crate) fn resampled_line(domain: &Domain, front_end: &FrontEndSettings) -> Option<String> {
    if domain.resampled == 0 {
        return None;
    }
    let Domain { resampled, recordings, rate_hz, .. } = domain;
    let mut line = format!(
        "{resampled} of {} resampled to {rate_hz} Hz",
        plural(recordings.len(), "recording", "recordings")
    );
    let bands = rolled_off(&front_end.band_edges, front_end.fft_len, *rate_hz);
    if bands > 0 {
        line += "; ";
        line += &rolled_off_text(bands, *rate_hz);
    }
    Some(line)
}

/// The same for scripts.
pub(crate) fn resampled_json(domain: &Domain) -> Value {
    json!({
        "recordings": domain.resampled,
        "rate_hz": domain.rate_hz,
        "pass_hz": (domain.resampled > 0).then(|| pass_hz(domain.rate_hz)),
    })
}
