//! Text tables: CSV, TSV, and CSV with semicolons, one row a frame.
//!
//! The first row is a header if none of its fields is a number. The separator is the one of
//! tab, `;` and `,` that the first line holds, looked for in this order.

use std::path::Path;

use ::csv::{ByteRecord, ReaderBuilder};

use super::{Recording, RecordingError};

pub(super) fn read(
    path: &Path,
    bytes: &[u8],
    channels: &[&str],
) -> Result<Recording, RecordingError> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .delimiter(separator(bytes))
        .trim(::csv::Trim::All)
        .from_reader(bytes);
    let mut row = ByteRecord::new();
    let mut next = |row: &mut ByteRecord| {
        reader.read_byte_record(row).map_err(|error| {
            RecordingError::malformed(
                path,
                format!("line {}: {}", line_of(bytes, error.position()), describe(&error)),
            )
        })
    };
    if !next(&mut row)? {
        return Err(RecordingError::empty(path));
    }
    let header = row.iter().all(|field| number(field).is_none());
    let names: Vec<String> =
        row.iter()
            .enumerate()
            .map(|(index, field)| {
                if header { String::from_utf8_lossy(field).into_owned() } else { index.to_string() }
            })
            .collect();
    let chosen = chosen_columns(path, channels, &names)?;
    let mut axes: Vec<(String, Vec<f32>)> =
        chosen.iter().map(|&column| (names[column].clone(), Vec::new())).collect();
    let mut more = if header { next(&mut row)? } else { true };
    while more {
        for (&column, (name, values)) in chosen.iter().zip(&mut axes) {
            let field = row.get(column).unwrap_or_default();
            let value = number(field).ok_or_else(|| {
                let line = line_of(bytes, row.position());
                RecordingError::malformed(
                    path,
                    format!(
                        "line {line}, column {name}: {:?} is not a number; write numbers with a \
                         decimal point",
                        String::from_utf8_lossy(field)
                    ),
                )
            })?;
            values.push(value);
        }
        more = next(&mut row)?;
    }
    Recording::from_columns(path, None, &axes)
}

/// What the crate says about a row, without the place.
pub(crate) fn describe(error: &::csv::Error) -> String {
    match error.kind() {
        ::csv::ErrorKind::UnequalLengths { expected_len, len, .. } => format!(
            "{len} fields where the first row has {expected_len}; every row needs the same \
             columns, and fields that hold the separator stand in quotes"
        ),
        _ => error.to_string(),
    }
}

/// The line, from 1, on which a row begins: the crate gives the end of the row before it, which
/// blank lines may follow.
pub(crate) fn line_of(text: &[u8], position: Option<&::csv::Position>) -> u64 {
    let Some(position) = position else { return 1 };
    let rest = text.get(position.byte() as usize..).unwrap_or_default();
    let blank = rest.iter().take_while(|b| matches!(b, b'\n' | b'\r'));
    position.line() + blank.filter(|&&b| b == b'\n').count() as u64
}

fn separator(bytes: &[u8]) -> u8 {
    let first_line = bytes.split(|&b| b == b'\n').next().unwrap_or_default();
    [b'\t', b';'].into_iter().find(|separator| first_line.contains(separator)).unwrap_or(b',')
}

fn number(field: &[u8]) -> Option<f32> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// Indices of the columns to read; a name goes before an index.
fn chosen_columns(
    path: &Path,
    channels: &[&str],
    names: &[String],
) -> Result<Vec<usize>, RecordingError> {
    if channels.is_empty() {
        if names.len() == 1 {
            return Ok(vec![0]);
        }
        // One of several columns is often time, so that taking them all would be a guess.
        return Err(RecordingError::ChannelNeeded {
            path: path.into(),
            available: names.join(", "),
        });
    }
    channels
        .iter()
        .map(|&channel| {
            let by_name = names.iter().position(|name| name == channel);
            let by_index = || channel.parse().ok().filter(|&index| index < names.len());
            by_name.or_else(by_index).ok_or_else(|| RecordingError::NoSuchChannel {
                path: path.into(),
                channel: channel.into(),
                available: names.join(", "),
            })
        })
        .collect()
}
