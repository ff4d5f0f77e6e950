//! Options of `rebearing adapt` for what the device makes of its windows: decision and severity.

use anyhow::{Context, Result, bail};
use clap::Args;
use rebearing::decision::{IdleRms, Parameters, Rms, probability};
use rebearing::model::{ModelError, format};
use rebearing::severity::SeverityParameters;

use rebearing_host::data::recording::Recording;
use rebearing_host::data::units::Unit;
use rebearing_host::features::front_end::FrontEndSettings;
use rebearing_host::model::deployed::DeployedModel;
use rebearing_host::model::sections::{Section, decision_section, severity_section};

/// An idle machine is below this share of the rms from which it runs.
const IDLE_SHARE: f64 = 0.75;
/// `--running-rms auto`: this share of the quietest window. The machine ran in all of them, so
/// that it is half as loud at most once it stands.
const QUIETEST_SHARE: f64 = 0.5;

/// When windows make an alarm on the device; the model file carries it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Decision over time (windows are decision windows)")]
pub(crate) struct DecisionArgs {
    /// Windows whose posteriors are averaged, 1 to 256. There is no alarm before so many.
    #[arg(long, value_name = "N", default_value_t = Parameters::DEFAULT.average)]
    average: u32,
    /// An alarm is raised where the mean probability that the machine is not healthy is at
    /// least this.
    #[arg(long, value_name = "P", default_value_t = 0.7)]
    raise: f64,
    /// It clears where that is below this.
    #[arg(long, value_name = "P", default_value_t = 0.3)]
    clear: f64,
    /// Windows in a row that a threshold must be passed for.
    #[arg(long, value_name = "N", default_value_t = Parameters::DEFAULT.delay)]
    delay: u32,
    /// Windows after a start that are not judged, so that the machine can run up.
    #[arg(long, value_name = "N", default_value_t = Parameters::DEFAULT.settle)]
    settle: u32,
    /// Windows in a row with a sensor fault that make it the state of the device.
    #[arg(long, value_name = "N", default_value_t = Parameters::DEFAULT.fault_windows)]
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

/// The rms from which a machine runs.
#[derive(Debug, Clone, Copy, PartialEq)]
enum RunningRms {
    Auto,
    Given(f64),
}

fn running_rms(text: &str) -> Result<RunningRms, String> {
    match text.parse::<f64>() {
        _ if text == "auto" => Ok(RunningRms::Auto),
        Ok(rms) if rms.is_finite() && rms > 0.0 => Ok(RunningRms::Given(rms)),
        _ => Err("give `auto`, or an rms above zero in the unit of the recordings".into()),
    }
}

impl DecisionArgs {
    /// All parameters but those that need a model.
    pub(crate) fn parameters(&self) -> Result<Parameters> {
        for (flag, p) in [("--raise", self.raise), ("--clear", self.clear)] {
            if !(p > 0.0 && p <= 1.0) {
                bail!("{flag} {p}: a probability is above 0 and at most 1");
            }
        }
        let parameters = Parameters {
            average: self.average,
            raise: probability(self.raise as f32),
            clear: probability(self.clear as f32),
            delay: self.delay,
            settle: self.settle,
            fault_windows: self.fault_windows,
            hold: !self.no_hold,
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
        let most = format::MAX_DECISION_WINDOWS;
        let text = match field {
            "windows to average" => format!("--average {average}: 1 to {}", format::MAX_AVERAGE),
            "raise threshold" => format!("--raise {raise}: above 0, at most 1"),
            "clear threshold" => format!("--clear {clear}: above 0 and below --raise {raise}"),
            "delay" => format!("--delay {delay}: 1 to {most} windows"),
            "settle time" => format!("--settle {settle}: 0 to {most} windows"),
            "fault windows" => format!("--fault-windows {fault_windows}: 1 to {most} windows"),
            field => format!("the {field} is out of its range"),
        };
        anyhow::Error::msg(text)
    }

    /// Parameters for `model`, which runs over its recordings where it has to find a threshold.
    pub(crate) fn for_model(
        &self,
        model: &DeployedModel,
        recordings: &[Recording],
    ) -> Result<Parameters> {
        let parameters = self.parameters()?;
        let Some(running) = self.running_rms else { return Ok(parameters) };
        let until = match running {
            RunningRms::Given(rms) => rms,
            RunningRms::Auto => QUIETEST_SHARE * quietest(model, recordings)?,
        };
        let below = self.idle_rms.unwrap_or(IDLE_SHARE * until);
        if !(below >= 0.0 && below <= until) {
            bail!("--idle-rms {below}: at least 0 and at most --running-rms, {until}");
        }
        let [below, until] = [below, until].map(|rms| in_model(model, rms));
        let idle = IdleRms { below: below?, until: until? };
        Ok(Parameters { idle: Some(idle), ..parameters })
    }
}

/// An rms in the unit of the recordings as `model` compares it.
fn in_model(model: &DeployedModel, rms: f64) -> Result<Rms> {
    match model {
        DeployedModel::F32(_) => Rms::of_samples(rms as f32),
        DeployedModel::I16(bytes) => {
            let q8 = rms * f64::from(bytes.model().counts_per_unit()) * 256.0;
            (q8 <= f64::from(u32::MAX)).then_some(Rms::of_counts(q8.round() as u32))
        }
    }
    .with_context(|| format!("--running-rms, --idle-rms: {rms} is more than the device can hold"))
}

/// Rms of the quietest window: of its loudest axis.
fn quietest(model: &DeployedModel, recordings: &[Recording]) -> Result<f64> {
    let mut quietest = f64::INFINITY;
    for recording in recordings {
        for finding in model.run(recording)?.into_iter().filter_map(|report| report.finding.ok()) {
            let loudest = finding.statistics.iter().map(|axis| f64::from(axis.rms));
            quietest = quietest.min(loudest.fold(0.0, f64::max));
        }
    }
    if !(quietest > 0.0 && quietest.is_finite()) {
        bail!("--running-rms auto: no window of the recordings has an rms; give a number instead");
    }
    Ok(quietest)
}

/// How severe a vibration is, beside what it is; f32 models only.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Severity")]
pub(crate) struct SeverityArgs {
    /// Velocity rms in mm/s from which a vibration is in zone B, C and D. Take the limits of
    /// your machine's group and support from ISO 20816: for its part 3 these are often quoted
    /// as 1.4,2.8,4.5 (15 to 300 kW, rigid) and 2.3,4.5,7.1 (above 300 kW, rigid, or 15 to
    /// 300 kW, flexible).
    #[arg(long, value_name = "B,C,D", value_parser = limits)]
    severity: Option<[f64; 3]>,
    /// Unit of the recordings: g, m/s2, or the m/s² that one unit stands for [default: the
    /// manifest's].
    #[arg(long, value_name = "g|m/s2|X", value_parser = unit, requires = "severity")]
    unit: Option<f64>,
    /// Frequencies in Hz that count for the velocity.
    #[arg(long, value_name = "LOW,HIGH", default_value = "10,1000", value_parser = band, requires = "severity")]
    severity_band: [f64; 2],
}

fn numbers<const N: usize>(text: &str) -> Option<[f64; N]> {
    let numbers: Option<Vec<f64>> =
        text.split(',').map(|part| part.trim().parse().ok().filter(|x: &f64| *x > 0.0)).collect();
    let numbers: [f64; N] = numbers?.try_into().ok()?;
    let increasing = numbers.windows(2).all(|pair| pair[0] < pair[1]);
    (increasing && numbers.iter().all(|x| x.is_finite())).then_some(numbers)
}

fn limits(text: &str) -> Result<[f64; 3], String> {
    numbers(text).ok_or("three rising numbers of mm/s with commas between, as 1.4,2.8,4.5".into())
}

fn band(text: &str) -> Result<[f64; 2], String> {
    numbers(text).ok_or("two rising numbers of Hz with a comma between, as 10,1000".into())
}

fn unit(text: &str) -> Result<f64, String> {
    match text.parse::<Unit>().ok().and_then(|unit| unit.acceleration()) {
        Some(unit) => Ok(unit),
        None => match text.parse::<f64>() {
            Ok(unit) if unit > 0.0 && (unit as f32).is_normal() => Ok(unit),
            _ => Err("give g, m/s2, or a number above zero".into()),
        },
    }
}

impl SeverityArgs {
    /// Whether severity was asked for.
    pub(crate) fn asked(&self) -> bool {
        self.severity.is_some()
    }

    /// The m/s² of one unit: as it was given, or as the manifest says.
    fn unit(&self, manifest: Option<&Unit>) -> Result<f64> {
        match (self.unit, manifest, manifest.and_then(Unit::acceleration)) {
            (Some(given), Some(name), Some(known)) if (given / known - 1.0).abs() > 1e-4 => bail!(
                "--unit: {given} m/s² to the unit, but the manifest's unit column says {name}; \
                 leave --unit out, or correct the manifest"
            ),
            (Some(given), ..) => Ok(given),
            (None, _, Some(known)) => Ok(known),
            (None, Some(name), None) => bail!(
                "--severity: the manifest's unit, {name}, is no acceleration; give the m/s² that \
                 one of it stands for with --unit, or counts their full scale in the manifest"
            ),
            (None, None, None) => bail!(
                "--severity: needs the unit of the recordings; give --unit, or fill the \
                 manifest's unit column"
            ),
        }
    }

    /// Parameters for a front end and the manifest's unit, if severity was asked for.
    pub(crate) fn parameters(
        &self,
        front_end: &FrontEndSettings,
        manifest: Option<&Unit>,
    ) -> Result<Option<SeverityParameters>> {
        let Some(limits) = self.severity else { return Ok(None) };
        let unit = self.unit(manifest)?;
        let [low, high] = self.severity_band;
        let bin_hz = front_end.rate_hz / front_end.fft_len as f64;
        let lowest = f64::from(format::SEVERITY_BINS) * bin_hz;
        if low < lowest {
            bail!(
                "--severity-band {low},{high}: a {}-point FFT at {} Hz tells frequencies apart \
                 from {lowest:.1} Hz on, which is the least that the band can begin at; fit with \
                 a longer --fft, record at a lower rate, or give --severity-band {:.1},{high}",
                front_end.fft_len,
                front_end.rate_hz,
                (10.0 * lowest).ceil() / 10.0
            );
        }
        if high > 0.5 * front_end.rate_hz {
            bail!(
                "--severity-band {low},{high}: recordings at {} Hz have nothing above {} Hz",
                front_end.rate_hz,
                0.5 * front_end.rate_hz
            );
        }
        let largest = f64::from(format::MAX_VELOCITY);
        if limits[2] > largest || unit > f64::from(format::MAX_UNIT) {
            bail!("--severity, --unit: at most {largest} mm/s and {} m/s²", format::MAX_UNIT);
        }
        Ok(Some(SeverityParameters {
            low_hz: low as f32,
            high_hz: high as f32,
            unit: unit as f32,
            limits: limits.map(|limit| limit as f32),
        }))
    }
}

/// The sections that a model needs: none for what a device does without them.
pub(crate) fn sections(
    decision: &Parameters,
    severity: Option<&SeverityParameters>,
) -> Vec<Section> {
    let changed = Some(decision).filter(|decision| **decision != Parameters::DEFAULT);
    changed.map(decision_section).into_iter().chain(severity.map(severity_section)).collect()
}
