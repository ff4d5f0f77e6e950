//! The dialect of a text table: its field separator, and whether it has a header.
//!
//! Nothing is guessed silently: if two readings are possible, the file is refused and the message
//! names both.

use std::path::Path;

use super::super::RecordingError;
use super::lines::{Lines, Separator, number, split};

/// How a table is written.
#[derive(Debug, Clone)]
pub(super) struct Dialect {
    pub(super) separator: Separator,
    /// The names of the columns; without a header, their indices.
    pub(super) names: Vec<String>,
    /// Whether the first line holds the names.
    pub(super) header: bool,
}

/// Number of lines to look at.
const SAMPLE: usize = 200;

/// Separators to try, in order of preference if several fit equally well.
const SEPARATORS: [Separator; 5] = [
    Separator::Byte(b'\t'),
    Separator::Byte(b';'),
    Separator::Byte(b','),
    Separator::Blanks,
    Separator::None,
];

impl Dialect {
    /// The dialect of a file, from its first lines.
    pub(super) fn find(path: &Path) -> Result<Self, RecordingError> {
        let mut lines = Lines::open(path)?;
        let mut sample: Vec<Vec<u8>> = Vec::new();
        let mut first_number = 1;
        while sample.len() < SAMPLE
            && let Some(line) = lines.next()?
        {
            sample.push(line.to_vec());
            if sample.len() == 1 {
                first_number = lines.number;
            }
        }
        let Some(first) = sample.first() else {
            return Err(RecordingError::empty(path));
        };
        let separator = separator(path, &sample, first_number)?;
        let rows: Vec<Vec<Vec<u8>>> = sample.iter().map(|line| fields(line, separator)).collect();
        let header = has_header(path, &rows, separator, first_number)?;
        let names = fields(first, separator).into_iter().enumerate();
        let names = names
            .map(|(index, name)| match header {
                true if name.is_empty() => index.to_string(),
                true => String::from_utf8_lossy(&name).into_owned(),
                false => index.to_string(),
            })
            .collect();
        Ok(Self { separator, names, header })
    }
}

fn fields(line: &[u8], separator: Separator) -> Vec<Vec<u8>> {
    let mut ranges = Vec::new();
    split(line, separator, &mut ranges);
    ranges.into_iter().map(|range| line[range].to_vec()).collect()
}

fn is_number(field: &[u8], separator: Separator) -> bool {
    number::<f64>(field, separator).is_some()
}

/// How well a separator fits.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
struct Fit {
    /// Fraction of the fields that are numbers. The first line does not count if there are more
    /// lines.
    numbers: f64,
    /// Whether all lines have the same number of fields.
    even: bool,
    columns: usize,
}

fn fit(sample: &[Vec<u8>], separator: Separator) -> Fit {
    let rows: Vec<Vec<Vec<u8>>> = sample.iter().map(|line| fields(line, separator)).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let body = if rows.len() > 1 { &rows[1..] } else { &rows };
    let all: Vec<&Vec<u8>> = body.iter().flatten().collect();
    let numbers = all.iter().filter(|field| is_number(field, separator)).count();
    Fit {
        numbers: numbers as f64 / all.len().max(1) as f64,
        even: rows.iter().all(|row| row.len() == columns),
        columns,
    }
}

fn separator(path: &Path, sample: &[Vec<u8>], line: u64) -> Result<Separator, RecordingError> {
    // A column of numbers with decimal commas looks like two columns of whole numbers.
    let comma = |text: &[u8]| text.contains(&b',');
    let first_is_name = !is_number(&sample[0], Separator::None)
        && fields(&sample[0], Separator::Byte(b','))
            .iter()
            .all(|field| !is_number(field, Separator::Byte(b',')) && !field.is_empty());
    let one_column = fit(sample, Separator::None).numbers >= 1.0 && sample.iter().any(|l| comma(l));
    if one_column && (first_is_name || is_number(&sample[0], Separator::None)) {
        if first_is_name && sample.len() > 1 {
            let named = if comma(&sample[0]) { Separator::Byte(b',') } else { Separator::None };
            return Ok(named);
        }
        // Nobody writes −0 as a whole number, so this is a decimal comma.
        let minus_zero = |line: &Vec<u8>| line.trim_ascii().starts_with(b"-0,");
        if sample.iter().any(minus_zero) {
            return Ok(Separator::None);
        }
        return Err(RecordingError::malformed(
            path,
            format!(
                "line {line}: {:?} may be one number with a decimal comma or two whole numbers; \
                 give the columns names in a first line, or put `;` between columns",
                String::from_utf8_lossy(sample[0].trim_ascii())
            ),
        ));
    }
    let fits = SEPARATORS.map(|separator| (fit(sample, separator), separator));
    // `max_by` returns the last of equals. The order is reversed, so that is the preferred one.
    let best = fits
        .into_iter()
        .rev()
        .max_by(|(a, _), (b, _)| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    Ok(best.map_or(Separator::None, |(_, separator)| separator))
}

/// Whether the first row holds names. A row of numbers with a typing error does not.
fn has_header(
    path: &Path,
    rows: &[Vec<Vec<u8>>],
    separator: Separator,
    line: u64,
) -> Result<bool, RecordingError> {
    let (first, body) = (&rows[0], &rows[1..]);
    let texts: Vec<bool> = first.iter().map(|field| !is_number(field, separator)).collect();
    if !texts.contains(&true) {
        return Ok(counts_up(first) && !continues(rows, separator));
    }
    // pandas leaves the name of its row-number column empty.
    if first[0].is_empty() && counts_up(&first[1..]) && first.len() > 1 {
        return Ok(true);
    }
    // Columns that hold numbers further down. If there is no further row, every column counts.
    let holds_numbers = |column: usize| {
        let mut fields = body.iter().filter_map(|row| row.get(column));
        body.is_empty() || fields.any(|field| is_number(field, separator))
    };
    let slip = |column: usize, remedy: &str| {
        RecordingError::malformed(
            path,
            format!(
                "line {line}, column {column}: {:?} is not a number; {remedy}",
                String::from_utf8_lossy(&first[column])
            ),
        )
    };
    let numeric: Vec<usize> = (0..first.len()).filter(|&column| holds_numbers(column)).collect();
    if numeric.iter().any(|&column| !texts[column]) {
        return match numeric.iter().find(|&&column| texts[column]) {
            Some(&column) => Err(slip(
                column,
                "correct it, or, if the line holds names, begin every name with a letter",
            )),
            // A column of text, such as dates, among numbers: nothing indicates a header.
            None => Ok(false),
        };
    }
    match numeric.iter().find(|&&column| resembles_number(&first[column])) {
        Some(&column) => Err(slip(
            column,
            "correct it, or, if it is the name of a column, begin it with a letter",
        )),
        None => Ok(true),
    }
}

/// Whether the fields are 0, 1, 2, …: pandas gives these names to unnamed columns.
fn counts_up(fields: &[Vec<u8>]) -> bool {
    fields.len() > 1
        && fields.iter().enumerate().all(|(index, field)| *field == index.to_string().into_bytes())
}

/// Whether the first column continues from the first row in even steps, as time does.
fn continues(rows: &[Vec<Vec<u8>>], separator: Separator) -> bool {
    let values: Option<Vec<f64>> = rows
        .iter()
        .map(|row| row.first().and_then(|field| number::<f64>(field, separator)).map(|n| n.0))
        .collect();
    let Some(values) = values.filter(|values| values.len() > 2) else { return true };
    let step = values[2] - values[1];
    step > 0.0 && (values[1] - values[0] - step).abs() <= 0.01 * step
}

/// Whether a text begins like a number.
fn resembles_number(field: &[u8]) -> bool {
    let unsigned = match field {
        [b'+' | b'-' | b'.' | b',', rest @ ..] => rest,
        _ => field,
    };
    unsigned.first().is_some_and(u8::is_ascii_digit)
}
