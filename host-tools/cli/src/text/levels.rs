//! The levels of the recordings as text and JSON, and warnings about the ones that do not fit.

use std::fmt::Write as _;

use rebearing_host::data::domain::Domain;
use rebearing_host::data::levels::{RecordingLevels, levels, median, odd_levels};
use rebearing_host::data::recording::RecordingError;
use rebearing_host::features::front_end::FrontEndSettings;
use rebearing_host::features::turns::short_window;
use rebearing_host::words::{axis_name, figure, plural};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use super::flags::as_flags;
use super::table::shorten;
use crate::commands::Outcome;

/// Largest number of recordings that the text lists one by one.
const LISTED: usize = 20;
/// Widths of the columns of names, labels and rms.
const NAME: usize = 34;
const LABEL: usize = 14;
const RMS: usize = 10;

/// The levels of the recordings of one or more domains, and the warnings about them.
#[derive(Debug, Default)]
pub(crate) struct LevelCheck {
    /// The domain of each recording, and its levels.
    recordings: Vec<(String, RecordingLevels)>,
    /// The unit of all samples, if it is one and known.
    unit: Option<String>,
    warnings: Vec<String>,
}

impl LevelCheck {
    /// Checks the recordings of one domain. `front_end` gives the length of a window.
    pub(crate) fn of(
        domain: &Domain,
        front_end: &FrontEndSettings,
    ) -> Result<Self, RecordingError> {
        let mut check = Self::default();
        check.add(domain, front_end)?;
        Ok(check)
    }

    /// Checks the recordings of a further domain.
    pub(crate) fn add(
        &mut self,
        domain: &Domain,
        front_end: &FrontEndSettings,
    ) -> Result<(), RecordingError> {
        let found = levels(domain)?;
        let odd = odd_levels(&found);
        self.warnings.extend(odd.iter().map(ToString::to_string));
        let short = short_window(front_end, &domain.recordings);
        let named = short.map(|short| format!("{}: {}", domain.name, as_flags(&short.to_string())));
        self.warnings.extend(named);
        let unit = domain.unit.as_ref().map(ToString::to_string);
        self.unit = if self.recordings.is_empty() {
            unit
        } else {
            self.unit.take().filter(|own| unit.as_ref() == Some(own))
        };
        self.recordings.extend(found.into_iter().map(|found| (domain.name.clone(), found)));
        Ok(())
    }

    /// Returns the outcome with the warnings above its text and the levels below, and both in its
    /// JSON.
    pub(crate) fn added_to(&self, mut outcome: Outcome) -> Outcome {
        outcome.text = self.warning_lines() + &outcome.text + &self.text();
        if let Value::Object(fields) = &mut outcome.json {
            fields.insert("recording_levels".into(), self.json());
            let warnings = fields.entry("warnings").or_insert_with(|| json!([]));
            if let Value::Array(warnings) = warnings {
                warnings.extend(self.warnings.iter().map(|warning| json!(warning)));
            }
        }
        outcome
    }

    /// Returns a line for each warning.
    fn warning_lines(&self) -> String {
        self.warnings.iter().fold(String::new(), |mut lines, warning| {
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "warning: {}", plain(warning));
            lines
        })
    }

    /// Returns the levels: a line for each recording, or one line if there are many.
    fn text(&self) -> String {
        if self.recordings.is_empty() {
            return String::new();
        }
        if self.recordings.len() > LISTED { self.summary() } else { self.table() }
    }

    fn table(&self) -> String {
        let rms = self.unit.as_ref().map_or("rms".into(), |unit| format!("rms {unit}"));
        let mut text = row(["recording", "label", &rms, "", "kurtosis", "crest"]);
        for (_, recording) in &self.recordings {
            let (axis, levels) = recording.loudest();
            let axis = if recording.axes.len() > 1 { axis_name(axis) } else { "" };
            text += &row([
                &recording.path.display().to_string(),
                recording.label.as_deref().unwrap_or("-"),
                &figure(levels.rms),
                axis,
                &figure(levels.kurtosis),
                &figure(levels.crest),
            ]);
        }
        text
    }

    fn summary(&self) -> String {
        let mut rms: Vec<f64> =
            self.recordings.iter().map(|(_, recording)| recording.loudest().1.rms).collect();
        rms.sort_by(f64::total_cmp);
        let [least, most] =
            [rms.first(), rms.last()].map(|rms| figure(rms.copied().unwrap_or(0.0)));
        let count = plural(rms.len(), "recording", "recordings");
        let unit = self.unit.as_ref().map_or(String::new(), |unit| format!(" {unit}"));
        let middle = figure(median(rms).unwrap_or(0.0));
        format!(
            "{count}: rms {least} to {most}{unit}, median {middle}; --json lists each with rms, \
             kurtosis and crest factor\n"
        )
    }

    /// Returns every recording with the levels of every axis.
    fn json(&self) -> Value {
        let one = |(domain, recording): &(String, RecordingLevels)| {
            let mut value = json!(recording);
            value["domain"] = json!(domain);
            value
        };
        self.recordings.iter().map(one).collect()
    }
}

/// Returns a line of the table: name, label, rms, axis, kurtosis and crest factor.
fn row([name, label, rms, axis, kurtosis, crest]: [&str; 6]) -> String {
    let (name, label, rms) = (fixed(name, NAME), fixed(label, LABEL), shorten(rms, RMS));
    let rms = " ".repeat(RMS.saturating_sub(rms.width())) + &rms;
    let mut line = String::new();
    // Writing to a string cannot fail.
    let _ = write!(line, "  {name} {label} {rms} {axis:<1} {kurtosis:>8} {crest:>6}");
    line.truncate(line.trim_end().len());
    line + "\n"
}

/// Returns `text` in exactly this number of columns, with its middle left out if it is longer.
fn fixed(text: &str, columns: usize) -> String {
    let mut text = shorten(&plain(text), columns);
    text.extend(std::iter::repeat_n(' ', columns.saturating_sub(text.width())));
    text
}

/// Returns `text` in one line: names in files may hold line breaks and codes of a terminal.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use rebearing_host::data::recording::Recording;
    use rebearing_host::features::front_end::EqualBands;

    use super::*;

    /// Returns a domain of square waves with these rms, as recordings of two axes.
    fn domain(rms: &[f32]) -> Domain {
        let square = |rms: f32| vec![[rms, 0.0, -rms, 0.5 * rms].repeat(9)];
        let name = |index| format!("a/folder/with a long name/{index}, with a line\nbreak.wav");
        Domain {
            name: "pump".into(),
            rate_hz: 20_000.0,
            axes: 2,
            recordings: rms
                .iter()
                .enumerate()
                .map(|(index, rms)| Recording {
                    rpm: Some(600.0),
                    ..Recording::in_memory(name(index), 2, square(*rms))
                })
                .collect(),
            labels: vec![Some("外輪の傷がとても大きい".into()); rms.len()],
            unit: Some(rebearing_host::data::units::Unit::G),
            ..Domain::default()
        }
    }

    fn checked(rms: &[f32]) -> LevelCheck {
        let front_end = FrontEndSettings::equal_bands(EqualBands::usual(20_000.0, 2)).unwrap();
        LevelCheck::of(&domain(rms), &front_end).unwrap()
    }

    #[test]
    fn lines_fit_into_80_columns_and_names_break_none() {
        let text = checked(&[0.3, 1e-9, 123_456.7]).text();
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.lines().all(|line| line.width() <= 80), "{text}");
        assert!(text.starts_with("  recording ") && text.contains(" rms g "), "{text}");
        assert!(text.contains(" 0.3 x "), "the louder axis is named: {text}");
    }

    #[test]
    fn warnings_stand_above_and_levels_below() {
        let outcome = Outcome::new("verdict\n".into(), json!({ "warnings": ["first"] }));
        let outcome = checked(&[0.3, 0.3, 0.3, 2e-4]).added_to(outcome);
        let lines: Vec<&str> = outcome.text.lines().collect();
        assert!(lines[0].starts_with("warning: a/folder"), "{}", outcome.text);
        assert!(lines[0].contains("break.wav: rms 0.0002, but 0.3 is usual"), "{}", outcome.text);
        let turns = "warning: pump: a window of 0.154 s holds 1.54 turns at 600 rpm";
        assert!(lines[1].starts_with(turns), "{}", outcome.text);
        assert!(lines[1].contains("--segments 3 or more") && lines[1].contains("--fft"));
        assert_eq!(lines[2], "verdict");
        assert_eq!(lines.len(), 3 + 5);
        let warnings = outcome.json["warnings"].as_array().unwrap();
        assert_eq!((warnings.len(), &warnings[0]), (3, &json!("first")));
        let levels = &outcome.json["recording_levels"];
        assert_eq!(levels.as_array().unwrap().len(), 4);
        let axes = levels[3]["axes"].as_array().unwrap();
        assert_eq!(axes.len(), 2);
        assert!((axes[0]["rms"].as_f64().unwrap() - 2e-4).abs() < 1e-9, "{axes:?}");
        assert_eq!((&levels[0]["domain"], &axes[0]["crest"]), (&json!("pump"), &json!(1.0)));
    }

    #[test]
    fn many_recordings_are_one_line() {
        let rms: Vec<f32> = (1..=21).map(|n| n as f32).collect();
        let text = checked(&rms).text();
        assert!(text.starts_with("21 recordings: rms 1 to 21 g, median 11;"), "{text}");
        assert_eq!(text.lines().count(), 1);
        assert_eq!(checked(&rms[..20]).text().lines().count(), 21);
        assert_eq!(LevelCheck::default().text(), "");
    }
}
