//! A model on its way into a slot, a few bytes at a time.

use crc::{Digest, Table};
use embedded_storage::nor_flash::NorFlash;

use super::envelope::{DOMAIN, ENVELOPE_LEN, Envelope};
use super::io::{Io, LINE, PIECE};
use super::receiver::Refusal;
use super::slots::Slot;
use super::verifier::{SignatureCheck, Verifier};
use crate::model::format::{self, CRC_OFFSET};

/// A signed model file that is being received.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Transfer {
    pub(super) envelope: [u8; ENVELOPE_LEN],
    pub(super) slot: Slot,
    /// Start of the slot, from the start of the flash.
    start: u32,
    pub(super) received: u32,
    pub(super) total: u32,
    /// The last bytes received, which are not in flash yet: they do not fill a piece.
    piece: [u8; PIECE],
}

impl Transfer {
    /// A transfer into an erased slot.
    pub(super) fn new(envelope: [u8; ENVELOPE_LEN], slot: Slot, start: u32, total: u32) -> Self {
        Self { envelope, slot, start, received: 0, total, piece: [0; PIECE] }
    }

    /// Takes the bytes from `offset` on. Those that are there already must be the same.
    pub(super) fn write<F: NorFlash>(
        &mut self,
        io: &mut Io<F>,
        offset: u32,
        bytes: &[u8],
    ) -> Result<u32, Refusal> {
        let end = u32::try_from(bytes.len()).ok().and_then(|len| offset.checked_add(len));
        if offset > self.received || end.is_none_or(|end| end > self.total) {
            return Err(Refusal::Gap);
        }
        let again = bytes.len().min((self.received - offset) as usize);
        let (again, new) = bytes.split_at_checked(again).unwrap_or((&[], &[]));
        self.compare(io, offset, again)?;
        for byte in new {
            let at = self.received as usize % PIECE;
            if let Some(place) = self.piece.get_mut(at) {
                *place = *byte;
            }
            self.received = self.received.saturating_add(1);
            if at == PIECE - 1 || self.received == self.total {
                self.flush(io, at + 1)?;
            }
        }
        Ok(self.received)
    }

    /// Compares bytes with those received before, in flash or still on the way there.
    fn compare<F: NorFlash>(
        &self,
        io: &mut Io<F>,
        offset: u32,
        bytes: &[u8],
    ) -> Result<(), Refusal> {
        let in_flash = if self.received == self.total {
            self.total
        } else {
            self.received - self.received % PIECE as u32
        };
        let mut line = [0; LINE];
        for (at, byte) in (offset..).zip(bytes) {
            let found = if at < in_flash {
                // Read a line when the first byte of it is asked for.
                if at == offset || at.is_multiple_of(LINE as u32) {
                    let place = self.start.saturating_add(at - at % LINE as u32);
                    io.read(place, &mut line).map_err(|_| Refusal::Flash)?;
                }
                line.get(at as usize % LINE)
            } else {
                self.piece.get(at as usize % PIECE)
            };
            if found != Some(byte) {
                return Err(Refusal::Differs);
            }
        }
        Ok(())
    }

    /// Writes the first `len` bytes of the piece, which is the last one received.
    fn flush<F: NorFlash>(&mut self, io: &mut Io<F>, len: usize) -> Result<(), Refusal> {
        let offset = self.received.saturating_sub(len as u32);
        let bytes = self.piece.get(..len).unwrap_or_default();
        io.write(self.start.saturating_add(offset), bytes).map_err(|_| Refusal::Flash)
    }

    /// Verifies the file as flash holds it.
    pub(super) fn verify<F: NorFlash>(
        &self,
        io: &mut Io<F>,
        verifier: &impl Verifier,
    ) -> Result<(), Refusal> {
        if self.received < self.total {
            return Err(Refusal::Incomplete);
        }
        let (envelope, signature) =
            Envelope::from_bytes(&self.envelope).ok_or(Refusal::NotAnEnvelope)?;
        let mut check = verifier.start(envelope.key_id, signature).ok_or(Refusal::BadSignature)?;
        check.absorb(&DOMAIN);
        check.absorb(&envelope.head());
        let model_len = envelope.model_len as usize;
        let (mut at, mut same) = (0, true);
        let mut checksum = Checksum::new();
        io.stream(self.start, self.total, |line| {
            let of_model = line.len().min(model_len.saturating_sub(at));
            let (model, rest) = line.split_at_checked(of_model).unwrap_or((line, &[]));
            check.absorb(model);
            checksum.absorb(model);
            let from = (at + of_model).saturating_sub(model_len);
            let expected = self.envelope.get(from..).unwrap_or_default();
            same &= expected.starts_with(rest);
            at += line.len();
        })
        .map_err(|_| Refusal::Flash)?;
        if !same {
            return Err(Refusal::OtherEnvelope);
        }
        if !check.holds() {
            return Err(Refusal::BadSignature);
        }
        // Without a signature, only this finds damage.
        if checksum.holds() { Ok(()) } else { Err(Refusal::Damaged) }
    }
}

/// The checksum of a model file that comes in pieces.
struct Checksum {
    digest: Digest<'static, u32, Table<1>>,
    at: usize,
    stored: [u8; 4],
}

impl Checksum {
    fn new() -> Self {
        Self { digest: format::digest(), at: 0, stored: [0; 4] }
    }

    fn absorb(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let own = self.at.checked_sub(CRC_OFFSET).and_then(|at| self.stored.get_mut(at));
            // The checksum's own bytes count as zero.
            let counted = own.map_or(*byte, |place| {
                *place = *byte;
                0
            });
            self.digest.update(&[counted]);
            self.at = self.at.saturating_add(1);
        }
    }

    fn holds(self) -> bool {
        self.digest.finalize() == u32::from_le_bytes(self.stored)
    }
}
