//! Samples to overlapping windows: DC removed, Hann tapered.
//!
//! A [`Segment`] keeps the newest samples of each axis in a ring, so that overlap costs
//! no copying. When it is full, [`Segment::taper`] writes one axis, oldest sample first,
//! into the buffer that the FFT then works in.

use core::f64::consts::FRAC_PI_2;
use core::{mem, slice};

use super::statistics::{Extremes, Level, Measure, Piece, Unmeasured};
use crate::acquisition::{Sample, SensorFault};

/// The newest `length` samples of each axis, `length` at most `FFT`.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Segment<S, const FFT: usize, const AXES: usize> {
    rings: [[S; FFT]; AXES],
    /// Where the next sample goes, which is also where the oldest one stands once full.
    head: u32,
    /// Samples still to come before the window is full again.
    missing: u32,
    length: u32,
    hop: u32,
}

impl<S: Sample, const FFT: usize, const AXES: usize> Segment<S, FFT, AXES> {
    /// A segment of no length, all zeros; it takes samples once it is started.
    pub(crate) const VACANT: Self =
        Self { rings: [[S::ZERO; FFT]; AXES], head: 0, missing: 0, length: 0, hop: 0 };

    /// An empty segment of `length` samples that moves on by `hop`.
    ///
    /// Both are cut to what the type holds: `length` to 1…`FFT`, `hop` to 1…`length`.
    pub fn new(length: usize, hop: usize) -> Self {
        let mut segment = Self::VACANT;
        segment.start(length, hop);
        segment
    }

    /// Starts anew with `length` samples that move on by `hop`, cut as in [`Segment::new`].
    pub fn start(&mut self, length: usize, hop: usize) {
        self.length = length.clamp(1, FFT.max(1)) as u32;
        self.hop = (hop as u32).clamp(1, self.length);
        self.clear();
    }

    /// Takes one sample of each axis; `true` when a window is full.
    ///
    /// The next window is full `hop` samples later.
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

    /// Takes samples as far as the one that fills the window: whether one does, and the samples
    /// that are left.
    ///
    /// The same as [`Segment::push`] one by one, at a sixth of the work.
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
        // No more than were missing, which are no more than the window's length.
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

    /// Forgets all samples, as after a gap in acquisition.
    pub fn clear(&mut self) {
        self.head = 0;
        self.missing = self.length;
    }

    /// The window of `axis` in two pieces, oldest sample first.
    pub(crate) fn halves(&self, axis: usize) -> (&[S], &[S]) {
        let ring = self.rings.get(axis).and_then(|ring| ring.get(..self.length as usize));
        let (newer, older) =
            ring.and_then(|ring| ring.split_at_checked(self.head as usize)).unwrap_or((&[], &[]));
        (older, newer)
    }

    /// The newest `count` samples of `axis` (all, where there are fewer), oldest first.
    pub fn newest(&self, axis: usize, count: usize) -> Newest<'_, S> {
        let (older, newer) = self.halves(axis);
        let skip = (older.len() + newer.len()).saturating_sub(count);
        Newest {
            older: older.get(skip.min(older.len())..).unwrap_or(&[]).iter(),
            newer: newer.get(skip.saturating_sub(older.len())..).unwrap_or(&[]).iter(),
        }
    }

    /// The newest `count` samples of `axis` as the sensor gave them, oldest first.
    pub(crate) fn newest_raw(
        &self,
        axis: usize,
        count: usize,
    ) -> impl Iterator<Item = S> + Clone + '_ {
        let Newest { older, newer } = self.newest(axis, count);
        older.chain(newer).copied()
    }

    /// Writes the window of `axis` to `out`, mean removed and tapered, oldest sample first.
    ///
    /// Refuses a window that holds NaN or infinity, or that does not vary at all.
    pub fn taper(&self, axis: usize, out: &mut [f32; FFT]) -> Result<(), SensorFault> {
        self.taper_and_measure(axis, 0, out).map(drop)
    }

    /// As [`Segment::taper`], with what the statistics of the newest `fresh` samples are made of.
    pub fn taper_and_measure(
        &self,
        axis: usize,
        fresh: usize,
        out: &mut [f32; FFT],
    ) -> Result<Piece, SensorFault> {
        let (older, newer) = self.halves(axis);
        let first = older.first().map_or(0.0, |x| x.to_f32());
        let fresh = fresh.min(self.length as usize);
        let stale = self.length as usize - fresh;
        let (older_stale, older_fresh) = older.split_at_checked(stale).unwrap_or((older, &[]));
        let (newer_stale, newer_fresh) =
            newer.split_at_checked(stale.saturating_sub(older.len())).unwrap_or((newer, &[]));

        // Summing differences from the first sample keeps the mean exact when a large
        // constant (gravity, a sensor's bias) stands under a small vibration.
        // Slice by slice: a chained iterator would ask at every sample which one it is in.
        let mut extremes = Extremes::NONE;
        let mut differences = Differences { first, sum: 0.0, out: &mut *out };
        differences.write(older_stale, &mut Unmeasured);
        differences.write(older_fresh, &mut extremes);
        differences.write(newer_stale, &mut Unmeasured);
        differences.write(newer_fresh, &mut extremes);
        let sum = differences.sum;
        if !sum.is_finite() {
            // Differences of finite samples overflow only near the end of the f32 range.
            let finite = older.iter().chain(newer).all(|x| x.to_f32().is_finite());
            return Err(if finite { SensorFault::OutOfRange } else { SensorFault::NotFinite });
        }
        // The second sample mostly tells.
        if !older.iter().chain(newer).any(|x| x.to_f32() != first) {
            return Err(SensorFault::Flat);
        }

        let mean = sum / self.length as f32;
        let mut piece = Piece::new(fresh, Level { first, mean }, extremes);
        let stride = (FFT as u32 / self.length.max(1)) as usize;
        let (out_stale, out_fresh) = out.split_at_mut_checked(stale).unwrap_or_default();
        let (stale_points, points) =
            Hann::<FFT>::TABLE.split_at_checked(stale * stride).unwrap_or_default();
        let out_fresh = out_fresh.get_mut(..fresh).unwrap_or_default();
        taper_differences(out_stale, mean, stale_points, stride, &mut Unmeasured);
        taper_differences(out_fresh, mean, points, stride, piece.powers());
        Ok(piece)
    }
}

/// Writes the samples of one axis to `slots`.
#[inline]
fn write_axis<S: Sample, const AXES: usize>(samples: &[[S; AXES]], axis: usize, slots: &mut [S]) {
    for (slot, sample) in slots.iter_mut().zip(samples) {
        *slot = sample.get(axis).copied().unwrap_or(S::ZERO);
    }
}

/// A window half way through its mean.
struct Differences<'a> {
    first: f32,
    sum: f32,
    /// Room for the samples that are left.
    out: &'a mut [f32],
}

impl Differences<'_> {
    /// Writes and sums the differences of the next `samples` from the first one, in order, eight
    /// at a time; `measure` sees each of them.
    #[inline(never)]
    fn write<S: Sample>(&mut self, samples: &[S], measure: &mut impl Measure) {
        let (out, left) =
            mem::take(&mut self.out).split_at_mut_checked(samples.len()).unwrap_or_default();
        self.out = left;
        let (first, mut sum) = (self.first, self.sum);
        let mut write = |y: &mut f32, x: &S| {
            *y = x.to_f32() - first;
            sum += *y;
            measure.add(*y);
        };
        let (eights, rest) = samples.as_chunks::<8>();
        let (out_eights, out_rest) = out.as_chunks_mut::<8>();
        for (out, eight) in out_eights.iter_mut().zip(eights) {
            for (y, x) in out.iter_mut().zip(eight) {
                write(y, x);
            }
        }
        for (y, x) in out_rest.iter_mut().zip(rest) {
            write(y, x);
        }
        self.sum = sum;
    }
}

/// Takes `mean` off each of `out` and tapers it by every `stride`th of `points`, eight at a time;
/// `measure` sees it before the taper.
#[inline(never)]
fn taper_differences(
    out: &mut [f32],
    mean: f32,
    points: &[f32],
    stride: usize,
    measure: &mut impl Measure,
) {
    let mut taper = |y: &mut f32, w: &f32| {
        let deviation = *y - mean;
        measure.add(deviation);
        *y = deviation * w;
    };
    if stride != 1 {
        for (y, w) in out.iter_mut().zip(points.iter().step_by(stride.max(1))) {
            taper(y, w);
        }
        return;
    }
    // Cut to one length, so that the rests are of the same samples.
    let points = points.get(..out.len()).unwrap_or_default();
    let (eights, rest) = out.as_chunks_mut::<8>();
    let (point_eights, point_rest) = points.as_chunks::<8>();
    for (out, points) in eights.iter_mut().zip(point_eights) {
        for (y, w) in out.iter_mut().zip(points) {
            taper(y, w);
        }
    }
    for (y, w) in rest.iter_mut().zip(point_rest) {
        taper(y, w);
    }
}

/// The newest samples of an axis, oldest first.
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

    // Slice by slice, for whoever goes through all of them.
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
    // Like the slices that it goes through, which know nothing of defmt.
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Newest({} samples)", self.len());
    }
}

/// The periodic Hann window of `FFT` points, made by the compiler; shorter powers of two
/// take every second, fourth, … point of it.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Hann<const FFT: usize>;

impl<const FFT: usize> Hann<FFT> {
    /// w(n) = sin²(πn/FFT), each point the f32 nearest to the exact value.
    pub const TABLE: &'static [f32; FFT] = &Self::table();

    const fn table() -> [f32; FFT] {
        let mut table = [0.0; FFT];
        let mut n = 0;
        while n < FFT {
            let folded = if n > FFT / 2 { FFT - n } else { n };
            let s = sine(2.0 * FRAC_PI_2 * folded as f64 / FFT as f64);
            table[n] = (s * s) as f32;
            n += 1;
        }
        table
    }
}

/// Sine on 0…π/2 by its Taylor series (const evaluation has no sine); error under 1e-16.
pub(crate) const fn sine(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    let mut k = 1.0;
    while k < 14.0 {
        term = -term * x * x / ((2.0 * k) * (2.0 * k + 1.0));
        sum += term;
        k += 1.0;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::{Hann, Segment};
    use crate::acquisition::SensorFault;
    use core::f64::consts::PI;
    use std::vec::Vec;

    #[test]
    fn hann_table_is_the_rounded_exact_value() {
        for (n, w) in Hann::<4096>::TABLE.iter().enumerate() {
            let exact = (PI * n as f64 / 4096.0).sin().powi(2);
            assert!((f64::from(*w) - exact).abs() <= 6e-8 * exact + 1e-17, "point {n}");
        }
    }

    #[test]
    fn overlap_delivers_every_hop_and_oldest_first() {
        let mut window = Segment::<f32, 8, 1>::new(8, 4);
        let full: Vec<usize> = (0..24).filter(|i| window.push([*i as f32])).collect();
        assert_eq!(full, [7, 11, 15, 19, 23]);
        let mut out = [0.0; 8];
        window.taper(0, &mut out).unwrap();
        let newest = |count| window.newest(0, count).collect::<Vec<_>>();
        assert_eq!(newest(3), [21.0, 22.0, 23.0]);
        assert_eq!(newest(99), (16..24).map(|x| x as f32).collect::<Vec<_>>());
        window.push([24.0]);
        let newest = |count| window.newest(0, count).collect::<Vec<_>>();
        assert_eq!(newest(3), [22.0, 23.0, 24.0]);
        assert_eq!(newest(0), []);
        let mut window = Segment::<f32, 8, 1>::new(8, 4);
        for i in 0..24 {
            window.push([i as f32]);
        }
        // Samples 16…23, mean 19.5.
        for (n, y) in out.iter().enumerate() {
            let w = (PI * n as f64 / 8.0).sin().powi(2);
            assert!((f64::from(*y) - (16.0 + n as f64 - 19.5) * w).abs() < 1e-6);
        }
    }

    #[test]
    fn the_taper_does_not_depend_on_where_the_ring_starts() {
        for (length, stride) in [(64, 1), (32, 2)] {
            for start in 0..length {
                let mut window = Segment::<f32, 64, 1>::new(length, 1);
                let x: Vec<f32> = (0..length + start).map(|n| (n * n % 37) as f32 / 7.0).collect();
                for v in &x {
                    window.push([*v]);
                }
                let x = &x[start..];
                let sum: f32 = x.iter().fold(0.0, |sum, v| sum + (v - x[0]));
                let mean = sum / length as f32;
                let mut out = [0.0; 64];
                window.taper(0, &mut out).unwrap();
                for (n, v) in x.iter().enumerate() {
                    let w = Hann::<64>::TABLE[n * stride];
                    assert_eq!(out[n], ((v - x[0]) - mean) * w, "{length} from {start}: {n}");
                }
            }
        }
    }

    #[test]
    fn faults_are_named() {
        let mut out = [0.0; 4];
        let mut window = Segment::<f32, 4, 1>::new(4, 4);
        for x in [1.0, f32::NAN, 2.0, 3.0] {
            window.push([x]);
        }
        assert_eq!(window.taper(0, &mut out), Err(SensorFault::NotFinite));
        for x in [1.0, f32::NEG_INFINITY, 2.0, 3.0] {
            window.push([x]);
        }
        assert_eq!(window.taper(0, &mut out), Err(SensorFault::NotFinite));
        for x in [f32::MAX, f32::MIN, f32::MAX, f32::MIN] {
            window.push([x]);
        }
        assert_eq!(window.taper(0, &mut out), Err(SensorFault::OutOfRange));
        for _ in 0..4 {
            window.push([0.1]);
        }
        assert_eq!(window.taper(0, &mut out), Err(SensorFault::Flat));
    }

    #[test]
    fn a_large_constant_does_not_disturb_a_small_vibration() {
        let mut window = Segment::<f32, 256, 1>::new(256, 256);
        let x: Vec<f32> = (0..256).map(|n| 9.81e3 + (0.37 * n as f32).sin()).collect();
        for v in &x {
            window.push([*v]);
        }
        let mut out = [0.0; 256];
        window.taper(0, &mut out).unwrap();
        let mean = x.iter().map(|v| f64::from(*v)).sum::<f64>() / 256.0;
        for (n, y) in out.iter().enumerate() {
            let exact = (f64::from(x[n]) - mean) * (PI * n as f64 / 256.0).sin().powi(2);
            assert!((f64::from(*y) - exact).abs() < 1e-6, "sample {n}: {y} {exact}");
        }
    }
}
