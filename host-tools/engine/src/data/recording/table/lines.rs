//! The rows of a text file: its lines, without blank lines and comments.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::super::RecordingError;
use crate::files::input;

/// The longest line that is accepted in a table, in bytes.
const LONGEST: u64 = 1 << 20;

/// The separator between two fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// This byte, exactly once.
    Byte(u8),
    /// Blanks and tabs, any number of them.
    Blanks,
    /// No separator: a line is one field.
    None,
}

/// The lines of a file with content. `#` and `%` begin comments.
pub(super) struct Lines {
    path: PathBuf,
    reader: BufReader<File>,
    line: Vec<u8>,
    /// The number of the last line read, counted from 1.
    pub(super) number: u64,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self, RecordingError> {
        let file =
            input::open(path).map_err(|source| RecordingError::Io { path: path.into(), source })?;
        let reader = BufReader::with_capacity(1 << 16, file);
        Ok(Self { path: path.into(), reader, line: Vec::new(), number: 0 })
    }

    /// The next line, trimmed; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, RecordingError> {
        loop {
            self.line.clear();
            let limited = (&mut self.reader).take(LONGEST);
            let read = { limited }
                .read_until(b'\n', &mut self.line)
                .map_err(|source| RecordingError::Io { path: self.path.clone(), source })?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.number == 1 {
                self.check_encoding()?;
            }
            if read as u64 == LONGEST || self.line.contains(&0) {
                return Err(RecordingError::malformed(
                    &self.path,
                    format!(
                        "line {}: not a line of text; export the table as CSV in UTF-8",
                        self.number
                    ),
                ));
            }
            let line = self.line.trim_ascii();
            if !(line.is_empty() || line.starts_with(b"#") || line.starts_with(b"%")) {
                break;
            }
        }
        // Tabs at the end mean empty fields, so only the line ending is removed.
        let end = self.line.iter().rposition(|b| !matches!(b, b'\n' | b'\r')).map_or(0, |i| i + 1);
        Ok(Some(&self.line[..end]))
    }

    /// Removes a UTF-8 byte-order mark from the first line, and refuses UTF-16.
    fn check_encoding(&mut self) -> Result<(), RecordingError> {
        if self.line.starts_with(b"\xEF\xBB\xBF") {
            self.line.drain(..3);
        }
        if self.line.starts_with(b"\xFF\xFE") || self.line.starts_with(b"\xFE\xFF") {
            return Err(RecordingError::malformed(
                &self.path,
                "line 1: UTF-16 text; save the table as CSV in UTF-8",
            ));
        }
        Ok(())
    }
}

/// The ranges of the fields of a line, without the blanks and quotes around them.
pub(super) fn split(line: &[u8], separator: Separator, fields: &mut Vec<Range<usize>>) {
    fields.clear();
    let between = |byte: u8| match separator {
        Separator::Byte(separator) => byte == separator,
        Separator::Blanks => byte.is_ascii_whitespace(),
        Separator::None => false,
    };
    let (mut start, mut quoted) = (0, false);
    for (at, &byte) in line.iter().enumerate() {
        // A quote inside a field is an ordinary character.
        if byte == b'"' && (quoted || line[start..at].trim_ascii().is_empty()) {
            quoted = !quoted;
        } else if !quoted && between(byte) {
            if separator != Separator::Blanks || at > start {
                fields.push(trimmed(line, start..at));
            }
            start = at + 1;
        }
    }
    if separator != Separator::Blanks || line.len() > start {
        fields.push(trimmed(line, start..line.len()));
    }
}

fn trimmed(line: &[u8], field: Range<usize>) -> Range<usize> {
    let text = &line[field.clone()];
    let blank = |text: &[u8]| text.len() - text.trim_ascii_start().len();
    let (mut start, mut end) = (field.start + blank(text), field.end);
    end = start + line[start..end].trim_ascii_end().len();
    if end - start >= 2 && line[start] == b'"' && line[end - 1] == b'"' {
        (start, end) = (start + 1, end - 1);
    }
    start..end
}

/// The number in a field, and its decimal mark if that is a comma.
pub(super) fn number<T: std::str::FromStr>(
    field: &[u8],
    separator: Separator,
) -> Option<(T, Option<u8>)> {
    let text = std::str::from_utf8(field).ok()?;
    if let Ok(value) = text.parse() {
        return Some((value, field.contains(&b'.').then_some(b'.')));
    }
    if separator == Separator::Byte(b',') || field.contains(&b'.') {
        return None;
    }
    // A second comma becomes a second point, which makes the number invalid.
    let value = text.replace(',', ".").parse().ok()?;
    Some((value, Some(b',')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str, separator: Separator) -> Vec<String> {
        let mut ranges = Vec::new();
        split(line.as_bytes(), separator, &mut ranges);
        ranges.into_iter().map(|range| line[range].to_owned()).collect()
    }

    #[test]
    fn fields_are_split_and_trimmed() {
        assert_eq!(fields("a, b ,,\"x, y\"", Separator::Byte(b',')), ["a", "b", "", "x, y"]);
        assert_eq!(fields("  1.5   2\t3  ", Separator::Blanks), ["1.5", "2", "3"]);
        assert_eq!(fields("1\t\t", Separator::Byte(b'\t')), ["1", "", ""]);
        assert_eq!(fields("5\" pipe;x", Separator::Byte(b';')), ["5\" pipe", "x"]);
        assert_eq!(fields(" x, y ", Separator::None), ["x, y"]);
    }

    #[test]
    fn a_comma_is_a_decimal_mark_where_it_separates_nothing() {
        let f = |text: &str, separator| number::<f32>(text.as_bytes(), separator);
        assert_eq!(f("-1,5e3", Separator::Byte(b';')), Some((-1500.0, Some(b','))));
        assert_eq!(f("1.5", Separator::Byte(b';')), Some((1.5, Some(b'.'))));
        assert_eq!(f("15", Separator::Blanks), Some((15.0, None)));
        assert_eq!(f("1,5", Separator::Byte(b',')), None);
        for wrong in ["1.234,5", "1,234,5", "", "x", "1,5x", "--"] {
            assert_eq!(f(wrong, Separator::None), None, "{wrong}");
        }
    }
}
