//! Simulated machines: recordings with known labels, physical enough to try the method on.
//!
//! A machine is a shaft, a bearing, structural modes and a sensor. Shaft orders and the impacts of
//! defects excite the modes. The impacts come at the bearing's characteristic frequencies, with
//! slip and load-zone modulation. Rolling noise always excites the modes. The machines of one
//! simulation belong to one family. They differ in speed, modes, load, fault size, sensor gain,
//! mounting and noise, like one motor type installed in different places.
//!
//! One seed gives the same bytes on every platform: see `random.rs`.

mod class;
mod file;
mod force;
mod machine;
pub(crate) mod random;
mod resonator;
mod vibration;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::Serialize;

use crate::data::manifest::{Manifest, Row};
use crate::data::recording::MAX_AXES;
use crate::files::output::{self, OutputError};
use crate::words::plural;
use random::Random;

pub use class::{Class, UnknownClass};
pub use file::FileFormat;
pub use machine::{Machine, Mode, Noise, Paths, Sensor};

/// Random streams below this number belong to machines; streams from this number on belong to
/// recordings.
const RECORDING_STREAMS: u64 = 1 << 32;
/// The largest number of machines. Each is named by a letter.
const MAX_MACHINES: usize = 26;

/// Settings of a simulation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SimulateSettings {
    /// Seed of everything random.
    pub seed: u64,
    /// Sampling rate, a whole number of Hz.
    pub rate_hz: u32,
    /// Length of each recording.
    pub seconds: f64,
    /// Axes of the sensor, 1 to 3.
    pub axes: usize,
    /// Number of machines, 1 to 26; the first is the family's reference.
    pub machines: usize,
    /// The conditions to record on each machine.
    pub classes: Vec<Class>,
    /// File format of the recordings.
    pub format: FileFormat,
}

impl Default for SimulateSettings {
    /// Two machines, seven conditions, ten seconds of one axis at 20 kHz.
    fn default() -> Self {
        Self {
            seed: 1,
            rate_hz: 20_000,
            seconds: 10.0,
            axes: 1,
            machines: 2,
            classes: Class::ALL.to_vec(),
            format: FileFormat::Wav,
        }
    }
}

/// Summary of a finished simulation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The manifest of all recordings.
    #[serde(serialize_with = "crate::files::shown")]
    pub manifest: PathBuf,
    /// Number of recordings.
    pub recordings: usize,
    /// Frames in each recording.
    pub frames: usize,
    /// The machines.
    pub machines: Vec<MachineSummary>,
    /// The settings.
    pub settings: SimulateSettings,
}

/// One simulated machine: the facts that matter to a reader of the manifest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MachineSummary {
    /// Its domain in the manifest.
    pub domain: String,
    /// Shaft speed.
    pub rpm: f64,
    /// Frequencies of its modes.
    pub modes_hz: Vec<f64>,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} of {} s at {} Hz in {}",
            plural(self.recordings, "recording", "recordings"),
            self.settings.seconds,
            self.settings.rate_hz,
            self.manifest.display()
        )?;
        for machine in &self.machines {
            let modes: Vec<String> = machine.modes_hz.iter().map(|hz| format!("{hz:.0}")).collect();
            writeln!(
                f,
                "{}: {:.0} rpm, modes at {} Hz",
                machine.domain,
                machine.rpm,
                modes.join(", ")
            )?;
        }
        Ok(())
    }
}

/// Why a simulation was refused or could not be written.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// A setting is out of range.
    #[error("{setting} is {value}; it must be {range}")]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// Its value.
        value: String,
        /// The values it may have.
        range: &'static str,
    },
    /// A folder could not be made.
    #[error("{}: cannot make the folder: {source}; choose another for the output", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The error from the operating system.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The samples do not fit a WAV file.
    #[error("{}: cannot write the samples: {source}", path.display())]
    Wav {
        /// The file.
        path: PathBuf,
        /// The error from the WAV writer.
        source: hound::Error,
    },
}

impl SimulateSettings {
    fn check(&self) -> Result<(), SimulateError> {
        let refuse =
            |setting, value: String, range| Err(SimulateError::Setting { setting, value, range });
        if !(1_000..=200_000).contains(&self.rate_hz) {
            return refuse("rate", self.rate_hz.to_string(), "1000 to 200000 Hz");
        }
        if !(self.seconds >= 0.1 && self.seconds <= 600.0) {
            return refuse("seconds", self.seconds.to_string(), "0.1 to 600");
        }
        if !(1..=MAX_AXES).contains(&self.axes) {
            return refuse("axes", self.axes.to_string(), "1 to 3");
        }
        if !(1..=MAX_MACHINES).contains(&self.machines) {
            return refuse("machines", self.machines.to_string(), "1 to 26");
        }
        let repeated =
            (1..self.classes.len()).any(|i| self.classes[..i].contains(&self.classes[i]));
        if self.classes.is_empty() || repeated {
            let labels: Vec<&str> = self.classes.iter().map(|class| class.label()).collect();
            let range = "one class or more, each once";
            return refuse("classes", format!("{labels:?}"), range);
        }
        Ok(())
    }
}

/// Writes one file for each machine of a family and each class. Writes `manifest.csv` once all of
/// them exist.
///
/// `progress` gets the number of finished recordings and the total, from any thread. A recording
/// does not depend on which other recordings are simulated.
pub fn simulate(
    settings: &SimulateSettings,
    out_dir: &Path,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Summary, SimulateError> {
    settings.check()?;
    let machines: Vec<Machine> =
        (0..settings.machines).map(|number| Machine::of_family(number, settings.seed)).collect();
    simulate_machines(&machines, settings, out_dir, progress)
}

/// Does the same for given machines. The number of machines in the settings is not used.
pub fn simulate_machines(
    machines: &[Machine],
    settings: &SimulateSettings,
    out_dir: &Path,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Summary, SimulateError> {
    settings.check()?;
    let frames = (settings.seconds * f64::from(settings.rate_hz)).round() as usize;
    for machine in machines {
        let path = out_dir.join(&machine.name);
        std::fs::create_dir_all(&path).map_err(|source| SimulateError::Folder { path, source })?;
    }
    let recordings: Vec<(usize, Class)> = (0..machines.len())
        .flat_map(|number| settings.classes.iter().map(move |&class| (number, class)))
        .collect();
    let done = AtomicUsize::new(0);
    let rows = recordings
        .par_iter()
        .map(|&(number, class)| {
            let machine = &machines[number];
            let row = row(machine, class, settings, out_dir);
            let samples = record(settings, number, machine, class, frames);
            let bytes = settings
                .format
                .bytes(&samples, settings.axes, settings.rate_hz)
                .map_err(|source| SimulateError::Wav { path: row.path.clone(), source })?;
            output::write(&row.path, &bytes)?;
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, recordings.len());
            Ok(row)
        })
        .collect::<Result<Vec<Row>, SimulateError>>()?;
    let manifest = out_dir.join("manifest.csv");
    output::write(&manifest, Manifest::to_csv(&rows).as_bytes())?;
    Ok(Summary {
        manifest,
        recordings: rows.len(),
        frames,
        machines: machines
            .iter()
            .map(|machine| MachineSummary {
                domain: machine.name.clone(),
                rpm: machine.rpm,
                modes_hz: machine.modes.iter().map(|mode| mode.frequency_hz).collect(),
            })
            .collect(),
        settings: settings.clone(),
    })
}

fn record(
    settings: &SimulateSettings,
    number: usize,
    machine: &Machine,
    class: Class,
    frames: usize,
) -> Vec<f32> {
    // The stream depends on the class itself, not on its position among the requested classes.
    let stream = RECORDING_STREAMS + (number * Class::ALL.len()) as u64 + class as u64;
    let mut random = Random::new(settings.seed, stream);
    let rate_hz = f64::from(settings.rate_hz);
    vibration::vibration(machine, class, rate_hz, frames, settings.axes, &mut random)
}

fn row(machine: &Machine, class: Class, settings: &SimulateSettings, out_dir: &Path) -> Row {
    let name = format!("{}/{class}.{}", machine.name, settings.format);
    Row {
        line: 0,
        path: out_dir.join(&name),
        name,
        label: Some(class.label().into()),
        domain: machine.name.clone(),
        rate_hz: f64::from(settings.rate_hz),
        // A tachometer shows tenths of a turn per minute.
        rpm: Some((machine.rpm * 10.0).round() / 10.0),
        channel: settings.format.channel(settings.axes),
        unit: None,
        full_scale: None,
    }
}
