//! Snapshots that devices sent: the features of their last windows, as target data.
//!
//! A file holds one record or several in a row, as a gateway stores them. The device writes the
//! records (`rebearing::operation::snapshot`). `docs/snapshot-format.md` describes the bytes.

mod seal;

pub use seal::Seal;

use std::path::{Path, PathBuf};

use ndarray::{Array2, Axis, concatenate};
use rebearing::operation::snapshot::sealed::SEAL_LEN;
use rebearing::operation::snapshot::{
    AFTER_GAP, CRC_LEN, FRACTION_BITS, HEADER_LEN, INTEGER_LINE, MAGIC, UNKNOWN, VERSION,
    WINDOW_LEN, crc32, front_end_id,
};
use rebearing_verify::SnapshotKey;
use thiserror::Error;

use crate::features::extract::Features;
use crate::features::front_end::FrontEndSettings;
use crate::files::input;

/// One record of a snapshot file.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// The file.
    pub path: PathBuf,
    /// Number of the record in the file, counted from one.
    pub record: usize,
    /// The byte of the file at which the record starts.
    pub byte: usize,
    /// The seal behind the record. Only [`read_all`] with a key checks it.
    pub seal: Option<Seal>,
    /// Whether the features were computed in integers.
    pub integer: bool,
    /// Checksum that identifies the front end.
    pub front_end_id: u32,
    /// Sample rate in Hz.
    pub rate_hz: f32,
    /// Points of the FFT.
    pub fft_len: usize,
    /// Samples from one segment to the next.
    pub hop: usize,
    /// Number of segments in a window.
    pub segments: usize,
    /// Number of axes in a sample.
    pub axes: usize,
    /// CRC-32 of the model file that was running.
    pub model_crc: u32,
    /// Index of each window on the device.
    pub windows: Vec<u32>,
    /// Flags of each window.
    pub flags: Vec<u16>,
    /// Features in nats, not standardised, windows × dims.
    pub features: Array2<f32>,
}

/// Why a snapshot was refused.
#[derive(Debug, Error)]
#[error("{}: record {record}, from byte {byte} on, {reason}", path.display())]
pub struct SnapshotError {
    /// The file.
    pub path: PathBuf,
    /// Number of the record, counted from one.
    pub record: usize,
    /// The byte at which the record starts.
    pub byte: usize,
    /// The reason.
    pub reason: SnapshotReason,
}

/// Why a record was refused.
#[derive(Debug, Error)]
pub enum SnapshotReason {
    /// The file could not be read.
    #[error("cannot be read: {0}; give a file with a device's snapshot")]
    Unreadable(std::io::Error),
    /// The bytes are not a snapshot.
    #[error(
        "is not a snapshot: it does not start with \"RBSN\"; give the bytes of the device's Snapshot, or a file \
         of `rebearing predict` with `snapshot_out`"
    )]
    WrongMagic,
    /// The record has another format version.
    #[error("has version {0}, but this tool reads {VERSION}; update the tool")]
    Version(u16),
    /// Bytes are missing.
    #[error("is cut short: {needs} bytes are needed, {has} are there; send it again")]
    TooShort {
        /// Bytes needed.
        needs: usize,
        /// Bytes available.
        has: usize,
    },
    /// The record was damaged on the way.
    #[error(
        "is damaged: its checksum is {stored:08x}, its bytes give {computed:08x}; send it again"
    )]
    BadCrc {
        /// Checksum in the record.
        stored: u32,
        /// Checksum of the bytes.
        computed: u32,
    },
    /// The record has a number that no device writes.
    #[error("has a {0} that no device writes; check what made it")]
    OutOfRange(&'static str),
    /// The record has no window.
    #[error("holds no window; let the device record some before it sends")]
    Empty,
    /// The seal has another version.
    #[error("has a seal of version {0}, which this tool does not read; update the tool")]
    SealVersion(u32),
    /// The record has no seal.
    #[error(
        "has no seal, so nothing proves which device sent it; let the device send its sealed bytes, \
         or leave out `snapshot_key` to take it unchecked"
    )]
    NotSealed,
    /// The seal does not hold.
    #[error("has a seal that does not hold: it was changed, or the key is another; do not use it")]
    WrongSeal,
    /// The record is from another device than the one before it.
    #[error("comes from another device than the record before it; adapt to one device at a time")]
    OtherDevice,
    /// A record with this count was there already.
    #[error("comes twice, or another one has its count; give each record once")]
    Repeated,
    /// The count goes back.
    #[error(
        "is older than the record before it; give the files in the order in which the device sent them"
    )]
    Older,
    /// The record has another front end than the source.
    #[error(
        "has another front end: its {what} is {has}, the source's is {needs}; only features of the same \
         front end can be adapted to: give the source that the device's model was adapted from"
    )]
    FrontEnd {
        /// Name of the value that differs.
        what: &'static str,
        /// The value of the snapshot.
        has: String,
        /// The value of the source.
        needs: String,
    },
}

/// Reads the records of a file and returns at least one. Seals are not checked.
pub fn read(path: &Path) -> Result<Vec<Snapshot>, SnapshotError> {
    read_with(path, None)
}

/// Reads the records of several files.
///
/// With a key, every record must have a seal that holds, all must come from one device, and the
/// files must be in the order in which the device sent the records. Without a key, seals are not
/// checked.
pub fn read_all(
    paths: &[PathBuf],
    key: Option<&SnapshotKey>,
) -> Result<Vec<Snapshot>, SnapshotError> {
    let mut records = Vec::new();
    for path in paths {
        records.extend(read_with(path, key)?);
    }
    if key.is_some() {
        seal::check_order(&records)?;
    }
    Ok(records)
}

fn read_with(path: &Path, key: Option<&SnapshotKey>) -> Result<Vec<Snapshot>, SnapshotError> {
    let error = |record, byte, reason| SnapshotError { path: path.into(), record, byte, reason };
    let bytes = input::read_whole(path, input::MOST_SNAPSHOTS)
        .map_err(|reason| error(1, 0, SnapshotReason::Unreadable(reason)))?;
    let mut records = Vec::new();
    let mut at = 0;
    while at < bytes.len() || records.is_empty() {
        let (record, byte) = (records.len() + 1, at);
        let here = |reason| error(record, byte, reason);
        let (snapshot, length) = parse(&bytes[at..]).map_err(here)?;
        let (own, rest) = bytes[at..].split_at(length);
        let sealed = seal::parse(rest).map_err(here)?;
        if let Some(key) = key {
            let sealed = sealed.as_ref().map(|(seal, tag)| (seal, *tag));
            seal::check(own, sealed, key).map_err(here)?;
        }
        at += length + if sealed.is_some() { SEAL_LEN } else { 0 };
        let seal = sealed.map(|(seal, _)| seal);
        records.push(Snapshot { path: path.into(), record, byte, seal, ..snapshot });
    }
    Ok(records)
}

/// Reads the record at the start of `bytes`, and returns it with its length in bytes.
pub fn parse(bytes: &[u8]) -> Result<(Snapshot, usize), SnapshotReason> {
    let short = |needs| SnapshotReason::TooShort { needs, has: bytes.len() };
    if !bytes.starts_with(&MAGIC[..MAGIC.len().min(bytes.len())]) {
        return Err(SnapshotReason::WrongMagic);
    }
    let header: &[u8; HEADER_LEN] = bytes.first_chunk().ok_or(short(HEADER_LEN + CRC_LEN))?;
    let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
    if half(4) != VERSION {
        return Err(SnapshotReason::Version(half(4)));
    }
    let length = word(8) as usize;
    if length < HEADER_LEN + CRC_LEN {
        return Err(SnapshotReason::OutOfRange("length"));
    }
    let record = bytes.get(..length).ok_or(short(length))?;
    let (body, stored) = record.split_last_chunk::<CRC_LEN>().ok_or(short(length))?;
    let (stored, computed) = (u32::from_le_bytes(*stored), crc32(body));
    if stored != computed {
        return Err(SnapshotReason::BadCrc { stored, computed });
    }
    let (dims, windows) = (usize::from(half(30)), word(32) as usize);
    let rate_hz = f32::from_bits(word(16));
    let bytes_of_window = WINDOW_LEN + 2 * dims;
    for (field, valid) in [
        ("flag", half(6) & !INTEGER_LINE == 0),
        ("sample rate", rate_hz.is_finite() && rate_hz > 0.0),
        ("number of fraction bits", u32::from(header[29]) == FRACTION_BITS),
        ("number of features", dims > 0),
        ("length", Some(body.len() - HEADER_LEN) == windows.checked_mul(bytes_of_window)),
    ] {
        if !valid {
            return Err(SnapshotReason::OutOfRange(field));
        }
    }
    if windows == 0 {
        return Err(SnapshotReason::Empty);
    }
    let unit = f32::from(1_u16 << FRACTION_BITS);
    let (mut indices, mut flags) = (Vec::new(), Vec::new());
    let mut features = Array2::zeros((windows, dims));
    let rows = body[HEADER_LEN..].chunks_exact(bytes_of_window);
    for (window, mut row) in rows.zip(features.rows_mut()) {
        indices.push(u32::from_le_bytes([window[0], window[1], window[2], window[3]]));
        flags.push(u16::from_le_bytes([window[4], window[5]]));
        if flags.last().is_some_and(|flags| flags & !(UNKNOWN | AFTER_GAP) != 0) {
            return Err(SnapshotReason::OutOfRange("flag of a window"));
        }
        for (feature, bytes) in row.iter_mut().zip(window[WINDOW_LEN..].as_chunks().0) {
            *feature = f32::from(i16::from_le_bytes(*bytes)) / unit;
        }
    }
    let snapshot = Snapshot {
        path: PathBuf::new(),
        record: 1,
        byte: 0,
        seal: None,
        integer: half(6) & INTEGER_LINE != 0,
        front_end_id: word(12),
        rate_hz,
        fft_len: usize::from(half(20)),
        hop: usize::from(half(22)),
        segments: word(24) as usize,
        axes: usize::from(header[28]),
        model_crc: word(36),
        windows: indices,
        flags,
        features,
    };
    Ok((snapshot, length))
}

impl Snapshot {
    /// Refuses a snapshot if its features cannot be compared with those of `front_end`.
    pub fn check(&self, front_end: &FrontEndSettings) -> Result<(), SnapshotError> {
        let counts = [
            ("number of axes", self.axes, front_end.axes),
            ("FFT length", self.fft_len, front_end.fft_len),
            ("hop", self.hop, front_end.hop),
            ("number of segments", self.segments, front_end.segments),
            ("number of features", self.features.ncols(), front_end.dims()),
        ];
        let counts = counts.map(|(what, has, needs)| (what, has.to_string(), needs.to_string()));
        let id = front_end_id(&front_end.device());
        let others = [
            (
                "sample rate",
                format!("{} Hz", self.rate_hz),
                format!("{} Hz", front_end.rate_hz as f32),
            ),
            (
                "set of bands (by its checksum)",
                format!("{:08x}", self.front_end_id),
                format!("{id:08x}"),
            ),
        ];
        for (what, has, needs) in counts.into_iter().chain(others) {
            if has != needs {
                let reason = SnapshotReason::FrontEnd { what, has, needs };
                let (path, record, byte) = (self.path.clone(), self.record, self.byte);
                return Err(SnapshotError { path, record, byte, reason });
            }
        }
        Ok(())
    }

    /// Returns the features in log2 Q16, as the integer code has them.
    pub fn integer_rows(&self) -> Vec<Vec<i32>> {
        let log2 =
            |nats: &f32| (f64::from(*nats) * std::f64::consts::LOG2_E * 65536.0).round() as i32;
        self.features.rows().into_iter().map(|row| row.iter().map(log2).collect()).collect()
    }
}

/// Appends the features of snapshots to those of recordings. Each record counts as a recording of
/// its own.
///
/// The stride stays that of the recordings, which is smaller. Without recordings it is the
/// device's: each window starts a hop after the last segment of the one before.
///
/// # Panics
/// If a snapshot has another number of features: call [`Snapshot::check`] first.
pub fn with_snapshots(features: Features, recordings: usize, snapshots: &[Snapshot]) -> Features {
    let Features { x, mut recording, mut stride } = features;
    if let (0, Some(first)) = (x.nrows(), snapshots.first()) {
        stride = first.hop * first.segments;
    }
    for (index, snapshot) in snapshots.iter().enumerate() {
        recording.extend(std::iter::repeat_n(recordings + index, snapshot.windows.len()));
    }
    let parts: Vec<_> =
        std::iter::once(x.view()).chain(snapshots.iter().map(|s| s.features.view())).collect();
    let x = concatenate(Axis(0), &parts).expect("dimensions were checked");
    Features { x, recording, stride }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of two windows of three features.
    pub(super) fn record() -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(MAGIC);
        bytes.extend([1, 0, 0, 0]);
        bytes.extend(68_u32.to_le_bytes());
        bytes.extend(7_u32.to_le_bytes());
        bytes.extend(20_000_f32.to_le_bytes());
        bytes.extend([0, 1, 128, 0, 2, 0, 0, 0, 1, 10, 3, 0, 2, 0, 0, 0, 9, 8, 7, 6]);
        bytes.extend([5, 0, 0, 0, 1, 0, 0, 4, 0, 0xfc, 1, 0]);
        bytes.extend([6, 0, 0, 0, 2, 0, 0xff, 0x7f, 0, 0x80, 0, 0]);
        bytes
    }

    pub(super) fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.extend(crc32(&bytes).to_le_bytes());
        bytes
    }

    #[test]
    fn a_record_is_read_by_its_specification() {
        let (snapshot, length) = parse(&sealed(record())).unwrap();
        assert_eq!(length, 68);
        assert_eq!((snapshot.windows, snapshot.flags), (vec![5, 6], vec![1, 2]));
        let expected = [1.0, -1.0, 1.0 / 1024.0, 32.0 - 1.0 / 1024.0, -32.0, 0.0];
        assert_eq!(snapshot.features.into_raw_vec_and_offset().0, expected);
        assert_eq!((snapshot.fft_len, snapshot.hop, snapshot.segments), (256, 128, 2));
        assert_eq!((snapshot.axes, snapshot.rate_hz, snapshot.front_end_id), (1, 20_000.0, 7));
        assert_eq!(snapshot.model_crc, 0x0607_0809);
        assert!(!snapshot.integer);
    }

    #[test]
    fn every_truncation_and_every_bit_flip_is_refused() {
        let whole = sealed(record());
        for length in 0..whole.len() {
            assert!(parse(&whole[..length]).is_err(), "{length}");
        }
        for bit in 0..8 * whole.len() {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(parse(&damaged).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn what_no_device_writes_is_refused_though_its_checksum_is_right() {
        let with = |at: usize, bytes: &[u8]| {
            let mut record = record();
            record[at..at + bytes.len()].copy_from_slice(bytes);
            parse(&sealed(record)).unwrap_err().to_string()
        };
        for (at, bytes, part) in [
            (0, &b"RBRG"[..], "RBSN"),
            (4, &[2, 0], "version 2"),
            (6, &[2, 0], "flag"),
            (8, &[1, 0, 0, 0], "length"),
            (16, &f32::NAN.to_le_bytes(), "sample rate"),
            (29, &[11], "fraction bits"),
            (30, &[0, 0], "number of features"),
            (30, &[4, 0], "length"),
            (32, &[3, 0, 0, 0], "length"),
            (44, &[4, 0], "flag of a window"),
        ] {
            let message = with(at, bytes);
            assert!(message.contains(part), "{message}: {part}");
        }
        let mut empty = record();
        empty.truncate(HEADER_LEN);
        empty[8..12].copy_from_slice(&44_u32.to_le_bytes());
        empty[32] = 0;
        let message = parse(&sealed(empty)).unwrap_err().to_string();
        assert!(message.contains("no window"), "{message}");
    }
}
