//! `rebearing simulate`: recordings of simulated machines and their manifest.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::Outcome;
use crate::args::choice::{Choice as _, choice};
use crate::args::rate::whole_rate;
use crate::progress::Bar;
use rebearing_host::simulate::{Class, FileFormat, SimulateSettings, simulate};

/// Simulate machines: a recording for each machine and condition, and a manifest of them
///
/// The first machine, motor-a, is the one whose labels you know. Each further one is of the same
/// family in another place: another speed, shifted resonances, another sensor gain, mounting and
/// noise. The manifest labels them all, so that results can be checked; adaptation ignores the
/// target's labels.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rebearing simulate --out machines
  rebearing simulate --out machines --machines 4 --seconds 30 --seed 7
  rebearing simulate --out machines --axes 3 --classes Healthy,InnerRace,OuterRace
  rebearing simulate --out machines --format csv")]
pub(super) struct SimulateArgs {
    /// Folder for the recordings and manifest.csv; it is made if it does not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Everything random follows from it; the same seed gives the same bytes
    #[arg(long, value_name = "N", default_value_t = SimulateSettings::default().seed)]
    seed: u64,
    /// Sampling rate
    #[arg(long, value_name = "HZ", value_parser = whole_rate, default_value_t = SimulateSettings::default().rate_hz)]
    rate: u32,
    /// Length of each recording
    #[arg(long, value_name = "S", default_value_t = SimulateSettings::default().seconds)]
    seconds: f64,
    /// Axes of the accelerometer, 1 to 3
    #[arg(long, value_name = "N", default_value_t = SimulateSettings::default().axes)]
    axes: usize,
    /// How many machines, 1 to 26: motor-a, motor-b …
    #[arg(long, value_name = "N", default_value_t = SimulateSettings::default().machines)]
    machines: usize,
    /// Conditions to record, by label
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',', default_values_t = Class::ALL)]
    classes: Vec<Class>,
    /// What the recordings are written as
    #[arg(long, value_name = "FORMAT", value_parser = choice::<FileFormat>(), default_value = SimulateSettings::default().format.choice_name())]
    format: FileFormat,
}

impl SimulateArgs {
    fn settings(&self) -> SimulateSettings {
        SimulateSettings {
            seed: self.seed,
            rate_hz: self.rate,
            seconds: self.seconds,
            axes: self.axes,
            machines: self.machines,
            classes: self.classes.clone(),
            format: self.format,
        }
    }
}

/// Simulates and writes; progress goes to a terminal only.
pub(super) fn run(args: &SimulateArgs) -> Result<Outcome> {
    let summary = {
        let bar = Bar::start("simulating");
        simulate(&args.settings(), &args.out, &|done, total| bar.at(done, total))?
    };
    Ok(Outcome::new(summary.to_string(), serde_json::to_value(&summary)?))
}
