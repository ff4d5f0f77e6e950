//! Writing file records (function 21): the envelope and the signed model file, in words.
//!
//! | file | record | what |
//! |---|---|---|
//! | 1 | 0–63 | the envelope, before the command `begin` |
//! | 2 + n | 0–9999 | words 10000·n and up of the signed model file |
//!
//! The high byte of a word is the earlier byte of the file.

use super::answer::Exception;
use crate::update::envelope::ENVELOPE_LEN;
use crate::update::{Receiver, Refusal};

/// File of the envelope.
pub const ENVELOPE_FILE: u16 = 1;
/// First file of the model.
pub const MODEL_FILE: u16 = 2;
/// Words of a file.
pub const FILE_WORDS: u32 = 10_000;
/// Words of the envelope.
const ENVELOPE_WORDS: u32 = ENVELOPE_LEN as u32 / 2;
/// The only type of reference that there is.
const REFERENCE: u8 = 6;
/// Type, file, record and length, before the words.
const HEAD_LEN: usize = 7;

/// The envelope, as far as it was written.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct EnvelopeFile {
    bytes: [u8; ENVELOPE_LEN],
    /// A bit for each word that was written.
    written: u64,
}

/// A piece of a file.
#[derive(Clone, Copy)]
struct Piece<'a> {
    file: u16,
    record: u16,
    bytes: &'a [u8],
}

impl<'a> Piece<'a> {
    /// The first piece of `data`, and the rest.
    fn split(data: &'a [u8]) -> Result<(Self, &'a [u8]), Exception> {
        let (&[kind, f0, f1, r0, r1, n0, n1], rest) =
            data.split_first_chunk::<HEAD_LEN>().ok_or(Exception::Value)?;
        let [file, record, words] = [[f0, f1], [r0, r1], [n0, n1]].map(u16::from_be_bytes);
        if kind != REFERENCE || words == 0 {
            return Err(Exception::Value);
        }
        let (bytes, rest) =
            rest.split_at_checked(2 * usize::from(words)).ok_or(Exception::Value)?;
        let end = u32::from(record) + u32::from(words);
        let longest = match file {
            0 => 0,
            ENVELOPE_FILE => ENVELOPE_WORDS,
            _ => FILE_WORDS,
        };
        if end > longest {
            return Err(Exception::Address);
        }
        Ok((Self { file, record, bytes }, rest))
    }

    /// Place of the first byte in the signed model file; `None` for the envelope.
    fn offset(&self) -> Option<u32> {
        let file = u32::from(self.file.checked_sub(MODEL_FILE)?);
        Some(2 * (FILE_WORDS * file + u32::from(self.record)))
    }
}

impl EnvelopeFile {
    pub(super) const EMPTY: Self = Self { bytes: [0; ENVELOPE_LEN], written: 0 };

    /// The envelope, if all of it was written.
    pub(super) fn whole(&self) -> Option<&[u8; ENVELOPE_LEN]> {
        (self.written == u64::MAX).then_some(&self.bytes)
    }

    fn write(&mut self, piece: Piece<'_>) {
        let first = usize::from(piece.record);
        for (place, byte) in self.bytes.iter_mut().skip(2 * first).zip(piece.bytes) {
            *place = *byte;
        }
        for word in (first..64).take(piece.bytes.len() / 2) {
            self.written |= 1 << word;
        }
    }

    /// Takes the pieces of a request. All of them are read before one is written.
    pub(super) fn request(
        &mut self,
        data: &[u8],
        receiver: &mut impl Receiver,
        refusal: &mut Option<Refusal>,
    ) -> Result<(), Exception> {
        let (len, pieces) = data.split_first().ok_or(Exception::Value)?;
        if usize::from(*len) != pieces.len() || pieces.is_empty() {
            return Err(Exception::Value);
        }
        let mut rest = pieces;
        while !rest.is_empty() {
            rest = Piece::split(rest)?.1;
        }
        rest = pieces;
        while let Ok((piece, after)) = Piece::split(rest) {
            rest = after;
            match piece.offset() {
                None => self.write(piece),
                Some(offset) => {
                    // A file of odd length ends in the middle of a word.
                    let left = receiver.status().total.saturating_sub(offset) as usize;
                    let bytes = piece.bytes;
                    let odd = bytes.len() == left.saturating_add(1);
                    let bytes = if odd { bytes.get(..left).unwrap_or(bytes) } else { bytes };
                    *refusal = receiver.write(offset, bytes).err();
                    if refusal.is_some() {
                        return Err(Exception::Refused);
                    }
                }
            }
        }
        Ok(())
    }
}
