//! The flash region that holds the model, as memory.x lays it out.

use core::ptr;

unsafe extern "C" {
    safe static __model_start: u8;
    safe static __model_end: u8;
}

/// All bytes of the MODEL region, whatever was written there.
pub fn model_region() -> &'static [u8] {
    let start = &raw const __model_start;
    let length = (&raw const __model_end).addr().wrapping_sub(start.addr());
    // SAFETY: memory.x reserves this range for the model. It is mapped, it was initialized when it
    // was flashed, and nothing writes to it while the firmware runs.
    unsafe { &*ptr::slice_from_raw_parts(start, length) }
}
