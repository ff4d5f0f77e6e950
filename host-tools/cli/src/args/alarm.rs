//! Options of `rebearing adapt` for when findings make an alarm.

use clap::Args;
use rebearing::model::AlarmParameters;
use rebearing_host::build::alarm::{AlarmSettings, CLEAR, RAISE, RunningRms};

/// Options for when the device raises an alarm. The model file carries them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Alarm on the device")]
pub(crate) struct AlarmArgs {
    /// Number of windows to average the probabilities over, 1 to 256. There is no alarm before that
    /// many windows.
    #[arg(long, value_name = "N", default_value_t = AlarmParameters::DEFAULT.average)]
    average: u32,
    /// Raise an alarm if the mean probability that the machine is not healthy is at least this.
    #[arg(long, value_name = "P", default_value_t = RAISE)]
    raise: f64,
    /// Clear the alarm if that probability is below this.
    #[arg(long, value_name = "P", default_value_t = CLEAR)]
    clear: f64,
    /// Windows in a row that must pass a threshold before the alarm changes.
    #[arg(long, value_name = "N", default_value_t = AlarmParameters::DEFAULT.delay)]
    delay: u32,
    /// Windows to ignore after a start, while the machine runs up.
    #[arg(long, value_name = "N", default_value_t = AlarmParameters::DEFAULT.settle)]
    settle: u32,
    /// Windows in a row with a sensor fault before the device reports one as its state.
    #[arg(long, value_name = "N", default_value_t = AlarmParameters::DEFAULT.fault_windows)]
    fault_windows: u32,
    /// End an alarm as soon as it clears, instead of keeping it until it is acknowledged.
    #[arg(long)]
    no_hold: bool,
    /// The machine runs if the rms of an axis is at least this, in the unit of the recordings.
    /// Windows of a machine that stands still are not judged. `auto` takes half the rms of the
    /// quietest window; the machine must have been running in all of these recordings [default: it
    /// always runs].
    #[arg(long, value_name = "X|auto", value_parser = running_rms)]
    running_rms: Option<RunningRms>,
    /// The machine stands still if the rms of every axis is below this [default: three quarters of
    /// --running-rms].
    #[arg(long, value_name = "X", requires = "running_rms")]
    idle_rms: Option<f64>,
}

fn running_rms(text: &str) -> Result<RunningRms, String> {
    match text.parse::<f64>() {
        _ if text == "auto" => Ok(RunningRms::Auto),
        Ok(rms) if rms.is_finite() && rms > 0.0 => Ok(RunningRms::Given(rms)),
        _ => Err("give `auto`, or an rms above zero in the unit of the recordings".into()),
    }
}

impl AlarmArgs {
    /// Returns the settings.
    pub(crate) fn settings(&self) -> AlarmSettings {
        AlarmSettings {
            average: self.average,
            raise: self.raise,
            clear: self.clear,
            delay: self.delay,
            settle: self.settle,
            fault_windows: self.fault_windows,
            hold: !self.no_hold,
            running_rms: self.running_rms,
            idle_rms: self.idle_rms,
        }
    }
}
