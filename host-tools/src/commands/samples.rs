//! Options of the commands that run a model over recordings.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use clap::Args;
use rebearing::model::FrontEnd;

use crate::recording::{self, Recording};

/// How to read recordings for a model.
#[derive(Debug, Args)]
pub(super) struct SampleArgs {
    /// Model file that `rebearing adapt` wrote.
    #[arg(long, value_name = "MODEL.rbm")]
    pub(super) model: PathBuf,
    /// Sample rate of files that do not carry one, in Hz; must be the model's.
    #[arg(long, value_name = "HZ")]
    pub(super) rate: Option<f64>,
    /// Shaft speed in turns per minute; models with orders or envelope need it.
    #[arg(long, value_name = "N")]
    pub(super) rpm: Option<f64>,
    /// Variable of a .mat (`run.x` in structures), array of an .npz, column of a table, index of a
    /// WAV channel; several axes as `x;y;z`.
    #[arg(long, value_name = "C")]
    pub(super) channel: Option<String>,
}

impl SampleArgs {
    /// Reads a recording and checks that it is one the model can be run on.
    pub(super) fn read(&self, front_end: &FrontEnd<'_>, path: &Path) -> Result<Recording> {
        let read = recording::read(path, self.channel.as_deref())?;
        let recording = Recording { rpm: self.rpm, ..read };
        match self.rpm.zip(recording.shaft_hz()) {
            Some((rpm, hz)) => front_end
                .check_shaft_speed(hz)
                .map_err(|reason| anyhow!("--rpm {rpm}: {reason}"))?,
            None if front_end.orders.is_some() => bail!(
                "the model {} has features of shaft orders and needs the shaft's speed; give it \
                 with --rpm N",
                self.model.display()
            ),
            None => (),
        }
        let model_rate = f64::from(front_end.rate_hz);
        let differs = |rate: f64| (rate - model_rate).abs() > 1e-6 * model_rate;
        if let Some(rate) = recording.rate_hz.filter(|rate| differs(*rate)) {
            bail!(
                "{}: is sampled at {rate} Hz, but the model wants {model_rate} Hz; resample it, \
                 or adapt a model at this rate",
                path.display()
            );
        }
        if let Some(rate) = self.rate.filter(|rate| differs(*rate) || !rate.is_finite()) {
            bail!(
                "--rate {rate}: the model {} wants {model_rate} Hz; resample the recordings, or \
                 adapt a model at this rate",
                self.model.display()
            );
        }
        if recording.axes != front_end.axes {
            bail!(
                "{}: has {} axes, but the model wants {}; choose with --channel",
                path.display(),
                recording.axes,
                front_end.axes
            );
        }
        let longest = recording.segment_frames().into_iter().max().unwrap_or(0);
        if longest < front_end.window_len() {
            bail!(
                "{}: has {longest} samples, but a decision window of the model takes {}; record longer",
                path.display(),
                front_end.window_len()
            );
        }
        Ok(recording)
    }
}
