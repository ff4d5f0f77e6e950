//! Samples to overlapping segments: DC removed, Hann tapered.
//!
//! A [`Segment`] keeps the newest samples of each axis in a ring, so overlap needs no copying. When
//! it is full, [`Segment::taper`] writes one axis, oldest sample first, into the buffer of the FFT.

mod taper;

use core::slice;

use crate::acquisition::Sample;

/// The newest `length` samples of each axis. `length` is at most `FFT`.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Segment<S, const FFT: usize, const AXES: usize> {
    rings: [[S; FFT]; AXES],
    /// Position of the next sample. Once the ring is full, it is also the position of the oldest
    /// one.
    head: u32,
    /// Samples still to come before the segment is full again.
    missing: u32,
    length: u32,
    hop: u32,
}

impl<S: Sample, const FFT: usize, const AXES: usize> Segment<S, FFT, AXES> {
    /// A segment of no length, all zeros. It takes samples once it is started.
    pub(crate) const VACANT: Self =
        Self { rings: [[S::ZERO; FFT]; AXES], head: 0, missing: 0, length: 0, hop: 0 };

    /// Creates an empty segment of `length` samples that moves on by `hop`.
    ///
    /// Both are limited to what the type holds: `length` to 1…`FFT`, `hop` to 1…`length`.
    pub fn new(length: usize, hop: usize) -> Self {
        let mut segment = Self::VACANT;
        segment.start(length, hop);
        segment
    }

    /// Starts again with `length` samples that move on by `hop`, limited as in [`Segment::new`].
    pub fn start(&mut self, length: usize, hop: usize) {
        self.length = length.clamp(1, FFT.max(1)) as u32;
        self.hop = (hop as u32).clamp(1, self.length);
        self.clear();
    }

    /// Takes one sample of each axis and returns true if the segment is full.
    ///
    /// The segment is full again `hop` samples later.
    #[inline]
    pub fn push(&mut self, sample: [S; AXES]) -> bool {
        for (ring, x) in self.rings.iter_mut().zip(sample) {
            if let Some(slot) = ring.get_mut(self.head as usize) {
                *slot = x;
            }
        }
        self.head += 1;
        if self.head >= self.length {
            self.head = 0;
        }
        self.missing -= 1;
        let full = self.missing == 0;
        if full {
            self.missing = self.hop;
        }
        full
    }

    /// Takes samples until the segment is full. Returns whether it is full, and the samples that
    /// are left.
    ///
    /// Does the same as [`Segment::push`] sample by sample, at a sixth of the work.
    #[inline(never)]
    pub fn fill<'s>(&mut self, samples: &'s [[S; AXES]]) -> (bool, &'s [[S; AXES]]) {
        let (taken, left) =
            samples.split_at_checked(self.missing as usize).unwrap_or((samples, &[]));
        let to_end = self.length.saturating_sub(self.head) as usize;
        let (front, wrapped) = taken.split_at_checked(to_end).unwrap_or((taken, &[]));
        for (axis, ring) in self.rings.iter_mut().enumerate() {
            write_axis(front, axis, ring.get_mut(self.head as usize..).unwrap_or_default());
            write_axis(wrapped, axis, ring);
        }
        // `count` is at most `missing`, which is at most the segment's length.
        let count = taken.len() as u32;
        self.head += count;
        if self.head >= self.length {
            self.head -= self.length;
        }
        self.missing -= count;
        let full = self.missing == 0;
        if full {
            self.missing = self.hop;
        }
        (full, left)
    }

    /// Discards all samples. Call it after a gap in acquisition.
    pub fn clear(&mut self) {
        self.head = 0;
        self.missing = self.length;
    }

    /// Returns the segment of `axis` in two pieces, oldest sample first.
    pub(crate) fn halves(&self, axis: usize) -> (&[S], &[S]) {
        let ring = self.rings.get(axis).and_then(|ring| ring.get(..self.length as usize));
        let (newer, older) =
            ring.and_then(|ring| ring.split_at_checked(self.head as usize)).unwrap_or((&[], &[]));
        (older, newer)
    }

    /// Returns the newest `count` samples of `axis`, oldest first; all samples if there are fewer.
    pub fn newest(&self, axis: usize, count: usize) -> Newest<'_, S> {
        let (older, newer) = self.halves(axis);
        let skip = (older.len() + newer.len()).saturating_sub(count);
        Newest {
            older: older.get(skip.min(older.len())..).unwrap_or(&[]).iter(),
            newer: newer.get(skip.saturating_sub(older.len())..).unwrap_or(&[]).iter(),
        }
    }

    /// Returns the newest `count` samples of `axis` as the sensor gave them, oldest first.
    pub(crate) fn newest_raw(
        &self,
        axis: usize,
        count: usize,
    ) -> impl Iterator<Item = S> + Clone + '_ {
        let Newest { older, newer } = self.newest(axis, count);
        older.chain(newer).copied()
    }
}

/// Writes the samples of one axis to `slots`.
#[inline]
fn write_axis<S: Sample, const AXES: usize>(samples: &[[S; AXES]], axis: usize, slots: &mut [S]) {
    for (slot, sample) in slots.iter_mut().zip(samples) {
        *slot = sample.get(axis).copied().unwrap_or(S::ZERO);
    }
}

/// Iterates over the newest samples of an axis, oldest first.
#[derive(Debug, Clone)]
pub struct Newest<'w, S> {
    older: slice::Iter<'w, S>,
    newer: slice::Iter<'w, S>,
}

impl<S: Sample> Iterator for Newest<'_, S> {
    type Item = f32;

    fn next(&mut self) -> Option<f32> {
        self.older.next().or_else(|| self.newer.next()).map(|x| x.to_f32())
    }

    // Slice by slice, for callers that read all samples.
    fn fold<B, F: FnMut(B, f32) -> B>(self, start: B, mut f: F) -> B {
        let start = self.older.fold(start, |all, x| f(all, x.to_f32()));
        self.newer.fold(start, |all, x| f(all, x.to_f32()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let length = self.older.len() + self.newer.len();
        (length, Some(length))
    }
}

impl<S: Sample> ExactSizeIterator for Newest<'_, S> {}

#[cfg(feature = "defmt")]
impl<S: Sample> defmt::Format for Newest<'_, S> {
    // Slice iterators do not implement `Format`, so only the number of samples is logged.
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Newest({} samples)", self.len());
    }
}
