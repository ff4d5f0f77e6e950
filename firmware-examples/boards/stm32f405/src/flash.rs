//! The chip's flash as the store wants it: unlocked for each call, and locked after it.

use core::ops::Range;

use embedded_storage::nor_flash::{ErrorType, NorFlash, ReadNorFlash};
use stm32f4xx_hal::flash::{FlashExt, LockedFlash, UnlockedFlash};

/// The flash that holds firmware, slots and ledger. Its sectors are erased 128 KB at a time.
pub struct BoardFlash(pub LockedFlash);

impl BoardFlash {
    /// Where a region lies, counted from the start of the flash.
    pub fn place(&self, region: *const [u8]) -> Range<u32> {
        let start = region.cast::<u8>().addr().wrapping_sub(self.0.address());
        start as u32..start.wrapping_add(region.len()) as u32
    }
}

impl ErrorType for BoardFlash {
    type Error = <UnlockedFlash<'static> as ErrorType>::Error;
}

impl ReadNorFlash for BoardFlash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        ReadNorFlash::read(&mut self.0, offset, bytes)
    }

    fn capacity(&self) -> usize {
        ReadNorFlash::capacity(&self.0)
    }
}

impl NorFlash for BoardFlash {
    const WRITE_SIZE: usize = <UnlockedFlash<'static> as NorFlash>::WRITE_SIZE;
    const ERASE_SIZE: usize = <UnlockedFlash<'static> as NorFlash>::ERASE_SIZE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        NorFlash::erase(&mut self.0.unlocked(), from, to)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        NorFlash::write(&mut self.0.unlocked(), offset, bytes)
    }
}
