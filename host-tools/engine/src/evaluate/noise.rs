//! Adds white noise to recordings, to see the effect of a worse sensor.

use ndarray::ArrayView1;
use thiserror::Error;

use crate::data::domain::Domain;
use crate::data::recording::{Recording, RecordingError, Samples};
use crate::simulate::random::Random;

/// White Gaussian noise of a given strength.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Power of the signal (without its mean) over power of the noise, in decibels, for each
    /// recording and axis.
    pub snr_db: f64,
    /// Seed. Each recording of a domain has its own random stream.
    pub seed: u64,
}

/// Why noise cannot be added.
#[derive(Debug, Error)]
pub enum NoiseError {
    /// The signal-to-noise ratio is out of range.
    #[error("`noise` {0}: the signal-to-noise ratio must be between -200 and 200 dB")]
    Ratio(f64),
    /// A recording is too large for memory.
    #[error("`noise`: {0}")]
    Recording(#[from] RecordingError),
}

/// The recordings of `domain` with noise added.
pub fn add(domain: &Domain, noise: Noise) -> Result<Vec<Recording>, NoiseError> {
    if !(-200.0..=200.0).contains(&noise.snr_db) {
        return Err(NoiseError::Ratio(noise.snr_db));
    }
    let ratio = 10_f64.powf(-noise.snr_db / 20.0);
    let noisy = |(index, recording): (usize, &Recording)| {
        let mut random = Random::new(noise.seed, index as u64);
        let axes = recording.axes;
        let mut segments = recording.stretches()?.to_vec();
        for axis in 0..axes {
            let deviation = ratio * standard_deviation(&segments, axes, axis);
            let frames = segments.iter_mut().flatten().skip(axis).step_by(axes);
            frames.for_each(|x| *x = (f64::from(*x) + deviation * random.normal()) as f32);
        }
        Ok(Recording { samples: Samples::Memory(segments), ..recording.clone() })
    };
    domain.recordings.iter().enumerate().map(noisy).collect()
}

/// Standard deviation of one axis over all segments. Each segment holds whole frames.
fn standard_deviation(segments: &[Vec<f32>], axes: usize, axis: usize) -> f64 {
    let frames = segments.iter().flatten().skip(axis).step_by(axes);
    let samples: Vec<f64> = frames.map(|x| f64::from(*x)).collect();
    ArrayView1::from(&samples).std(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domain() -> Domain {
        // Two axes, one ten times the other, with an offset that does not count as power.
        let segment = |len: usize| {
            let wave = |i: usize| if i.is_multiple_of(2) { 1.0_f32 } else { -1.0 };
            (0..len).flat_map(|i| [5.0 + wave(i), 10.0 * wave(i)]).collect::<Vec<_>>()
        };
        let recording = Recording::in_memory("x", 2, vec![segment(20_000), segment(10_000)]);
        let labels = vec![None, None];
        let recordings = vec![recording.clone(), recording];
        Domain { name: "x".into(), rate_hz: 1.0, axes: 2, recordings, labels, ..Domain::default() }
    }

    #[test]
    fn noise_has_the_power_asked_for_on_each_axis_and_repeats() {
        let domain = domain();
        let noise = Noise { snr_db: 10.0, seed: 3 };
        let noisy = add(&domain, noise).unwrap();
        for (axis, power) in [(0, 0.1), (1, 10.0)] {
            let [after, before] =
                [&noisy[0], &domain.recordings[0]].map(|recording| recording.stretches().unwrap());
            let difference: Vec<Vec<f32>> = after
                .iter()
                .zip(before)
                .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a - b).collect())
                .collect();
            let measured = standard_deviation(&difference, 2, axis).powi(2);
            // Standard error of a variance over 30 000 samples: 0.8 %.
            assert!((measured / power - 1.0).abs() < 0.04, "{measured} for {power}");
        }
        assert_eq!(noisy, add(&domain, noise).unwrap());
        assert_ne!(noisy[0].samples, noisy[1].samples, "recordings share no noise");
        assert_ne!(noisy, add(&domain, Noise { seed: 4, ..noise }).unwrap());
    }

    #[test]
    fn ratios_that_are_none_are_refused() {
        for snr_db in [f64::NAN, f64::INFINITY, -201.0] {
            assert!(add(&domain(), Noise { snr_db, seed: 0 }).is_err());
        }
    }
}
