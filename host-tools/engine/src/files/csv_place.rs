//! The place of a CSV row and the problem with it, for messages.

use crate::words::plural;

/// The `csv` crate's message about a row, without the place.
pub(crate) fn describe(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => format!(
            "{} where the first row has {expected_len}; every row needs the same \
             columns, and fields that hold the separator stand in quotes",
            plural(*len, "field", "fields")
        ),
        _ => error.to_string(),
    }
}

/// The line on which a row begins, counted from 1. The crate gives the end of the row before it,
/// and blank lines may follow that.
pub(crate) fn line_of(text: &[u8], position: Option<&csv::Position>) -> u64 {
    let Some(position) = position else { return 1 };
    let rest = text.get(position.byte() as usize..).unwrap_or_default();
    let blank = rest.iter().take_while(|b| matches!(b, b'\n' | b'\r'));
    position.line() + blank.filter(|&&b| b == b'\n').count() as u64
}
