//! The measurements, as a table and as JSON.

use super::json::Json;
use super::measure::Measured;
use super::python;
use super::worker::{Side, Sides};
use std::fmt::Write as _;
use std::fs;

/// The versions measured against, and the conditions.
pub(super) struct About {
    versions: Vec<(&'static str, String)>,
    load: Option<f64>,
}

impl About {
    pub(super) fn of(sides: &mut Sides) -> Result<Self, String> {
        let load = fs::read_to_string("/proc/loadavg");
        let theirs = sides.ask(Side::Python, "about")?;
        let mut versions = vec![("Python", python::version(sides.interpreter()))];
        for name in ["scikit-learn", "POT", "numpy"] {
            versions.push((name, theirs.text(name)?.to_owned()));
        }
        versions[0].1 = versions[0].1.replace("Python ", "");
        Ok(Self { versions, load: load.ok().and_then(|load| load.split(' ').next()?.parse().ok()) })
    }

    pub(super) fn text(&self) -> String {
        let versions = self.versions.iter().map(|(name, version)| format!("{name} {version}"));
        let versions: Vec<String> = versions.collect();
        let mut text = format!(
            "Against {}, with one thread or as many as we have, whichever is faster in the row \
             (exact plans take one whatever they may).\n\
             Seconds are the shortest of a few turns, each warmed up by one that does not count, \
             without reading files and importing modules but from the shell. `CPU times`: the same ratio in time on the processor, all threads \
             together, mean of the turns.\n",
            versions.join(", ")
        );
        if let Some(load) = self.load.filter(|load| *load > 0.5) {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "The machine was busy (load {load}): the lower of the two ratios is the safer."
            );
        }
        text
    }

    pub(super) fn json(&self) -> Json {
        let versions = self.versions.iter().map(|(name, version)| (*name, Json::text(version)));
        Json::object([
            ("versions", Json::object(versions)),
            ("load", self.load.map_or(Json::Null, Json::Number)),
        ])
    }
}

/// Returns one line that says how a row went, for those who wait.
pub(super) fn progress(row: &Measured) -> String {
    format!("{}: {:.1} times ({})", row.row.name, row.ratio(), row.agreement.found)
}

/// Returns the table of ratios.
pub(super) fn table(rows: &[Measured]) -> String {
    let mut lines = vec![
        [
            "what",
            "against",
            "threads",
            "theirs s",
            "ours s",
            "times",
            "CPU times",
            "bar",
            "",
            "results, theirs/ours",
        ]
        .map(String::from),
    ];
    lines.extend(rows.iter().map(|row| {
        let verdict = match row.met() {
            Some(true) => "met",
            Some(false) => "MISSED",
            None => "",
        };
        let agrees = if row.agreement.agrees { "agree" } else { "DO NOT AGREE" };
        [
            row.row.name.clone(),
            row.row.against.into(),
            format!("{}/{}", row.threads[0], row.threads[1]),
            seconds(row.python),
            seconds(row.rust),
            format!("{:.1}", row.ratio()),
            format!("{:.1}", row.cpu_ratio()),
            row.row.bar.map(|bar| format!("{bar}")).unwrap_or_default(),
            verdict.into(),
            format!("{agrees}: {}", row.agreement.found),
        ]
    }));
    format!("\n{}", aligned(&lines, 2..8))
}

/// Returns columns of even width. The columns in `numbers` are right-aligned.
pub(super) fn aligned<const N: usize>(
    lines: &[[String; N]],
    numbers: std::ops::Range<usize>,
) -> String {
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
    let mut text = String::new();
    for line in lines {
        let cells = line.iter().enumerate().map(|(column, cell)| {
            let width = width(column).unwrap_or(0);
            if numbers.contains(&column) {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            }
        });
        let cells: Vec<String> = cells.collect();
        text += cells.join("  ").trim_end();
        text.push('\n');
    }
    text
}

/// Returns the seconds with three digits, whatever their size.
pub(super) fn seconds(value: f64) -> String {
    match value {
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v if v >= 0.1 => format!("{v:.3}"),
        v if v >= 0.01 => format!("{v:.4}"),
        v => format!("{v:.5}"),
    }
}

/// Returns a row as JSON.
pub(super) fn json(row: &Measured) -> Json {
    Json::object([
        ("name", Json::text(&row.row.name)),
        ("against", Json::text(row.row.against)),
        ("python_seconds", Json::Number(row.python)),
        ("rust_seconds", Json::Number(row.rust)),
        ("ratio", Json::Number(row.ratio())),
        ("cpu_ratio", Json::Number(row.cpu_ratio())),
        ("bar", row.row.bar.map_or(Json::Null, Json::Number)),
        ("met", row.met().map_or(Json::Null, Json::Bool)),
        ("python_threads", Json::Number(row.threads[0])),
        ("rust_threads", Json::Number(row.threads[1])),
        ("rounds", Json::Number(row.rounds as f64)),
        ("agree", Json::Bool(row.agreement.agrees)),
        ("found", Json::text(&row.agreement.found)),
        ("python", row.answers[0].json()),
        ("rust", row.answers[1].json()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_each_other() {
        let lines = [["a", "1"], ["K=31×7", "10"]].map(|line| line.map(String::from));
        assert_eq!(aligned(&lines, 1..2), "a        1\nK=31×7  10\n");
    }

    #[test]
    fn seconds_keep_three_digits() {
        let all = [12.34, 1.234, 0.1234, 0.01234, 0.001_234].map(seconds);
        assert_eq!(all, ["12.3", "1.23", "0.123", "0.0123", "0.00123"]);
    }
}
