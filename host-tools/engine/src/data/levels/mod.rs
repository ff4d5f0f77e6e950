//! How strong the vibration of each recording is, and recordings whose strength does not fit the
//! rest of their domain.
//!
//! Features have no level. So a machine that stood still, or a file in another unit, gives features
//! like any other, and a model learns them under a wrong label. The level shows it.

mod moments;
mod odd;

use std::path::PathBuf;

use rayon::prelude::*;
use serde::Serialize;

pub use odd::{LOUD, OddLevel, Oddity, QUIET_DOMAIN, QUIET_LABEL, SAME_LABEL, median, odd_levels};

use self::moments::Moments;
use crate::data::domain::Domain;
use crate::data::recording::{Recording, RecordingError};

/// Frames of a block of samples; a block fits into the first cache.
const BLOCK: usize = 1024;

/// Strength and shape of the vibration of one axis, over a whole recording.
///
/// The definitions are those of [`rebearing::Statistics`], which the device computes for a window.
/// If the samples do not vary, all three are zero.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Levels {
    /// Root mean square about the mean, in the sample's unit.
    pub rms: f64,
    /// Fourth moment about the mean over the square of the second: 3 for Gaussian noise, 1.5 for a
    /// sine, far more for impacts. It is not the excess kurtosis, which is 3 less.
    pub kurtosis: f64,
    /// Largest deviation from the mean over rms.
    pub crest: f64,
}

/// The levels of one recording.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordingLevels {
    /// The file.
    #[serde(serialize_with = "crate::files::shown")]
    pub path: PathBuf,
    /// The label, if the manifest gives one.
    pub label: Option<String>,
    /// The levels of each axis.
    pub axes: Vec<Levels>,
}

impl RecordingLevels {
    /// Returns the axis with the largest rms, and its levels.
    pub fn loudest(&self) -> (usize, Levels) {
        let first = (0, self.axes.first().copied().unwrap_or_default());
        self.axes
            .iter()
            .copied()
            .enumerate()
            .fold(first, |loudest, axis| if axis.1.rms > loudest.1.rms { axis } else { loudest })
    }
}

/// Returns the levels of every recording of `domain`, in its order.
///
/// Each recording is read once, piece by piece. All its stretches count as one, with one mean.
///
/// ```
/// use rebearing_host::data::domain::Domain;
/// use rebearing_host::data::levels::levels;
/// use rebearing_host::data::recording::Recording;
///
/// // A square wave between 3 and 7, as 4 samples.
/// let recording = Recording::in_memory("square.csv", 1, vec![vec![3.0, 7.0, 3.0, 7.0]]);
/// let domain = Domain { recordings: vec![recording], labels: vec![None], ..Domain::default() };
/// let found = levels(&domain)?[0].axes[0];
/// assert_eq!((found.rms, found.kurtosis, found.crest), (2.0, 1.0, 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn levels(domain: &Domain) -> Result<Vec<RecordingLevels>, RecordingError> {
    let both = domain.recordings.par_iter().zip(&domain.labels);
    both.map(|(recording, label)| {
        let axes = axes(recording)?;
        Ok(RecordingLevels { path: recording.path.clone(), label: label.clone(), axes })
    })
    .collect()
}

/// Returns the levels of each axis of a recording.
fn axes(recording: &Recording) -> Result<Vec<Levels>, RecordingError> {
    let axes = recording.axes;
    let mut moments = vec![Moments::default(); axes];
    for (stretch, frames) in recording.stretch_frames().into_iter().enumerate() {
        recording.each_chunk(stretch, 0..frames, |chunk| {
            for block in chunk.chunks(BLOCK * axes) {
                for (axis, moments) in moments.iter_mut().enumerate() {
                    let samples = block.iter().skip(axis).step_by(axes);
                    moments.merge(Moments::of(samples.map(|x| f64::from(*x))));
                }
            }
            Ok::<_, RecordingError>(())
        })?;
    }
    Ok(moments.iter().map(Moments::levels).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn domain(recordings: Vec<Recording>) -> Domain {
        let labels = vec![None; recordings.len()];
        Domain { recordings, labels, ..Domain::default() }
    }

    /// Levels by the definition: one pass for the mean, one for the powers.
    fn naive(samples: &[f64]) -> Levels {
        let mean_of = |f: &dyn Fn(f64) -> f64| {
            samples.iter().map(|x| f(*x)).sum::<f64>() / samples.len() as f64
        };
        let mean = mean_of(&|x| x);
        let [second, fourth] = [2, 4].map(|power| mean_of(&|x| (x - mean).powi(power)));
        let peak = samples.iter().map(|x| (x - mean).abs()).fold(0.0, f64::max);
        Levels {
            rms: second.sqrt(),
            kurtosis: fourth / (second * second),
            crest: peak / second.sqrt(),
        }
    }

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-9 * expected.abs()
    }

    proptest! {
        #[test]
        fn levels_are_those_of_two_naive_passes(
            stretches in prop::collection::vec(prop::collection::vec(-1.0_f32..1.0, 0..3000), 1..5),
            axes in 1_usize..=3,
            offset in prop::sample::select(vec![0.0_f32, 1.0, -1e4]),
            scale in prop::sample::select(vec![1e-3_f32, 1.0, 1e30]),
            spike in prop::sample::select(vec![0.0_f32, 1e4]),
        ) {
            let mut stretches = stretches;
            for stretch in &mut stretches {
                stretch.truncate(stretch.len() / axes * axes);
                // An impact, and a sensor's bias of up to 10 000 times the vibration.
                for (index, x) in stretch.iter_mut().enumerate() {
                    let impact = if index == 0 { spike } else { 0.0 };
                    *x = (*x + impact + offset) * scale;
                }
            }
            let own = |axis: usize| -> Vec<f64> {
                let samples = stretches.iter().flat_map(|s| s.iter().skip(axis).step_by(axes));
                samples.map(|x| f64::from(*x)).collect()
            };
            let expected: Vec<Levels> = (0..axes).map(|axis| naive(&own(axis))).collect();
            prop_assume!(expected.iter().all(|levels| levels.rms > 0.0));
            let recording = Recording::in_memory("r.wav", axes, stretches);
            let found = levels(&domain(vec![recording])).unwrap();
            for (found, expected) in found[0].axes.iter().zip(&expected) {
                prop_assert!(close(found.rms, expected.rms), "{found:?} {expected:?}");
                prop_assert!(close(found.kurtosis, expected.kurtosis), "{found:?} {expected:?}");
                prop_assert!(close(found.crest, expected.crest), "{found:?} {expected:?}");
            }
        }
    }

    #[test]
    fn a_stored_recording_has_the_levels_of_one_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.csv");
        let rows = (0..40_000_u64).map(|n| format!("{},{}", n * n % 977, n * n % 89));
        std::fs::write(&path, format!("x,y\n{}\n", rows.collect::<Vec<_>>().join("\n"))).unwrap();
        let read =
            |in_memory| crate::data::recording::read_within(&path, Some("x;y"), in_memory).unwrap();
        let (stored, memory) = (read(0), read(usize::MAX));
        assert!(stored.stretches().is_err(), "the samples stay in the file");
        let [stored, memory] = [stored, memory].map(|r| levels(&domain(vec![r])).unwrap());
        for (stored, memory) in stored[0].axes.iter().zip(&memory[0].axes) {
            assert!(memory.rms > 1.0 && close(stored.rms, memory.rms), "{stored:?} {memory:?}");
            assert!(close(stored.kurtosis, memory.kurtosis) && close(stored.crest, memory.crest));
        }
        assert_eq!(stored[0].loudest().0, 0);
    }

    #[test]
    fn what_does_not_vary_has_no_level() {
        let constant = Recording::in_memory("c.wav", 2, vec![vec![0.1; 6000], vec![0.1; 2]]);
        let empty = Recording::in_memory("e.wav", 1, vec![Vec::new()]);
        let found = levels(&domain(vec![constant, empty])).unwrap();
        assert_eq!(found[0].axes, [Levels::default(); 2]);
        assert_eq!(found[1].axes, [Levels::default()]);
        // The loudest axis is the first of equals.
        assert_eq!(found[0].loudest(), (0, Levels::default()));
    }
}
