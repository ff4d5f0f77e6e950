//! Options of `rebearing adapt` for when findings make an alarm.

use clap::Args;
use rebearing::model::AlarmParameters;
use rebearing_host::build::alarm::{AlarmSettings, CLEAR, RAISE, RunningRms};

/// When windows make an alarm on the device; the model file carries it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Decision over time (windows are windows)")]
pub(crate) struct AlarmArgs {
    /// Windows whose posteriors are averaged, 1 to 256. There is no alarm before so many.
    #[arg(long, value_name = "N", default_value_t = AlarmParameters::DEFAULT.average)]
    average: u32,
    /// An alarm is raised where the mean probability that the machine is not healthy is at
    /// least this.
    #[arg(long, value_name = "P", default_value_t = RAISE)]
    raise: f64,
    /// It clears where that is below this.
    #[arg(long, value_name = "P", default_value_t = CLEAR)]
    clear: f64,
    /// Windows in a row that a threshold must be passed for.
    #[arg(long, value_name = "N", default_value_t = AlarmParameters::DEFAULT.delay)]
    delay: u32,
    /// Windows after a start that are not judged, so that the machine can run up.
    #[arg(long, value_name = "N", default_value_t = AlarmParameters::DEFAULT.settle)]
    settle: u32,
    /// Windows in a row with a sensor fault that make it the state of the device.
    #[arg(long, value_name = "N", default_value_t = AlarmParameters::DEFAULT.fault_windows)]
    fault_windows: u32,
    /// An alarm that has cleared is gone, and does not wait to be acknowledged.
    #[arg(long)]
    no_hold: bool,
    /// The machine runs where the rms of an axis is at least this, in the unit of the
    /// recordings, and is not judged while it stands; `auto` takes half of the quietest window
    /// of these recordings, in all of which the machine must have been running
    /// [default: it always runs].
    #[arg(long, value_name = "X|auto", value_parser = running_rms)]
    running_rms: Option<RunningRms>,
    /// The machine stands once the rms of every axis is below this [default: three quarters of
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
    /// What is asked for.
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
