//! Conversion of recordings in physical units to the 16-bit counts that an i16 model takes.

use std::path::PathBuf;

use thiserror::Error;

use crate::data::recording::{Place, Recording, RecordingError, Samples};

/// The largest count.
pub const FULL_SCALE_COUNTS: f64 = 32_767.0;

/// Default full scale, as a multiple of the largest sample of the recordings. Each doubling brings
/// the quietest bands 6 dB closer to the rounding of the counts.
pub const HEADROOM: f64 = 2.0;

/// A recording in counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    /// Values per frame.
    pub axes: usize,
    /// Contiguous stretches of time: interleaved frames.
    pub stretches: Vec<Vec<i16>>,
}

/// Why a recording cannot be converted to counts.
#[derive(Debug, Error)]
pub enum CountsError {
    /// The recording is too large for memory.
    #[error("{0}, or keep `encoding` f32")]
    Recording(#[from] RecordingError),
    /// Samples are beyond full scale.
    #[error(
        "{}: {clipped} of {samples} samples are beyond the i16 model's full scale of ±{full_scale}; a sensor \
         would clip them: adapt with `full_scale` {largest} or more", path.display()
    )]
    Clipped {
        /// The recording.
        path: PathBuf,
        /// Number of samples beyond full scale.
        clipped: usize,
        /// Number of samples in all.
        samples: usize,
        /// The full scale.
        full_scale: f64,
        /// The largest magnitude.
        largest: f64,
    },
    /// A sample is NaN or infinite.
    #[error(
        "{}: holds NaN or infinity at {place}, which 16-bit counts cannot hold; cut that part out of the recording",
        path.display()
    )]
    NotFinite {
        /// The recording.
        path: PathBuf,
        /// The place of the sample.
        place: Place,
    },
}

/// Returns a full scale for recordings if the user gives none.
///
/// Returns `None` if every sample is zero.
pub fn full_scale(recordings: &[Recording]) -> Result<Option<f64>, CountsError> {
    let mut largest = 0.0_f64;
    for recording in recordings {
        let samples = recording.stretches()?.iter().flatten();
        largest = samples.fold(largest, |largest, x| largest.max(f64::from(*x).abs()));
    }
    Ok((largest > 0.0).then_some(HEADROOM * largest))
}

/// Rounds the samples of a recording to counts. It refuses samples beyond full scale, because a
/// label from clipped samples would belong to another signal.
pub fn counts(recording: &Recording, counts_per_unit: f32) -> Result<Counts, CountsError> {
    let path = || recording.path.clone();
    let samples = recording.stretches()?;
    if let Some(place) = recording.first_non_finite()? {
        return Err(CountsError::NotFinite { path: path(), place });
    }
    let (mut clipped, mut largest) = (0, 0.0_f64);
    let mut count = |x: &f32| {
        let counts = (f64::from(*x) * f64::from(counts_per_unit)).round();
        largest = largest.max(f64::from(*x).abs());
        clipped += usize::from(counts.abs() > FULL_SCALE_COUNTS);
        counts as i16
    };
    let stretches =
        samples.iter().map(|stretch| stretch.iter().map(&mut count).collect()).collect();
    if clipped > 0 {
        let samples = samples.iter().map(Vec::len).sum();
        let full_scale = FULL_SCALE_COUNTS / f64::from(counts_per_unit);
        return Err(CountsError::Clipped { path: path(), clipped, samples, full_scale, largest });
    }
    Ok(Counts { axes: recording.axes, stretches })
}

/// The recording as a sensor of this full scale would deliver it: the counts in physical units.
pub fn rounded(recording: &Recording, counts: &Counts, counts_per_unit: f32) -> Recording {
    let to_unit =
        |stretch: &Vec<i16>| stretch.iter().map(|x| f32::from(*x) / counts_per_unit).collect();
    let samples = Samples::Memory(counts.stretches.iter().map(to_unit).collect());
    Recording { samples, ..recording.clone() }
}

#[cfg(test)]
mod tests {
    use super::{CountsError, counts, full_scale, rounded};
    use crate::data::recording::Recording;

    fn recording(samples: Vec<f32>) -> Recording {
        Recording::in_memory("r.csv", 1, vec![samples])
    }

    #[test]
    fn samples_are_rounded_and_never_clipped() {
        let factor = 1000.0;
        let found = counts(&recording(vec![0.0004, -0.0006, 32.767, -32.767]), factor).unwrap();
        assert_eq!(found.stretches, [[0, -1, 32767, -32767]]);
        let samples = recording(vec![0.0004, -0.0006]);
        let found = counts(&samples, factor).unwrap();
        assert_eq!(rounded(&samples, &found, factor).stretches().unwrap(), [[0.0, -0.001]]);
        let error = counts(&recording(vec![1.0, 33.0, -40.0]), factor).unwrap_err();
        assert!(matches!(error, CountsError::Clipped { clipped: 2, samples: 3, .. }), "{error}");
        assert!(error.to_string().contains("`full_scale` 40"), "{error}");
        let error = counts(&recording(vec![1.0, f32::NAN]), factor).unwrap_err();
        assert!(matches!(error, CountsError::NotFinite { .. }), "{error}");
    }

    #[test]
    fn full_scale_leaves_room() {
        assert_eq!(full_scale(&[recording(vec![1.0, -2.0])]).unwrap(), Some(4.0));
        assert_eq!(full_scale(&[recording(vec![0.0])]).unwrap(), None);
    }
}
