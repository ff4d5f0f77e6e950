//! Text tables with one frame a row. The columns are separated by tabs, `;`, `,` or blanks. A
//! header, decimal commas and a column of time are allowed.
//!
//! The `csv` crate reads manifests, but it knows only one separator of one byte and loses count of
//! blank lines. Samples are read line by line here, so that a message can name the line and a file
//! may be larger than memory.

mod dialect;
mod lines;
mod time;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::dialect::Dialect;
use self::lines::{Lines, number, split};
pub(super) use self::time::{Meaning, Step, TimeColumn};
use super::stream::{CHUNK_FRAMES, Skipped};
use super::{Frames, Recording, RecordingError, Source};

use crate::words::plural;

pub(super) fn read(
    path: &Path,
    channels: &[&str],
    in_memory: usize,
) -> Result<Recording, RecordingError> {
    let dialect = Dialect::find(path)?;
    let mut time = TimeColumn::find(&dialect.names, dialect.header);
    let chosen = chosen_columns(path, channels, &dialect.names, time.as_ref())?;
    let layout = Arc::new(Layout { path: path.into(), dialect, chosen });

    // One pass over the file counts the rows, and keeps them if they are few.
    let mut rows = Rows::open(&layout)?;
    let (mut frames, mut kept) = (0_usize, Some(Vec::new()));
    let mut frame = Vec::new();
    while rows.next(&mut frame)? {
        if let Some(column) = &mut time {
            let step = column.row(rows.field(column.column), layout.dialect.separator);
            match step {
                Step::Even => (),
                Step::Uneven if column.named => return Err(uneven(&rows, column)),
                Step::Uneven | Step::NotANumber => time = None,
            }
        }
        frames += 1;
        if let Some(values) = &mut kept {
            values.extend_from_slice(&frame);
            if values.len() * size_of::<f32>() > in_memory {
                kept = None;
            }
        }
    }
    if frames == 0 {
        return Err(RecordingError::empty(path));
    }
    let meaning = time.as_ref().map_or(Meaning::Nothing, TimeColumn::meaning);
    if channels.is_empty() && layout.dialect.names.len() > 1 && meaning == Meaning::Nothing {
        return Err(channel_needed(path, &layout.dialect.names, None));
    }
    let rate_hz = if let Meaning::Time(rate_hz) = meaning { Some(rate_hz) } else { None };
    if let Some(values) = kept {
        let recording = Recording::in_memory(path, layout.chosen.len(), vec![values]);
        return Ok(Recording { rate_hz, ..recording });
    }
    let source = Table { layout, frames: [frames] };
    Recording::of_source(path, rate_hz, Arc::new(source), in_memory)
}

fn uneven(rows: &Rows, time: &TimeColumn) -> RecordingError {
    let (before, step) = time.before();
    RecordingError::malformed(
        &rows.layout.path,
        format!(
            "line {}, column {}: time goes from {before} to {}, where the steps before are \
             {step:.3e}; a recording has even steps: cut it at the gap, or resample it",
            rows.lines.number,
            rows.layout.dialect.names[time.column],
            String::from_utf8_lossy(rows.field(time.column)),
        ),
    )
}

/// The part of a file to read, and how to read it.
#[derive(Debug)]
struct Layout {
    path: PathBuf,
    dialect: Dialect,
    /// Indices of the columns that are axes, in the requested order.
    chosen: Vec<usize>,
}

/// Reads a table row by row.
struct Rows {
    layout: Arc<Layout>,
    lines: Lines,
    line: Vec<u8>,
    fields: Vec<Range<usize>>,
    /// The decimal mark of the first number that has one, and the line of that number.
    mark: Option<(u8, u64)>,
}

impl Rows {
    fn open(layout: &Arc<Layout>) -> Result<Self, RecordingError> {
        let mut lines = Lines::open(&layout.path)?;
        if layout.dialect.header {
            lines.next()?;
        }
        let (line, fields) = (Vec::new(), Vec::new());
        Ok(Self { layout: Arc::clone(layout), lines, line, fields, mark: None })
    }

    /// The text in a column of the row read last.
    fn field(&self, column: usize) -> &[u8] {
        &self.line[self.fields[column].clone()]
    }

    /// Replaces the content of `frame` with the values of the next row; returns `false` at the end.
    fn next(&mut self, frame: &mut Vec<f32>) -> Result<bool, RecordingError> {
        frame.clear();
        let Some(line) = self.lines.next()? else { return Ok(false) };
        self.line.clear();
        self.line.extend_from_slice(line);
        let Layout { path, dialect, chosen } = &*self.layout;
        let at = self.lines.number;
        split(&self.line, dialect.separator, &mut self.fields);
        let (has, needs) = (self.fields.len(), dialect.names.len());
        if has != needs {
            return Err(RecordingError::malformed(
                path,
                format!(
                    "line {at}: {}, but the first row has {needs}; every row needs the same \
                     columns, and a field that holds the separator needs quotes",
                    plural(has, "field", "fields")
                ),
            ));
        }
        for &column in chosen {
            let field = &self.line[self.fields[column].clone()];
            let name = &dialect.names[column];
            let place =
                || format!("line {at}, column {name}: {:?}", String::from_utf8_lossy(field));
            let Some((value, mark)) = number(field, dialect.separator) else {
                return Err(RecordingError::malformed(
                    path,
                    format!("{} is not a number; correct it, or cut the line out", place()),
                ));
            };
            if let Some(mark) = mark {
                let (first, line) = *self.mark.get_or_insert((mark, at));
                if mark != first {
                    return Err(RecordingError::malformed(
                        path,
                        format!(
                            "{} has the decimal mark {:?}, but line {line} has {:?}; write all \
                             numbers with the same mark, and nothing between thousands",
                            place(),
                            char::from(mark),
                            char::from(first)
                        ),
                    ));
                }
            }
            frame.push(value);
        }
        Ok(true)
    }
}

/// A table that is too large for memory.
#[derive(Debug)]
struct Table {
    layout: Arc<Layout>,
    frames: [usize; 1],
}

impl Source for Table {
    fn axes(&self) -> usize {
        self.layout.chosen.len()
    }

    fn stretch_frames(&self) -> &[usize] {
        &self.frames
    }

    fn open(&self, _segment: usize, start: usize) -> Result<Box<dyn Frames>, RecordingError> {
        let rows = TableFrames { rows: Rows::open(&self.layout)?, frame: Vec::new() };
        Ok(Box::new(Skipped::new(rows, start, self.axes())?))
    }
}

struct TableFrames {
    rows: Rows,
    frame: Vec<f32>,
}

impl Frames for TableFrames {
    fn next_chunk(&mut self, out: &mut Vec<f32>) -> Result<bool, RecordingError> {
        out.clear();
        for _ in 0..CHUNK_FRAMES {
            if !self.rows.next(&mut self.frame)? {
                break;
            }
            out.extend_from_slice(&self.frame);
        }
        Ok(!out.is_empty())
    }
}

fn channel_needed(path: &Path, names: &[String], time: Option<usize>) -> RecordingError {
    let described = names.iter().enumerate().map(|(column, name)| {
        if Some(column) == time { format!("{name} (time)") } else { name.clone() }
    });
    let available = described.collect::<Vec<_>>().join(", ");
    RecordingError::ChannelNeeded { path: path.into(), available }
}

/// Indices of the columns to read. A name takes precedence over an index.
fn chosen_columns(
    path: &Path,
    channels: &[&str],
    names: &[String],
    time: Option<&TimeColumn>,
) -> Result<Vec<usize>, RecordingError> {
    if channels.is_empty() {
        return match (names.len(), time) {
            (1, _) => Ok(vec![0]),
            // If the first column turns out to be time, the other one is the axis.
            (2, Some(time)) => Ok(vec![1 - time.column]),
            // The meaning of other columns is unknown: a speed or a temperature is not an axis.
            (_, time) => {
                let named = time.filter(|time| time.named).map(|time| time.column);
                Err(channel_needed(path, names, named))
            }
        };
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
