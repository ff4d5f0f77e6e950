//! The mean of the last posteriors: a ring of them in Q15, and their sums in integers.
//!
//! In integers it is exact to add the newest and subtract the oldest, so the sums always match the
//! ring. A running sum of floats would drift. Summing the whole ring every time would take longer
//! for longer averages.

use crate::model::ONE;

/// Mean over the last windows, of each class and of what is unknown.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SlidingMean<const CLASSES: usize, const WINDOWS: usize> {
    rows: [[u16; CLASSES]; WINDOWS],
    unknown: [bool; WINDOWS],
    sums: [u32; CLASSES],
    unknown_sum: u32,
    length: u32,
    /// The place of the next row; once the ring is full, the oldest row is there.
    next: u32,
    filled: u32,
}

impl<const CLASSES: usize, const WINDOWS: usize> SlidingMean<CLASSES, WINDOWS> {
    /// An empty mean over `length` windows, cut to 1…`WINDOWS`.
    pub const fn new(length: u32) -> Self {
        let most = if WINDOWS > u32::MAX as usize { u32::MAX } else { WINDOWS as u32 };
        let length = if length > most { most } else { length };
        Self {
            rows: [[0; CLASSES]; WINDOWS],
            unknown: [false; WINDOWS],
            sums: [0; CLASSES],
            unknown_sum: 0,
            length: if length == 0 { 1 } else { length },
            next: 0,
            filled: 0,
        }
    }

    /// Takes the posterior of a window in Q15. An unknown window counts for no class. A probability
    /// above one counts as one, a missing class as zero.
    pub fn push(&mut self, posterior: &[u16], unknown: bool) {
        let full = self.is_full();
        let at = self.next as usize;
        let (Some(row), Some(was_unknown)) = (self.rows.get_mut(at), self.unknown.get_mut(at))
        else {
            return;
        };
        let mut posterior = posterior.iter();
        for (sum, place) in self.sums.iter_mut().zip(row) {
            let p = posterior.next().map_or(0, |p| (*p).min(ONE));
            let p = if unknown { 0 } else { p };
            // Until the ring is full, its old values are from before it was cleared.
            let old = if full { *place } else { 0 };
            // Neither operation wraps: the old value is part of the sum, and 2⁸ values of at most
            // 2¹⁵ are far inside 32 bits.
            *sum = sum.wrapping_sub(u32::from(old)).wrapping_add(u32::from(p));
            *place = p;
        }
        let old = if full { weight(*was_unknown) } else { 0 };
        self.unknown_sum = self.unknown_sum.wrapping_sub(old).wrapping_add(weight(unknown));
        *was_unknown = unknown;
        self.filled = if full { self.length } else { self.filled + 1 };
        self.next = if self.next + 1 >= self.length { 0 } else { self.next + 1 };
    }

    /// Forgets all windows, in a time that does not depend on their number.
    pub fn clear(&mut self) {
        self.sums = [0; CLASSES];
        self.unknown_sum = 0;
        self.next = 0;
        self.filled = 0;
    }

    /// Returns true if the average is full.
    pub fn is_full(&self) -> bool {
        self.filled >= self.length
    }

    /// Number of windows in the average.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Number of windows since the last clear, at most the number in the average.
    pub fn filled(&self) -> u32 {
        self.filled
    }

    /// Sum of the posteriors of each class over the ring, Q15.
    pub fn sums(&self) -> &[u32; CLASSES] {
        &self.sums
    }

    /// Sum over the ring of the windows that are unknown, each as one in Q15.
    pub fn unknown_sum(&self) -> u32 {
        self.unknown_sum
    }
}

fn weight(unknown: bool) -> u32 {
    if unknown { u32::from(ONE) } else { 0 }
}
