//! Columns of numbers, chunk by chunk. A null becomes NaN.

use std::fs::File;
use std::path::Path;

use ::parquet::column::reader::ColumnReader;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};

use super::directory::reader;
use super::pages::check_pages;
use super::{Column, Kind, Problem};
use crate::files::guard::guarded;

/// Most rows in a chunk.
pub(crate) const CHUNK_ROWS: usize = 1 << 14;
/// Most numbers in a chunk of many columns.
const CHUNK_NUMBERS: usize = 1 << 22;

/// Reads columns of numbers from the first row on.
pub(crate) struct Rows {
    columns: Vec<Column>,
    reader: SerializedFileReader<File>,
    /// Index of the row group after the current one.
    next_group: usize,
    /// One reader for each column in the current row group.
    readers: Vec<ColumnReader>,
    /// Rows left in the current row group.
    left: usize,
    /// Number of rows before the next chunk.
    row: usize,
}

impl Rows {
    /// Opens `columns` of a file.
    pub(crate) fn open(path: &Path, columns: Vec<Column>) -> Result<Self, Problem> {
        let (reader, _) = reader(path)?;
        check_pages(path, &reader, &columns)?;
        Ok(Self { columns, reader, next_group: 0, readers: Vec::new(), left: 0, row: 0 })
    }

    /// Replaces the content of `values` with the next rows, column by column; returns `false` at
    /// the end.
    pub(crate) fn next(&mut self, values: &mut Vec<Vec<f64>>) -> Result<bool, Problem> {
        let row = self.row;
        guarded(|| self.unguarded(values))
            .unwrap_or_else(|| Err(Problem::damaged(format_args!("at row {row}"))))
    }

    fn unguarded(&mut self, values: &mut Vec<Vec<f64>>) -> Result<bool, Problem> {
        let place = format!("at row {}", self.row);
        let failed = |error: ParquetError| Problem::of(&error, &place);
        while self.left == 0 {
            if self.next_group == self.reader.num_row_groups() {
                return Ok(false);
            }
            let group = self.reader.get_row_group(self.next_group).map_err(failed)?;
            let readers = self.columns.iter().map(|column| group.get_column_reader(column.index));
            self.readers = readers.collect::<Result<_, _>>().map_err(failed)?;
            self.left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            self.next_group += 1;
        }
        let most = (CHUNK_NUMBERS / self.columns.len().max(1)).clamp(1, CHUNK_ROWS);
        let rows = self.left.min(most);
        values.resize(self.columns.len(), Vec::new());
        for ((column, reader), values) in
            self.columns.iter().zip(&mut self.readers).zip(values.iter_mut())
        {
            values.clear();
            while values.len() < rows {
                let before = values.len();
                read_column(column, reader, rows - before, values).map_err(failed)?;
                if values.len() == before {
                    let missing = ParquetError::EOF(format!("column {} ends", column.name));
                    return Err(failed(missing));
                }
            }
        }
        self.left -= rows;
        self.row += rows;
        Ok(true)
    }
}

/// Appends up to `rows` values of a column to `out`, with NaN for each null.
fn read_column(
    column: &Column,
    reader: &mut ColumnReader,
    rows: usize,
    out: &mut Vec<f64>,
) -> Result<(), ParquetError> {
    macro_rules! values {
        ($reader:expr, $number:expr) => {{
            let (mut values, mut levels) = (Vec::new(), Vec::new());
            let wanted = (column.present > 0).then_some(&mut levels);
            let (records, _, _) = $reader.read_records(rows, wanted, None, &mut values)?;
            let mut values = values.into_iter().map($number);
            if column.present == 0 {
                out.extend(values);
            } else {
                let value = |level: i16| if level == column.present { values.next() } else { None };
                let levels = levels.into_iter().take(records);
                out.extend(levels.map(value).map(|value| value.unwrap_or(f64::NAN)));
            }
        }};
    }
    let unsigned = column.kind == Kind::Unsigned;
    match reader {
        ColumnReader::Int32ColumnReader(reader) if unsigned => {
            values!(reader, |x: i32| f64::from(x.cast_unsigned()));
        }
        ColumnReader::Int32ColumnReader(reader) => values!(reader, f64::from),
        ColumnReader::Int64ColumnReader(reader) if unsigned => {
            values!(reader, |x: i64| x.cast_unsigned() as f64);
        }
        ColumnReader::Int64ColumnReader(reader) => values!(reader, |x: i64| x as f64),
        ColumnReader::FloatColumnReader(reader) => values!(reader, f64::from),
        ColumnReader::DoubleColumnReader(reader) => values!(reader, |x: f64| x),
        _ => {
            return Err(ParquetError::General(format!(
                "column {} does not hold numbers",
                column.name
            )));
        }
    }
    Ok(())
}
