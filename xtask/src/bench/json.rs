//! Just enough JSON for the bench: reads flat objects, writes any value.

use std::collections::BTreeMap;
use std::fmt;

/// A worker's answer: one object of numbers and words, no nesting.
#[derive(Debug, Clone)]
pub(super) struct Answer(BTreeMap<String, String>);

impl Answer {
    pub(super) fn parse(line: &str) -> Result<Self, String> {
        let wrong = || format!("not a flat JSON object: {line}");
        let inside = line.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let pairs = inside.ok_or_else(wrong)?.split(',').map(|pair| {
            let (key, value) = pair.split_once(':').ok_or_else(wrong)?;
            let bare = |text: &str| text.trim().trim_matches('"').to_owned();
            Ok((bare(key), bare(value)))
        });
        Ok(Self(pairs.collect::<Result<_, String>>()?))
    }

    /// Returns the answer with one more number.
    pub(super) fn with(mut self, key: &str, number: impl fmt::Display) -> Self {
        self.0.insert(key.to_owned(), number.to_string());
        self
    }

    pub(super) fn text(&self, key: &str) -> Result<&str, String> {
        self.0.get(key).map(String::as_str).ok_or_else(|| format!("an answer without {key}"))
    }

    pub(super) fn number(&self, key: &str) -> Result<f64, String> {
        let text = self.text(key)?;
        text.parse().map_err(|_| format!("{key} is {text}, not a number"))
    }

    /// Returns all numbers of the answer.
    pub(super) fn json(&self) -> Json {
        let numbers = self
            .0
            .iter()
            .filter_map(|(key, value)| Some((key.as_str(), Json::Number(value.parse().ok()?))));
        Json::object(numbers)
    }
}

/// A value to print.
#[derive(Debug, Clone)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(super) fn object<'a>(pairs: impl IntoIterator<Item = (&'a str, Json)>) -> Self {
        Self::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    pub(super) fn list(values: impl IntoIterator<Item = Json>) -> Self {
        Self::List(values.into_iter().collect())
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(value) if value.is_finite() => write!(f, "{value}"),
            Self::Null | Self::Number(_) => f.write_str("null"),
            Self::Text(text) => quoted(f, text),
            Self::List(values) => {
                f.write_str("[")?;
                for (index, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if index == 0 { "" } else { "," })?;
                }
                f.write_str("]")
            }
            Self::Object(pairs) => {
                f.write_str("{")?;
                for (index, (key, value)) in pairs.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { "," })?;
                    quoted(f, key)?;
                    write!(f, ":{value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for character in text.chars() {
        match character {
            '"' | '\\' => write!(f, "\\{character}")?,
            control if control.is_control() => write!(f, "\\u{:04x}", u32::from(control))?,
            other => write!(f, "{other}")?,
        }
    }
    f.write_str("\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_as_python_and_as_rust_write_it() {
        for line in
            [r#"{"seconds": 1.5e-3, "POT": "0.9.7"}"#, r#"{"POT":"0.9.7","seconds":0.0015}"#]
        {
            let answer = Answer::parse(line).unwrap();
            assert_eq!(answer.number("seconds"), Ok(0.0015));
            assert_eq!(answer.text("POT"), Ok("0.9.7"));
            assert!(answer.number("POT").is_err() && answer.number("cost").is_err());
        }
        assert!(Answer::parse("Traceback").is_err());
    }

    #[test]
    fn what_is_printed_is_json() {
        let value = Json::object([
            ("a\"b", Json::list([Json::Number(1.5), Json::Number(f64::NAN), Json::Null])),
            ("c", Json::text("x\ny")),
            ("d", Json::Bool(true)),
        ]);
        assert_eq!(value.to_string(), r#"{"a\"b":[1.5,null,null],"c":"x\u000ay","d":true}"#);
    }
}
