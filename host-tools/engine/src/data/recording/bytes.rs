//! Bytes inside a file, plain or compressed.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::{DeflateDecoder, ZlibDecoder};

use crate::files::input;

/// How bytes are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    /// Not compressed.
    Plain,
    /// Compressed with a zlib header and checksum, as in MATLAB files.
    Zlib,
    /// Compressed without a header and checksum, as in zip files.
    Deflate,
}

/// A range of bytes in a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// Its first byte.
    pub(super) at: u64,
    /// Its length in the file.
    pub(super) len: u64,
    /// How it is packed.
    pub(super) packing: Packing,
}

/// Largest compression ratio of a real recording. The last bits of a measurement are noise, which
/// does not compress.
const MOST_COMPRESSION: u64 = 200;
/// Unpacked size that is allowed at any ratio.
const ALWAYS: u64 = 16 << 20;

/// Whether the declared size is too large for a real recording of this compressed size.
pub(super) fn is_bomb(declared: u64, compressed: u64) -> bool {
    declared > ALWAYS && declared / MOST_COMPRESSION > compressed
}

impl Extent {
    /// Opens the unpacked bytes, without the first `skip`.
    pub(super) fn open(&self, path: &Path, skip: u64) -> io::Result<Box<dyn Read>> {
        let mut file = input::open(path)?;
        let plain = if self.packing == Packing::Plain { skip.min(self.len) } else { 0 };
        file.seek(SeekFrom::Start(self.at + plain))?;
        let packed = BufReader::with_capacity(1 << 16, file).take(self.len - plain);
        let mut bytes: Box<dyn Read> = match self.packing {
            Packing::Plain => return Ok(Box::new(packed)),
            Packing::Zlib => Box::new(ZlibDecoder::new(packed)),
            Packing::Deflate => Box::new(DeflateDecoder::new(packed)),
        };
        discard(&mut bytes, skip)?;
        Ok(bytes)
    }
}

/// Reads past `count` bytes; it is an error if there are fewer.
pub(super) fn discard(bytes: &mut impl Read, count: u64) -> io::Result<()> {
    if io::copy(&mut bytes.take(count), &mut io::sink())? == count {
        Ok(())
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}
