//! Parquet files: a column of numbers is an axis, a row is a frame. A null is a missing sample, so
//! it becomes NaN.
//!
//! The crate panics on some damaged files, so every call into it is guarded.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::parquet::basic::{ConvertedType, LogicalType, Type};
use ::parquet::column::reader::ColumnReader;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;

use super::guard::guarded;
use super::stream::{CHUNK_FRAMES, Skipped};
use super::table::TimeColumn;
use super::table::{Meaning, Step};
use super::{Frames, Recording, RecordingError, Source};
use crate::files::input;

/// The place of a problem that is found before any row.
const IN_DIRECTORY: &str = "in its directory, at its end";

/// The error for a panic of the crate.
fn damaged() -> ParquetError {
    ParquetError::General("damaged".into())
}

/// A column of numbers.
#[derive(Debug, Clone)]
struct Column {
    name: String,
    /// Index among all columns.
    index: usize,
    /// Whether its integers are unsigned.
    unsigned: bool,
    /// The definition level of a value that is present.
    present: i16,
}

pub(super) fn read(
    path: &Path,
    channels: &[&str],
    in_memory: usize,
) -> Result<Recording, RecordingError> {
    let directory = || {
        let reader = open(path)?;
        let metadata = reader.metadata().file_metadata();
        let all = metadata.schema_descr().columns().iter().enumerate();
        let columns: Vec<Column> =
            all.filter_map(|(index, column)| numbers(index, column)).collect();
        Ok((columns, usize::try_from(metadata.num_rows()).unwrap_or(0)))
    };
    let (columns, rows) =
        guarded(directory).unwrap_or_else(|| Err(unreadable(path, &damaged(), IN_DIRECTORY)))?;
    if rows == 0 || columns.is_empty() {
        return Err(RecordingError::empty(path));
    }
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let table = |chosen: Vec<usize>| Parquet {
        path: path.into(),
        columns: chosen.into_iter().map(|column| columns[column].clone()).collect(),
        frames: [rows],
    };
    let mut rate_hz = None;
    let mut time = None;
    if let Some(mut column) = TimeColumn::find(&names, true) {
        let meaning = look_at(&table(vec![column.column]), &mut column)?;
        time = (meaning != Meaning::Nothing).then_some(column.column);
        if let Meaning::Time(hz) = meaning {
            rate_hz = Some(hz);
        }
    }
    let chosen = chosen_columns(path, channels, &names, time)?;
    Recording::of_source(path, rate_hz, Arc::new(table(chosen)), in_memory)
}

fn open(path: &Path) -> Result<SerializedFileReader<File>, RecordingError> {
    let file =
        input::open(path).map_err(|source| RecordingError::Io { path: path.into(), source })?;
    SerializedFileReader::new(file).map_err(|error| unreadable(path, &error, IN_DIRECTORY))
}

fn unreadable(path: &Path, error: &ParquetError, place: impl std::fmt::Display) -> RecordingError {
    RecordingError::malformed(
        path,
        format!(
            "not a readable Parquet file {place} ({error}); copy it again, or write it with \
             pandas: to_parquet(file, compression=\"snappy\")"
        ),
    )
}

/// Returns the column if it holds one number a row.
fn numbers(index: usize, column: &ColumnDescriptor) -> Option<Column> {
    let number =
        matches!(column.physical_type(), Type::INT32 | Type::INT64 | Type::FLOAT | Type::DOUBLE);
    let integer =
        column.logical_type_ref().is_none_or(|kind| matches!(kind, LogicalType::Integer(_)));
    let unsigned = matches!(
        column.converted_type(),
        ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64
    );
    let name = column.path().string();
    // Row numbers that pandas stores.
    let of_pandas = name.starts_with("__index_level_");
    (number && integer && !of_pandas && column.max_rep_level() == 0).then(|| Column {
        name,
        index,
        unsigned,
        present: column.max_def_level(),
    })
}

/// Reads a column that may hold time.
fn look_at(table: &Parquet, time: &mut TimeColumn) -> Result<Meaning, RecordingError> {
    let mut stream = ParquetFrames::open(table)?;
    let (mut values, mut row) = (Vec::new(), 0_u64);
    while stream.next_rows(&mut values)? {
        for &value in &values[0] {
            row += 1;
            // The rounding of binary numbers is far smaller than a step.
            match time.value(value, 1e-12 * value.abs()) {
                Step::Even => (),
                Step::Uneven if time.named => {
                    let (before, step) = time.before();
                    return Err(RecordingError::malformed(
                        &table.path,
                        format!(
                            "row {row}, column {}: time goes from {before} to {value}, where the \
                             steps before are {step:.3e}; a recording has even steps: cut it at \
                             the gap, or resample it",
                            table.columns[0].name
                        ),
                    ));
                }
                Step::Uneven | Step::NotANumber => return Ok(Meaning::Nothing),
            }
        }
    }
    Ok(time.meaning())
}

/// Indices of the columns to read, among the columns of numbers.
fn chosen_columns(
    path: &Path,
    channels: &[&str],
    names: &[String],
    time: Option<usize>,
) -> Result<Vec<usize>, RecordingError> {
    let available = || {
        let described = names.iter().enumerate().map(|(column, name)| {
            if Some(column) == time { format!("{name} (time)") } else { name.clone() }
        });
        described.collect::<Vec<_>>().join(", ")
    };
    if channels.is_empty() {
        let others: Vec<usize> =
            (0..names.len()).filter(|&column| names.len() == 1 || Some(column) != time).collect();
        if others.len() != 1 {
            let available = available();
            return Err(RecordingError::ChannelNeeded { path: path.into(), available });
        }
        return Ok(others);
    }
    let find = |&channel: &&str| {
        let by_name = names.iter().position(|name| name == channel);
        let by_index = || channel.parse().ok().filter(|&index| index < names.len());
        by_name.or_else(by_index).ok_or_else(|| RecordingError::NoSuchChannel {
            path: path.into(),
            channel: channel.into(),
            available: available(),
        })
    };
    channels.iter().map(find).collect()
}

/// Columns of a file.
#[derive(Debug)]
struct Parquet {
    path: PathBuf,
    columns: Vec<Column>,
    frames: [usize; 1],
}

impl Source for Parquet {
    fn axes(&self) -> usize {
        self.columns.len()
    }

    fn stretch_frames(&self) -> &[usize] {
        &self.frames
    }

    fn open(&self, _segment: usize, start: usize) -> Result<Box<dyn Frames>, RecordingError> {
        let stream = ParquetFrames::open(self)?;
        Ok(Box::new(Skipped::new(stream, start, self.axes())?))
    }
}

struct ParquetFrames {
    path: PathBuf,
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
    values: Vec<Vec<f64>>,
}

impl ParquetFrames {
    fn open(table: &Parquet) -> Result<Self, RecordingError> {
        let path = &table.path;
        let reader = guarded(|| open(path))
            .unwrap_or_else(|| Err(unreadable(path, &damaged(), IN_DIRECTORY)))?;
        Ok(Self {
            path: table.path.clone(),
            columns: table.columns.clone(),
            reader,
            next_group: 0,
            readers: Vec::new(),
            left: 0,
            row: 0,
            values: Vec::new(),
        })
    }

    /// Replaces the content of `values` with the next rows, column by column; returns `false` at
    /// the end.
    fn next_rows(&mut self, values: &mut Vec<Vec<f64>>) -> Result<bool, RecordingError> {
        let row = self.row;
        guarded(|| self.unguarded_rows(values)).unwrap_or_else(|| {
            Err(unreadable(&self.path, &damaged(), format_args!("at row {row}")))
        })
    }

    fn unguarded_rows(&mut self, values: &mut Vec<Vec<f64>>) -> Result<bool, RecordingError> {
        let place = format!("at row {}", self.row);
        let failed = |error: ParquetError| unreadable(&self.path, &error, &place);
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
        let rows = self.left.min(CHUNK_FRAMES);
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

impl Frames for ParquetFrames {
    fn next_chunk(&mut self, out: &mut Vec<f32>) -> Result<bool, RecordingError> {
        out.clear();
        let mut values = std::mem::take(&mut self.values);
        let more = self.next_rows(&mut values)?;
        if more {
            for row in 0..values.first().map_or(0, Vec::len) {
                out.extend(values.iter().map(|column| column[row] as f32));
            }
        }
        self.values = values;
        Ok(more)
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
    match reader {
        ColumnReader::Int32ColumnReader(reader) if column.unsigned => {
            values!(reader, |x: i32| f64::from(x.cast_unsigned()));
        }
        ColumnReader::Int32ColumnReader(reader) => values!(reader, f64::from),
        ColumnReader::Int64ColumnReader(reader) if column.unsigned => {
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
