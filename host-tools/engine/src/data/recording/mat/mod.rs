//! MATLAB v5 files (`save -v6` and `save -v7`).
//!
//! We have our own reader because no crate does the job. `matfile` reads neither structures nor
//! cells nor 32-bit integers, and silently drops a truncated tail. `matrw` panics on damaged files.
//! Neither streams. We need only a small part of the format: the headers of arrays, in [`walk`],
//! and packed numbers.

mod walk;

use std::path::Path;
use std::sync::Arc;

use self::walk::{Numbers, walk};
use super::packed::{Block, Packed};
use super::{MAX_AXES, Recording, RecordingError};

pub(super) fn read(
    path: &Path,
    channels: &[&str],
    in_memory: usize,
) -> Result<Recording, RecordingError> {
    let arrays = walk(path)?;
    if arrays.is_empty() {
        return Err(RecordingError::malformed(
            path,
            "no numeric array in it (after the header of 128 bytes); save the samples as a \
             variable",
        ));
    }
    let chosen: Vec<Axes> = if channels.is_empty() {
        let vectors: Vec<&Numbers> = arrays.iter().filter(|array| array.is_vector()).collect();
        let [only] = vectors.as_slice() else {
            let available = described(&arrays);
            return Err(RecordingError::ChannelNeeded { path: path.into(), available });
        };
        vec![whole(path, only)?]
    } else {
        let axes = |&channel: &&str| find(path, &arrays, channel);
        channels.iter().map(axes).collect::<Result<_, _>>()?
    };
    if let Some(other) = chosen.iter().find(|axes| axes.frames != chosen[0].frames) {
        return Err(RecordingError::UnequalAxes {
            path: path.into(),
            first: chosen[0].name.clone(),
            first_len: chosen[0].frames,
            other: other.name.clone(),
            other_len: other.frames,
        });
    }
    let stretch_frames = vec![chosen[0].frames];
    let blocks = chosen.into_iter().flat_map(|axes| axes.blocks).collect();
    let source = Packed::new(path, blocks, stretch_frames);
    Recording::of_source(path, None, Arc::new(source), in_memory)
}

/// Axes of equal length.
struct Axes {
    name: String,
    frames: usize,
    blocks: Vec<Block>,
}

/// Names and sizes, for messages.
fn described(arrays: &[Numbers]) -> String {
    /// A longer list would hide the message.
    const MOST: usize = 40;
    let described = arrays.iter().take(MOST).map(|array| {
        let size: Vec<String> = array.size.iter().map(ToString::to_string).collect();
        format!("{} ({})", array.name, size.join("×"))
    });
    let mut text = described.collect::<Vec<_>>().join(", ");
    if arrays.len() > MOST {
        text.push_str(", …");
    }
    text
}

/// The axes that a channel names. The channel is an array. If `(:,k)` or `(k,:)` follows its name,
/// it is one column or row of the array, counted from 1 as in MATLAB.
fn find(path: &Path, arrays: &[Numbers], channel: &str) -> Result<Axes, RecordingError> {
    let by_name = |name: &str| arrays.iter().find(|array| array.name == name);
    if let Some(array) = by_name(channel) {
        return whole(path, array);
    }
    let part = channel.strip_suffix(')').and_then(|rest| rest.rsplit_once('('));
    let index = |text: &str| text.trim().parse::<usize>().ok()?.checked_sub(1);
    let found = part.and_then(|(name, part)| {
        let (array, (row, column)) = (by_name(name)?, part.split_once(',')?);
        let [rows, columns] = *array.size.as_slice() else { return None };
        let (step, first, frames) = if row.trim() == ":" {
            let column = index(column).filter(|&column| column < columns)?;
            (1, column * rows, rows)
        } else if column.trim() == ":" {
            (rows, index(row).filter(|&row| row < rows)?, columns)
        } else {
            return None;
        };
        Some((array, step, first, frames))
    });
    let Some((array, step, first, frames)) = found else {
        return Err(RecordingError::NoSuchChannel {
            path: path.into(),
            channel: channel.into(),
            available: described(arrays),
        });
    };
    check(path, array)?;
    let blocks = vec![block(array, step, first)];
    Ok(Axes { name: channel.into(), frames, blocks })
}

/// The axes of an array: a vector has one, an N×2 or N×3 matrix (or its transpose) has two or
/// three.
fn whole(path: &Path, array: &Numbers) -> Result<Axes, RecordingError> {
    check(path, array)?;
    let name = array.name.clone();
    match *array.size.as_slice() {
        [n, 1] | [1, n] => Ok(Axes { name, frames: n, blocks: vec![block(array, 1, 0)] }),
        // Numbers are stored column by column, so each column is a block.
        [n, axes] if axes <= MAX_AXES && n > MAX_AXES => {
            let blocks = (0..axes).map(|axis| block(array, 1, axis * n)).collect();
            Ok(Axes { name, frames: n, blocks })
        }
        [axes, n] if axes <= MAX_AXES && n > MAX_AXES => {
            let picks = (0..axes).collect();
            let blocks = vec![Block { picks, ..block(array, axes, 0) }];
            Ok(Axes { name, frames: n, blocks })
        }
        _ => Err(RecordingError::malformed(
            path,
            format!(
                "{name} has the size {:?}; a recording is a vector, or a matrix of two or three \
                 columns: choose a column, as {name}(:,1)",
                array.size
            ),
        )),
    }
}

/// Refuses numbers that cannot be samples.
fn check(path: &Path, array: &Numbers) -> Result<(), RecordingError> {
    let name = &array.name;
    let problem = if array.complex {
        format!("{name} is complex; a recording has real samples, save real({name})")
    } else if array.size.contains(&0) {
        format!("{name} is empty; choose another variable or record again")
    } else {
        return Ok(());
    };
    Err(RecordingError::malformed(path, problem))
}

/// Every `width`-th number of an array, starting at `first`.
fn block(array: &Numbers, width: usize, first: usize) -> Block {
    // A frame of `width` numbers begins at a multiple of `width`, so that a row is one number of
    // each frame.
    let (frame, pick) = (first / width * width, first % width);
    Block {
        extent: array.extent,
        skip: array.skip + (frame * array.kind.bytes()) as u64,
        kind: array.kind,
        big_endian: array.big_endian,
        width,
        picks: vec![pick],
    }
}
