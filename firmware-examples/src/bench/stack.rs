//! How deep the stack goes, by painting it and looking what was overwritten.

use core::hint::black_box;
use core::ptr;

unsafe extern "C" {
    /// The end of the variables, from cortex-m-rt's linker script.
    safe static __sheap: u8;
}

/// Most bytes below the caller's frame that are painted: more than anything here takes.
const PAINTED: usize = 16 * 1024;
const PAINT: u32 = 0x5AFE_57AC;
/// Bytes under the local variable of `depth` that its frame may have besides.
const MARGIN: usize = 64;

/// Bytes of stack that `work` takes, from the frame of this function on; `None` if it took all
/// that was painted.
#[inline(never)]
pub fn depth(work: impl FnOnce()) -> Option<usize> {
    let here = 0_u32;
    let top = (&raw const here).addr() & !3;
    let variables = (&raw const __sheap).addr().next_multiple_of(4);
    let bottom = top.wrapping_sub(PAINTED).max(variables);
    let mut address = bottom;
    while address < top.wrapping_sub(MARGIN) {
        // SAFETY: between the variables and the stack pointer there is RAM that belongs to nobody:
        // there is no heap, and the margin leaves the frame of this function alone.
        unsafe { ptr::with_exposed_provenance_mut::<u32>(address).write_volatile(PAINT) };
        address = address.wrapping_add(4);
    }
    apart(work);
    black_box(&here);
    let mut address = bottom;
    // SAFETY: as above.
    while address < top
        && unsafe { ptr::with_exposed_provenance::<u32>(address).read_volatile() } == PAINT
    {
        address = address.wrapping_add(4);
    }
    (address > bottom).then(|| top.wrapping_sub(address))
}

/// In a frame of its own, so that none of it is in the frame that paints.
#[inline(never)]
fn apart(work: impl FnOnce()) {
    work();
    // The frame is still there when `work` returns: this is no tail call.
    black_box(());
}
