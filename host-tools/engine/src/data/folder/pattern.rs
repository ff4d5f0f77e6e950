//! Patterns with fields for the names of files: `{domain}/{label}_{rpm}.mat`.
//!
//! A pattern is the path of a recording below the folder. `{field}` marks a part with a meaning,
//! `*` matches any part of one name, and `**` matches any folders. `{domain,rpm}` gives one part to
//! two fields. A pattern is compiled to a regular expression; the crate matches in linear time for
//! any name.

use regex::Regex;
use thiserror::Error;

/// The fields that a path can give a value to.
pub const FIELDS: [&str; 5] = ["label", "domain", "rpm", "rate", "channel"];

/// A pattern for the paths of recordings.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    matcher: Regex,
    /// The fields that each group of the matcher fills.
    fields: Vec<Vec<usize>>,
}

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternError {
    /// A brace has no partner.
    #[error("`pattern` {pattern}: the brace at character {at} has no other half; write {{label}}")]
    Brace {
        /// The pattern.
        pattern: String,
        /// The character, from 1.
        at: usize,
    },
    /// A name in braces is not a field.
    #[error(
        "`pattern` {pattern}: no field {field:?}; the fields are {}, several for one piece as {{domain,rpm}}",
        FIELDS.join(", ")
    )]
    Field {
        /// The pattern.
        pattern: String,
        /// The name.
        field: String,
    },
    /// A field appears twice.
    #[error("`pattern` {pattern}: {field} stands twice; a recording has one")]
    Twice {
        /// The pattern.
        pattern: String,
        /// The field.
        field: &'static str,
    },
    /// The pattern has neither a label nor a domain.
    #[error(
        "`pattern` {pattern}: says neither label nor domain; write one, as {{domain}}/{{label}}/*.wav"
    )]
    NoField {
        /// The pattern.
        pattern: String,
    },
    /// The pattern is too large.
    #[error("`pattern` {pattern}: too long; use ** for folders that say nothing")]
    TooLong {
        /// The pattern.
        pattern: String,
    },
}

/// The field values in a path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    values: [Option<String>; FIELDS.len()],
}

impl Said {
    /// The text of a field, without spaces around it.
    pub fn get(&self, field: &str) -> Option<&str> {
        let at = FIELDS.iter().position(|known| *known == field)?;
        self.values[at].as_deref()
    }
}

impl Pattern {
    /// Parses a pattern.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        let pattern = || text.to_owned();
        let mut matcher = String::from("^");
        let mut fields: Vec<Vec<usize>> = Vec::new();
        let mut rest = text.strip_prefix("./").unwrap_or(text);
        let place = |rest: &str| text.chars().count() - rest.chars().count() + 1;
        while let Some(first) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix("**/") {
                matcher.push_str("(?:[^/]+/)*");
                rest = after;
            } else if let Some(after) = rest.strip_prefix("**") {
                matcher.push_str("(?s:.*)");
                rest = after;
            } else if first == '*' {
                matcher.push_str("[^/]*");
                rest = &rest[1..];
            } else if first == '{' {
                let end = rest.find('}').filter(|end| !rest[1..*end].contains('{'));
                let end =
                    end.ok_or_else(|| PatternError::Brace { pattern: pattern(), at: place(rest) })?;
                let group = group(text, &rest[1..end], &fields)?;
                rest = &rest[end + 1..];
                matcher.push_str(if group.iter().any(|field| is_number(*field)) {
                    "([0-9][0-9.]*[ A-Za-z/]*?)"
                } else if numbers_follow(rest) {
                    // In `{label}{rpm}` the digits belong to the number.
                    "([^/]+?)"
                } else {
                    "([^/]+)"
                });
                fields.push(group);
            } else if first == '}' {
                return Err(PatternError::Brace { pattern: pattern(), at: place(rest) });
            } else {
                matcher.push_str(&regex::escape(first.encode_utf8(&mut [0; 4])));
                rest = &rest[first.len_utf8()..];
            }
        }
        if !fields.iter().flatten().any(|field| ["label", "domain"].contains(&FIELDS[*field])) {
            return Err(PatternError::NoField { pattern: pattern() });
        }
        matcher.push('$');
        let matcher =
            Regex::new(&matcher).map_err(|_| PatternError::TooLong { pattern: pattern() })?;
        Ok(Self { text: pattern(), matcher, fields })
    }

    /// The pattern as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Reads the field values from a path with `/` between its names. Returns `None` if the path
    /// does not fit the pattern.
    pub fn read(&self, path: &str) -> Option<Said> {
        let captures = self.matcher.captures(path)?;
        let mut said = Said::default();
        for (group, fields) in captures.iter().skip(1).zip(&self.fields) {
            let text = group?.as_str().trim();
            if text.is_empty() {
                return None;
            }
            for field in fields {
                said.values[*field] = Some(text.to_owned());
            }
        }
        Some(said)
    }
}

/// Indices of the fields between two braces.
fn group(pattern: &str, names: &str, before: &[Vec<usize>]) -> Result<Vec<usize>, PatternError> {
    let mut group = Vec::new();
    for name in names.split(',').map(str::trim) {
        let field = FIELDS
            .iter()
            .position(|known| *known == name)
            .ok_or_else(|| PatternError::Field { pattern: pattern.into(), field: name.into() })?;
        if group.contains(&field) || before.iter().flatten().any(|other| *other == field) {
            return Err(PatternError::Twice { pattern: pattern.into(), field: FIELDS[field] });
        }
        group.push(field);
    }
    Ok(group)
}

fn is_number(field: usize) -> bool {
    ["rpm", "rate"].contains(&FIELDS[field])
}

fn numbers_follow(rest: &str) -> bool {
    let names = rest.strip_prefix('{').and_then(|rest| rest.split('}').next());
    names.is_some_and(|names| names.split(',').any(|name| ["rpm", "rate"].contains(&name.trim())))
}

/// Parses a speed in turns per minute, such as `1797` or `1797rpm`.
pub(super) fn rpm(text: &str) -> Option<f64> {
    scaled(text, &[("", 1.0), ("rpm", 1.0)])
}

/// Parses a sample rate in Hz, such as `12000`, `12000Hz`, `12k` or `25.6kHz`.
pub fn rate_hz(text: &str) -> Option<f64> {
    scaled(text, &[("", 1.0), ("hz", 1.0), ("k", 1000.0), ("khz", 1000.0), ("ksps", 1000.0)])
}

fn scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let number = number.parse::<f64>().ok()? * factor;
    (number.is_finite() && number > 0.0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(pattern: &str, path: &str) -> Option<Vec<(&'static str, String)>> {
        let said = Pattern::new(pattern).unwrap().read(path)?;
        Some(FIELDS.iter().filter_map(|f| Some((*f, said.get(f)?.to_owned()))).collect())
    }

    #[test]
    fn fields_are_what_stands_in_their_place() {
        for (pattern, path, wanted) in [
            (
                "{domain}/{label}_{rpm}.mat",
                "load 0/outer_race_1797.mat",
                Some("label=outer_race domain=load 0 rpm=1797"),
            ),
            ("{domain}/{label}/*.wav", "a/b/c.wav", Some("label=b domain=a")),
            ("{domain}/{label}/*.wav", "a/b/c/d.wav", None),
            ("{domain}/{label}/**", "a/b/c/d.wav", Some("label=b domain=a")),
            ("**/{label}.*", "a/b/c.d.wav", Some("label=c.d")),
            ("**/{label}.*", "c.wav", Some("label=c")),
            ("{label}_{domain,rpm}.mat", "N_800.mat", Some("label=N domain=800 rpm=800")),
            ("{label}{rpm}.mat", "Normal1797.mat", Some("label=Normal rpm=1797")),
            ("{label}_{rate}.csv", "x_25.6kHz.csv", Some("label=x rate=25.6kHz")),
            ("{label}_{rpm}.csv", "x_y.csv", None),
            ("./{label}.wav", " fine .wav", Some("label=fine")),
            ("{label}.wav", " .wav", None),
            ("{label}/a.b+(c)?.wav", "x/a.b+(c)?.wav", Some("label=x")),
            ("{label}/**", "x/a\nb.wav", Some("label=x")),
        ] {
            let found = said(pattern, path).map(|said| {
                let parts = said.iter().map(|(field, text)| format!("{field}={text}"));
                parts.collect::<Vec<_>>().join(" ")
            });
            assert_eq!(found.as_deref(), wanted, "{pattern} {path}");
        }
    }

    #[test]
    fn patterns_that_mean_nothing_are_refused() {
        for (pattern, says) in [
            ("{label", "character 1"),
            ("a{b{label}}", "character 2"),
            ("{label}}", "character 8"),
            ("{speed}", "no field \"speed\"; the fields are label, domain"),
            ("{label}/{label}", "label stands twice"),
            ("{label,label}", "label stands twice"),
            ("*.wav", "neither label nor domain"),
            ("{rpm}", "neither label nor domain"),
        ] {
            let message = Pattern::new(pattern).unwrap_err().to_string();
            assert!(message.contains(says) && message.contains(pattern), "{message}");
        }
        let long = format!("{{label}}{}", "**/".repeat(1 << 20));
        assert!(matches!(Pattern::new(&long), Err(PatternError::TooLong { .. })));
    }

    #[test]
    fn numbers_have_units() {
        assert_eq!(rpm("1797"), Some(1797.0));
        assert_eq!(rpm("1797 RPM"), Some(1797.0));
        assert_eq!(rpm("1797hp"), None);
        assert_eq!(rpm("0"), None);
        assert_eq!(rate_hz("25.6kHz"), Some(25_600.0));
        assert_eq!(rate_hz("12k"), Some(12_000.0));
        assert_eq!(rate_hz("12.1.3"), None);
        assert_eq!(rate_hz(""), None);
    }
}
