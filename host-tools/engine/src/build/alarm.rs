//! Settings of the alarm: when findings become an alarm on the device. The model file carries them.

use anyhow::{Context, Result, bail};
use rebearing::model::{AlarmParameters, IdleRms, ModelError, Rms, format, probability};

use crate::data::recording::Recording;
use crate::model::deployed::DeployedModel;

/// A machine is idle below this share of the rms from which it runs.
const IDLE_SHARE: f64 = 0.75;
/// [`RunningRms::Auto`] takes this share of the quietest window. The machine ran in all windows, so
/// it is at most half as loud once it stands still.
const QUIETEST_SHARE: f64 = 0.5;
/// An alarm is raised from this mean probability on.
pub const RAISE: f64 = 0.7;
/// An alarm clears below this mean probability.
pub const CLEAR: f64 = 0.3;

/// Settings that say when findings become an alarm.
#[derive(Debug, Clone, PartialEq)]
pub struct AlarmSettings {
    /// Number of windows whose posteriors are averaged, 1 to 256.
    pub average: u32,
    /// An alarm is raised if the mean probability that the machine is not healthy is at least this.
    pub raise: f64,
    /// An alarm clears if that probability is below this.
    pub clear: f64,
    /// Number of windows in a row that must pass a threshold.
    pub delay: u32,
    /// Number of windows after a start that do not count.
    pub settle: u32,
    /// Number of windows in a row with a sensor fault that make the state a sensor fault.
    pub fault_windows: u32,
    /// Whether an alarm that has cleared waits to be acknowledged.
    pub hold: bool,
    /// The rms from which the machine runs; `None` if it always runs.
    pub running_rms: Option<RunningRms>,
    /// The machine stands still once the rms of every axis is below this. `None` takes three
    /// quarters of `running_rms`.
    pub idle_rms: Option<f64>,
}

/// The rms from which a machine runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RunningRms {
    /// Half of the rms of the quietest window. The machine was running in all recordings.
    Auto,
    /// A number in the unit of the recordings.
    Given(f64),
}

impl Default for AlarmSettings {
    fn default() -> Self {
        let AlarmParameters { average, delay, settle, fault_windows, hold, .. } =
            AlarmParameters::DEFAULT;
        Self {
            average,
            raise: RAISE,
            clear: CLEAR,
            delay,
            settle,
            fault_windows,
            hold,
            running_rms: None,
            idle_rms: None,
        }
    }
}

impl AlarmSettings {
    /// Returns all parameters except those that need a model.
    pub fn parameters(&self) -> Result<AlarmParameters> {
        for (field, p) in [("raise", self.raise), ("clear", self.clear)] {
            if !(p > 0.0 && p <= 1.0) {
                bail!("`{field}` {p}: a probability is above 0 and at most 1");
            }
        }
        let parameters = AlarmParameters {
            average: self.average,
            raise: probability(self.raise as f32),
            clear: probability(self.clear as f32),
            delay: self.delay,
            settle: self.settle,
            fault_windows: self.fault_windows,
            hold: self.hold,
            idle: None,
        };
        parameters.check().map_err(|error| match error {
            ModelError::OutOfRange { field, .. } => self.explain(field),
            error => error.into(),
        })?;
        Ok(parameters)
    }

    fn explain(&self, field: &str) -> anyhow::Error {
        let Self { average, raise, clear, delay, settle, fault_windows, .. } = self;
        let most = format::MAX_ALARM_WINDOWS;
        let text = match field {
            "windows to average" => format!("`average` {average}: 1 to {}", format::MAX_AVERAGE),
            "raise threshold" => format!("`raise` {raise}: above 0, at most 1"),
            "clear threshold" => format!("`clear` {clear}: above 0 and below `raise` {raise}"),
            "delay" => format!("`delay` {delay}: 1 to {most} windows"),
            "settle time" => format!("`settle` {settle}: 0 to {most} windows"),
            "fault windows" => format!("`fault_windows` {fault_windows}: 1 to {most} windows"),
            field => format!("the {field} is out of its range"),
        };
        anyhow::Error::msg(text)
    }

    /// Returns the alarm parameters for `model`. Runs `model` over its recordings if a threshold
    /// must be found.
    pub fn for_model(
        &self,
        model: &DeployedModel,
        recordings: &[Recording],
    ) -> Result<AlarmParameters> {
        let parameters = self.parameters()?;
        let Some(running) = self.running_rms else { return Ok(parameters) };
        let until = match running {
            RunningRms::Given(rms) => rms,
            RunningRms::Auto => QUIETEST_SHARE * quietest(model, recordings)?,
        };
        let below = self.idle_rms.unwrap_or(IDLE_SHARE * until);
        if !(below >= 0.0 && below <= until) {
            bail!("`idle_rms` {below}: at least 0 and at most `running_rms`, {until}");
        }
        let [below, until] = [below, until].map(|rms| in_model(model, rms));
        let idle = IdleRms { below: below?, until: until? };
        Ok(AlarmParameters { idle: Some(idle), ..parameters })
    }
}

/// Converts an rms in the unit of the recordings to the form that `model` compares.
fn in_model(model: &DeployedModel, rms: f64) -> Result<Rms> {
    match model {
        DeployedModel::F32(_) => Rms::of_samples(rms as f32),
        DeployedModel::I16(bytes) => {
            let q8 = rms * f64::from(bytes.model().counts_per_unit()) * 256.0;
            (q8 <= f64::from(u32::MAX)).then_some(Rms::of_counts(q8.round() as u32))
        }
    }
    .with_context(|| format!("`running_rms`, `idle_rms`: {rms} is more than the device can hold"))
}

/// Returns the rms of the quietest window. The rms of a window is that of its loudest axis.
fn quietest(model: &DeployedModel, recordings: &[Recording]) -> Result<f64> {
    let mut quietest = f64::INFINITY;
    for recording in recordings {
        for finding in model.run(recording)?.into_iter().filter_map(|finding| finding.result.ok()) {
            let loudest = finding.statistics.iter().map(|axis| f64::from(axis.rms));
            quietest = quietest.min(loudest.fold(0.0, f64::max));
        }
    }
    if !(quietest > 0.0 && quietest.is_finite()) {
        bail!("`running_rms` auto: no window of the recordings has an rms; give a number instead");
    }
    Ok(quietest)
}
