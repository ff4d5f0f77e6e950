//! Writing a model into the slot that is not in use.

use core::fmt;
use core::ops::Range;

use embedded_storage::nor_flash::{NorFlash, NorFlashError, NorFlashErrorKind};

use super::record::{RECORD_LEN, is_newer, read_record, record};
use super::slots::Slot;
use crate::model::AnyModel;
use crate::model::format::CRC_OFFSET;

/// Flash is read and padded in pieces of this size; no word of a flash is longer.
const PIECE: usize = 256;

/// The reason why a region of the flash cannot hold two slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LayoutError {
    /// The region does not lie inside the flash, or is empty.
    OutOfBounds {
        /// Bytes of the flash.
        capacity: usize,
    },
    /// Start or half length is not a multiple of the erase size.
    NotErasable {
        /// Bytes that are erased at once.
        erase_size: usize,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfBounds { capacity } => write!(
                f,
                "the MODEL region is empty or not inside the flash of {capacity} bytes: its place is counted from the start of the flash"
            ),
            Self::NotErasable { erase_size } => write!(
                f,
                "flash is erased {erase_size} bytes at a time: the MODEL region has to start at a multiple of it, and each half has to be one"
            ),
        }
    }
}

impl core::error::Error for LayoutError {}

/// The reason why a model was not stored. The model in use is untouched and stays the newest.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum StoreError {
    /// The model is longer than a slot; nothing was erased.
    TooLong {
        /// Bytes of the model.
        needs: usize,
        /// Bytes of a slot, its record taken off.
        holds: usize,
    },
    /// The flash driver failed.
    Flash(NorFlashErrorKind),
    /// Flash does not read back as it was written: it is worn.
    Differs {
        /// Where, from the start of the flash.
        offset: u32,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { needs, holds } => {
                write!(f, "the new model has {needs} bytes, a slot holds {holds}")
            }
            Self::Flash(kind) => write!(f, "the flash driver failed: {kind}"),
            Self::Differs { offset } => {
                write!(f, "flash does not hold what was written at {offset:#x}: it is worn")
            }
        }
    }
}

impl core::error::Error for StoreError {}

/// The two slots, for writing.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Slots<F> {
    flash: F,
    /// Start of slot A, from the start of the flash.
    start: u32,
    /// Bytes of a slot.
    len: u32,
}

impl<F: NorFlash> Slots<F> {
    /// Bytes that the record takes, in whole flash words.
    const RECORD_ROOM: usize = if F::WRITE_SIZE > RECORD_LEN { F::WRITE_SIZE } else { RECORD_LEN };

    /// The slots in `region` of `flash`, which is the MODEL region counted from the flash's start.
    pub fn new(flash: F, region: Range<u32>) -> Result<Self, LayoutError> {
        const {
            // Words are powers of two, so that the record is whole words or a word holds it.
            assert!(F::WRITE_SIZE.is_power_of_two() && F::WRITE_SIZE <= PIECE, "an odd flash word");
            assert!(F::READ_SIZE > 0 && RECORD_LEN.is_multiple_of(F::READ_SIZE), "an odd read");
            assert!(F::ERASE_SIZE >= PIECE && F::ERASE_SIZE.is_multiple_of(PIECE), "an odd sector");
        }
        let (start, end) = (region.start as usize, region.end as usize);
        if start >= end || end > flash.capacity() {
            return Err(LayoutError::OutOfBounds { capacity: flash.capacity() });
        }
        let erase_size = F::ERASE_SIZE;
        if !start.is_multiple_of(erase_size) || !(end - start).is_multiple_of(2 * erase_size) {
            return Err(LayoutError::NotErasable { erase_size });
        }
        Ok(Self { flash, start: region.start, len: (region.end - region.start) / 2 })
    }

    /// Longest model that a slot holds.
    pub fn capacity(&self) -> usize {
        (self.len as usize).saturating_sub(Self::RECORD_ROOM)
    }

    /// Stores a model as the newest, in the slot that is not `in_use`; returns that slot.
    ///
    /// The model was parsed before, so nothing is erased for one that this firmware cannot read.
    /// `in_use` is the slot that [`newest`](super::newest) returned, `None` if it found nothing. That slot is never
    /// touched, so its model stays usable; the new one is for the next start.
    pub fn store<B>(
        &mut self,
        in_use: Option<Slot>,
        model: &AnyModel<'_, B>,
    ) -> Result<Slot, StoreError> {
        let model = model.bytes();
        let (needs, holds) = (model.len(), self.capacity());
        if needs > holds {
            return Err(StoreError::TooLong { needs, holds });
        }
        let slot = in_use.map_or(Slot::A, Slot::other);
        let sequence = self.next_sequence()?;
        let start = self.start_of(slot);
        self.flash.erase(start, start.saturating_add(self.len)).map_err(flash_error)?;
        self.write_padded(start, model)?;
        self.compare(start, model)?;
        self.write_record(slot, &record(sequence, stored_crc(model)))?;
        Ok(slot)
    }

    /// The flash driver.
    pub fn into_flash(self) -> F {
        self.flash
    }

    fn start_of(&self, slot: Slot) -> u32 {
        match slot {
            Slot::A => self.start,
            Slot::B => self.start.saturating_add(self.len),
        }
    }

    /// The sequence number after the newer of the two records, even if their models are damaged.
    fn next_sequence(&mut self) -> Result<u32, StoreError> {
        let (a, b) = (self.record_of(Slot::A)?, self.record_of(Slot::B)?);
        let newest = if is_newer(b, a) { b } else { a };
        Ok(newest.map_or(0, |sequence| sequence.wrapping_add(1)))
    }

    fn record_of(&mut self, slot: Slot) -> Result<Option<u32>, StoreError> {
        let end = self.start_of(slot).saturating_add(self.len);
        let mut bytes = [0; RECORD_LEN];
        let offset = end.saturating_sub(RECORD_LEN as u32);
        self.flash.read(offset, &mut bytes).map_err(flash_error)?;
        Ok(read_record(&bytes).map(|(sequence, _)| sequence))
    }

    /// The record at the very end, whatever the length of a flash word.
    fn write_record(&mut self, slot: Slot, record: &[u8; RECORD_LEN]) -> Result<(), StoreError> {
        let room = Self::RECORD_ROOM;
        let mut padded = [0xff; PIECE];
        for (place, byte) in padded.iter_mut().take(room).rev().zip(record.iter().rev()) {
            *place = *byte;
        }
        let end = self.start_of(slot).saturating_add(self.len);
        let offset = end.saturating_sub(room as u32);
        self.flash.write(offset, padded.get(..room).unwrap_or_default()).map_err(flash_error)?;
        self.compare(end.saturating_sub(RECORD_LEN as u32), record)
    }

    /// Writes `bytes`, the last flash word filled up with what erased flash reads as.
    fn write_padded(&mut self, start: u32, bytes: &[u8]) -> Result<(), StoreError> {
        let mut offset = start;
        for piece in bytes.chunks(PIECE) {
            let mut padded = [0xff; PIECE];
            for (place, byte) in padded.iter_mut().zip(piece) {
                *place = *byte;
            }
            let words = piece.len().next_multiple_of(F::WRITE_SIZE);
            self.flash
                .write(offset, padded.get(..words).unwrap_or_default())
                .map_err(flash_error)?;
            offset = offset.saturating_add(PIECE as u32);
        }
        Ok(())
    }

    /// Reads back what was written.
    fn compare(&mut self, start: u32, bytes: &[u8]) -> Result<(), StoreError> {
        let mut offset = start;
        for expected in bytes.chunks(RECORD_LEN) {
            let mut found = [0; RECORD_LEN];
            self.flash.read(offset, &mut found).map_err(flash_error)?;
            if !found.starts_with(expected) {
                return Err(StoreError::Differs { offset });
            }
            offset = offset.saturating_add(RECORD_LEN as u32);
        }
        Ok(())
    }
}

/// The checksum in a model's header.
fn stored_crc(model: &[u8]) -> u32 {
    let stored = model.get(CRC_OFFSET..).and_then(<[u8]>::first_chunk);
    stored.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

#[expect(clippy::needless_pass_by_value, reason = "the signature that map_err wants")]
fn flash_error(error: impl NorFlashError) -> StoreError {
    StoreError::Flash(error.kind())
}
