//! WAV files: integers of 8 to 32 bits as counts, and 32-bit floats. They carry their rate.

use std::path::Path;

use hound::{SampleFormat, WavReader};

use super::{MAX_AXES, Recording, RecordingError};

pub(super) fn read(
    path: &Path,
    bytes: &[u8],
    channels: &[&str],
) -> Result<Recording, RecordingError> {
    let damaged = |error: hound::Error| {
        RecordingError::malformed(
            path,
            format!(
                "not a readable WAV file ({error}); write PCM of 8 to 32 bits or 32-bit float, \
                 and finish the file"
            ),
        )
    };
    let reader = WavReader::new(bytes).map_err(damaged)?;
    let spec = reader.spec();
    let width = usize::from(spec.channels);
    if width == 0 || spec.sample_rate == 0 {
        return Err(RecordingError::malformed(
            path,
            format!(
                "a WAV header of {width} channels at {} Hz; the file is damaged, write it again",
                spec.sample_rate
            ),
        ));
    }
    let chosen = chosen_channels(path, channels, width)?;
    let samples: Vec<f32> = match spec.sample_format {
        SampleFormat::Float => reader.into_samples::<f32>().collect::<Result<_, _>>(),
        SampleFormat::Int => reader.into_samples::<i32>().map(|x| x.map(|x| x as f32)).collect(),
    }
    .map_err(damaged)?;
    if samples.is_empty() {
        return Err(RecordingError::empty(path));
    }
    let frames = samples.chunks_exact(width);
    let interleaved =
        frames.flat_map(|frame| chosen.iter().map(move |&channel| frame[channel])).collect();
    Ok(Recording {
        path: path.into(),
        rate_hz: Some(f64::from(spec.sample_rate)),
        rpm: None,
        axes: chosen.len(),
        segments: vec![interleaved],
    })
}

/// Indices of the channels to keep; all of them when none is named.
fn chosen_channels(
    path: &Path,
    channels: &[&str],
    width: usize,
) -> Result<Vec<usize>, RecordingError> {
    if channels.is_empty() {
        if width > MAX_AXES {
            return Err(RecordingError::TooManyAxes { path: path.into(), axes: width });
        }
        return Ok((0..width).collect());
    }
    channels
        .iter()
        .map(|&channel| {
            let index = channel.parse::<usize>().ok().filter(|&index| index < width);
            index.ok_or_else(|| RecordingError::NoSuchChannel {
                path: path.into(),
                channel: channel.into(),
                available: format!("channels 0 to {}", width - 1),
            })
        })
        .collect()
}
