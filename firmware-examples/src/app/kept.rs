//! Two words of RAM that a reset leaves alone: the alarm, and the model that raised it.
//!
//! They are lost with the power. A board with a store of signed models keeps its alarm in flash.

use core::mem::MaybeUninit;
use core::ptr;

/// Not set to zero at a start. After the power came on, it holds anything.
#[cfg_attr(target_os = "none", unsafe(link_section = ".uninit.rebearing"))]
static mut KEPT: MaybeUninit<[u32; 2]> = MaybeUninit::uninit();

/// Checksum of the model that raised the alarm, and the alarm's word.
pub(super) fn read() -> (u32, u32) {
    // SAFETY: any bits are two numbers, read as volatile because nobody initialised them. Only this
    // module uses the place, from the main thread.
    let [checksum, alarm] = unsafe { ptr::read_volatile((&raw const KEPT).cast::<[u32; 2]>()) };
    (checksum, alarm)
}

pub(super) fn write(checksum: u32, alarm: u32) {
    // SAFETY: as in `read`.
    unsafe { ptr::write_volatile((&raw mut KEPT).cast(), [checksum, alarm]) };
}
