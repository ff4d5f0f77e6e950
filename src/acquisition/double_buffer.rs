//! Reads a DMA buffer in two halves: one is read while DMA writes the other.
//!
//! The interrupt at the middle and at the end of the buffer calls [`Halves::complete`]. The
//! interrupt and the reader share nothing else. So no lock is needed, and a core without
//! compare-and-swap is enough. How a transfer works is up to the HAL: the caller gives the reader a
//! function that copies a half.

use core::sync::atomic::{AtomicU32, Ordering};

use super::SampleSource;
use crate::acquisition::SensorFault;

/// Which half of a double buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Half {
    /// The half that is written first.
    First,
    /// The half that is written second.
    Second,
}

/// Counts the halves that DMA has filled. Make it a `static` that the interrupt and the reader
/// share.
#[derive(Debug, Default)]
pub struct Halves {
    /// Wraps after 2³².
    completed: AtomicU32,
}

impl Halves {
    /// Creates a counter with no half filled yet.
    pub const fn new() -> Self {
        Self { completed: AtomicU32::new(0) }
    }

    /// Counts one filled half. Call it from the one interrupt that DMA raises at the middle and at
    /// the end.
    pub fn complete(&self) {
        // There is only one writer, so a load and a store are enough. Every core has both.
        let completed = self.completed.load(Ordering::Relaxed);
        self.completed.store(completed.wrapping_add(1), Ordering::Release);
    }

    fn completed(&self) -> u32 {
        self.completed.load(Ordering::Acquire)
    }
}

/// Reads a double buffer. `Copy` gets a half and room for its samples, and returns how many samples
/// the half holds.
#[derive(Debug)]
pub struct DoubleBuffered<'a, Copy> {
    halves: &'a Halves,
    /// Number of halves that were read or given up.
    taken: u32,
    copy: Copy,
}

impl<'a, Copy> DoubleBuffered<'a, Copy> {
    /// Creates a reader that starts with the next half to be filled.
    pub fn new(halves: &'a Halves, copy: Copy) -> Self {
        Self { taken: halves.completed(), halves, copy }
    }
}

impl<S, const AXES: usize, Copy> SampleSource<S, AXES> for DoubleBuffered<'_, Copy>
where
    Copy: FnMut(Half, &mut [[S; AXES]]) -> usize,
{
    /// Returns [`SensorFault::Overrun`] if DMA overwrote a half before or while it was read, and
    /// [`SensorFault::LostSamples`] if `samples` has no room for a half.
    fn read(&mut self, samples: &mut [[S; AXES]]) -> Result<usize, SensorFault> {
        let completed = self.halves.completed();
        if completed == self.taken {
            return Ok(0);
        }
        let half = if self.taken.is_multiple_of(2) { Half::First } else { Half::Second };
        let count = (self.copy)(half, samples);
        // If two halves have been filled, DMA is in this one again.
        let ahead = self.halves.completed().wrapping_sub(self.taken);
        if ahead > 1 {
            self.taken = self.taken.wrapping_add(ahead);
            return Err(SensorFault::Overrun);
        }
        self.taken = completed;
        if count > samples.len() {
            return Err(SensorFault::LostSamples);
        }
        Ok(count)
    }
}
