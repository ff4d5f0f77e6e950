//! Matrices and labels from CSV files, with or without a header.
//!
//! Commas separate the cells. A first line with `;` or tabs separates by those.

use std::path::Path;

use ::csv::{ByteRecord, Reader, ReaderBuilder, Trim};
use ndarray::Array2;

use super::labels::Collector;
use super::{BESIDE, LABEL, Labels, MatrixError};
use crate::files::cell;
use crate::files::csv_place::{describe, line_of};
use crate::files::input::{self, MOST_TABLE};
use crate::words::listed;

/// The text of a file.
struct Text<'a> {
    path: &'a Path,
    bytes: Vec<u8>,
}

impl<'a> Text<'a> {
    fn read(path: &'a Path) -> Result<Self, MatrixError> {
        let mut bytes = input::read_whole(path, MOST_TABLE)
            .map_err(|source| MatrixError::read(path, source))?;
        if bytes.starts_with(b"\xEF\xBB\xBF") {
            bytes.drain(..3);
        }
        if bytes.contains(&0) {
            return Err(MatrixError::content(path, "is no text; export the table as CSV in UTF-8"));
        }
        Ok(Self { path, bytes })
    }

    fn cells(&self) -> Cells<'_> {
        let first = self.bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let delimiter = [b';', b'\t'].into_iter().find(|byte| first.contains(byte));
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .trim(Trim::All)
            .delimiter(delimiter.unwrap_or(b','))
            .from_reader(self.bytes.as_slice());
        Cells { text: self, reader, record: ByteRecord::new(), line: 0, next: 1 }
    }

    fn problem(&self, line: u64, problem: &str) -> MatrixError {
        MatrixError::content(self.path, format!("line {line}{problem}"))
    }
}

/// The rows of a text, one after the other.
struct Cells<'a> {
    text: &'a Text<'a>,
    reader: Reader<&'a [u8]>,
    record: ByteRecord,
    /// The line of the row.
    line: u64,
    /// The line after the row.
    next: u64,
}

impl Cells<'_> {
    /// Goes to the next row; returns `false` at the end.
    fn advance(&mut self) -> Result<bool, MatrixError> {
        let more = self.reader.read_byte_record(&mut self.record).map_err(|error| {
            let line = line_of(&self.text.bytes, error.position());
            self.text.problem(line, &format!(": {}", describe(&error)))
        })?;
        if more {
            self.line = line_of(&self.text.bytes, self.record.position());
            // In a single column, a blank line is a row without a value, and must not vanish.
            if self.record.len() == 1 && self.line != self.next {
                return Err(self.text.problem(self.next, " is empty; fill it, or cut it out"));
            }
            let lines = self.record.as_slice().split(|byte| *byte == b'\n').count();
            self.next = self.line + lines as u64;
        }
        Ok(more)
    }

    fn names(&self) -> Vec<String> {
        self.record.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }
}

fn number(cell: &[u8]) -> Option<f64> {
    std::str::from_utf8(cell).ok()?.parse().ok()
}

/// Reads a matrix. The columns that are about a row are left out.
pub(super) fn read(path: &Path) -> Result<Array2<f64>, MatrixError> {
    let text = Text::read(path)?;
    let mut cells = text.cells();
    if !cells.advance()? {
        return Err(MatrixError::content(path, "no numbers in it; give at least one row of them"));
    }
    let header = cells.record.iter().any(|cell| number(cell).is_none());
    let names = if header {
        cells.names()
    } else {
        (0..cells.record.len()).map(|column| column.to_string()).collect()
    };
    if let Some(column) = names.iter().position(String::is_empty) {
        return Err(text.problem(
            cells.line,
            &format!(
                ", column {column} has no name; name it, or write the table without the row \
                 numbers of pandas: to_csv(file, index=False)"
            ),
        ));
    }
    let features: Vec<usize> =
        (0..names.len()).filter(|&column| !BESIDE.contains(&names[column].as_str())).collect();
    let mut values = Vec::new();
    let mut more = if header { cells.advance()? } else { true };
    while more {
        for &column in &features {
            let cell = cells.record.get(column).unwrap_or_default();
            values.push(number(cell).ok_or_else(|| {
                let shown = String::from_utf8_lossy(cell);
                let problem = if cell.is_empty() {
                    "is empty; fill it, or write NaN".into()
                } else {
                    format!("holds {shown:?}, which is no number; correct it")
                };
                text.problem(cells.line, &format!(", column {} {problem}", names[column]))
            })?);
        }
        more = cells.advance()?;
    }
    let rows = values.len().checked_div(features.len()).unwrap_or(0);
    Array2::from_shape_vec((rows, features.len()), values)
        .map_err(|error| MatrixError::content(path, format!("cannot be arranged: {error}")))
}

/// Reads the only column, or the one called `label`.
pub(super) fn read_labels(path: &Path) -> Result<Labels, MatrixError> {
    let text = Text::read(path)?;
    let mut cells = text.cells();
    if !cells.advance()? {
        return Err(MatrixError::content(path, "no labels in it; give one for each row"));
    }
    let names = cells.names();
    let named = names.iter().position(|name| name == LABEL);
    let column = match (named, names.len()) {
        (Some(column), _) => column,
        (None, 1) => 0,
        _ => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let problem = format!(
                ": which column has the labels? Call it `{LABEL}` in the first \
                                   line, which holds: {}",
                listed(&names)
            );
            return Err(text.problem(cells.line, &problem));
        }
    };
    // The first pass finds out what the labels are.
    let first = number(cells.record.get(column).unwrap_or_default()).is_some();
    let mut numbers = true;
    while cells.advance()? {
        numbers &= number(cells.record.get(column).unwrap_or_default()).is_some();
    }
    let header = named.is_some() || (!first && numbers && cells.line > 1);
    let numbers = numbers && (header || first);

    let mut labels = Collector::default();
    let mut cells = text.cells();
    if header {
        cells.advance()?;
    }
    while cells.advance()? {
        let cell = cells.record.get(column).unwrap_or_default();
        let added = match std::str::from_utf8(cell) {
            Ok(cell) if numbers => match cell.parse::<i64>() {
                Ok(whole) => labels.integer(whole),
                Err(_) => labels.float(number(cell.as_bytes()).unwrap_or(f64::NAN)),
            },
            Ok(cell) => labels.text(cell::read(cell)),
            Err(_) => Err("a label is not in UTF-8; export the table as CSV in UTF-8".into()),
        };
        added.map_err(|problem| text.problem(cells.line, &format!(": {problem}")))?;
    }
    Ok(labels.labels())
}
