//! Looks at the page headers of columns before the crate reads them.
//!
//! The crate allocates the size that a page header announces, up to 2 GB. A file of a few bytes
//! could ask for that, and zstd would even fill it. The headers are structures of Thrift's compact
//! protocol, of which the two sizes are needed here.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use ::parquet::file::reader::{FileReader, SerializedFileReader};

use super::{Column, Problem};
use crate::files::input;

/// Largest compression ratio of a page. The last bits of a measurement are noise, which does not
/// compress.
const MOST_COMPRESSION: u64 = 200;
/// Unpacked size of a page that is allowed at any ratio. Writers make pages of 1 MB.
const ALWAYS: u64 = 64 << 20;
/// Longest page header in bytes, with its statistics.
const LONGEST: u64 = 16 << 20;
/// Deepest nesting in a page header. Statistics in a header have two levels.
const DEEPEST: usize = 8;

/// Refuses columns with a page that announces far more than it holds.
pub(super) fn check_pages(
    path: &Path,
    reader: &SerializedFileReader<File>,
    columns: &[Column],
) -> Result<(), Problem> {
    let mut file = BufReader::new(input::open(path).map_err(Problem::Io)?);
    for group in reader.metadata().row_groups() {
        for column in columns {
            let Some(chunk) = group.columns().get(column.index) else { continue };
            let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
            let length = chunk.compressed_size();
            let (Ok(start), Ok(length)) = (u64::try_from(start), u64::try_from(length)) else {
                return Err(Problem::damaged("in its directory, at its end"));
            };
            check_chunk(&mut file, start, start.saturating_add(length))
                .map_err(|refused| refused.problem(&column.name))?;
        }
    }
    Ok(())
}

/// Why a chunk is refused.
enum Refused {
    Io(io::Error),
    /// The sizes of a page, unpacked and packed, and its place.
    Bomb(u64, u64, u64),
    /// The place of a header that is longer or deeper than any real one.
    Header(u64),
}

impl Refused {
    fn problem(self, column: &str) -> Problem {
        match self {
            Self::Io(error) => Problem::Io(error),
            Self::Bomb(unpacked, packed, at) => Problem::Content(format!(
                "column {column}, page at byte {at}: {unpacked} bytes are announced in {packed} \
                 compressed bytes, too many for measured numbers; write it again with pandas: \
                 to_parquet(file)"
            )),
            Self::Header(at) => {
                Problem::damaged(format_args!("in column {column}, page at byte {at}"))
            }
        }
    }
}

/// Goes through the page headers between two places. What is no header ends the walk: the crate
/// reads the same bytes and says what is wrong.
fn check_chunk(file: &mut BufReader<File>, start: u64, end: u64) -> Result<(), Refused> {
    let mut at = start;
    while at < end {
        file.seek(SeekFrom::Start(at)).map_err(Refused::Io)?;
        let mut header = Header { bytes: file.take(LONGEST), unpacked: 0, packed: 0 };
        match header.read() {
            Ok(()) => (),
            Err(Stop::End) if header.bytes.limit() > 0 => return Ok(()),
            Err(Stop::Unknown) => return Ok(()),
            Err(Stop::End | Stop::Deep) => return Err(Refused::Header(at)),
        }
        let (unpacked, packed) = (header.unpacked, header.packed);
        if unpacked > ALWAYS && unpacked / MOST_COMPRESSION > packed {
            return Err(Refused::Bomb(unpacked, packed, at));
        }
        at = at.saturating_add(LONGEST - header.bytes.limit()).saturating_add(packed);
    }
    Ok(())
}

/// Why a header could not be read.
enum Stop {
    /// The bytes end.
    End,
    /// A type that the protocol does not have.
    Unknown,
    /// Too many structures inside each other.
    Deep,
}

/// Reads the header of a page.
struct Header<R> {
    bytes: R,
    /// Largest announced size of the unpacked page.
    unpacked: u64,
    /// Announced size of the packed page.
    packed: u64,
}

impl<R: Read> Header<R> {
    fn read(&mut self) -> Result<(), Stop> {
        let mut field = 0_i64;
        loop {
            let byte = self.byte()?;
            if byte == 0 {
                return Ok(());
            }
            field = match byte >> 4 {
                0 => self.signed()?,
                step => field + i64::from(step),
            };
            match (field, byte & 15) {
                // Sizes are 32-bit integers; one that is negative is refused by the crate.
                (2, 4..=6) => {
                    self.unpacked = self.unpacked.max(self.signed()?.max(0).cast_unsigned());
                }
                (3, 4..=6) => self.packed = self.signed()?.max(0).cast_unsigned(),
                (_, kind) => self.skip(kind, true, 0)?,
            }
        }
    }

    fn byte(&mut self) -> Result<u8, Stop> {
        let mut byte = [0];
        self.bytes.read_exact(&mut byte).map_err(|_| Stop::End)?;
        Ok(byte[0])
    }

    /// An unsigned number of seven bits a byte.
    fn unsigned(&mut self) -> Result<u64, Stop> {
        let mut number = 0;
        for place in 0..10 {
            let byte = self.byte()?;
            number |= u64::from(byte & 127) << (7 * place);
            if byte < 128 {
                return Ok(number);
            }
        }
        Err(Stop::Unknown)
    }

    /// A signed number, whose sign is the last bit.
    fn signed(&mut self) -> Result<i64, Stop> {
        let number = self.unsigned()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// Reads past a value of this type. The truth of a field has no byte of its own.
    fn skip(&mut self, kind: u8, in_field: bool, depth: usize) -> Result<(), Stop> {
        if depth > DEEPEST {
            return Err(Stop::Deep);
        }
        match kind {
            1 | 2 if in_field => Ok(()),
            1..=3 => self.byte().map(drop),
            4..=6 => self.unsigned().map(drop),
            7 => self.skip_bytes(8),
            8 => {
                let length = self.unsigned()?;
                self.skip_bytes(length)
            }
            9 | 10 => {
                let byte = self.byte()?;
                let short = u64::from(byte >> 4);
                let items = if short == 15 { self.unsigned()? } else { short };
                for _ in 0..items {
                    self.skip(byte & 15, false, depth + 1)?;
                }
                Ok(())
            }
            12 => loop {
                let byte = self.byte()?;
                if byte == 0 {
                    return Ok(());
                }
                if byte >> 4 == 0 {
                    self.signed()?;
                }
                self.skip(byte & 15, true, depth + 1)?;
            },
            _ => Err(Stop::Unknown),
        }
    }

    fn skip_bytes(&mut self, count: u64) -> Result<(), Stop> {
        let skipped = io::copy(&mut (&mut self.bytes).take(count), &mut io::sink());
        if skipped.is_ok_and(|skipped| skipped == count) { Ok(()) } else { Err(Stop::End) }
    }
}
