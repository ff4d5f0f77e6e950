//! How deep the stack goes, by painting it and looking what was overwritten.

use core::hint::black_box;
use core::ptr;

/// Bytes below the caller's frame that are painted: more than anything here takes.
const PAINTED: usize = 16 * 1024;
const PAINT: u32 = 0x5AFE_57AC;

/// Bytes of stack that `work` takes.
#[inline(never)]
pub fn depth(work: impl FnOnce()) -> usize {
    let here = 0_u32;
    let top = (&raw const here).addr() & !3;
    let bottom = top.wrapping_sub(PAINTED);
    // A margin for the frames of the painting itself.
    let mut address = bottom;
    while address < top.wrapping_sub(MARGIN) {
        // SAFETY: the boards that this runs on have far more RAM than PAINTED below the stack
        // pointer, and it belongs to nobody: there is no heap, and the variables lie at the bottom.
        unsafe { ptr::with_exposed_provenance_mut::<u32>(address).write_volatile(PAINT) };
        address = address.wrapping_add(4);
    }
    work();
    black_box(&here);
    let mut address = bottom;
    // SAFETY: as above.
    while address < top
        && unsafe { ptr::with_exposed_provenance::<u32>(address).read_volatile() } == PAINT
    {
        address = address.wrapping_add(4);
    }
    top.wrapping_sub(address)
}

/// Bytes under the frame of `depth` that it may use itself.
const MARGIN: usize = 64;
