//! Samples to a segment of their envelope: band-pass, rectify, low-pass, decimate, taper.
//!
//! A damaged bearing strikes at a low frequency and rings at a high one. The band-pass keeps the
//! ringing and removes the vibration of the shaft itself. The magnitude of the rest rises with each
//! strike, and its spectrum shows how often the strikes come. All this happens on the way from the
//! ring of samples to the buffer of the FFT, so an envelope needs no memory of its own.

use super::Hann;
use super::spectrum::FFT_LENGTHS;

/// A second-order filter section: b0, b1, b2, a1, a2.
type Section = [f32; 5];

/// Butterworth band-pass of order 6, 0.1 to 0.45 of the sample rate, by the bilinear
/// transform: 62 dB down at 0.01 of the rate, 3 dB at its edges.
pub const BAND_PASS: [Section; 3] = [
    [0.374_452_7, 0.0, -0.374_452_7, 0.232_616_82, -0.324_919_7],
    [1.0, -2.0, 1.0, -1.256_293_2, 0.568_105_6],
    [1.0, 2.0, 1.0, 1.657_036_4, 0.746_315],
];

/// Shortest FFT of an envelope.
pub(crate) const SHORTEST: usize = 32;

/// Returns the number of samples per point of the envelope: 8, 4, 2 or 1.
///
/// It is the largest that leaves the highest order (`top`, in bins) below a quarter of the
/// envelope's own Nyquist frequency. There the low-pass has taken less than a tenth of a neper from
/// it.
pub fn decimation(fft_len: usize, top: f32) -> usize {
    let fits = |by: usize| fft_len / by >= SHORTEST && 4.0 * top <= (fft_len / by / 2) as f32;
    [8, 4, 2].into_iter().find(|by| fits(*by)).unwrap_or(1)
}

/// Writes the envelope of `samples` to `out`, mean removed and tapered, and returns its length.
///
/// The length is the number of samples over `decimation`. It is 0 if the number of samples is no
/// FFT length, or if the envelope does not fit in `out`. The filter starts anew with each segment.
/// It settles where the taper is close to zero.
pub fn write_envelope<const FFT: usize>(
    samples: impl ExactSizeIterator<Item = f32>,
    decimation: usize,
    out: &mut [f32; FFT],
) -> usize {
    let by = decimation.max(1);
    if !FFT_LENGTHS.contains(&samples.len()) {
        return 0;
    }
    let length = samples.len() / by;
    let Some(points) = out.get_mut(..length) else { return 0 };
    points.fill(0.0);

    let mut first = None;
    let mut states = [[0.0; 2]; BAND_PASS.len()];
    let mut point = 0;
    let mut phase = 0;
    for x in samples {
        let mut y = x - *first.get_or_insert(x);
        for ([b0, b1, b2, a1, a2], [s1, s2]) in BAND_PASS.iter().zip(&mut states) {
            let out = b0 * y + *s1;
            *s1 = b1 * y - a1 * out + *s2;
            *s2 = b2 * y - a2 * out;
            y = out;
        }
        // Each sample is shared between the points before and after it: a triangle as wide as twice
        // the decimation.
        let next = phase as f32 / by as f32;
        let y = y.abs();
        if let Some(place) = points.get_mut(point) {
            *place += y * (1.0 - next);
        }
        if let Some(place) = points.get_mut(point + 1) {
            *place += y * next;
        }
        phase += 1;
        if phase == by {
            phase = 0;
            point += 1;
        }
    }
    let mut sum = 0.0;
    for y in points.iter() {
        sum += y;
    }
    let mean = sum / length as f32;
    let taper = Hann::<FFT>::TABLE.iter().step_by((FFT / length.max(1)).max(1));
    for (y, w) in points.iter_mut().zip(taper) {
        *y = (*y - mean) * w;
    }
    length
}

#[cfg(test)]
mod tests {
    use super::{decimation, write_envelope};
    use crate::signal::spectrum::Spectrum;
    use core::f32::consts::TAU;
    use std::vec::Vec;

    #[test]
    fn decimation_leaves_room_above_the_highest_order() {
        // 12 kHz, 2048 points, 16.5 orders of 29.95 Hz: bin 84.3.
        assert_eq!(decimation(2048, 84.3), 2);
        assert_eq!(decimation(2048, 22.5), 8);
        assert_eq!(decimation(2048, 1000.0), 1);
        assert_eq!(decimation(256, 1.0), 8);
    }

    #[test]
    fn a_ringing_that_comes_and_goes_stands_at_its_own_frequency() {
        // A tone at 0.3 of the rate, modulated 20 times per segment, and a strong 2nd bin under it.
        let x: Vec<f32> = (0..2048)
            .map(|n| {
                let t = n as f32 / 2048.0;
                let strength = 1.0 + 0.8 * (TAU * 20.0 * t).cos();
                30.0 * (TAU * 2.0 * t).sin() + strength * (TAU * 614.4 * t).sin() + 100.0
            })
            .collect();
        for by in [1, 2, 4, 8] {
            let mut out = [0.0; 2048];
            let length = write_envelope(x.iter().copied(), by, &mut out);
            assert_eq!(length, 2048 / by);
            let power: Vec<f32> = Spectrum::transform(&mut out, length).power().collect();
            let peak = (0..power.len()).fold(0, |a, b| if power[b] > power[a] { b } else { a });
            assert_eq!(peak, 20, "decimated by {by}");
            let beside: f32 = power[..18].iter().chain(&power[23..100]).sum();
            assert!(beside < 1e-2 * power[20], "decimated by {by}: {beside} {}", power[20]);
        }
    }

    #[test]
    fn what_is_no_window_has_no_envelope() {
        let mut out = [0.0; 256];
        assert_eq!(write_envelope([1.0; 100].into_iter(), 1, &mut out), 0);
        assert_eq!(write_envelope([1.0; 512].into_iter(), 1, &mut out), 0);
    }
}
