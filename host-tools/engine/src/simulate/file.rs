//! File formats of simulated recordings.

use std::fmt;
use std::fmt::Write as _;
use std::io::Cursor;

use hound::{SampleFormat, WavSpec, WavWriter};
use serde::Serialize;

/// Names of the axes in a table.
const AXES: [&str; 3] = ["x", "y", "z"];

/// Format of simulated recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileFormat {
    /// 32-bit floats; carries the rate
    Wav,
    /// A column of time in seconds and one for each axis, as data loggers write them
    Csv,
}

impl fmt::Display for FileFormat {
    /// The extension.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Wav => "wav",
            Self::Csv => "csv",
        })
    }
}

impl FileFormat {
    /// The channel to name in the manifest. Only a table of several axes needs one.
    pub(super) fn channel(self, axes: usize) -> Option<String> {
        (self == Self::Csv && axes > 1).then(|| AXES[..axes].join(";"))
    }

    /// Encodes interleaved samples as a file.
    pub(super) fn bytes(
        self,
        samples: &[f32],
        axes: usize,
        rate_hz: u32,
    ) -> Result<Vec<u8>, hound::Error> {
        match self {
            Self::Wav => wav(samples, axes, rate_hz),
            Self::Csv => Ok(csv(samples, axes, rate_hz)),
        }
    }
}

fn wav(samples: &[f32], axes: usize, rate_hz: u32) -> Result<Vec<u8>, hound::Error> {
    let spec = WavSpec {
        channels: axes as u16,
        sample_rate: rate_hz,
        bits_per_sample: 32,
        sample_format: SampleFormat::Float,
    };
    let mut bytes = Vec::with_capacity(samples.len() * 4 + 128);
    let mut writer = WavWriter::new(Cursor::new(&mut bytes), spec)?;
    for &sample in samples {
        writer.write_sample(sample)?;
    }
    writer.finalize()?;
    Ok(bytes)
}

/// Encodes a table. Numbers have just enough digits to give the same `f32` back.
fn csv(samples: &[f32], axes: usize, rate_hz: u32) -> Vec<u8> {
    let mut text = format!("time,{}\n", AXES[..axes].join(","));
    for (frame, values) in samples.chunks_exact(axes).enumerate() {
        let _ = write!(text, "{}", frame as f64 / f64::from(rate_hz));
        for value in values {
            let _ = write!(text, ",{value}");
        }
        text.push('\n');
    }
    text.into_bytes()
}
