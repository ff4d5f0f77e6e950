//! A flash driver, with what every writer here needs: padding to whole words, and reading back.

use core::fmt;

use embedded_storage::nor_flash::{NorFlash, NorFlashError, NorFlashErrorKind};

/// Flash is padded in pieces of this size; no word of a flash is longer.
pub(super) const PIECE: usize = 256;
/// Flash is read in multiples of this size, at multiples of it.
pub(super) const LINE: usize = 16;

/// The reason why flash could not be read or written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum IoError {
    /// The flash driver failed.
    Flash(NorFlashErrorKind),
    /// Flash does not read back as it was written.
    Differs { offset: u32 },
}

/// A flash driver.
#[derive(Clone)]
pub(super) struct Io<F>(pub(super) F);

impl<F> fmt::Debug for Io<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Io")
    }
}

#[cfg(feature = "defmt")]
impl<F> defmt::Format for Io<F> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Io");
    }
}

impl<F: NorFlash> Io<F> {
    /// Refuses a driver with words, reads or sectors of an odd size, while compiling.
    pub(super) const CHECK: () = {
        // Words are powers of two, so that a record is whole words or a word holds it.
        assert!(F::WRITE_SIZE.is_power_of_two() && F::WRITE_SIZE <= PIECE, "an odd flash word");
        assert!(F::READ_SIZE > 0 && LINE.is_multiple_of(F::READ_SIZE), "an odd read");
        assert!(F::ERASE_SIZE >= PIECE && F::ERASE_SIZE.is_multiple_of(PIECE), "an odd sector");
    };

    /// Fills `bytes`, a multiple of [`LINE`].
    pub(super) fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), IoError> {
        self.0.read(offset, bytes).map_err(flash_error)
    }

    pub(super) fn erase(&mut self, from: u32, to: u32) -> Result<(), IoError> {
        self.0.erase(from, to).map_err(flash_error)
    }

    /// Writes `bytes`, the last flash word filled up with what erased flash reads as, and reads them
    /// back.
    pub(super) fn write(&mut self, start: u32, bytes: &[u8]) -> Result<(), IoError> {
        let mut offset = start;
        for piece in bytes.chunks(PIECE) {
            let mut padded = [0xff; PIECE];
            for (place, byte) in padded.iter_mut().zip(piece) {
                *place = *byte;
            }
            let words = piece.len().next_multiple_of(F::WRITE_SIZE);
            self.0.write(offset, padded.get(..words).unwrap_or_default()).map_err(flash_error)?;
            offset = offset.saturating_add(PIECE as u32);
        }
        self.compare(start, bytes)
    }

    /// Compares flash with `bytes`; `start` is a multiple of [`LINE`].
    pub(super) fn compare(&mut self, start: u32, bytes: &[u8]) -> Result<(), IoError> {
        let mut offset = start;
        for expected in bytes.chunks(LINE) {
            let mut found = [0; LINE];
            self.read(offset, &mut found)?;
            if !found.starts_with(expected) {
                return Err(IoError::Differs { offset });
            }
            offset = offset.saturating_add(LINE as u32);
        }
        Ok(())
    }

    /// Hands out the `len` bytes from `start` in order, in lines; `start` is a multiple of
    /// [`LINE`].
    pub(super) fn stream(
        &mut self,
        start: u32,
        len: u32,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), IoError> {
        let (mut offset, mut left) = (start, len as usize);
        while left > 0 {
            let mut line = [0; LINE];
            self.read(offset, &mut line)?;
            take(line.get(..left).unwrap_or(&line));
            left = left.saturating_sub(LINE);
            offset = offset.saturating_add(LINE as u32);
        }
        Ok(())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the signature that map_err wants")]
fn flash_error(error: impl NorFlashError) -> IoError {
    IoError::Flash(error.kind())
}
