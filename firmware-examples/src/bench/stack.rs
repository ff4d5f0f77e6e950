//! How deep the stack goes, by painting it and looking what was overwritten.

use core::hint::black_box;
use core::ptr;

unsafe extern "C" {
    /// The end of the variables, from cortex-m-rt's linker script.
    safe static __sheap: u8;
}

/// Most bytes below the caller's frame that are painted: more than anything here takes, if the board
/// has as many.
const PAINTED: usize = 128 * 1024;
const PAINT: u32 = 0x5AFE_57AC;
/// Bytes under the local variable of `depth` that its frame may have besides.
const MARGIN: usize = 64;

/// Bytes of stack that `work` takes, from the frame of this function on; `None` if it took all
/// that was painted.
#[inline(never)]
pub fn depth(work: impl FnOnce()) -> Option<usize> {
    let here = 0_u32;
    let top = (&raw const here).addr() & !3;
    let bottom = paint(top);
    apart(work);
    black_box(&here);
    Painted { bottom, top }.depth()
}

/// A stack that was painted once, to be looked at again and again.
pub struct Painted {
    bottom: usize,
    top: usize,
}

impl Painted {
    /// Paints the stack below the caller's frame.
    #[inline(never)]
    pub fn new() -> Self {
        let here = 0_u32;
        let top = (&raw const here).addr() & !3;
        let bottom = paint(top);
        black_box(&here);
        Self { bottom, top }
    }

    /// Bytes that were overwritten since; `None` if it is all that was painted.
    pub fn depth(&self) -> Option<usize> {
        let mut address = self.bottom;
        // SAFETY: RAM between the variables and the stack's top, which may be read at any time.
        while address < self.top
            && unsafe { ptr::with_exposed_provenance::<u32>(address).read_volatile() } == PAINT
        {
            address = address.wrapping_add(4);
        }
        (address > self.bottom).then(|| self.top.wrapping_sub(address))
    }
}

impl Default for Painted {
    fn default() -> Self {
        Self::new()
    }
}

/// Paints from the variables up to the frame at `top`; returns where it began. Always inlined: a
/// frame of its own would lie in what is painted.
#[expect(clippy::inline_always, reason = "see above")]
#[inline(always)]
fn paint(top: usize) -> usize {
    let variables = (&raw const __sheap).addr().next_multiple_of(4);
    let bottom = top.wrapping_sub(PAINTED).max(variables);
    let mut address = bottom;
    while address < top.wrapping_sub(MARGIN) {
        // SAFETY: between the variables and the stack pointer there is RAM that belongs to nobody:
        // there is no heap, and the margin leaves the frame of the function that inlines this alone.
        unsafe { ptr::with_exposed_provenance_mut::<u32>(address).write_volatile(PAINT) };
        address = address.wrapping_add(4);
    }
    bottom
}

/// In a frame of its own, so that none of it is in the frame that paints.
#[inline(never)]
fn apart(work: impl FnOnce()) {
    work();
    // The frame is still there when `work` returns: this is no tail call.
    black_box(());
}
