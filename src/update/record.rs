//! The record at the end of a slot: which model is the newest, and whether it is whole.

use crate::model::format::{CRC_OFFSET, crc32};
use crate::model::stored_crc;

/// Bytes of the record at the very end of a slot.
pub const RECORD_LEN: usize = 16;
/// First four bytes of a record.
const RECORD_MAGIC: [u8; 4] = *b"RBSL";

/// The record of a slot, as far as it belongs to the model in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marked {
    /// The model's sequence number.
    Sequence(u32),
    /// No record was written, or one of another model: a debug probe writes a model and leaves the
    /// record of the model before it behind.
    Plain,
    /// A record was written and is damaged beyond repair.
    Damaged,
}

impl Marked {
    /// Reads the record at the end of a slot.
    pub(super) fn of(slot: &[u8]) -> Self {
        let (Some(bytes), Some(stored)) = (slot.last_chunk(), stored_crc(slot)) else {
            return Self::Plain;
        };
        match read_or_mend(bytes) {
            Some((sequence, crc)) if crc == stored => Self::Sequence(sequence),
            Some(_) => Self::Plain,
            None if *bytes == [0xff; RECORD_LEN] => Self::Plain,
            None => Self::Damaged,
        }
    }

    /// The sequence number, if there is one.
    pub(super) fn sequence(self) -> Option<u32> {
        match self {
            Self::Sequence(sequence) => Some(sequence),
            Self::Plain | Self::Damaged => None,
        }
    }
}

/// Sequence number and checksum of the model, if the record is whole or has a single wrong bit.
pub(super) fn read_or_mend(bytes: &[u8; RECORD_LEN]) -> Option<(u32, u32)> {
    read_record(bytes).or_else(|| mended(bytes))
}

/// A record of which a single bit has rotted. The checksum tells any three wrong bits from none, so
/// at most one flip makes it whole.
fn mended(bytes: &[u8; RECORD_LEN]) -> Option<(u32, u32)> {
    (0..8 * RECORD_LEN).find_map(|bit| {
        let mut flipped = *bytes;
        *flipped.get_mut(bit / 8)? ^= 1 << (bit % 8);
        read_record(&flipped)
    })
}

/// Returns true if sequence number `this` is newer than `that`; numbers may wrap.
pub(super) fn is_newer(this: Option<u32>, that: Option<u32>) -> bool {
    match (this, that) {
        (Some(this), Some(that)) => this.wrapping_sub(that).cast_signed() > 0,
        (this, _) => this.is_some(),
    }
}

/// A record: magic, sequence number, checksum of the model, checksum of the record.
pub(super) fn record(sequence: u32, model_crc: u32) -> [u8; RECORD_LEN] {
    let mut record = [0; RECORD_LEN];
    let fields = [RECORD_MAGIC, sequence.to_le_bytes(), model_crc.to_le_bytes()];
    for (place, byte) in record.iter_mut().zip(fields.as_flattened()) {
        *place = *byte;
    }
    // The checksum has the same place as in a model, and counts as zero itself in the same way.
    let crc = crc32(&record).to_le_bytes();
    for (place, byte) in record.iter_mut().skip(CRC_OFFSET).zip(crc) {
        *place = byte;
    }
    record
}

/// Sequence number and checksum of the model, if the record is whole.
fn read_record(bytes: &[u8; RECORD_LEN]) -> Option<(u32, u32)> {
    let [_, _, _, _, s0, s1, s2, s3, m0, m1, m2, m3, ..] = *bytes;
    let sequence = u32::from_le_bytes([s0, s1, s2, s3]);
    let model_crc = u32::from_le_bytes([m0, m1, m2, m3]);
    (*bytes == record(sequence, model_crc)).then_some((sequence, model_crc))
}
