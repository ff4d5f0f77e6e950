//! MATLAB v5 files (`save -v6` and `save -v7`).
//!
//! The `matfile` crate reads numeric arrays. It is given one top-level element at a time, because
//! on a whole file it drops a truncated tail without a word and lets one array of an unsupported
//! kind spoil all the others.

use std::panic::catch_unwind;
use std::path::Path;

use matfile::{Array, MatFile, NumericData};

use super::{MAX_AXES, Recording, RecordingError};

/// Text, version and byte order that every v5 file begins with.
const HEADER_LEN: usize = 128;
/// Data types of the top-level elements that hold arrays.
const MI_MATRIX: u32 = 14;
const MI_COMPRESSED: u32 = 15;

pub(super) fn read(
    path: &Path,
    channels: &[&str],
    _in_memory: usize,
) -> Result<Recording, RecordingError> {
    let bytes =
        std::fs::read(path).map_err(|source| RecordingError::Io { path: path.into(), source })?;
    let arrays = arrays(path, &bytes)?;
    let chosen: Vec<&Array> = if channels.is_empty() {
        let vectors: Vec<&Array> = arrays.iter().filter(|a| is_vector(a)).collect();
        match vectors.as_slice() {
            [only] => vec![*only],
            _ => {
                return Err(RecordingError::ChannelNeeded {
                    path: path.into(),
                    available: names(&arrays),
                });
            }
        }
    } else {
        channels
            .iter()
            .map(|&channel| {
                arrays.iter().find(|a| a.name() == channel).ok_or_else(|| {
                    RecordingError::NoSuchChannel {
                        path: path.into(),
                        channel: channel.into(),
                        available: names(&arrays),
                    }
                })
            })
            .collect::<Result<_, _>>()?
    };
    let mut axes = Vec::new();
    for array in chosen {
        axes.extend(columns(path, array)?);
    }
    from_columns(path, &axes)
}

/// One segment from one column per axis.
fn from_columns(path: &Path, columns: &[(String, Vec<f32>)]) -> Result<Recording, RecordingError> {
    let Some((first_name, first)) = columns.first() else {
        return Err(RecordingError::empty(path));
    };
    if columns.len() > MAX_AXES {
        return Err(RecordingError::TooManyAxes { path: path.into(), axes: columns.len() });
    }
    if let Some((name, column)) = columns.iter().find(|(_, c)| c.len() != first.len()) {
        return Err(RecordingError::UnequalAxes {
            path: path.into(),
            first: first_name.clone(),
            first_len: first.len(),
            other: name.clone(),
            other_len: column.len(),
        });
    }
    if first.is_empty() {
        return Err(RecordingError::empty(path));
    }
    let interleaved = (0..first.len())
        .flat_map(|frame| columns.iter().map(move |(_, column)| column[frame]))
        .collect();
    Ok(Recording::in_memory(path, columns.len(), vec![interleaved]))
}

/// The numeric arrays of a file whose top-level elements are all there.
fn arrays(path: &Path, bytes: &[u8]) -> Result<Vec<Array>, RecordingError> {
    if bytes.starts_with(b"MATLAB 7.3") || bytes.starts_with(b"\x89HDF") {
        return Err(RecordingError::malformed(
            path,
            "a MATLAB v7.3 (HDF5) file, which is not supported; save it again in MATLAB with \
             save(file, '-v7') or in Python with scipy.io.savemat",
        ));
    }
    let word = match bytes.get(126..HEADER_LEN) {
        Some(b"IM") => u32::from_le_bytes,
        Some(b"MI") => u32::from_be_bytes,
        _ => {
            return Err(RecordingError::malformed(
                path,
                "not a MATLAB v5 file (no byte-order mark at byte 126); save it again in MATLAB \
                 with save(file, '-v7')",
            ));
        }
    };
    let (header, mut rest) = bytes.split_at(HEADER_LEN);
    let mut arrays = Vec::new();
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let truncated = || {
            RecordingError::malformed(
                path,
                format!(
                    "cut off: the array at byte {at} goes on past the end of the file ({} bytes); \
                     copy or download it again",
                    bytes.len()
                ),
            )
        };
        let (Some(kind), Some(len)) = (read_word(rest, 0), read_word(rest, 4)) else {
            return Err(truncated());
        };
        let (kind, len) = (word(kind), word(len) as usize);
        if kind != MI_MATRIX && kind != MI_COMPRESSED {
            return Err(RecordingError::malformed(
                path,
                format!("damaged: element of type {kind} at byte {at}, where an array must be"),
            ));
        }
        let end = 8 + len;
        let element = rest.get(..end).ok_or_else(truncated)?;
        // Uncompressed elements are padded to 8 bytes; the last one may lack the padding.
        let next = if kind == MI_MATRIX { end.next_multiple_of(8) } else { end };
        rest = rest.get(next..).unwrap_or_default();
        // Text, cells, structures and number kinds that the crate cannot read are no samples.
        let single = [header, element].concat();
        // The crate multiplies the sizes of a damaged array unchecked: a panic in debug builds.
        if let Ok(Ok(file)) = catch_unwind(|| MatFile::parse(single.as_slice())) {
            arrays.extend(file.arrays().iter().cloned());
        }
    }
    Ok(arrays)
}

fn read_word(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    bytes.get(at..at + 4)?.try_into().ok()
}

/// Whether the array is one row or one column of at least two values.
fn is_vector(array: &Array) -> bool {
    array.size().iter().filter(|&&n| n != 1).count() == 1 && array.size().iter().all(|&n| n > 0)
}

fn names(arrays: &[Array]) -> String {
    if arrays.is_empty() {
        return "no numeric array (structures, cells and int32 arrays are not read)".into();
    }
    let described = arrays.iter().map(|a| {
        let size: Vec<String> = a.size().iter().map(ToString::to_string).collect();
        format!("{} ({})", a.name(), size.join("×"))
    });
    described.collect::<Vec<_>>().join(", ")
}

/// The axes of an array: a vector is one, an N×2 or N×3 matrix (or its transpose) two or three.
fn columns(path: &Path, array: &Array) -> Result<Vec<(String, Vec<f32>)>, RecordingError> {
    let values = real_values(path, array)?;
    if values.is_empty() {
        return Err(RecordingError::malformed(
            path,
            format!("{} is empty; choose another variable or record again", array.name()),
        ));
    }
    let name = array.name();
    let named = |axis: usize| format!("{name}[{axis}]");
    match *array.size().as_slice() {
        [n, 1] | [1, n] if n == values.len() => Ok(vec![(name.into(), values)]),
        // Column-major: each column is contiguous.
        [n, axes] if axes <= MAX_AXES && n > MAX_AXES => Ok(values
            .chunks_exact(n)
            .enumerate()
            .map(|(axis, column)| (named(axis), column.to_vec()))
            .collect()),
        [axes, n] if axes <= MAX_AXES && n > MAX_AXES => Ok((0..axes)
            .map(|axis| {
                let row = values.iter().skip(axis).step_by(axes).copied();
                (named(axis), row.collect())
            })
            .collect()),
        _ => Err(RecordingError::malformed(
            path,
            format!(
                "{name} has the size {:?}; a recording is a vector, or a matrix of two or three \
                 columns",
                array.size()
            ),
        )),
    }
}

fn real_values(path: &Path, array: &Array) -> Result<Vec<f32>, RecordingError> {
    macro_rules! narrow {
        ($($kind:ident),*) => {
            match array.data() {
                $(NumericData::$kind { real, imag: None } => Some(real.iter().map(|&x| x as f32).collect()),)*
                _ => None,
            }
        };
    }
    narrow!(Double, Single, Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64).ok_or_else(
        || {
            RecordingError::malformed(
                path,
                format!("{} is complex; a recording has real samples", array.name()),
            )
        },
    )
}
