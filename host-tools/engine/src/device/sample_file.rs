//! The file of samples that the emulated firmware reads.
//!
//! For each stretch, it holds the number of frames as u32, then the frames, all little-endian.

use anyhow::{Context, Result, bail};

use crate::data::counts::Counts;
use crate::data::recording::Recording;

/// The sample format that the firmware gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleKind {
    /// 32-bit floats, any value.
    F32,
    /// 16-bit counts; the recording must hold whole numbers in their range.
    I16,
}

impl SampleKind {
    /// The format's name in the firmware.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::I16 => "i16",
        }
    }

    /// Bytes of a sample.
    pub fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::I16 => 2,
        }
    }
}

/// Encodes a recording with samples of this kind.
pub(super) fn of_recording(recording: &Recording, samples_as: SampleKind) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for (stretch, samples) in recording.stretches()?.iter().enumerate() {
        let frames = u32::try_from(samples.len() / recording.axes).with_context(|| {
            format!("{}: stretch {stretch} is too long to emulate", recording.path.display())
        })?;
        bytes.extend(frames.to_le_bytes());
        for (i, sample) in samples.iter().enumerate() {
            match samples_as {
                SampleKind::F32 => bytes.extend(sample.to_le_bytes()),
                SampleKind::I16 => {
                    let count = *sample as i16;
                    if f32::from(count).to_bits() != sample.to_bits() {
                        bail!(
                            "{}: sample {i} of stretch {stretch} is {sample}, not a 16-bit count; \
                             use `samples_as` f32",
                            recording.path.display()
                        );
                    }
                    bytes.extend(count.to_le_bytes());
                }
            }
        }
    }
    Ok(bytes)
}

/// Encodes a recording in counts.
pub(super) fn of_counts(counts: &Counts) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for stretch in &counts.stretches {
        let frames = u32::try_from(stretch.len() / counts.axes)
            .context("the recording is too long to emulate")?;
        bytes.extend(frames.to_le_bytes());
        bytes.extend(stretch.iter().flat_map(|sample| sample.to_le_bytes()));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{SampleKind, of_recording};
    use crate::data::recording::Recording;

    #[test]
    fn only_counts_go_out_as_i16() {
        let recording = |samples: Vec<f32>| Recording::in_memory("x.wav", 1, vec![samples]);
        let counts = recording(vec![1.0, -32768.0]);
        assert_eq!(of_recording(&counts, SampleKind::I16).unwrap(), [2, 0, 0, 0, 1, 0, 0, 0x80]);
        for bad in [0.5, 32768.0, f32::NAN] {
            let error = of_recording(&recording(vec![0.0, bad]), SampleKind::I16).unwrap_err();
            assert!(error.to_string().contains("sample 1"), "{error}");
        }
    }
}
