//! Parquet files: a column of numbers is an axis, a row is a frame. A null is a missing sample, so
//! it becomes NaN.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::stream::Skipped;
use super::table::TimeColumn;
use super::table::{Meaning, Step};
use super::{Frames, Recording, RecordingError, Source};
use crate::files::parquet::{self, Column, Problem, Rows};

pub(super) fn read(
    path: &Path,
    channels: &[&str],
    in_memory: usize,
) -> Result<Recording, RecordingError> {
    let directory = parquet::open(path).map_err(|problem| refused(path, problem))?;
    let rows = directory.rows;
    let columns: Vec<Column> =
        directory.columns.into_iter().filter(|column| column.kind.is_number()).collect();
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

fn refused(path: &Path, problem: Problem) -> RecordingError {
    match problem {
        Problem::Io(source) => RecordingError::Io { path: path.into(), source },
        Problem::Content(reason) => RecordingError::malformed(path, reason),
    }
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
    rows: Rows,
    values: Vec<Vec<f64>>,
}

impl ParquetFrames {
    fn open(table: &Parquet) -> Result<Self, RecordingError> {
        let path = table.path.clone();
        let rows = Rows::open(&path, table.columns.clone());
        let rows = rows.map_err(|problem| refused(&path, problem))?;
        Ok(Self { path, rows, values: Vec::new() })
    }

    /// Replaces the content of `values` with the next rows, column by column; returns `false` at
    /// the end.
    fn next_rows(&mut self, values: &mut Vec<Vec<f64>>) -> Result<bool, RecordingError> {
        self.rows.next(values).map_err(|problem| refused(&self.path, problem))
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
