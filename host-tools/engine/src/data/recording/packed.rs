//! Numbers of one kind, stored one after another in a file. WAV, npy, npz and MATLAB files all have
//! this form after their headers.

use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::bytes::Extent;
use super::stream::CHUNK_FRAMES;
use super::{Frames, RecordingError, Source};

/// A kind of number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Signed integers, read as counts.
    I8,
    I16,
    I24,
    I32,
    I64,
    /// Unsigned integers, read as counts.
    U8,
    U16,
    U32,
    U64,
    /// Unsigned bytes centred on 128, as in WAV files.
    Around128,
    /// Floats.
    F32,
    F64,
}

impl Kind {
    /// Bytes of one number.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 | Self::Around128 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I24 => 3,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Decodes `bytes` and appends the numbers to `out`, narrowed to `f32`.
    fn decode(self, bytes: &[u8], big_endian: bool, out: &mut Vec<f32>) {
        macro_rules! numbers {
            ($kind:ty) => {{
                let chunks = bytes.as_chunks::<{ size_of::<$kind>() }>().0;
                if big_endian {
                    out.extend(chunks.iter().map(|&b| <$kind>::from_be_bytes(b) as f32));
                } else {
                    out.extend(chunks.iter().map(|&b| <$kind>::from_le_bytes(b) as f32));
                }
            }};
        }
        match self {
            Self::I8 => numbers!(i8),
            Self::I16 => numbers!(i16),
            Self::I32 => numbers!(i32),
            Self::I64 => numbers!(i64),
            Self::U8 => numbers!(u8),
            Self::U16 => numbers!(u16),
            Self::U32 => numbers!(u32),
            Self::U64 => numbers!(u64),
            Self::F32 => numbers!(f32),
            Self::F64 => numbers!(f64),
            Self::Around128 => out.extend(bytes.iter().map(|&b| f32::from(b) - 128.0)),
            Self::I24 => out.extend(bytes.as_chunks::<3>().0.iter().map(|&[a, b, c]| {
                let number = if big_endian { [c, b, a] } else { [a, b, c] };
                // Shifted to the upper bytes and back, to extend the sign.
                (i32::from_le_bytes([0, number[0], number[1], number[2]]) >> 8) as f32
            })),
        }
    }
}

/// Numbers that hold one or more axes.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// The place of the bytes.
    pub(super) extent: Extent,
    /// Unpacked bytes before the first number.
    pub(super) skip: u64,
    /// The kind of the numbers.
    pub(super) kind: Kind,
    /// Whether the numbers are big-endian.
    pub(super) big_endian: bool,
    /// Numbers per frame.
    pub(super) width: usize,
    /// Indices of the numbers in a frame that are axes, in the requested order.
    pub(super) picks: Vec<usize>,
}

/// Blocks side by side, each with the same number of frames.
#[derive(Debug, Clone)]
pub(super) struct Packed {
    path: PathBuf,
    blocks: Vec<Block>,
    /// Frames of each stretch. Stretches follow each other without a gap.
    stretch_frames: Vec<usize>,
    /// Frames before each stretch, and of all stretches at the end.
    starts: Vec<usize>,
}

impl Packed {
    /// The numbers in these blocks of a file, as stretches of these lengths.
    pub(super) fn new(path: &Path, blocks: Vec<Block>, stretch_frames: Vec<usize>) -> Self {
        let mut starts = vec![0; stretch_frames.len() + 1];
        for (stretch, frames) in stretch_frames.iter().enumerate() {
            starts[stretch + 1] = starts[stretch] + frames;
        }
        Self { path: path.into(), blocks, stretch_frames, starts }
    }

    /// The frames of this range, counted over all stretches.
    fn open_range(&self, frames: Range<usize>) -> Result<Box<dyn Frames>, RecordingError> {
        let open = |block: &Block| {
            let frame = block.width * block.kind.bytes();
            let skip = block.skip + frames.start as u64 * frame as u64;
            let reader = block.extent.open(&self.path, skip).map_err(|error| {
                unreadable(&self.path, error, format_args!("before frame {}", frames.start))
            })?;
            Ok(OpenBlock { block: block.clone(), reader, values: Vec::new() })
        };
        Ok(Box::new(PackedFrames {
            path: self.path.clone(),
            blocks: self.blocks.iter().map(open).collect::<Result<_, RecordingError>>()?,
            next: frames.start,
            left: frames.len(),
            bytes: Vec::new(),
        }))
    }
}

impl Source for Packed {
    fn axes(&self) -> usize {
        self.blocks.iter().map(|block| block.picks.len()).sum()
    }

    fn stretch_frames(&self) -> &[usize] {
        &self.stretch_frames
    }

    fn open(&self, stretch: usize, start: usize) -> Result<Box<dyn Frames>, RecordingError> {
        self.open_range(self.starts[stretch] + start..self.starts[stretch + 1])
    }

    fn open_all(&self) -> Result<Option<Box<dyn Frames>>, RecordingError> {
        self.open_range(0..self.starts[self.stretch_frames.len()]).map(Some)
    }
}

/// A block that is being read.
struct OpenBlock {
    block: Block,
    reader: Box<dyn Read>,
    /// The values of its axes in the current chunk, interleaved.
    values: Vec<f32>,
}

struct PackedFrames {
    path: PathBuf,
    blocks: Vec<OpenBlock>,
    /// Index of the next frame, for messages.
    next: usize,
    /// Number of frames still to read, including the next.
    left: usize,
    bytes: Vec<u8>,
}

impl Frames for PackedFrames {
    fn next_chunk(&mut self, out: &mut Vec<f32>) -> Result<bool, RecordingError> {
        out.clear();
        let frames = self.left.min(CHUNK_FRAMES);
        if frames == 0 {
            return Ok(false);
        }
        for open in &mut self.blocks {
            let Block { kind, big_endian, width, ref picks, .. } = open.block;
            self.bytes.resize(frames * width * kind.bytes(), 0);
            open.reader.read_exact(&mut self.bytes).map_err(|error| {
                let last = self.next + frames - 1;
                unreadable(&self.path, error, format_args!("in frames {} to {last}", self.next))
            })?;
            open.values.clear();
            if picks.iter().copied().eq(0..width) {
                kind.decode(&self.bytes, big_endian, &mut open.values);
            } else {
                out.clear();
                kind.decode(&self.bytes, big_endian, out);
                let frames = out.chunks_exact(width);
                open.values.extend(frames.flat_map(|frame| picks.iter().map(|&pick| frame[pick])));
            }
        }
        out.clear();
        if let [only] = self.blocks.as_mut_slice() {
            std::mem::swap(out, &mut only.values);
        } else {
            for frame in 0..frames {
                for OpenBlock { block, values, .. } in &self.blocks {
                    let axes = block.picks.len();
                    out.extend_from_slice(&values[frame * axes..(frame + 1) * axes]);
                }
            }
        }
        self.next += frames;
        self.left -= frames;
        Ok(true)
    }
}

/// Turns a failed read into an error: the file ended, it is damaged, or the operating system
/// failed.
pub(super) fn unreadable(
    path: &Path,
    error: io::Error,
    place: impl std::fmt::Display,
) -> RecordingError {
    let what = match error.kind() {
        io::ErrorKind::UnexpectedEof => "cut off",
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => "damaged compressed data",
        _ => return RecordingError::Io { path: path.into(), source: error },
    };
    RecordingError::malformed(path, format!("{what} {place}; copy or write the file again"))
}
