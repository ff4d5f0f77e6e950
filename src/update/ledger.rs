//! The ledger: what a device must remember of its models, whatever happens to its power.
//!
//! ```text
//!  ledger ┬ half 1: record │ record │ record │ erased …  ┬ half 2: record │ record │ erased … ┐
//! ```
//!
//! The floor, the retired key, the trial and the latched alarm are one record of 48 bytes. The
//! newest whole record counts. So a change is there or not there, and two things that belong
//! together, like a floor and the key that it retires, change together.
//!
//! Records are appended. When a half is full, the other half is erased and the next record goes
//! there. A half with the newest record is never erased, so power may fail at any moment. A half of
//! 4 KB is erased once in 85 records.
//!
//! | bytes | what |
//! |---|---|
//! | 0–3 | `RBLD` |
//! | 4–7 | sequence number |
//! | 8–11 | floor: counter of the confirmed model |
//! | 12–15 | largest counter of a rejected model |
//! | 16–19 | id of the retired key |
//! | 20–23 | counter of the model on trial |
//! | 24 | slot of the confirmed model: 0 none, 1 A, 2 B |
//! | 25 | slot of the model on trial |
//! | 26 | starts of the model on trial |
//! | 27 | how the last trial ended |
//! | 28–31 | the alarm |
//! | 32–43 | zero |
//! | 44–47 | CRC-32 of the bytes before |

use embedded_storage::nor_flash::NorFlash;

use super::io::{Io, IoError, PIECE};
use super::outcome::Outcome;
use super::record::is_newer;
use super::slots::Slot;
use crate::operation::snapshot::crc32;

/// Bytes of a record.
pub(super) const RECORD_LEN: usize = 48;
/// First four bytes of a record.
const MAGIC: [u8; 4] = *b"RBLD";
/// Places that are tried for a record. A word that was being written when power failed may look
/// erased and yet refuse to be written.
const ATTEMPTS: u32 = 2;

/// A model in a slot, by its counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Placed {
    pub(super) slot: Slot,
    pub(super) counter: u32,
}

/// Everything that a device remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Kept {
    /// Nothing below this counter runs; the counter of the confirmed model.
    pub(super) floor: u32,
    /// Nothing up to this counter starts a trial again.
    pub(super) rejected: u32,
    /// Id of the key that is no longer good; 0 if none.
    pub(super) retired: u32,
    /// Slot of the confirmed model.
    pub(super) confirmed: Option<Slot>,
    /// The model on trial.
    pub(super) trial: Option<Placed>,
    /// Starts of the model on trial.
    pub(super) starts: u8,
    /// How the last trial ended.
    pub(super) outcome: Outcome,
    /// The alarm, as [`Alarm`](crate::Alarm) writes it.
    pub(super) alarm: u32,
}

impl Kept {
    fn to_bytes(self, sequence: u32) -> [u8; RECORD_LEN] {
        let slot = |slot| match slot {
            None => 0,
            Some(Slot::A) => 1,
            Some(Slot::B) => 2,
        };
        let trial = self.trial.map_or(0, |trial| trial.counter);
        let small = [
            slot(self.confirmed),
            slot(self.trial.map(|trial| trial.slot)),
            self.starts,
            self.outcome.code(),
        ];
        let words = [sequence, self.floor, self.rejected, self.retired, trial];
        let words = words.map(u32::to_le_bytes).into_iter().chain([small]);
        let words = words.chain([self.alarm.to_le_bytes()]);
        let mut record = [0; RECORD_LEN];
        for (place, byte) in record.iter_mut().zip([MAGIC].into_iter().chain(words).flatten()) {
            *place = byte;
        }
        let (body, crc) = record.split_at_mut(RECORD_LEN - 4);
        let sum = crc32(body).to_le_bytes();
        for (place, byte) in crc.iter_mut().zip(sum) {
            *place = byte;
        }
        record
    }

    /// The record in `bytes` and its sequence number, if it is whole.
    fn from_bytes(bytes: &[u8; RECORD_LEN]) -> Option<(u32, Self)> {
        let (words, _) = bytes.as_chunks::<4>();
        let words: [[u8; 4]; RECORD_LEN / 4] = words.try_into().ok()?;
        let [_, sequence, floor, rejected, retired, trial, small, alarm, ..] = words;
        let [sequence, floor, rejected, retired, trial, alarm] =
            [sequence, floor, rejected, retired, trial, alarm].map(u32::from_le_bytes);
        let slot = |number| match number {
            1 => Some(Slot::A),
            2 => Some(Slot::B),
            _ => None,
        };
        let [confirmed, on_trial, starts, outcome] = small;
        let kept = Self {
            floor,
            rejected,
            retired,
            confirmed: slot(confirmed),
            trial: slot(on_trial).map(|slot| Placed { slot, counter: trial }),
            starts,
            outcome: Outcome::from_code(outcome)?,
            alarm,
        };
        // There is one way to write a record.
        (kept.to_bytes(sequence) == *bytes).then_some((sequence, kept))
    }
}

/// The two halves of a ledger in flash.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Ledger {
    /// Start of the first half, from the start of the flash.
    start: u32,
    /// Bytes of a half.
    len: u32,
    /// The half that holds the newest record: 0 or 1.
    half: u32,
    /// Where the next record goes, from the start of the half.
    next: u32,
    sequence: Option<u32>,
}

impl Ledger {
    /// Opens the ledger at `start` and reads what is kept. An erased ledger keeps nothing.
    pub(super) fn open<F: NorFlash>(
        io: &mut Io<F>,
        start: u32,
        len: u32,
    ) -> Result<(Self, Kept), IoError> {
        let mut ledger = Self { start, len, half: 0, next: 0, sequence: None };
        let kept = ledger.read(io)?;
        Ok((ledger, kept))
    }

    /// Makes `kept` what the device remembers.
    ///
    /// If this fails, flash is read again: the caller gets what will count after a restart.
    pub(super) fn append<F: NorFlash>(
        &mut self,
        io: &mut Io<F>,
        kept: Kept,
    ) -> Result<(), (IoError, Option<Kept>)> {
        let sequence = self.sequence.map_or(0, |sequence| sequence.wrapping_add(1));
        let record = kept.to_bytes(sequence);
        match self.try_append(io, &record) {
            Ok(()) => {
                self.sequence = Some(sequence);
                Ok(())
            }
            // The record may be there, although it could not be read back.
            Err(error) => match self.read(io) {
                Ok(found) if found == kept && self.sequence == Some(sequence) => Ok(()),
                Ok(found) => Err((error, Some(found))),
                Err(_) => Err((error, None)),
            },
        }
    }

    fn try_append<F: NorFlash>(
        &mut self,
        io: &mut Io<F>,
        record: &[u8; RECORD_LEN],
    ) -> Result<(), IoError> {
        let room = Self::room::<F>();
        let mut result = Ok(());
        for _ in 0..ATTEMPTS {
            if self.next.saturating_add(room) > self.len {
                self.half = 1 - self.half.min(1);
                self.next = 0;
                let start = self.half_start();
                io.erase(start, start.saturating_add(self.len))?;
            }
            let place = self.half_start().saturating_add(self.next);
            self.next = self.next.saturating_add(room);
            result = io.write(place, record);
            if result.is_ok() {
                break;
            }
        }
        result
    }

    /// Finds the newest whole record, and the place behind the last word that is not erased.
    fn read<F: NorFlash>(&mut self, io: &mut Io<F>) -> Result<Kept, IoError> {
        let room = Self::room::<F>();
        let (mut newest, mut kept) = (None, Kept::default());
        let mut ends = [0; 2];
        for (half, end) in [0, 1].into_iter().zip(&mut ends) {
            let start = self.start.saturating_add(self.len.saturating_mul(half));
            for place in (0..=self.len.saturating_sub(room)).step_by(room as usize) {
                let mut bytes = [0; PIECE];
                let bytes = bytes.get_mut(..room as usize).unwrap_or_default();
                io.read(start.saturating_add(place), bytes)?;
                if bytes.iter().any(|byte| *byte != 0xff) {
                    *end = place.saturating_add(room);
                }
                let found = bytes.first_chunk().and_then(Kept::from_bytes);
                if let Some((sequence, found)) = found
                    && is_newer(Some(sequence), newest)
                {
                    (newest, kept) = (Some(sequence), found);
                    self.half = half;
                }
            }
        }
        self.sequence = newest;
        // Without a record, nothing says that the half is erased: the first record goes to a half
        // that is.
        self.next = match (newest, ends) {
            (None, [0, _]) => 0,
            (None, _) => self.len,
            (Some(_), [first, second]) => {
                if self.half == 0 {
                    first
                } else {
                    second
                }
            }
        };
        Ok(kept)
    }

    fn half_start(&self) -> u32 {
        self.start.saturating_add(self.len.saturating_mul(self.half))
    }

    /// Bytes that a record takes, in whole flash words.
    fn room<F: NorFlash>() -> u32 {
        RECORD_LEN.next_multiple_of(F::WRITE_SIZE) as u32
    }
}
