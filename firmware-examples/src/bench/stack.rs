//! Measures how deep the stack goes: paints it and looks for what was overwritten.

use core::hint::black_box;
use core::ptr;

unsafe extern "C" {
    /// The end of the variables, from cortex-m-rt's linker script.
    safe static __sheap: u8;
}

/// Largest number of painted bytes below the caller's frame, if the board has as many. Nothing here
/// takes that much.
const PAINTED: usize = 128 * 1024;
const PAINT: u32 = 0x5AFE_57AC;
/// Further bytes that the frame of `depth` may have below its local variable.
const MARGIN: usize = 64;

/// Bytes of stack that `work` takes, counted from the frame of this function. `None` if it took all
/// painted bytes.
#[inline(never)]
pub fn depth(work: impl FnOnce()) -> Option<usize> {
    let here = 0_u32;
    let top = (&raw const here).addr() & !3;
    let bottom = paint(top);
    apart(work);
    black_box(&here);
    Painted { bottom, top }.depth()
}

/// A stack that was painted once and can be measured again and again.
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

    /// Bytes overwritten since then; `None` if that is all painted bytes.
    pub fn depth(&self) -> Option<usize> {
        let mut address = self.bottom;
        // SAFETY: this is RAM between the variables and the stack's top. It may be read at any
        // time.
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

/// Paints from the variables up to the frame at `top`, and returns where it began. Always inlined:
/// its own frame would lie in the painted area.
#[expect(clippy::inline_always, reason = "see above")]
#[inline(always)]
fn paint(top: usize) -> usize {
    let variables = (&raw const __sheap).addr().next_multiple_of(4);
    let bottom = top.wrapping_sub(PAINTED).max(variables);
    let mut address = bottom;
    while address < top.wrapping_sub(MARGIN) {
        // SAFETY: nothing uses the RAM between the variables and the stack pointer. There is no
        // heap, and the margin protects the frame of the function that inlines this.
        unsafe { ptr::with_exposed_provenance_mut::<u32>(address).write_volatile(PAINT) };
        address = address.wrapping_add(4);
    }
    bottom
}

/// Runs `work` in its own frame, so no part of it is in the frame that paints.
#[inline(never)]
fn apart(work: impl FnOnce()) {
    work();
    // This keeps the frame until `work` returns: without it, the call would be a tail call.
    black_box(());
}
