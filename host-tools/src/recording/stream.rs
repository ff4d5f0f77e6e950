//! The line that samples of every format go through: a [`Source`] that can be opened as often as
//! wanted, and the [`Frames`] that come out of it chunk by chunk.

use std::fmt::Debug;
use std::sync::Arc;

use super::RecordingError;

/// Frames that a reader puts into one chunk, where the format leaves it the choice.
pub const CHUNK_FRAMES: usize = 1 << 14;

/// Samples that stay where they are and can be read from anywhere, again and again.
pub trait Source: Debug + Send + Sync {
    /// Values per frame, one to three.
    fn axes(&self) -> usize;

    /// Frames of each contiguous stretch of time; none is zero.
    fn segment_frames(&self) -> &[usize];

    /// The frames of a segment from `start` on.
    fn open(&self, segment: usize, start: usize) -> Result<Box<dyn Frames>, RecordingError>;
}

/// The frames of one segment, in order.
pub trait Frames {
    /// Replaces what is in `out` by the next frames, interleaved; `false` after the last, with
    /// nothing in `out`.
    fn next_chunk(&mut self, out: &mut Vec<f32>) -> Result<bool, RecordingError>;
}

/// Frames without the first `frames` of them, for sources that can only begin at the beginning.
pub fn skip(
    stream: &mut dyn Frames,
    frames: usize,
    axes: usize,
) -> Result<Vec<f32>, RecordingError> {
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

/// A stream that was skipped into the middle of a chunk: the rest of that chunk, then the stream.
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

/// Sources with the same segments, their axes side by side.
#[derive(Debug)]
pub struct SideBySide {
    sources: Vec<Arc<dyn Source>>,
}

impl SideBySide {
    /// The axes of each source behind those of the ones before it.
    pub fn new(sources: Vec<Arc<dyn Source>>) -> Self {
        Self { sources }
    }
}

impl Source for SideBySide {
    fn axes(&self) -> usize {
        self.sources.iter().map(|source| source.axes()).sum()
    }

    fn segment_frames(&self) -> &[usize] {
        self.sources.first().map_or(&[], |source| source.segment_frames())
    }

    fn open(&self, segment: usize, start: usize) -> Result<Box<dyn Frames>, RecordingError> {
        let streams = self.sources.iter().map(|source| {
            let (axes, stream) = (source.axes(), source.open(segment, start)?);
            Ok(Stream { axes, stream, frames: Vec::new(), used: 0 })
        });
        Ok(Box::new(Joined { streams: streams.collect::<Result<_, RecordingError>>()? }))
    }
}

/// One of several streams, and the part of its chunk that was not handed on yet.
struct Stream {
    axes: usize,
    stream: Box<dyn Frames>,
    frames: Vec<f32>,
    used: usize,
}

struct Joined {
    streams: Vec<Stream>,
}

impl Frames for Joined {
    fn next_chunk(&mut self, out: &mut Vec<f32>) -> Result<bool, RecordingError> {
        out.clear();
        for stream in &mut self.streams {
            if stream.used == stream.frames.len() {
                stream.used = 0;
                stream.stream.next_chunk(&mut stream.frames)?;
            }
        }
        let left = |stream: &Stream| (stream.frames.len() - stream.used) / stream.axes;
        let frames = self.streams.iter().map(left).min().unwrap_or(0);
        for frame in 0..frames {
            for Stream { axes, frames, used, .. } in &self.streams {
                out.extend_from_slice(&frames[used + frame * axes..used + (frame + 1) * axes]);
            }
        }
        for stream in &mut self.streams {
            stream.used += frames * stream.axes;
        }
        Ok(frames > 0)
    }
}
