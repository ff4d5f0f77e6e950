//! `.npz` files: zip archives of `.npy` arrays, compressed or not. A channel is the name of an
//! array.
//!
//! `zip` reads the directory. The bytes are unpacked here, because the crate's readers borrow the
//! archive and a source must be opened many times.

use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use flate2::Crc;
use zip::{CompressionMethod, ZipArchive};

use super::bytes::{Extent, Packing, is_bomb};
use super::npy::Array;
use super::packed::unreadable;
use super::{Recording, RecordingError};
use crate::files::input;

/// An array of the archive.
struct Entry {
    name: String,
    array: Array,
    extent: Extent,
    /// Bytes of its header before the numbers.
    skip: u64,
    size: u64,
    crc: u32,
}

pub(super) fn read(
    path: &Path,
    channels: &[&str],
    in_memory: usize,
) -> Result<Recording, RecordingError> {
    let entries = entries(path)?;
    let described = || {
        let described = entries.iter().map(|e| format!("{} {:?}", e.name, e.array.shape));
        described.collect::<Vec<_>>().join(", ")
    };
    let chosen: Vec<&Entry> = if channels.is_empty() {
        // A rate or a label saved together with the samples is a single value.
        let mut many = entries.iter().filter(|e| e.array.shape.iter().any(|&n| n != 1));
        let (Some(only), None) = (many.next(), many.next()) else {
            let available = described();
            return Err(RecordingError::ChannelNeeded { path: path.into(), available });
        };
        vec![only]
    } else {
        let find = |&channel: &&str| {
            entries.iter().find(|entry| entry.name == channel).ok_or_else(|| {
                RecordingError::NoSuchChannel {
                    path: path.into(),
                    channel: channel.into(),
                    available: described(),
                }
            })
        };
        channels.iter().map(find).collect::<Result<_, _>>()?
    };
    let first = chosen[0];
    for entry in &chosen {
        check(path, entry)?;
        let frames = entry.array.stretches * entry.array.frames;
        if entry.array.stretches != first.array.stretches
            || entry.array.frames != first.array.frames
        {
            return Err(RecordingError::UnequalAxes {
                path: path.into(),
                first: first.name.clone(),
                first_len: first.array.stretches * first.array.frames,
                other: entry.name.clone(),
                other_len: frames,
            });
        }
    }
    let axes: usize = chosen.iter().map(|entry| entry.array.axes).sum();
    let samples = first.array.stretches.saturating_mul(first.array.frames).saturating_mul(axes);
    if samples.saturating_mul(size_of::<f32>()) > in_memory {
        for entry in &chosen {
            check_streamable(path, entry)?;
        }
    }
    let sources = chosen.iter().map(|entry| {
        let picks = (0..entry.array.axes).collect();
        entry.array.source(path, &entry.name, entry.extent, entry.skip, picks)
    });
    let mut sources = sources.collect::<Result<Vec<_>, _>>()?;
    let source = if sources.len() == 1 {
        sources.remove(0)
    } else {
        Arc::new(super::stream::SideBySide::new(sources))
    };
    Recording::of_source(path, None, source, in_memory)
}

/// The arrays of an archive.
fn entries(path: &Path) -> Result<Vec<Entry>, RecordingError> {
    let io = |source| RecordingError::Io { path: path.into(), source };
    let file = BufReader::new(input::open(path).map_err(io)?);
    let malformed = |reason: String| RecordingError::malformed(path, reason);
    let damaged = |error: zip::result::ZipError| {
        malformed(format!(
            "not a readable .npz archive ({error}, looking for its directory at the end); copy it \
             again or write it with numpy.savez"
        ))
    };
    let mut archive = ZipArchive::new(file).map_err(damaged)?;
    let mut entries = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(damaged)?;
        let file_name = String::from_utf8_lossy(entry.name_raw()).into_owned();
        let Some(name) = file_name.strip_suffix(".npy") else { continue };
        let packing = match entry.compression() {
            CompressionMethod::STORE => Packing::Plain,
            CompressionMethod::DEFLATE if !entry.encrypted() => Packing::Deflate,
            _ => {
                return Err(malformed(format!(
                    "array {name}: its compression is not supported; write it with numpy.savez"
                )));
            }
        };
        let (size, len) = (entry.size(), entry.compressed_size());
        let at = entry.data_start().unwrap_or(0);
        if is_bomb(size, len) {
            return Err(malformed(format!(
                "array {name} (at byte {at}): {size} bytes are announced in {len} compressed \
                 bytes, too many for a recording; write it again with numpy.savez"
            )));
        }
        let crc = entry.crc32();
        let extent = Extent { at, len, packing };
        let (array, skip) = header(path, name, extent)?;
        array.check_length(path, name, size.saturating_sub(skip))?;
        entries.push(Entry { name: name.into(), array, extent, skip, size, crc });
    }
    if entries.is_empty() {
        return Err(RecordingError::empty(path));
    }
    Ok(entries)
}

fn header(path: &Path, name: &str, extent: Extent) -> Result<(Array, u64), RecordingError> {
    let place = format_args!("at the header of array {name}").to_string();
    let mut bytes = extent.open(path, 0).map_err(|error| unreadable(path, error, &place))?;
    Array::read(path, name, &mut bytes)
}

/// Most bytes that may be unpacked for one pass over the stretches of a compressed array. It is
/// unpacked from its start for each stretch.
const MOST_UNPACKED: u64 = 64 << 30;

/// Refuses a compressed array with so many stretches that streaming it would take hours.
fn check_streamable(path: &Path, entry: &Entry) -> Result<(), RecordingError> {
    let unpacked = (entry.size / 2).saturating_mul(entry.array.stretches as u64);
    if entry.extent.packing == Packing::Plain || unpacked <= MOST_UNPACKED {
        return Ok(());
    }
    Err(RecordingError::malformed(
        path,
        format!(
            "array {} has {} stretches, is compressed, and is too large for memory; write it \
             without compression, with numpy.savez",
            entry.name, entry.array.stretches
        ),
    ))
}

/// Reads an array to its end and compares its length and checksum with the directory.
fn check(path: &Path, entry: &Entry) -> Result<(), RecordingError> {
    let Entry { name, array, extent, size, crc, .. } = entry;
    if array.shape.contains(&0) {
        return Err(RecordingError::malformed(
            path,
            format!("array {name} is empty; choose another or record again"),
        ));
    }
    let place = format!("in array {name}");
    let failed = |error| unreadable(path, error, &place);
    // One byte more than expected, so that extra bytes are noticed.
    let mut bytes = extent.open(path, 0).map_err(failed)?.take(size + 1);
    let (mut sum, mut buffer, mut count) = (Crc::new(), vec![0; 1 << 16], 0);
    loop {
        let read = bytes.read(&mut buffer).map_err(failed)?;
        if read == 0 {
            break;
        }
        sum.update(&buffer[..read]);
        count += read as u64;
    }
    if count == *size && sum.sum() == *crc {
        return Ok(());
    }
    Err(RecordingError::malformed(
        path,
        format!(
            "array {name} (at byte {}): length or checksum is not what the archive says; copy it \
             again or write it with numpy.savez",
            extent.at
        ),
    ))
}
