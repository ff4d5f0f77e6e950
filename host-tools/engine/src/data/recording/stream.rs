//! The common interface to samples of every format: a [`Source`] can be opened any number of times,
//! and its [`Frames`] come chunk by chunk.

use std::fmt::Debug;
use std::sync::Arc;

use super::RecordingError;

/// Frames that a reader puts into one chunk, if the format leaves it the choice.
pub const CHUNK_FRAMES: usize = 1 << 14;

/// Samples in storage that can be read repeatedly and from any position.
pub trait Source: Debug + Send + Sync {
    /// Values per frame, one to three.
    fn axes(&self) -> usize;

    /// Frames of each contiguous stretch of time; none of them is zero.
    fn stretch_frames(&self) -> &[usize];

    /// The frames of a stretch from `start` on.
    fn open(&self, stretch: usize, start: usize) -> Result<Box<dyn Frames>, RecordingError>;

    /// The frames of all stretches, one stretch after another. `None` if the source cannot read
    /// them in one pass.
    fn open_all(&self) -> Result<Option<Box<dyn Frames>>, RecordingError> {
        Ok(None)
    }
}

/// The frames of one stretch, in order.
pub trait Frames {
    /// Replaces the content of `out` with the next frames, interleaved. Returns `false`, with `out`
    /// empty, after the last.
    fn next_chunk(&mut self, out: &mut Vec<f32>) -> Result<bool, RecordingError>;
}

/// Reads past the first `frames` of a stream. Returns the rest of the chunk in which they end.
fn skip(stream: &mut dyn Frames, frames: usize, axes: usize) -> Result<Vec<f32>, RecordingError> {
    let mut left = frames * axes;
    let mut chunk = Vec::new();
    while stream.next_chunk(&mut chunk)? {
        if chunk.len() > left {
            chunk.drain(..left);
            return Ok(chunk);
        }
        left -= chunk.len();
    }
    Ok(Vec::new())
}

/// A stream that starts in the middle, for sources that can only start at the beginning.
pub struct Skipped<F> {
    rest: Vec<f32>,
    stream: F,
}

impl<F: Frames> Skipped<F> {
    /// `stream` from frame `frames` on.
    pub fn new(mut stream: F, frames: usize, axes: usize) -> Result<Self, RecordingError> {
        let rest = if frames == 0 { Vec::new() } else { skip(&mut stream, frames, axes)? };
        Ok(Self { rest, stream })
    }
}

impl<F: Frames> Frames for Skipped<F> {
    fn next_chunk(&mut self, out: &mut Vec<f32>) -> Result<bool, RecordingError> {
        if self.rest.is_empty() {
            return self.stream.next_chunk(out);
        }
        *out = std::mem::take(&mut self.rest);
        Ok(true)
    }
}

/// Sources with the same stretches, with their axes side by side.
#[derive(Debug)]
pub struct SideBySide {
    sources: Vec<Arc<dyn Source>>,
}

impl SideBySide {
    /// Joins the axes of the sources, in order.
    pub fn new(sources: Vec<Arc<dyn Source>>) -> Self {
        Self { sources }
    }
}

impl Source for SideBySide {
    fn axes(&self) -> usize {
        self.sources.iter().map(|source| source.axes()).sum()
    }

    fn stretch_frames(&self) -> &[usize] {
        self.sources.first().map_or(&[], |source| source.stretch_frames())
    }

    fn open(&self, stretch: usize, start: usize) -> Result<Box<dyn Frames>, RecordingError> {
        let parts = self.sources.iter().map(|source| {
            let stream = source.open(stretch, start)?;
            Ok(Part::new(source.axes(), stream))
        });
        Ok(Box::new(Joined { parts: parts.collect::<Result<_, RecordingError>>()? }))
    }

    fn open_all(&self) -> Result<Option<Box<dyn Frames>>, RecordingError> {
        let mut parts = Vec::new();
        for source in &self.sources {
            let Some(stream) = source.open_all()? else { return Ok(None) };
            parts.push(Part::new(source.axes(), stream));
        }
        Ok(Some(Box::new(Joined { parts })))
    }
}

/// One of several streams, and the part of its chunk that was not passed on yet.
struct Part {
    axes: usize,
    source: Box<dyn Frames>,
    frames: Vec<f32>,
    used: usize,
}

impl Part {
    fn new(axes: usize, source: Box<dyn Frames>) -> Self {
        Self { axes, source, frames: Vec::new(), used: 0 }
    }
}

struct Joined {
    parts: Vec<Part>,
}

impl Frames for Joined {
    fn next_chunk(&mut self, out: &mut Vec<f32>) -> Result<bool, RecordingError> {
        out.clear();
        for part in &mut self.parts {
            if part.used == part.frames.len() {
                part.used = 0;
                part.source.next_chunk(&mut part.frames)?;
            }
        }
        let left = |part: &Part| (part.frames.len() - part.used) / part.axes;
        let frames = self.parts.iter().map(left).min().unwrap_or(0);
        for frame in 0..frames {
            for Part { axes, frames, used, .. } in &self.parts {
                out.extend_from_slice(&frames[used + frame * axes..used + (frame + 1) * axes]);
            }
        }
        for part in &mut self.parts {
            part.used += frames * part.axes;
        }
        Ok(frames > 0)
    }
}
