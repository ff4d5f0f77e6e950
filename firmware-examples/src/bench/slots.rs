//! A flash with models in it: slots in the MODEL region, where QEMU has put them, and a ledger in
//! RAM.

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};
use rebearing::update::Layout;

/// Bytes of a slot.
const SLOT: usize = 8 * 1024;
/// Bytes of two slots.
pub const SLOTS: usize = 2 * SLOT;
/// Bytes of one erase.
const SECTOR: usize = 256;
/// Bytes of the ledger: two erase units.
const LEDGER: usize = 2 * SECTOR;

/// Where the parts lie.
pub const LAYOUT: Layout =
    Layout { slots: 0..SLOTS as u32, ledger: SLOTS as u32..(SLOTS + LEDGER) as u32 };

/// A flash whose slots hold everything already. To write the same bytes again changes nothing.
#[derive(Clone)]
pub struct SlotFlash<'a> {
    slots: &'a [u8; SLOTS],
    ledger: [u8; LEDGER],
}

impl<'a> SlotFlash<'a> {
    /// A flash with these slots and an empty ledger.
    pub fn new(slots: &'a [u8; SLOTS]) -> Self {
        Self { slots, ledger: [0xff; LEDGER] }
    }

    /// The bytes of the ledger from `offset` on, which counts from the start of the flash.
    fn ledger(&mut self, offset: u32) -> &mut [u8] {
        let at = (offset as usize).saturating_sub(SLOTS);
        self.ledger.get_mut(at..).unwrap_or_default()
    }
}

impl ErrorType for SlotFlash<'_> {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for SlotFlash<'_> {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, bytes.len())?;
        let found = self.slots.get(offset as usize..).unwrap_or_default();
        let found = if found.is_empty() { self.ledger(offset) } else { found };
        for (place, byte) in bytes.iter_mut().zip(found) {
            *place = *byte;
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        SLOTS + LEDGER
    }
}

impl NorFlash for SlotFlash<'_> {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        check_erase(self, from, to)?;
        if from as usize >= SLOTS {
            let len = (to - from) as usize;
            self.ledger(from).iter_mut().take(len).for_each(|byte| *byte = 0xff);
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        check_write(self, offset, bytes.len())?;
        if offset as usize >= SLOTS {
            for (place, byte) in self.ledger(offset).iter_mut().zip(bytes) {
                // As in a real flash, a write only clears bits.
                *place &= byte;
            }
        }
        Ok(())
    }
}
