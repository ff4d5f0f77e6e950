//! `.npy` files, the array format of `NumPy`.
//!
//! A 1-D array is one stretch of time, a 2-D array a list of separate segments (segments ×
//! samples), a 3-D array segments × samples × axes.

use std::path::Path;

use npyz::{NpyFile, Order};

use super::{MAX_AXES, Recording, RecordingError};

pub(super) fn read(
    path: &Path,
    bytes: &[u8],
    channels: &[&str],
) -> Result<Recording, RecordingError> {
    let mut data = bytes;
    let header = npyz::NpyHeader::from_reader(&mut data).map_err(|error| {
        RecordingError::malformed(
            path,
            format!("not a NumPy .npy file ({error}); write it with numpy.save"),
        )
    })?;
    let shape: Vec<usize> = header.shape().iter().map(|&n| n as usize).collect();
    let (segments, frames, axes) = match *shape.as_slice() {
        [frames] => (1, frames, 1),
        [segments, frames] => (segments, frames, 1),
        [segments, frames, axes] => (segments, frames, axes),
        _ => {
            return Err(RecordingError::malformed(
                path,
                format!(
                    "an array of shape {shape:?}; give samples (1-D), segments × samples (2-D) or \
                     segments × samples × axes (3-D)"
                ),
            ));
        }
    };
    if shape.contains(&0) {
        return Err(RecordingError::empty(path));
    }
    check_length(path, &header, &shape, data.len())?;
    let fortran = header.order() == Order::Fortran;
    let values = values(path, NpyFile::with_header(header, data))?;

    let chosen = chosen_axes(path, channels, axes)?;
    let at = |segment: usize, frame: usize, axis: usize| {
        if fortran {
            values[segment + segments * (frame + frames * axis)]
        } else {
            values[(segment * frames + frame) * axes + axis]
        }
    };
    let segment = |s: usize| {
        (0..frames)
            .flat_map(|frame| chosen.iter().map(move |&axis| (frame, axis)))
            .map(|(frame, axis)| at(s, frame, axis))
            .collect()
    };
    Ok(Recording {
        path: path.into(),
        rate_hz: None,
        rpm: None,
        axes: chosen.len(),
        segments: (0..segments).map(segment).collect(),
    })
}

/// Refuses a file whose data are not exactly as long as its header says.
fn check_length(
    path: &Path,
    header: &npyz::NpyHeader,
    shape: &[usize],
    data_len: usize,
) -> Result<(), RecordingError> {
    let expected = header
        .dtype()
        .num_bytes()
        .and_then(|item| shape.iter().try_fold(item, |n, &len| n.checked_mul(len)));
    if expected == Some(data_len) {
        return Ok(());
    }
    Err(RecordingError::malformed(
        path,
        format!(
            "shape {shape:?} does not fit the {data_len} bytes of data after the header; the file \
             is cut off or damaged, write it again with numpy.save"
        ),
    ))
}

fn values(path: &Path, file: NpyFile<&[u8]>) -> Result<Vec<f32>, RecordingError> {
    macro_rules! narrow {
        ($file:expr; $($kind:ty),*) => {{
            let file = $file;
            $(let file = match file.try_data::<$kind>() {
                Ok(data) => {
                    return data
                        .map(|x| x.map(|x| x as f32))
                        .collect::<Result<_, _>>()
                        .map_err(|source| RecordingError::Io { path: path.into(), source });
                }
                Err(file) => file,
            };)*
            file
        }};
    }
    let file = narrow!(file; f32, f64, i16, i32, i8, u8, u16, u32, i64, u64);
    Err(RecordingError::malformed(
        path,
        format!(
            "numbers of type {} are not read; save as float32, float64, int16 or int32",
            file.dtype().descr()
        ),
    ))
}

/// Indices of the axes to keep, in the order that they were asked for.
fn chosen_axes(path: &Path, channels: &[&str], axes: usize) -> Result<Vec<usize>, RecordingError> {
    if channels.is_empty() {
        if axes > MAX_AXES {
            return Err(RecordingError::TooManyAxes { path: path.into(), axes });
        }
        return Ok((0..axes).collect());
    }
    channels
        .iter()
        .map(|&channel| {
            let index = channel.parse::<usize>().ok().filter(|&axis| axis < axes);
            index.ok_or_else(|| RecordingError::NoSuchChannel {
                path: path.into(),
                channel: channel.into(),
                available: format!("axes 0 to {}", axes - 1),
            })
        })
        .collect()
}
