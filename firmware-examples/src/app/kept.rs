//! Two words of RAM that a reset leaves alone: the alarm, and the model that raised it.
//!
//! They are lost with the power. A board with a store of signed models keeps its alarm in flash.

use core::sync::atomic::{AtomicU32, Ordering};

/// Not set to zero at a start: after the power came on, they hold anything.
#[cfg_attr(target_os = "none", unsafe(link_section = ".uninit.rebearing"))]
static KEPT: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

/// Checksum of the model that raised the alarm, and the alarm's word.
pub(super) fn read() -> (u32, u32) {
    let [checksum, alarm] = &KEPT;
    (checksum.load(Ordering::Relaxed), alarm.load(Ordering::Relaxed))
}

/// Keeps them until the power fails.
pub(super) fn write(checksum: u32, alarm: u32) {
    let [of_checksum, of_alarm] = &KEPT;
    of_checksum.store(checksum, Ordering::Relaxed);
    of_alarm.store(alarm, Ordering::Relaxed);
}
