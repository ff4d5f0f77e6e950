//! Options of the commands that run a model over recordings.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use clap::Args;
use rebearing::FrontEnd;

use super::rate::rate;
use super::resample::{rolled_off, rolled_off_text};
use rebearing_host::data::recording::{self, Conversion, Recording};
use rebearing_host::data::resample::same_rate;
use rebearing_host::words::plural;

/// Options for how to read recordings for a model.
#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    /// Model file that `rebearing adapt` wrote.
    #[arg(long, value_name = "MODEL.rbm")]
    pub(crate) model: PathBuf,
    /// Sample rate of files that do not carry one, in Hz. Without --resample, it must be the
    /// model's rate.
    #[arg(long, value_name = "HZ", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// Shaft speed in turns per minute; models with orders or envelope need it.
    #[arg(long, value_name = "N")]
    pub(crate) rpm: Option<f64>,
    /// Variable of a .mat (`run.x` in structures), array of an .npz, column of a table, index of a
    /// WAV channel; several axes as `x;y;z`.
    #[arg(long, value_name = "C")]
    pub(crate) channel: Option<String>,
    /// Resample recordings of a higher rate to the model's rate, with an anti-alias filter.
    #[arg(long)]
    pub(crate) resample: bool,
}

impl SampleArgs {
    /// Reads a recording and checks that the model can run on it.
    pub(crate) fn read(&self, front_end: &FrontEnd<'_>, path: &Path) -> Result<Recording> {
        let read = recording::read(path, self.channel.as_deref())?;
        let recording = Recording { rpm: self.rpm, ..read };
        match self.rpm.zip(recording.shaft_hz()) {
            Some((rpm, hz)) => front_end
                .check_shaft_speed(hz)
                .map_err(|reason| anyhow!("--rpm {rpm}: {reason}"))?,
            None if front_end.orders.is_some() => bail!(
                "the model {} has features of shaft orders and needs the shaft speed; give it \
                 with --rpm N",
                self.model.display()
            ),
            None => (),
        }
        let model_rate = f64::from(front_end.rate_hz);
        let recording = if self.resample {
            self.resampled(recording, model_rate)?
        } else {
            self.check_rate(&recording, model_rate)?;
            recording
        };
        if recording.axes != front_end.axes {
            bail!(
                "{}: has {}, but the model needs {}; choose with --channel",
                path.display(),
                plural(recording.axes, "axis", "axes"),
                front_end.axes
            );
        }
        let longest = recording.stretch_frames().into_iter().max().unwrap_or(0);
        if longest < front_end.window_len() {
            bail!(
                "{}: has {}, but a window of the model needs {}; record longer",
                path.display(),
                plural(longest, "sample", "samples"),
                front_end.window_len()
            );
        }
        Ok(recording)
    }

    /// Refuses a recording with another rate than the model's.
    fn check_rate(&self, recording: &Recording, model_rate: f64) -> Result<()> {
        let differs = |rate: &f64| !same_rate(*rate, model_rate);
        if let Some(rate) = recording.rate_hz.filter(differs) {
            bail!(
                "{}: is sampled at {rate} Hz, but the model needs {model_rate} Hz; bring it there \
                 with --resample, or adapt a model at this rate",
                recording.path.display()
            );
        }
        if let Some(rate) = self.rate.filter(differs) {
            bail!(
                "--rate {rate}: the model {} needs {model_rate} Hz; bring the recordings there \
                 with --resample, or adapt a model at this rate",
                self.model.display()
            );
        }
        Ok(())
    }

    /// Says that files without a sample rate were read at the model's rate. `None` if the user gave
    /// a rate.
    pub(crate) fn rate_note(&self, front_end: &FrontEnd<'_>, unrated: &[&Path]) -> Option<String> {
        let (first, others) = unrated.split_first()?;
        let others = match others.len() {
            0 => String::new(),
            more => format!(" and {}", plural(more, "more file", "more files")),
        };
        self.rate.is_none().then(|| {
            format!(
                "{}{others}: no sample rate; read at the model's {} Hz, give another with --rate HZ",
                first.display(),
                front_end.rate_hz
            )
        })
    }

    /// Says in words how many of the model's bands lose signal by resampling.
    pub(crate) fn resample_note(&self, front_end: &FrontEnd<'_>) -> Option<String> {
        let rate_hz = f64::from(front_end.rate_hz);
        let bands = rolled_off(front_end.band_edges, front_end.fft_len, rate_hz);
        (self.resample && bands > 0).then(|| rolled_off_text(bands, rate_hz))
    }

    /// Returns the recording at the model's rate.
    fn resampled(&self, recording: Recording, model_rate: f64) -> Result<Recording> {
        let from_hz = recording.rate_hz.or(self.rate).unwrap_or(model_rate);
        if same_rate(from_hz, model_rate) {
            return Ok(recording);
        }
        let rates = Some((from_hz, model_rate));
        Ok(recording.converted(&Conversion { rates, ..Conversion::default() })?)
    }
}
