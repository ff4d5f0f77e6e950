//! WAV files: integers of 8, 16, 24 and 32 bits, read as counts, and floats of 32 and 64 bits. They
//! carry their rate.
//!
//! This module finds the chunks and leaves the samples in place. `hound`, which writes WAV files
//! for this tool, reads neither 64-bit floats nor RF64, the form of files over 4 GB.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use super::bytes::{Extent, Packing};
use super::packed::{Block, Kind, Packed};
use super::{MAX_AXES, Recording, RecordingError};

use crate::files::input;
use crate::words::plural;

/// Format tag of integers.
const INTEGER: u16 = 1;
/// Format tag of floats.
const FLOAT: u16 = 3;
/// Format tag of the extensible format.
const EXTENSIBLE: u16 = 0xFFFE;
/// Chunk size in an RF64 file that refers to the real size in chunk `ds64`.
const IN_DS64: u32 = u32::MAX;

pub(super) fn read(
    path: &Path,
    channels: &[&str],
    in_memory: usize,
) -> Result<Recording, RecordingError> {
    let Header { format, data_at, data_len } = header(path)?;
    let width = usize::from(format.channels);
    let block = Block {
        extent: Extent { at: data_at, len: data_len, packing: Packing::Plain },
        skip: 0,
        kind: format.kind,
        big_endian: false,
        width,
        picks: chosen_channels(path, channels, width)?,
    };
    let frame = (width * format.kind.bytes()) as u64;
    if !data_len.is_multiple_of(frame) {
        return Err(RecordingError::malformed(
            path,
            format!(
                "not a readable WAV file: {data_len} bytes of samples at byte {data_at} are not \
                 whole frames of {frame}; write it again"
            ),
        ));
    }
    let stretch_frames = vec![(data_len / frame) as usize];
    let source = Packed::new(path, vec![block], stretch_frames);
    Recording::of_source(path, Some(f64::from(format.rate_hz)), Arc::new(source), in_memory)
}

/// The content of the `fmt ` chunk.
#[derive(Clone, Copy)]
struct Format {
    channels: u16,
    rate_hz: u32,
    kind: Kind,
}

/// The format and place of the samples.
struct Header {
    format: Format,
    data_at: u64,
    data_len: u64,
}

fn header(path: &Path) -> Result<Header, RecordingError> {
    let mut file = Chunks::open(path)?;
    let start: [u8; 12] = file.take("its header")?;
    let large = matches!(&start[..4], b"RF64" | b"BW64");
    if !(large || start.starts_with(b"RIFF")) || start[8..] != *b"WAVE" {
        let hint = if start.starts_with(b"RIFX") {
            "big-endian (RIFX at byte 0); convert it with `sox in.wav out.wav`"
        } else {
            "no RIFF header at byte 0; export it as WAV"
        };
        return Err(RecordingError::malformed(path, format!("not a readable WAV file: {hint}")));
    }
    let (mut format, mut long_len) = (None, None);
    loop {
        let chunk: [u8; 8] = file.take("the header of a chunk, before any samples")?;
        let (begin, size) = (file.at, word(&chunk[4..]));
        match &chunk[..4] {
            b"data" => {
                let format = format.ok_or_else(|| {
                    RecordingError::malformed(
                        path,
                        format!(
                            "not a readable WAV file: samples at byte {begin} before the chunk \
                             `fmt `; write it again"
                        ),
                    )
                })?;
                let len = long_len.filter(|_| large && size == IN_DS64);
                let data_len = len.unwrap_or(u64::from(size));
                file.check_samples(data_len, large)?;
                return Ok(Header { format, data_at: begin, data_len });
            }
            b"fmt " => {
                let basic: [u8; 16] = file.take("the chunk `fmt `")?;
                let extended = half(&basic) == EXTENSIBLE && size >= 40;
                let more: [u8; 24] =
                    if extended { file.take("the chunk `fmt `")? } else { [0; 24] };
                let tag = if extended { half(&more[8..]) } else { half(&basic) };
                format = Some(parse_format(path, tag, &basic)?);
            }
            b"ds64" => {
                let sizes: [u8; 16] = file.take("the chunk `ds64`")?;
                long_len = Some(u64::from(word(&sizes[8..])) | u64::from(word(&sizes[12..])) << 32);
            }
            _ => (),
        }
        // Chunks begin at even bytes.
        file.go_to(begin + u64::from(size).next_multiple_of(2))?;
    }
}

/// Reads a file chunk by chunk.
struct Chunks<'a> {
    path: &'a Path,
    file: BufReader<File>,
    len: u64,
    /// Position of the next byte.
    at: u64,
}

impl<'a> Chunks<'a> {
    fn open(path: &'a Path) -> Result<Self, RecordingError> {
        let io = |source| RecordingError::Io { path: path.into(), source };
        let file = input::open(path).map_err(io)?;
        let len = file.metadata().map_err(io)?.len();
        Ok(Self { path, file: BufReader::new(file), len, at: 0 })
    }

    fn take<const N: usize>(&mut self, what: &str) -> Result<[u8; N], RecordingError> {
        let mut bytes = [0; N];
        self.file.read_exact(&mut bytes).map_err(|_| {
            RecordingError::malformed(
                self.path,
                format!(
                    "not a readable WAV file: it ends at byte {}, inside {what}; copy it again, \
                     or record again and close the file",
                    self.len
                ),
            )
        })?;
        self.at += N as u64;
        Ok(bytes)
    }

    fn go_to(&mut self, at: u64) -> Result<(), RecordingError> {
        let io = |source| RecordingError::Io { path: self.path.into(), source };
        self.file.seek(SeekFrom::Start(at)).map_err(io)?;
        self.at = at;
        Ok(())
    }

    /// Refuses samples that are incomplete or may exceed what the header can express.
    fn check_samples(&self, data_len: u64, large: bool) -> Result<(), RecordingError> {
        let (begin, there) = (self.at, self.len - self.at);
        let problem = if data_len > there {
            format!(
                "cut off: {data_len} bytes of samples are announced at byte {begin}, {there} are \
                 there; copy it again (if a pipe wrote it: `sox --ignore-length in.wav out.wav`)"
            )
        } else if data_len == 0 && there > 0 {
            format!(
                "not finished: no samples are announced at byte {begin}, but {there} bytes follow; \
                 repair it with `sox --ignore-length in.wav out.wav`"
            )
        } else if !large && self.len > u64::from(u32::MAX) {
            format!(
                "{} bytes, more than the header of a WAV file can hold (at byte 4); write it as \
                 RF64, or in parts",
                self.len
            )
        } else {
            return Ok(());
        };
        Err(RecordingError::malformed(self.path, format!("not a readable WAV file: {problem}")))
    }
}

fn parse_format(path: &Path, tag: u16, basic: &[u8; 16]) -> Result<Format, RecordingError> {
    let (channels, rate_hz) = (half(&basic[2..]), word(&basic[4..]));
    let (frame, bits) = (half(&basic[12..]), half(&basic[14..]));
    let kind = match (tag, bits) {
        (INTEGER, 8) => Kind::Around128,
        (INTEGER, 16) => Kind::I16,
        (INTEGER, 24) => Kind::I24,
        (INTEGER, 32) => Kind::I32,
        (FLOAT, 32) => Kind::F32,
        (FLOAT, 64) => Kind::F64,
        _ => {
            return Err(RecordingError::malformed(
                path,
                format!(
                    "not a readable WAV file: samples of {bits} bits in format {tag} (chunk \
                     `fmt `); write PCM of 8, 16, 24 or 32 bits or floats of 32 or 64, as with \
                     `sox in.wav -b 24 out.wav`"
                ),
            ));
        }
    };
    if channels == 0 || rate_hz == 0 || usize::from(frame) != usize::from(channels) * kind.bytes() {
        return Err(RecordingError::malformed(
            path,
            format!(
                "not a readable WAV file: {} of {bits} bits at {rate_hz} Hz in \
                 frames of {frame} bytes (chunk `fmt `); the file is damaged, write it again",
                plural(channels, "channel", "channels")
            ),
        ));
    }
    Ok(Format { channels, rate_hz, kind })
}

/// The number in the first two bytes.
fn half(bytes: &[u8]) -> u16 {
    bytes.first_chunk().map_or(0, |&b| u16::from_le_bytes(b))
}

/// The number in the first four bytes.
fn word(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |&b| u32::from_le_bytes(b))
}

/// Indices of the channels to keep; all channels if none is named.
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
