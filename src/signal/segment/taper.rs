//! A full segment, mean removed and tapered.

use core::mem;

use super::Segment;
use crate::acquisition::{Sample, SensorFault};
use crate::signal::Hann;
use crate::signal::statistics::{Extremes, Level, Measure, Piece, Unmeasured};

impl<S: Sample, const FFT: usize, const AXES: usize> Segment<S, FFT, AXES> {
    /// Writes the segment of `axis` to `out`, mean removed and tapered, oldest sample first.
    ///
    /// Fails if the segment holds NaN or infinity, or does not vary at all.
    pub fn taper(&self, axis: usize, out: &mut [f32; FFT]) -> Result<(), SensorFault> {
        self.taper_and_measure(axis, 0, out).map(drop)
    }

    /// As [`Segment::taper`], and returns the sums for the statistics of the newest `fresh`
    /// samples.
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

        // Summing differences from the first sample keeps the mean exact when a small vibration is
        // on top of a large constant (gravity, a sensor's bias). The loops go slice by slice: a
        // chained iterator would check at every sample which slice it is in.
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
        // In most segments the second sample already differs.
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

/// A segment while its mean is being summed.
struct Differences<'a> {
    first: f32,
    sum: f32,
    /// Room for the samples that are left.
    out: &'a mut [f32],
}

impl Differences<'_> {
    /// Writes and sums the differences of the next `samples` from the first one, in order, eight at
    /// a time. `measure` sees each difference.
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

/// Subtracts `mean` from each number of `out` and multiplies it by every `stride`-th of `points`,
/// eight at a time. `measure` sees each number before the taper.
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
    // Cut to the same length, so that both remainders belong to the same samples.
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
