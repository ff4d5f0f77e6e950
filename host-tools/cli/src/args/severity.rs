//! Options of `rebearing adapt` for the severity of a vibration.

use clap::Args;
use rebearing_host::build::severity::SeveritySettings;
use rebearing_host::data::units::Unit;

/// Options for the severity of a vibration; f32 models only.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Severity")]
pub(crate) struct SeverityArgs {
    /// Lower limits of zones B, C and D, as velocity rms in mm/s. Take the limits for your
    /// machine's group and support from ISO 20816. For its part 3 they are often quoted as
    /// 1.4,2.8,4.5 (15 to 300 kW, rigid) and 2.3,4.5,7.1 (above 300 kW, rigid, or 15 to 300 kW,
    /// flexible).
    #[arg(long, value_name = "B,C,D", value_parser = limits)]
    severity: Option<[f64; 3]>,
    /// Unit of the recordings: g, m/s2, or the size of one unit in m/s² [default: the manifest's].
    #[arg(long, value_name = "g|m/s2|X", value_parser = unit, requires = "severity")]
    unit: Option<f64>,
    /// Frequency band of the velocity, in Hz.
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
    numbers(text)
        .ok_or("give three rising numbers in mm/s with commas between them, as 1.4,2.8,4.5".into())
}

fn band(text: &str) -> Result<[f64; 2], String> {
    numbers(text)
        .ok_or("give two rising numbers in Hz with a comma between them, as 10,1000".into())
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
    /// Returns the settings, if severity is wanted.
    pub(crate) fn settings(&self) -> Option<SeveritySettings> {
        let Self { severity, unit, severity_band } = *self;
        severity.map(|limits| SeveritySettings { limits, unit, band_hz: severity_band })
    }
}
