//! `.npy` files, the array format of `NumPy`.
//!
//! A 1-D array is one stretch of time. A 2-D array is a list of separate stretches (stretches ×
//! samples). A 3-D array is stretches × samples × axes. `npyz` reads the header. The numbers are
//! read like all packed numbers, so an array may be larger than memory.

use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use npyz::{DType, Endianness, Order, TypeChar};

use super::bytes::{Extent, Packing};
use super::packed::{Block, Kind, Packed};
use super::{Frames, MAX_AXES, Recording, RecordingError, Source};
use crate::files::input;
use crate::files::npy_header::read_header;

pub(super) fn read(
    path: &Path,
    channels: &[&str],
    in_memory: usize,
) -> Result<Recording, RecordingError> {
    let io = |source| RecordingError::Io { path: path.into(), source };
    let mut file = BufReader::new(input::open(path).map_err(io)?);
    let (array, at) = Array::read(path, "", &mut file)?;
    let len = file.get_ref().metadata().map_err(io)?.len().saturating_sub(at);
    array.check_length(path, "", len)?;
    array.check_not_empty(path)?;
    let extent = Extent { at, len, packing: Packing::Plain };
    let picks = chosen_axes(path, channels, array.axes)?;
    let source = array.source(path, "", extent, 0, picks)?;
    Recording::of_source(path, None, source, in_memory)
}

/// The content of an array's header.
#[derive(Debug, Clone)]
pub(super) struct Array {
    pub(super) shape: Vec<u64>,
    pub(super) stretches: usize,
    pub(super) frames: usize,
    pub(super) axes: usize,
    kind: Kind,
    big_endian: bool,
    fortran: bool,
}

/// The name of an array in an archive, as the beginning of a message.
fn prefix(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("array {name}: ") }
}

impl Array {
    /// Reads a header, and returns its length in bytes too. `name` is the name of the array, empty
    /// if the array is the whole file.
    pub(super) fn read(
        path: &Path,
        name: &str,
        bytes: &mut impl Read,
    ) -> Result<(Self, u64), RecordingError> {
        let prefix = prefix(name);
        let (header, length) = read_header(bytes).map_err(|error| {
            RecordingError::malformed(
                path,
                format!(
                    "{prefix}not a NumPy .npy file (at byte 0: {error}); write it with numpy.save"
                ),
            )
        })?;
        let shape = header.shape().to_vec();
        let sizes: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
        let (stretches, frames, axes) = match *sizes.as_slice() {
            [] => (1, 1, 1),
            [frames] => (1, frames, 1),
            [stretches, frames] => (stretches, frames, 1),
            [stretches, frames, axes] => (stretches, frames, axes),
            _ => {
                return Err(RecordingError::malformed(
                    path,
                    format!(
                        "{prefix}an array of shape {shape:?}; give samples (1-D), stretches × \
                         samples (2-D) or stretches × samples × axes (3-D)"
                    ),
                ));
            }
        };
        let (kind, big_endian) = kind(&header.dtype()).ok_or_else(|| {
            RecordingError::malformed(
                path,
                format!(
                    "{prefix}numbers of type {} (in the header) are not supported; save as \
                     float32, float64, int16 or int32",
                    header.dtype().descr()
                ),
            )
        })?;
        let fortran = header.order() == Order::Fortran && sizes.len() > 1;
        Ok((Self { shape, stretches, frames, axes, kind, big_endian, fortran }, length))
    }

    /// Size of its numbers in bytes; `None` if no file could hold them.
    pub(super) fn bytes(&self) -> Option<u64> {
        let item = self.kind.bytes() as u64;
        self.shape.iter().try_fold(item, |bytes, &n| bytes.checked_mul(n))
    }

    /// Refuses data whose length differs from the header's.
    pub(super) fn check_length(
        &self,
        path: &Path,
        name: &str,
        data_len: u64,
    ) -> Result<(), RecordingError> {
        if self.bytes() == Some(data_len) {
            return Ok(());
        }
        Err(RecordingError::malformed(
            path,
            format!(
                "{}shape {:?} does not fit the {data_len} bytes of data after the header; the \
                 file is cut off or damaged, write it again with numpy.save",
                prefix(name),
                self.shape
            ),
        ))
    }

    pub(super) fn check_not_empty(&self, path: &Path) -> Result<(), RecordingError> {
        if self.shape.contains(&0) { Err(RecordingError::empty(path)) } else { Ok(()) }
    }

    /// A source of its numbers, which begin after `skip` bytes of `extent`.
    pub(super) fn source(
        &self,
        path: &Path,
        name: &str,
        extent: Extent,
        skip: u64,
        picks: Vec<usize>,
    ) -> Result<Arc<dyn Source>, RecordingError> {
        let Self { stretches, frames, axes, kind, big_endian, .. } = *self;
        let block = |skip, width, picks| Block { extent, skip, kind, big_endian, width, picks };
        let packed = |blocks, stretch_frames| Packed::new(path, blocks, stretch_frames);
        if !self.fortran {
            return Ok(Arc::new(packed(vec![block(skip, axes, picks)], vec![frames; stretches])));
        }
        if self.bytes().is_none_or(|bytes| bytes.saturating_mul(stretches as u64) > MOST_STRIDED) {
            return Err(RecordingError::malformed(
                path,
                format!(
                    "{}in Fortran order (in the header) the samples of a stretch lie far apart; \
                     save numpy.ascontiguousarray of it",
                    prefix(name)
                ),
            ));
        }
        // The first index runs fastest: each axis is one range of bytes, and the stretches take
        // turns in it, one sample each.
        let of_segment = |stretch| {
            let block = |&axis: &usize| {
                let before = (axis * frames * stretches * kind.bytes()) as u64;
                block(skip + before, stretches, vec![stretch])
            };
            packed(picks.iter().map(block).collect(), vec![frames])
        };
        let by_segment = (0..stretches).map(of_segment).collect();
        Ok(Arc::new(Strided { by_segment, stretch_frames: vec![frames; stretches] }))
    }
}

/// Most bytes that may be read for an array in Fortran order. Such an array is read once for each
/// stretch.
const MOST_STRIDED: u64 = 4 << 30;

/// An array in Fortran order.
#[derive(Debug)]
struct Strided {
    by_segment: Vec<Packed>,
    stretch_frames: Vec<usize>,
}

impl Source for Strided {
    fn axes(&self) -> usize {
        self.by_segment.first().map_or(0, Source::axes)
    }

    fn stretch_frames(&self) -> &[usize] {
        &self.stretch_frames
    }

    fn open(&self, stretch: usize, start: usize) -> Result<Box<dyn Frames>, RecordingError> {
        self.by_segment[stretch].open(0, start)
    }
}

fn kind(dtype: &DType) -> Option<(Kind, bool)> {
    let DType::Plain(plain) = dtype else { return None };
    let kind = match (plain.type_char(), plain.num_bytes()?) {
        (TypeChar::Int, 1) => Kind::I8,
        (TypeChar::Int, 2) => Kind::I16,
        (TypeChar::Int, 4) => Kind::I32,
        (TypeChar::Int, 8) => Kind::I64,
        (TypeChar::Uint, 1) => Kind::U8,
        (TypeChar::Uint, 2) => Kind::U16,
        (TypeChar::Uint, 4) => Kind::U32,
        (TypeChar::Uint, 8) => Kind::U64,
        (TypeChar::Float, 4) => Kind::F32,
        (TypeChar::Float, 8) => Kind::F64,
        _ => return None,
    };
    Some((kind, plain.endianness() == Endianness::Big))
}

/// Indices of the axes to keep, in the requested order.
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
