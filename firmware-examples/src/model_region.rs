//! The flash regions that hold the models and the ledger, as memory.x lays them out.

use core::ptr;

unsafe extern "C" {
    safe static __model_start: u8;
    safe static __model_end: u8;
    safe static __ledger_start: u8;
    safe static __ledger_end: u8;
}

/// All bytes of the MODEL region, whatever was written there.
pub fn model_region() -> &'static [u8] {
    let (start, end) = (&raw const __model_start, &raw const __model_end);
    let length = end.addr().wrapping_sub(start.addr());
    // SAFETY: memory.x reserves this range for the model. It is mapped, and it was initialized when
    // it was flashed. A store writes only to the slot that is not in use, and the application keeps
    // a reference only to the one that is.
    unsafe { &*ptr::slice_from_raw_parts(start, length) }
}

/// All bytes of the LEDGER region, for their place only: the store writes there.
pub fn ledger_region() -> *const [u8] {
    let start = &raw const __ledger_start;
    let end = &raw const __ledger_end;
    ptr::slice_from_raw_parts(start, end.addr().wrapping_sub(start.addr()))
}
