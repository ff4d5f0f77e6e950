//! The samples of a recording, in memory or streamed from a file.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Frames, MAX_AXES, RecordingError, Source};

use crate::words::axis_name;

/// Largest size of samples, in bytes as `f32`, that is read into memory. A larger file is streamed.
pub const IN_MEMORY: usize = 256 << 20;

/// The samples of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// The file that was read.
    pub path: PathBuf,
    /// The sampling rate that the file itself carries: in a WAV header, or in a column of time.
    pub rate_hz: Option<f64>,
    /// The shaft speed in turns per minute, if the manifest or the command line gives one.
    pub rpm: Option<f64>,
    /// Values per frame, one to three.
    pub axes: usize,
    /// The samples.
    pub samples: Samples,
}

/// The samples of a recording.
#[derive(Debug, Clone, PartialEq)]
pub enum Samples {
    /// Contiguous stretches of time as interleaved frames. No stretch is empty.
    Memory(Vec<Vec<f32>>),
    /// Too many samples for memory. They are read each time they are needed.
    Stored(Stored),
}

/// Stretches of a source.
#[derive(Debug, Clone)]
pub struct Stored {
    source: Arc<dyn Source>,
    /// For each stretch of the recording: the source's stretch and the frames taken from it.
    parts: Vec<(usize, Range<usize>)>,
}

impl Stored {
    /// The frames from the start of a stretch on, continuing past its end.
    pub(super) fn open(&self, stretch: usize) -> Result<Box<dyn Frames>, RecordingError> {
        let (of_source, part) = &self.parts[stretch];
        self.source.open(*of_source, part.start)
    }
}

impl PartialEq for Stored {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.source, &other.source) && self.parts == other.parts
    }
}

/// The place of a value in a recording; all indices count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Index of the stretch.
    pub stretch: usize,
    /// Index of the frame in its stretch.
    pub frame: usize,
    /// Index of the axis in its frame.
    pub axis: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { stretch, frame, axis } = self;
        write!(f, "stretch {stretch}, frame {frame}, axis {}", axis_name(*axis))
    }
}

impl Recording {
    /// A recording in memory: interleaved frames of `axes` values, in stretches of time. No stretch
    /// is empty.
    pub fn in_memory(path: impl Into<PathBuf>, axes: usize, stretches: Vec<Vec<f32>>) -> Self {
        let samples = Samples::Memory(stretches);
        Self { path: path.into(), rate_hz: None, rpm: None, axes, samples }
    }

    /// The recording of a source. It is loaded if it takes at most `in_memory` bytes.
    pub fn of_source(
        path: &Path,
        rate_hz: Option<f64>,
        source: Arc<dyn Source>,
        in_memory: usize,
    ) -> Result<Self, RecordingError> {
        let (axes, frames) = (source.axes(), source.stretch_frames());
        if axes > MAX_AXES {
            return Err(RecordingError::TooManyAxes { path: path.into(), axes });
        }
        if axes == 0 || frames.is_empty() || frames.contains(&0) {
            return Err(RecordingError::empty(path));
        }
        let parts = frames.iter().enumerate().map(|(stretch, &n)| (stretch, 0..n)).collect();
        let total: usize = frames.iter().sum();
        let fits = total.saturating_mul(axes * size_of::<f32>()) <= in_memory;
        // Opening a file for each stretch takes long if there are many, and a compressed file is
        // unpacked again each time.
        let all = if fits { source.open_all()? } else { None };
        let samples = Samples::Stored(Stored { source, parts });
        let recording = Self { path: path.into(), rate_hz, rpm: None, axes, samples };
        if !fits {
            return Ok(recording);
        }
        let samples = match all {
            Some(mut stream) => recording.load_in_one_pass(stream.as_mut())?,
            None => recording.load()?,
        };
        Ok(Self { samples: Samples::Memory(samples), ..recording })
    }

    /// Frames in each stretch.
    pub fn stretch_frames(&self) -> Vec<usize> {
        match &self.samples {
            Samples::Memory(stretches) => stretches.iter().map(|s| s.len() / self.axes).collect(),
            Samples::Stored(stored) => stored.parts.iter().map(|(_, part)| part.len()).collect(),
        }
    }

    /// Frames in one stretch; 0 if there is no such stretch.
    pub fn frames_of(&self, stretch: usize) -> usize {
        match &self.samples {
            Samples::Memory(stretches) => stretches.get(stretch).map_or(0, Vec::len) / self.axes,
            Samples::Stored(stored) => stored.parts.get(stretch).map_or(0, |(_, part)| part.len()),
        }
    }

    /// Frames in all stretches together.
    pub fn frames(&self) -> usize {
        self.stretch_frames().iter().sum()
    }

    /// The shaft speed in turns per second, as the device takes it.
    pub fn shaft_hz(&self) -> Option<f32> {
        self.rpm.map(|rpm| (rpm / 60.0) as f32)
    }

    /// The stretches, for work that needs all samples at once. It refuses a recording that is too
    /// large for memory.
    pub fn stretches(&self) -> Result<&[Vec<f32>], RecordingError> {
        match &self.samples {
            Samples::Memory(stretches) => Ok(stretches),
            Samples::Stored(_) => Err(RecordingError::TooLarge {
                path: self.path.clone(),
                megabytes: (self.frames() * self.axes * size_of::<f32>()) >> 20,
            }),
        }
    }

    /// Passes `frames` of a stretch to `take` in order, interleaved, in chunks of whole frames.
    /// Samples in memory come as one chunk.
    pub fn each_chunk<E: From<RecordingError>>(
        &self,
        stretch: usize,
        frames: Range<usize>,
        mut take: impl FnMut(&[f32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let stored = match &self.samples {
            Samples::Memory(stretches) => {
                return take(&stretches[stretch][frames.start * self.axes..frames.end * self.axes]);
            }
            Samples::Stored(stored) => stored,
        };
        let (of_source, part) = &stored.parts[stretch];
        let mut stream = stored.source.open(*of_source, part.start + frames.start)?;
        let mut left = frames.len() * self.axes;
        let mut chunk = Vec::new();
        while left > 0 {
            if !stream.next_chunk(&mut chunk)? {
                return Err(self.ends(stretch, frames.end - left / self.axes).into());
            }
            let taken = chunk.len().min(left);
            take(&chunk[..taken])?;
            left -= taken;
        }
        Ok(())
    }

    /// The first NaN or infinity, if there is one.
    pub fn first_non_finite(&self) -> Result<Option<Place>, RecordingError> {
        for (stretch, frames) in self.stretch_frames().into_iter().enumerate() {
            let (mut before, mut found) = (0, None);
            self.each_chunk(stretch, 0..frames, |chunk| {
                let index = chunk.iter().position(|x| !x.is_finite());
                found = found.or(index.map(|index| before + index));
                before += chunk.len();
                Ok::<_, RecordingError>(())
            })?;
            if let Some(index) = found {
                let (frame, axis) = (index / self.axes, index % self.axes);
                return Ok(Some(Place { stretch, frame, axis }));
            }
        }
        Ok(None)
    }

    /// The recording with only these pieces; each is given as (stretch, frames).
    #[must_use]
    pub fn cut(&self, pieces: impl Iterator<Item = (usize, Range<usize>)>) -> Self {
        let samples = match &self.samples {
            Samples::Memory(stretches) => Samples::Memory(
                pieces
                    .map(|(stretch, frames)| {
                        stretches[stretch][frames.start * self.axes..frames.end * self.axes]
                            .to_vec()
                    })
                    .collect(),
            ),
            Samples::Stored(Stored { source, parts }) => {
                let within = |(stretch, frames): (usize, Range<usize>)| {
                    let (of_source, part) = &parts[stretch];
                    (*of_source, part.start + frames.start..part.start + frames.end)
                };
                let parts = pieces.map(within).collect();
                Samples::Stored(Stored { source: Arc::clone(source), parts })
            }
        };
        Self { samples, path: self.path.clone(), ..*self }
    }

    /// The error if a file has become shorter since it was opened.
    fn ends(&self, stretch: usize, frame: usize) -> RecordingError {
        RecordingError::malformed(
            &self.path,
            format!(
                "ends at frame {frame} of stretch {stretch}, but had more when it was opened; do \
                 not write to it while it is read"
            ),
        )
    }

    /// Loads all samples from a stream of all stretches.
    fn load_in_one_pass(&self, stream: &mut dyn Frames) -> Result<Vec<Vec<f32>>, RecordingError> {
        let (mut chunk, mut used) = (Vec::new(), 0);
        let mut stretches = Vec::new();
        for (stretch, frames) in self.stretch_frames().into_iter().enumerate() {
            let needs = frames * self.axes;
            let mut samples = Vec::with_capacity(needs);
            while samples.len() < needs {
                if used == chunk.len() {
                    used = 0;
                    if !stream.next_chunk(&mut chunk)? {
                        return Err(self.ends(stretch, samples.len() / self.axes));
                    }
                }
                let taken = (needs - samples.len()).min(chunk.len() - used);
                samples.extend_from_slice(&chunk[used..used + taken]);
                used += taken;
            }
            stretches.push(samples);
        }
        Ok(stretches)
    }

    /// Loads all samples, stretch by stretch.
    fn load(&self) -> Result<Vec<Vec<f32>>, RecordingError> {
        let frames = self.stretch_frames().into_iter().enumerate();
        frames
            .map(|(stretch, frames)| {
                let mut samples = Vec::with_capacity(frames * self.axes);
                self.each_chunk(stretch, 0..frames, |chunk| {
                    samples.extend_from_slice(chunk);
                    Ok::<_, RecordingError>(())
                })?;
                Ok(samples)
            })
            .collect()
    }
}
