//! `rebearing frequencies`: a bearing's geometry to its characteristic frequencies, and the
//! evidence for each in recordings.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde_json::{Value, json};

use super::{Outcome, shown};
use crate::args::rate::rate;
use crate::progress::Step;
use rebearing_host::data::bearing::Bearing;
use rebearing_host::data::recording;
use rebearing_host::evidence::{Evidence, Part, of_recording};
use rebearing_host::words::axis_name;

/// Characteristic frequencies of a bearing from its geometry, and the evidence for them in
/// recordings.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rebearing frequencies --bearing 9,7.94,39.04 --rpm 1797\n  \
    rebearing frequencies --bearing 9,7.94,39.04 --rpm 1797 --rate 12000 --channel X105_DE_time IR007_0.mat\n\n\
    The evidence is how far the envelope spectrum stands above its floor at a frequency and its \
    harmonics; noise alone gives some 5 dB.")]
pub(super) struct FrequenciesArgs {
    /// Geometry of the bearing: number of balls, diameter of a ball, diameter of the circle
    /// through their centres (both in the same unit), contact angle in degrees [default: 0].
    #[arg(long, value_name = "BALLS,BALL,PITCH[,ANGLE]", value_parser = parse_bearing)]
    bearing: Bearing,
    /// Shaft speed in rpm; needed for Hz and for recordings.
    #[arg(long, value_name = "N")]
    rpm: Option<f64>,
    /// Sample rate of files that do not carry one, in Hz.
    #[arg(long, value_name = "HZ", value_parser = rate)]
    rate: Option<f64>,
    /// Variable of a .mat (`run.x` in structures), array of an .npz, column of a table, index of a
    /// WAV channel.
    #[arg(long, value_name = "C")]
    channel: Option<String>,
    /// Recordings to look for the frequencies in.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Reads a geometry: `balls,ball diameter,pitch diameter[,contact angle in degrees]`.
pub(super) fn parse_bearing(text: &str) -> Result<Bearing, String> {
    let numbers: Vec<f64> = text
        .split(',')
        .map(|number| number.trim().parse().map_err(|_| format!("`{number}` is not a number")))
        .collect::<Result<_, _>>()?;
    let (balls, ball_diameter, pitch_diameter, degrees) = match *numbers.as_slice() {
        [balls, ball, pitch] => (balls, ball, pitch, 0.0),
        [balls, ball, pitch, degrees] => (balls, ball, pitch, degrees),
        _ => return Err("give 3 or 4 numbers, as in 9,7.94,39.04".into()),
    };
    if !(3.0..=1000.0).contains(&balls) || balls.fract() > 0.0 {
        return Err(format!("{balls} balls; a bearing has 3 or more, a whole number"));
    }
    if !(ball_diameter > 0.0 && ball_diameter < pitch_diameter && pitch_diameter.is_finite()) {
        return Err(format!(
            "a ball of {ball_diameter} does not fit a pitch circle of {pitch_diameter}"
        ));
    }
    if !(0.0..90.0).contains(&degrees) {
        return Err(format!("a contact angle of {degrees} degrees; it is between 0 and 90"));
    }
    let contact_angle = degrees.to_radians();
    Ok(Bearing { balls: balls as u32, ball_diameter, pitch_diameter, contact_angle })
}

pub(super) fn run(args: &FrequenciesArgs) -> Result<Outcome> {
    let bearing = &args.bearing;
    if let Some(rpm) = args.rpm.filter(|rpm| !(rpm.is_finite() && *rpm > 0.0)) {
        bail!("--rpm {rpm}: a shaft speed is a positive number of turns per minute");
    }
    let orders = bearing.orders();
    let hertz = args.rpm.map(|rpm| bearing.frequencies_hz(rpm));
    let mut text = String::from("         orders");
    text.push_str(if hertz.is_some() { "        Hz\n" } else { "\n" });
    let mut frequencies = serde_json::Map::new();
    for part in Part::ALL {
        let order = part.frequency(&orders);
        let hz = hertz.map(|hertz| part.frequency(&hertz));
        let _ = write!(text, "{:<6} {order:>8.4}", part.abbreviation());
        let _ = writeln!(text, "{}", hz.map_or(String::new(), |hz| format!("  {hz:>8.2}")));
        let name = part.abbreviation().trim_start_matches("2×").to_lowercase();
        // A ball strikes at twice its spin; the field has the spin itself, as its name says.
        let times = if part == Part::Ball { 0.5 } else { 1.0 };
        frequencies.insert(name, json!({ "orders": times * order, "hz": hz.map(|hz| times * hz) }));
    }
    let mut files = Vec::new();
    for path in &args.files {
        let rpm = args.rpm.context("recordings need the shaft's speed: give --rpm N")?;
        let _step = Step::start(format!("looking at {}", path.display()));
        let recording = recording::read(path, args.channel.as_deref())?;
        let rate_hz = recording
            .rate_hz
            .or(args.rate)
            .with_context(|| format!("{}: give its sample rate: --rate HZ", path.display()))?;
        let axes = of_recording(&recording, rate_hz, rpm, bearing)
            .with_context(|| path.display().to_string())?;
        let _ = writeln!(text, "{}", path.display());
        for (axis, evidence) in axes.iter().enumerate() {
            let _ = writeln!(text, "  axis {}: {}", axis_name(axis), sentence(evidence));
        }
        files.push(json!({ "file": shown(path), "axes": axes }));
    }
    let json = json!({ "rpm": args.rpm, "frequencies": frequencies, "files": Value::from(files) });
    Ok(Outcome::new(text, json))
}

fn sentence(evidence: &[Evidence]) -> String {
    let parts = evidence.iter().map(|e| format!("{} {:.1} dB", e.part.abbreviation(), e.level_db));
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::parse_bearing;

    #[test]
    fn a_geometry_that_no_bearing_has_is_refused() {
        let bearing = parse_bearing("9, 7.94,39.04").unwrap();
        assert_eq!((bearing.balls, bearing.contact_angle.to_bits()), (9, 0));
        assert!(parse_bearing("9,7.94,39.04,15").unwrap().contact_angle > 0.26);
        for wrong in
            ["9,7.94", "9,x,39", "2,7.94,39", "9.5,7,39", "9,40,39", "9,7,39,90", "9,-1,39"]
        {
            assert!(parse_bearing(wrong).is_err(), "{wrong}");
        }
    }
}
