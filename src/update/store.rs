//! Writing a model into the slot that is not in use.

use core::fmt;
use core::ops::Range;

use embedded_storage::nor_flash::{NorFlash, NorFlashErrorKind};

use super::io::{Io, IoError, PIECE};
use super::record::{RECORD_LEN, is_newer, read_or_mend, record};
use super::slots::Slot;
use crate::model::{AnyModel, stored_crc};

/// The reason why a region of the flash cannot hold two slots or a ledger.
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
    /// The ledger lies in the MODEL region.
    Overlap,
    /// The flash driver failed when the ledger was read.
    Unreadable,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfBounds { capacity } => write!(
                f,
                "the region is empty or not inside the flash of {capacity} bytes: its place is counted from the start of the flash"
            ),
            Self::NotErasable { erase_size } => write!(
                f,
                "flash is erased {erase_size} bytes at a time: the region has to start at a multiple of it, and each half has to be one"
            ),
            Self::Overlap => {
                f.write_str("the ledger needs sectors of its own, outside the MODEL region")
            }
            Self::Unreadable => f.write_str("the flash driver failed when the ledger was read"),
        }
    }
}

impl core::error::Error for LayoutError {}

/// The reason why a model was not stored. The model in use is untouched and stays the newest, unless
/// the reason is [`StoreError::Unclear`].
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
    /// The new model was written whole, but could be neither read back nor taken back. The next start
    /// will show which model is used.
    Unclear,
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
            Self::Unclear => f.write_str(
                "the flash driver failed after the new model was written: the next start shows which model is used",
            ),
        }
    }
}

impl core::error::Error for StoreError {}

impl From<IoError> for StoreError {
    fn from(error: IoError) -> Self {
        match error {
            IoError::Flash(kind) => Self::Flash(kind),
            IoError::Differs { offset } => Self::Differs { offset },
        }
    }
}

/// Bytes of one half of a region that is erased in halves.
pub(super) fn halves<F: NorFlash>(flash: &F, region: &Range<u32>) -> Result<u32, LayoutError> {
    let (start, end) = (region.start as usize, region.end as usize);
    if start >= end || end > flash.capacity() {
        return Err(LayoutError::OutOfBounds { capacity: flash.capacity() });
    }
    let erase_size = F::ERASE_SIZE;
    if !start.is_multiple_of(erase_size) || !(end - start).is_multiple_of(2 * erase_size) {
        return Err(LayoutError::NotErasable { erase_size });
    }
    Ok((region.end - region.start) / 2)
}

/// The two slots, for writing.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Slots<F> {
    io: Io<F>,
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
        let () = Io::<F>::CHECK;
        let len = halves(&flash, &region)?;
        Ok(Self { io: Io(flash), start: region.start, len })
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
        let end = start.saturating_add(self.len);
        self.io.erase(start, end)?;
        self.io.write(start, model)?;
        match self.write_record(slot, &record(sequence, stored_crc(model).unwrap_or(0))) {
            Ok(()) => Ok(slot),
            // The record may be whole. An error means that the old model stays, so it has to go.
            Err(error) => match self.io.erase(start, end) {
                Ok(()) => Err(error.into()),
                Err(_) => Err(StoreError::Unclear),
            },
        }
    }

    /// The flash driver.
    pub fn into_flash(self) -> F {
        self.io.0
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
        self.io.read(end.saturating_sub(RECORD_LEN as u32), &mut bytes)?;
        // As the next start reads it: a mended record counts, so the new model must be newer.
        Ok(read_or_mend(&bytes).map(|(sequence, _)| sequence))
    }

    /// The record at the very end, whatever the length of a flash word.
    fn write_record(&mut self, slot: Slot, record: &[u8; RECORD_LEN]) -> Result<(), IoError> {
        let room = Self::RECORD_ROOM;
        let mut padded = [0xff; PIECE];
        for (place, byte) in padded.iter_mut().take(room).rev().zip(record.iter().rev()) {
            *place = *byte;
        }
        let end = self.start_of(slot).saturating_add(self.len);
        let offset = end.saturating_sub(room as u32);
        self.io.write(offset, padded.get(..room).unwrap_or_default())
    }
}
