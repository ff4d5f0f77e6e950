//! Walks the tree of arrays in a MATLAB v5 file, down to the numbers in structures and cells.
//!
//! Every element is a tag (type and length), its bytes, and padding to eight bytes. A compressed
//! element holds one array. It is unpacked once here, so that damage is found before the numbers
//! are used.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Take};
use std::path::Path;

use flate2::read::ZlibDecoder;

use super::super::RecordingError;
use super::super::bytes::{Extent, Packing, discard, is_bomb};
use super::super::packed::{Kind, unreadable};
use crate::files::input;

/// Length of the text, version and byte order at the beginning of every v5 file.
const HEADER_LEN: u64 = 128;
/// Element type of an array.
const MI_MATRIX: u32 = 14;
/// Element type of compressed data.
const MI_COMPRESSED: u32 = 15;
/// Array class of cells.
const CELL: u8 = 1;
/// Array class of structures.
const STRUCTURE: u8 = 2;
/// Array classes of numbers.
const NUMBERS: std::ops::RangeInclusive<u8> = 6..=15;
/// Flag for complex numbers.
const COMPLEX: u32 = 0x800;
/// Deepest nesting of structures that is followed.
const DEEPEST: usize = 16;
/// Largest number of arrays that are listed. A file with more does not hold recordings.
const MOST_ARRAYS: usize = 100_000;

/// An array of numbers somewhere in the file.
#[derive(Debug)]
pub(super) struct Numbers {
    /// Its full name, with the names of the structures around it: `run.vibration.x`, `runs(2).x`,
    /// `c{1}`.
    pub(super) name: String,
    /// Its dimensions, at least two.
    pub(super) size: Vec<usize>,
    pub(super) kind: Kind,
    pub(super) complex: bool,
    pub(super) big_endian: bool,
    /// The top-level element that contains the array.
    pub(super) extent: Extent,
    /// Bytes of that element before the numbers.
    pub(super) skip: u64,
}

impl Numbers {
    /// Whether the array is one row or one column of at least two values.
    pub(super) fn is_vector(&self) -> bool {
        self.size.iter().filter(|&&n| n != 1).count() == 1 && self.size.iter().all(|&n| n > 0)
    }
}

/// Lists the arrays of numbers in a file. It is an error if the file is truncated.
pub(super) fn walk(path: &Path) -> Result<Vec<Numbers>, RecordingError> {
    let io = |source| RecordingError::Io { path: path.into(), source };
    let mut file = input::open(path).map_err(io)?;
    let file_len = file.metadata().map_err(io)?.len();
    let mut header = Vec::new();
    (&mut file).take(HEADER_LEN).read_to_end(&mut header).map_err(io)?;
    let big_endian = byte_order(path, &header)?;
    let mut arrays = Vec::new();
    let mut at = HEADER_LEN;
    while at < file_len {
        let truncated = || {
            RecordingError::malformed(
                path,
                format!(
                    "cut off: the array at byte {at} goes on past the end of the file ({file_len} \
                     bytes); copy or download it again"
                ),
            )
        };
        let mut tag = [0; 8];
        file.seek(SeekFrom::Start(at)).map_err(io)?;
        file.read_exact(&mut tag).map_err(|_| truncated())?;
        let [kind, len] = words(tag, big_endian);
        let end = at + 8 + u64::from(len);
        if kind != MI_MATRIX && kind != MI_COMPRESSED {
            return Err(RecordingError::malformed(
                path,
                format!(
                    "damaged: element of type {kind} at byte {at}, where an array must be; copy \
                     or save the file again"
                ),
            ));
        }
        if end > file_len {
            return Err(truncated());
        }
        let compressed = kind == MI_COMPRESSED;
        let packing = if compressed { Packing::Zlib } else { Packing::Plain };
        // An uncompressed array is its own element.
        let extent = if compressed {
            Extent { at: at + 8, len: u64::from(len), packing }
        } else {
            Extent { at, len: 8 + u64::from(len), packing }
        };
        let mut walker = Walker::new(path, extent, big_endian, &mut arrays)?;
        walker.top()?;
        // The last element may lack the padding.
        at = if compressed { end } else { end.next_multiple_of(8) };
    }
    Ok(arrays)
}

/// Whether numbers are big-endian. It is an error if this is not a v5 file.
fn byte_order(path: &Path, header: &[u8]) -> Result<bool, RecordingError> {
    if header.starts_with(b"MATLAB 7.3") || header.starts_with(b"\x89HDF") {
        return Err(RecordingError::malformed(
            path,
            "a MATLAB v7.3 (HDF5) file (by its first bytes), which is not supported; save it \
             again in MATLAB with save(file, '-v7') or in Python with scipy.io.savemat",
        ));
    }
    match header.get(124..128) {
        Some([0, 1, b'I', b'M']) => Ok(false),
        Some([1, 0, b'M', b'I']) => Ok(true),
        _ => Err(RecordingError::malformed(
            path,
            "not a MATLAB v5 file (no version and byte-order mark at byte 124); save it again in \
             MATLAB with save(file, '-v7')",
        )),
    }
}

fn words(bytes: [u8; 8], big_endian: bool) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = bytes;
    let word = if big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
    [word([a, b, c, d]), word([e, f, g, h])]
}

/// The bytes of one top-level element.
enum Bytes {
    Plain(BufReader<File>),
    Zlib(Box<ZlibDecoder<Take<BufReader<File>>>>),
}

/// A tag: type and length of an element, and where its bytes begin.
#[derive(Clone, Copy)]
struct Tag {
    kind: u32,
    len: u64,
    begin: u64,
    /// The bytes of an element of up to four bytes, if they are in the tag itself.
    small: Option<[u8; 4]>,
}

struct Walker<'a> {
    path: &'a Path,
    extent: Extent,
    big_endian: bool,
    bytes: Bytes,
    /// Number of unpacked bytes read so far.
    at: u64,
    arrays: &'a mut Vec<Numbers>,
}

impl<'a> Walker<'a> {
    fn new(
        path: &'a Path,
        extent: Extent,
        big_endian: bool,
        arrays: &'a mut Vec<Numbers>,
    ) -> Result<Self, RecordingError> {
        let io = |source| RecordingError::Io { path: path.into(), source };
        let mut file = input::open(path).map_err(io)?;
        file.seek(SeekFrom::Start(extent.at)).map_err(io)?;
        let reader = BufReader::new(file);
        let bytes = match extent.packing {
            Packing::Plain => Bytes::Plain(reader),
            _ => Bytes::Zlib(Box::new(ZlibDecoder::new(reader.take(extent.len)))),
        };
        Ok(Self { path, extent, big_endian, bytes, at: 0, arrays })
    }

    /// Reads the array that fills the whole element.
    fn top(&mut self) -> Result<(), RecordingError> {
        let tag = self.tag()?;
        let end = tag.begin + tag.len;
        if tag.kind != MI_MATRIX {
            return Err(self.damaged(&format!("an element of type {}, not an array", tag.kind)));
        }
        if self.extent.packing != Packing::Plain && is_bomb(end, self.extent.len) {
            return Err(self.damaged(&format!(
                "{end} bytes are announced in {} compressed bytes, too many for a recording",
                self.extent.len
            )));
        }
        self.array(None, end, 0)?;
        if let Bytes::Zlib(reader) = &mut self.bytes {
            // The checksum follows the last byte; reading past the end verifies it.
            let more = { reader }.read(&mut [0; 1]);
            if !matches!(more, Ok(0)) {
                return Err(self.damaged("its checksum is wrong"));
            }
        }
        Ok(())
    }

    /// Walks through an array that ends at `end`. `name` is its name in the structure around it.
    fn array(
        &mut self,
        name: Option<String>,
        end: u64,
        depth: usize,
    ) -> Result<(), RecordingError> {
        if end == self.at {
            // An empty cell.
            return Ok(());
        }
        let flags = self.tag()?;
        let [flags, _] = words(self.element::<8>(flags, end)?, self.big_endian);
        let size = self.tag()?;
        let size = self.size(size, end)?;
        let own = self.tag()?;
        let own = self.text(own, end)?;
        let name = name.unwrap_or(own);
        let count = size.iter().try_fold(1_usize, |product, &n| product.checked_mul(n));
        let count = count.ok_or_else(|| self.damaged("its dimensions are too large"))?;
        let class = flags as u8;
        if depth > DEEPEST || self.arrays.len() > MOST_ARRAYS {
            return Err(self.damaged("more structures than a file of recordings has"));
        }
        match class {
            CELL => {
                for index in 1..=count {
                    self.child(format!("{name}{{{index}}}"), end, depth)?;
                }
            }
            STRUCTURE => {
                let fields = self.field_names(end)?;
                for index in 1..=count {
                    for field in &fields {
                        let place = if count == 1 { String::new() } else { format!("({index})") };
                        self.child(format!("{name}{place}.{field}"), end, depth)?;
                    }
                }
            }
            class if NUMBERS.contains(&class) => {
                let tag = self.tag()?;
                self.numbers(name, size, count, flags & COMPLEX != 0, tag, end)?;
            }
            // Text, sparse arrays, functions and objects are not samples.
            _ => (),
        }
        self.skip_to(end, end)
    }

    fn child(&mut self, name: String, end: u64, depth: usize) -> Result<(), RecordingError> {
        let tag = self.tag()?;
        let child_end = tag.begin + tag.len;
        if tag.kind != MI_MATRIX || child_end > end {
            return Err(self.damaged(&format!("{name} is not an array inside its structure")));
        }
        self.array(Some(name), child_end, depth + 1)
    }

    fn numbers(
        &mut self,
        name: String,
        size: Vec<usize>,
        count: usize,
        complex: bool,
        tag: Tag,
        end: u64,
    ) -> Result<(), RecordingError> {
        let kind = match tag.kind {
            1 => Kind::I8,
            2 => Kind::U8,
            3 => Kind::I16,
            4 => Kind::U16,
            5 => Kind::I32,
            6 => Kind::U32,
            7 => Kind::F32,
            9 => Kind::F64,
            12 => Kind::I64,
            13 => Kind::U64,
            other => return Err(self.damaged(&format!("{name} has numbers of type {other}"))),
        };
        if count.checked_mul(kind.bytes()) != Some(tag.len as usize) {
            return Err(
                self.damaged(&format!("{name} of size {size:?} has {} bytes of numbers", tag.len))
            );
        }
        // If the numbers are in the tag itself, they are in its second half.
        let skip = if tag.small.is_some() { tag.begin - 4 } else { tag.begin };
        if tag.small.is_none() {
            self.skip_to(tag.begin + tag.len, end)?;
        }
        let Self { extent, big_endian, .. } = *self;
        self.arrays.push(Numbers { name, size, kind, complex, big_endian, extent, skip });
        Ok(())
    }

    fn field_names(&mut self, end: u64) -> Result<Vec<String>, RecordingError> {
        let tag = self.tag()?;
        let width = match tag.small {
            Some(bytes) if tag.len == 4 => {
                let [a, b, c, d] = bytes;
                words([a, b, c, d, 0, 0, 0, 0], self.big_endian)[0] as usize
            }
            _ => words(self.element::<8>(tag, end)?, self.big_endian)[0] as usize,
        };
        let tag = self.tag()?;
        let names = self.contents(tag, end)?;
        if width == 0 || width > 1024 {
            return Err(self.damaged("a structure whose fields have no names"));
        }
        Ok(names.chunks(width).map(until_zero).collect())
    }

    fn size(&mut self, tag: Tag, end: u64) -> Result<Vec<usize>, RecordingError> {
        let bytes = self.contents(tag, end)?;
        let (chunks, rest) = bytes.as_chunks::<4>();
        let number = if self.big_endian { i32::from_be_bytes } else { i32::from_le_bytes };
        let sizes: Result<Vec<usize>, _> =
            chunks.iter().map(|&chunk| usize::try_from(number(chunk))).collect();
        match sizes {
            Ok(sizes) if rest.is_empty() && (2..=32).contains(&sizes.len()) => Ok(sizes),
            _ => Err(self.damaged("its dimensions make no sense")),
        }
    }

    fn text(&mut self, tag: Tag, end: u64) -> Result<String, RecordingError> {
        Ok(until_zero(&self.contents(tag, end)?))
    }

    /// Reads the next tag.
    fn tag(&mut self) -> Result<Tag, RecordingError> {
        let mut bytes = [0; 8];
        self.read(&mut bytes)?;
        let [kind, len] = words(bytes, self.big_endian);
        let [.., e, f, g, h] = bytes;
        let begin = self.at;
        Ok(match kind >> 16 {
            0 => Tag { kind, len: u64::from(len), begin, small: None },
            len => Tag {
                kind: kind & 0xFFFF,
                len: u64::from(len.min(4)),
                begin,
                small: Some([e, f, g, h]),
            },
        })
    }

    /// Reads the bytes of a short element.
    fn contents(&mut self, tag: Tag, end: u64) -> Result<Vec<u8>, RecordingError> {
        if let Some(bytes) = tag.small {
            return Ok(bytes[..tag.len as usize].to_vec());
        }
        if tag.len > 1 << 20 {
            return Err(self.damaged(&format!("a name or size of {} bytes", tag.len)));
        }
        let mut bytes = vec![0; tag.len as usize];
        self.read(&mut bytes)?;
        self.skip_to(tag.begin + tag.len, end)?;
        Ok(bytes)
    }

    /// Reads the bytes of an element of known length.
    fn element<const N: usize>(&mut self, tag: Tag, end: u64) -> Result<[u8; N], RecordingError> {
        let bytes = self.contents(tag, end)?;
        bytes.try_into().map_err(|_| self.damaged(&format!("an element of {} bytes", tag.len)))
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<(), RecordingError> {
        let at = self.at;
        let read = match &mut self.bytes {
            Bytes::Plain(reader) if at + bytes.len() as u64 <= self.extent.len => {
                reader.read_exact(bytes)
            }
            Bytes::Plain(_) => Err(std::io::ErrorKind::UnexpectedEof.into()),
            Bytes::Zlib(reader) => reader.read_exact(bytes),
        };
        read.map_err(|error| self.unreadable(error))?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Skips to `to` and the padding after it, within an array that ends at `end`.
    fn skip_to(&mut self, to: u64, end: u64) -> Result<(), RecordingError> {
        let to = to.next_multiple_of(8).min(end.max(to));
        let Some(count) = to.checked_sub(self.at) else {
            return Err(self.damaged("its parts are longer than it is"));
        };
        if to > end {
            return Err(self.damaged("a part goes on past its end"));
        }
        let skipped = match &mut self.bytes {
            Bytes::Plain(reader) => reader.seek_relative(count.cast_signed()),
            Bytes::Zlib(reader) => discard(reader, count),
        };
        skipped.map_err(|error| self.unreadable(error))?;
        self.at = to;
        Ok(())
    }

    fn unreadable(&self, error: std::io::Error) -> RecordingError {
        unreadable(self.path, error, format_args!("in the array at byte {}", self.extent.at))
    }

    fn damaged(&self, what: &str) -> RecordingError {
        RecordingError::malformed(
            self.path,
            format!(
                "damaged: the array at byte {}, {} bytes into it: {what}; copy or save the file \
                 again",
                self.extent.at, self.at
            ),
        )
    }
}

fn until_zero(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
