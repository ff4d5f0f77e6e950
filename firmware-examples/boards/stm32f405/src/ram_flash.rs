//! A flash in RAM, for QEMU: its netduinoplus2 has no flash controller. A reset leaves it alone.

use core::mem::MaybeUninit;
use core::ptr;

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};
use rebearing::update::Layout;

/// Bytes of one erase.
const SECTOR: usize = 1024;
/// Bytes of a slot.
const SLOT: usize = 8 * SECTOR;
/// Bytes of the whole flash: two slots and a ledger of two sectors.
const LEN: usize = 2 * SLOT + 2 * SECTOR;
/// Behind the flash, if it was set up since the power came on.
const MARK: u32 = 0x5265_6265;

#[repr(C, align(4))]
struct Contents {
    flash: [u8; LEN],
    mark: u32,
}

/// Not set to zero at a start.
#[unsafe(link_section = ".uninit.flash")]
static mut CONTENTS: MaybeUninit<Contents> = MaybeUninit::uninit();

/// Where the parts lie.
pub const LAYOUT: Layout =
    Layout { slots: 0..2 * SLOT as u32, ledger: 2 * SLOT as u32..LEN as u32 };

/// The flash, of which there is one.
pub struct RamFlash(());

impl RamFlash {
    /// The flash as the last reset left it. After the power came on, it is erased, with `first` at
    /// the start of slot A, as a probe would leave it.
    ///
    /// # Safety
    /// Call it once.
    pub unsafe fn new(first: &[u8]) -> Self {
        let mark = (&raw mut CONTENTS).cast::<u8>().wrapping_add(LEN).cast::<u32>();
        // SAFETY: the mark lies behind the flash in `Contents`. Any bits are a number, read as
        // volatile because nobody initialised them.
        let known = unsafe { ptr::read_volatile(mark) } == MARK;
        let mut flash = Self(());
        if !known {
            for at in 0..LEN {
                let byte = first.get(at).copied().filter(|_| at < SLOT).unwrap_or(0xff);
                flash.put(at, byte);
            }
            // SAFETY: as above.
            unsafe { ptr::write_volatile(mark, MARK) };
        }
        flash
    }

    /// The slots as the processor sees them.
    pub fn region() -> &'static [u8] {
        let start = (&raw const CONTENTS).cast::<u8>();
        // SAFETY: `new` has set the bytes, and they stay where they are. The store writes only to the
        // slot that is not in use, and the application keeps a reference only to the one that is.
        unsafe { &*ptr::slice_from_raw_parts(start, 2 * SLOT) }
    }

    fn get(&self, at: usize) -> u8 {
        let start = (&raw const CONTENTS).cast::<u8>();
        // SAFETY: the place is inside the flash. No reference is made, because the application has
        // one to a slot.
        unsafe { ptr::read_volatile(start.wrapping_add(at.min(LEN - 1))) }
    }

    fn put(&mut self, at: usize, byte: u8) {
        let start = (&raw mut CONTENTS).cast::<u8>();
        // SAFETY: as in `get`.
        unsafe { ptr::write_volatile(start.wrapping_add(at.min(LEN - 1)), byte) };
    }
}

impl ErrorType for RamFlash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for RamFlash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, bytes.len())?;
        for (place, at) in bytes.iter_mut().zip(offset as usize..) {
            *place = self.get(at);
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        LEN
    }
}

impl NorFlash for RamFlash {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        check_erase(self, from, to)?;
        for at in from as usize..to as usize {
            self.put(at, 0xff);
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        check_write(self, offset, bytes.len())?;
        for (at, byte) in (offset as usize..).zip(bytes) {
            // As in a real flash, a write only clears bits.
            self.put(at, self.get(at) & byte);
        }
        Ok(())
    }
}
