//! One column of texts, integers or truth values. A null is `None`.

use std::path::Path;

use ::parquet::column::reader::ColumnReader;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::FileReader;

use super::directory::reader;
use super::pages::check_pages;
use super::{CHUNK_ROWS, Column, Kind, Problem};
use crate::files::guard::guarded;

/// Passes every text of a column to `take`, in the order of the rows.
pub(crate) fn texts(
    path: &Path,
    column: &Column,
    mut take: impl FnMut(Option<&str>) -> Result<(), Problem>,
) -> Result<(), Problem> {
    each(path, column, |reader, rows| {
        let ColumnReader::ByteArrayColumnReader(reader) = reader else {
            return Err(no_values(column));
        };
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let wanted = (column.present > 0).then_some(&mut levels);
        let (records, _, _) =
            reader.read_records(rows, wanted, None, &mut values).map_err(Failed::Crate)?;
        let mut values = values.iter();
        for row in 0..records {
            let present = column.present == 0 || levels.get(row) == Some(&column.present);
            let value = if present { values.next() } else { None };
            let text = value.map(|value| value.as_utf8()).transpose().map_err(Failed::Crate)?;
            take(text).map_err(Failed::Caller)?;
        }
        Ok(records)
    })
}

/// Passes every integer of a column to `take`, in the order of the rows. Truth values are 0 and 1.
pub(crate) fn integers(
    path: &Path,
    column: &Column,
    mut take: impl FnMut(Option<i128>) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let unsigned = column.kind == Kind::Unsigned;
    each(path, column, |reader, rows| {
        macro_rules! values {
            ($reader:expr, $number:expr) => {{
                let (mut values, mut levels) = (Vec::new(), Vec::new());
                let wanted = (column.present > 0).then_some(&mut levels);
                let (records, _, _) =
                    $reader.read_records(rows, wanted, None, &mut values).map_err(Failed::Crate)?;
                let mut values = values.into_iter().map($number);
                for row in 0..records {
                    let present = column.present == 0 || levels.get(row) == Some(&column.present);
                    let value = if present { values.next() } else { None };
                    take(value).map_err(Failed::Caller)?;
                }
                Ok(records)
            }};
        }
        match reader {
            ColumnReader::Int32ColumnReader(reader) if unsigned => {
                values!(reader, |x: i32| i128::from(x.cast_unsigned()))
            }
            ColumnReader::Int32ColumnReader(reader) => values!(reader, i128::from),
            ColumnReader::Int64ColumnReader(reader) if unsigned => {
                values!(reader, |x: i64| i128::from(x.cast_unsigned()))
            }
            ColumnReader::Int64ColumnReader(reader) => values!(reader, i128::from),
            ColumnReader::BoolColumnReader(reader) => values!(reader, i128::from),
            _ => Err(no_values(column)),
        }
    })
}

/// Why reading stopped.
enum Failed {
    Crate(ParquetError),
    Caller(Problem),
}

fn no_values(column: &Column) -> Failed {
    Failed::Crate(ParquetError::General(format!("column {} holds other values", column.name)))
}

/// Calls `some` with the reader of each row group and the number of rows it may read, until all
/// rows are read. `some` returns how many it read.
fn each(
    path: &Path,
    column: &Column,
    mut some: impl FnMut(&mut ColumnReader, usize) -> Result<usize, Failed>,
) -> Result<(), Problem> {
    let (file, _) = reader(path)?;
    check_pages(path, &file, std::slice::from_ref(column))?;
    let mut row = 0;
    let work = || {
        for group in 0..file.num_row_groups() {
            let place = |row: usize| format!("at row {row}");
            let group = file.get_row_group(group).map_err(|e| Problem::of(&e, place(row)))?;
            let reader = group.get_column_reader(column.index);
            let mut reader = reader.map_err(|error| Problem::of(&error, place(row)))?;
            let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            while left > 0 {
                let read =
                    some(&mut reader, left.min(CHUNK_ROWS)).map_err(|failed| match failed {
                        Failed::Crate(error) => Problem::of(&error, place(row)),
                        Failed::Caller(problem) => problem,
                    })?;
                if read == 0 {
                    let ends = ParquetError::EOF(format!("column {} ends", column.name));
                    return Err(Problem::of(&ends, place(row)));
                }
                row += read;
                left = left.saturating_sub(read);
            }
        }
        Ok(())
    };
    guarded(work)
        .unwrap_or_else(|| Err(Problem::damaged(format_args!("in column {}", column.name))))
}
