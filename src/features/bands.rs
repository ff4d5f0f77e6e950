//! Power spectra to features: log band energies, level removed, scaled by the model.
//!
//! The power of each segment goes straight into one sum per band. So a window of many segments
//! needs no more memory than a window of one.

use crate::acquisition::SensorFault;
use crate::math;
use crate::signal::spectrum::Spectrum;

/// Lowest band power, as a share of the axis' total. Anything below is rounding noise of the FFT
/// (−120 dB) and is lifted to this share, so an empty band has a finite logarithm.
pub(crate) const FLOOR: f32 = 1e-12;

/// Adds the power of each band to its sum; band b holds bins `edges[b]..edges[b + 1]`.
pub fn add_band_power(sums: &mut [f32], edges: &[u32], spectrum: Spectrum<'_>) {
    for (sum, pair) in sums.iter_mut().zip(edges.windows(2)) {
        if let [low, high] = *pair {
            *sum += spectrum.band_power(low as usize, high as usize);
        }
    }
}

/// Writes the features of one axis from its band sums and returns the level.
///
/// A feature is ln of the band's share of the total, minus the mean of these logarithms. This
/// removes the sensor's gain and the level. With the returned level added, a feature is ln of the
/// band's sum. Fails if power overflowed or vanished: its logarithms would mean nothing.
pub fn log_bands(sums: &[f32], features: &mut [f32]) -> Result<f32, SensorFault> {
    let mut total = 0.0;
    for sum in sums {
        total += sum;
    }
    if !total.is_normal() {
        return Err(SensorFault::OutOfRange);
    }
    let mut mean = 0.0;
    for (feature, sum) in features.iter_mut().zip(sums) {
        *feature = math::ln(sum / total + FLOOR);
        mean += *feature;
    }
    mean /= sums.len() as f32;
    for feature in features {
        *feature -= mean;
    }
    Ok(mean + math::ln(total))
}

/// Returns the offset from the level of band sums to the level of mean squares.
///
/// It is ln of the mean square that a sum of one stands for, after the Hann taper, over `segments`
/// segments of `fft_len` points.
pub fn level_offset(fft_len: usize, segments: usize) -> f32 {
    // Half of the spectrum is summed; the squares of a Hann window sum to 3/8 of its length.
    let points = fft_len as f32;
    math::ln(16.0 / 3.0 / (points * points * segments as f32))
}

/// Standardises features by the model's constants: (x − shift) · scale.
pub fn standardise(features: &mut [f32], shift: &[f32], scale: &[f32]) {
    for ((x, shift), scale) in features.iter_mut().zip(shift).zip(scale) {
        *x = (*x - shift) * scale;
    }
}

#[cfg(test)]
mod tests {
    use super::{FLOOR, log_bands, standardise};
    use crate::acquisition::SensorFault;

    #[test]
    fn gain_does_not_matter() {
        let sums = [1.0, 10.0, 100.0, 0.5];
        let mut quiet = [0.0; 4];
        let mut loud = [0.0; 4];
        let low = log_bands(&sums, &mut quiet).unwrap();
        let high = log_bands(&sums.map(|s| s * 1024.0), &mut loud).unwrap();
        assert!((high - low - 1024.0_f32.ln()).abs() < 1e-5);
        assert!((quiet[2] + low - sums[2].ln()).abs() < 1e-5);
        assert_eq!(quiet, loud);
        assert!(quiet.iter().sum::<f32>().abs() < 1e-5);
    }

    #[test]
    fn empty_bands_stand_at_the_floor_and_empty_spectra_are_refused() {
        let mut features = [0.0; 2];
        log_bands(&[1.0, 0.0], &mut features).unwrap();
        assert!((features[0] - features[1] + FLOOR.ln()).abs() < 1e-4);
        assert_eq!(log_bands(&[0.0, 0.0], &mut features), Err(SensorFault::OutOfRange));
        assert_eq!(log_bands(&[f32::INFINITY, 1.0], &mut features), Err(SensorFault::OutOfRange));
        assert_eq!(log_bands(&[f32::NAN, 1.0], &mut features), Err(SensorFault::OutOfRange));
    }

    #[test]
    fn standardise_subtracts_then_scales() {
        let mut x = [1.0, 2.0];
        standardise(&mut x, &[0.5, 4.0], &[2.0, 0.25]);
        assert_eq!(x, [1.0, -0.5]);
    }
}
