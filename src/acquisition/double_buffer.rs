//! Samples that DMA writes into the two halves of a buffer, one while the other is read.
//!
//! The interrupt at the middle and at the end of the buffer calls [`Halves::complete`]; nothing
//! else is shared between it and the reader, so no lock is needed, and cores without
//! compare-and-swap will do. What a transfer looks like is the HAL's affair: the reader is given
//! a function that copies a half.

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

/// Counts the halves that DMA has filled; a `static` that interrupt and reader share.
#[derive(Debug, Default)]
pub struct Halves {
    /// Wraps after 2³².
    completed: AtomicU32,
}

impl Halves {
    /// None filled yet.
    pub const fn new() -> Self {
        Self { completed: AtomicU32::new(0) }
    }

    /// To be called from the one interrupt that DMA raises at the middle and at the end.
    pub fn complete(&self) {
        // One writer, so load and store do, and every core has them.
        let completed = self.completed.load(Ordering::Relaxed);
        self.completed.store(completed.wrapping_add(1), Ordering::Release);
    }

    fn completed(&self) -> u32 {
        self.completed.load(Ordering::Acquire)
    }
}

/// The reader of a double buffer. `Copy` gets a half and the room for its samples, and says how
/// many there are.
#[derive(Debug)]
pub struct DoubleBuffered<'a, Copy> {
    halves: &'a Halves,
    /// Halves that were read or given up.
    taken: u32,
    copy: Copy,
}

impl<'a, Copy> DoubleBuffered<'a, Copy> {
    /// A reader that starts with the next half to be filled.
    pub fn new(halves: &'a Halves, copy: Copy) -> Self {
        Self { taken: halves.completed(), halves, copy }
    }
}

impl<S, const AXES: usize, Copy> SampleSource<S, AXES> for DoubleBuffered<'_, Copy>
where
    Copy: FnMut(Half, &mut [[S; AXES]]) -> usize,
{
    /// A half that was overwritten before or while it was read is [`SensorFault::Overrun`]; one
    /// that there is no room for is [`SensorFault::LostSamples`].
    fn read(&mut self, samples: &mut [[S; AXES]]) -> Result<usize, SensorFault> {
        let completed = self.halves.completed();
        if completed == self.taken {
            return Ok(0);
        }
        let half = if self.taken.is_multiple_of(2) { Half::First } else { Half::Second };
        let count = (self.copy)(half, samples);
        // With two more filled, DMA has been in this half again.
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
