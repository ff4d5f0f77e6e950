//! Converts a recording to another rate and unit. Only this module changes samples between the file
//! and the features.

use std::sync::Arc;

use super::stream::{CHUNK_FRAMES, Skipped};
use super::{Frames, IN_MEMORY, Recording, RecordingError, Samples, Source};
use crate::data::resample::Resampler;
use crate::words::axis_name;

/// The changes to the samples of a recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conversion {
    /// Factor by which the samples are multiplied.
    pub factor: f64,
    /// The largest possible value before the multiplication, if the samples are counts.
    pub largest: Option<f64>,
    /// The old and the new rate, in Hz.
    pub rates: Option<(f64, f64)>,
}

impl Default for Conversion {
    fn default() -> Self {
        Self { factor: 1.0, largest: None, rates: None }
    }
}

impl Recording {
    /// The recording after a conversion, in memory or streamed as before.
    pub fn converted(self, conversion: &Conversion) -> Result<Self, RecordingError> {
        if *conversion == Conversion::default() {
            return Ok(self);
        }
        let (path, rpm, axes) = (self.path.clone(), self.rpm, self.axes);
        let rate_hz = conversion.rates.map(|(_, to_hz)| to_hz).or(self.rate_hz);
        let frames = self.stretch_frames();
        let (resampler, frames) = match conversion.rates {
            None => (None, frames),
            Some((from_hz, to_hz)) => {
                let resampler = Resampler::new(from_hz, to_hz, axes)
                    .map_err(|error| RecordingError::malformed(&path, error.to_string()))?;
                let new = |frames: usize| resampler.frames(frames as u64) as usize;
                let frames = frames.into_iter().map(new).collect();
                (Some(resampler), frames)
            }
        };
        let (recording, conversion) = (Arc::new(self), *conversion);
        let source = Arc::new(Converted { recording, conversion, resampler, frames });
        let recording = Self::of_source(&path, rate_hz, source, IN_MEMORY)?;
        Ok(Self { rpm, ..recording })
    }
}

/// A recording that is converted while it is read.
#[derive(Debug)]
struct Converted {
    recording: Arc<Recording>,
    conversion: Conversion,
    /// A resampler in its initial state. Each stretch of time begins with a copy of it.
    resampler: Option<Resampler>,
    frames: Vec<usize>,
}

impl Source for Converted {
    fn axes(&self) -> usize {
        self.recording.axes
    }

    fn stretch_frames(&self) -> &[usize] {
        &self.frames
    }

    fn open(&self, stretch: usize, start: usize) -> Result<Box<dyn Frames>, RecordingError> {
        let stream = ConvertedFrames {
            frames: RecordingFrames::open(&self.recording, stretch)?,
            conversion: self.conversion,
            resampler: self.resampler.clone(),
            chunk: Vec::new(),
            taken: 0,
            ended: false,
        };
        Ok(Box::new(Skipped::new(stream, start, self.axes())?))
    }
}

struct ConvertedFrames {
    frames: RecordingFrames,
    conversion: Conversion,
    resampler: Option<Resampler>,
    chunk: Vec<f32>,
    /// Number of values read so far, for messages.
    taken: usize,
    ended: bool,
}

impl ConvertedFrames {
    /// Converts the values of the chunk to the new unit.
    fn scale(&mut self) -> Result<(), RecordingError> {
        let Conversion { factor, largest, .. } = self.conversion;
        let axes = self.frames.recording.axes;
        let beyond = |x: &f32| largest.is_some_and(|largest| f64::from(x.abs()) > largest);
        if let Some(at) = self.chunk.iter().position(beyond) {
            let place = self.taken + at;
            return Err(RecordingError::malformed(
                &self.frames.recording.path,
                format!(
                    "frame {} of stretch {}, axis {}: {} is beyond the range of the manifest's \
                     counts; give their number of bits in its unit column, as counts24",
                    place / axes,
                    self.frames.stretch,
                    axis_name(place % axes),
                    self.chunk[at]
                ),
            ));
        }
        self.taken += self.chunk.len();
        if factor != 1.0 {
            for value in &mut self.chunk {
                *value = (f64::from(*value) * factor) as f32;
            }
        }
        Ok(())
    }
}

impl Frames for ConvertedFrames {
    fn next_chunk(&mut self, out: &mut Vec<f32>) -> Result<bool, RecordingError> {
        out.clear();
        while out.is_empty() && !self.ended {
            if self.frames.next_chunk(&mut self.chunk)? {
                self.scale()?;
                match &mut self.resampler {
                    None => std::mem::swap(out, &mut self.chunk),
                    Some(resampler) => resampler.push(&self.chunk, out),
                }
            } else {
                self.ended = true;
                if let Some(resampler) = &mut self.resampler {
                    resampler.finish(out);
                }
            }
        }
        Ok(!out.is_empty())
    }
}

/// The frames of a stretch of a recording, from memory or from storage.
struct RecordingFrames {
    recording: Arc<Recording>,
    stretch: usize,
    /// Number of frames still to come.
    left: usize,
    stored: Option<Box<dyn Frames>>,
}

impl RecordingFrames {
    fn open(recording: &Arc<Recording>, stretch: usize) -> Result<Self, RecordingError> {
        let stored = match &recording.samples {
            Samples::Memory(_) => None,
            Samples::Stored(stored) => Some(stored.open(stretch)?),
        };
        let left = recording.frames_of(stretch);
        Ok(Self { recording: Arc::clone(recording), stretch, left, stored })
    }
}

impl Frames for RecordingFrames {
    fn next_chunk(&mut self, out: &mut Vec<f32>) -> Result<bool, RecordingError> {
        out.clear();
        let axes = self.recording.axes;
        if self.left == 0 {
            return Ok(false);
        }
        match (&self.recording.samples, &mut self.stored) {
            (Samples::Memory(stretches), _) => {
                let values = &stretches[self.stretch];
                let at = values.len() - self.left * axes;
                let count = (CHUNK_FRAMES * axes).min(self.left * axes);
                out.extend_from_slice(&values[at..at + count]);
            }
            (Samples::Stored(_), Some(stored)) => {
                // The caller counts the frames and notices a stream that ends early.
                if !stored.next_chunk(out)? {
                    return Ok(false);
                }
                out.truncate(self.left * axes);
            }
            (Samples::Stored(_), None) => return Ok(false),
        }
        self.left -= out.len() / axes;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::resample::resample;

    fn noise(values: usize) -> Vec<f32> {
        (0..values).map(|n| ((n * 7919) % 1013) as f32 - 500.0).collect()
    }

    #[test]
    fn stored_and_in_memory_give_the_same_samples() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.npy");
        let samples = noise(60_000);
        let wide = samples.iter().map(|x| f64::from(*x)).collect();
        let matrix = ndarray::Array2::from_shape_vec((1, 60_000), wide).unwrap();
        crate::files::npy::write_matrix(&path, &matrix.view()).unwrap();
        let conversion =
            Conversion { rates: Some((25_600.0, 12_000.0)), factor: 0.5, largest: None };
        let halved: Vec<f32> = samples.iter().map(|x| x * 0.5).collect();
        let wanted = resample(&halved, 1, 25_600.0, 12_000.0).unwrap();
        for in_memory in [0, usize::MAX] {
            let recording = super::super::read_within(&path, None, in_memory).unwrap();
            let stored = matches!(recording.samples, Samples::Stored(_));
            assert_eq!(stored, in_memory == 0);
            // The second case starts in the middle, so that a stream also begins in the middle.
            for start in [0, 30_001] {
                let cut = recording.cut(std::iter::once((0, start..60_000)));
                let found = Recording { rpm: Some(9.0), ..cut }.converted(&conversion).unwrap();
                assert_eq!((found.rate_hz, found.rpm), (Some(12_000.0), Some(9.0)));
                if start == 0 {
                    assert_eq!(found.stretches().unwrap(), std::slice::from_ref(&wanted));
                }
                let alone = resample(&halved[start..], 1, 25_600.0, 12_000.0).unwrap();
                assert_eq!(found.stretches().unwrap(), [alone]);
            }
        }
    }

    #[test]
    fn axes_stay_apart_and_counts_have_a_largest() {
        let recording = || Recording::in_memory("r.wav", 2, vec![noise(40), noise(2)]);
        let twice = Conversion { factor: 2.0, ..Conversion::default() };
        let found = recording().converted(&twice).unwrap();
        let wanted: Vec<f32> = noise(40).iter().map(|x| 2.0 * x).collect();
        assert_eq!(found.stretches().unwrap()[0], wanted);
        assert_eq!(recording().converted(&Conversion::default()).unwrap(), recording());
        let counts = Conversion { largest: Some(100.0), ..twice };
        let error = recording().converted(&counts).unwrap_err().to_string();
        assert!(error.contains("frame 0 of stretch 0, axis x: -500"), "{error}");
        let up = Conversion { rates: Some((1000.0, 2000.0)), ..Conversion::default() };
        let error = recording().converted(&up).unwrap_err().to_string();
        assert!(error.starts_with("r.wav: 1000 Hz cannot be resampled"), "{error}");
    }
}
