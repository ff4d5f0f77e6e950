//! Recordings to a feature matrix, by calling the device crate.
//!
//! There is no second implementation of the front end: windows, spectra and features come
//! from `rebearing`, operation by operation in the device's order, so that what is fitted
//! here is, to the bit, what the device will compute.

use std::path::PathBuf;

use ndarray::Array2;
use rayon::prelude::*;
use rebearing::window::Window;
use rebearing::{SensorFault, ShaftSpeedError, blocks};
use thiserror::Error;

use crate::front_end::FrontEndSettings;
use crate::progress;
use crate::recording::Recording;
use crate::split::Part;

/// Features of decision windows, one row each, and where each window comes from.
#[derive(Debug, Clone)]
pub struct Features {
    /// Features, not standardised, windows × dims.
    pub x: Array2<f32>,
    /// The recording of each window, as an index into the recordings given.
    pub recording: Vec<usize>,
}

/// Why features could not be computed.
#[derive(Debug, Error)]
pub enum ExtractError {
    /// No stretch of a recording holds a whole decision window.
    #[error(
        "{}: no stretch of it holds a decision window of {needs} samples (the longest has {has}); \
         record longer, or fit with fewer --segments or a shorter --fft", path.display()
    )]
    TooShort {
        /// The recording.
        path: PathBuf,
        /// Samples in a decision window.
        needs: usize,
        /// Samples in the longest stretch.
        has: usize,
    },
    /// A stretch of a recording that no label can be learnt from.
    #[error("{}: samples {start} to {end} of segment {segment}: {fault}; cut that part out of the recording", path.display())]
    Fault {
        /// The recording.
        path: PathBuf,
        /// The segment.
        segment: usize,
        /// First sample of the window.
        start: usize,
        /// One past its last sample.
        end: usize,
        /// What is wrong with it.
        fault: SensorFault,
    },
    /// A recording whose shaft speed is needed and not known.
    #[error("{}: its shaft speed is not known, and the features of orders and envelope need it; fill the manifest's rpm column, or fit with --blocks bands", path.display())]
    NoShaftSpeed {
        /// The recording.
        path: PathBuf,
    },
    /// A recording whose shaft speed cannot be used.
    #[error("{}: {reason}, or fit with --blocks bands", path.display())]
    ShaftSpeed {
        /// The recording.
        path: PathBuf,
        /// Why not.
        reason: ShaftSpeedError,
    },
    /// A recording with another number of axes.
    #[error("{}: has {has} axes where {needs} are needed; name the channels in the manifest's channel column or with --channel", path.display())]
    Axes {
        /// The recording.
        path: PathBuf,
        /// Axes of the front end.
        needs: usize,
        /// Axes of the recording.
        has: usize,
    },
}

/// Computes the features of every decision window in `parts`, moving on by one segment.
///
/// No window crosses from one part to another. Each recording must give at least one.
pub fn extract(
    recordings: &[Recording],
    parts: &[Part],
    front_end: &FrontEndSettings,
) -> Result<Features, ExtractError> {
    for recording in recordings {
        if recording.axes != front_end.axes {
            return Err(ExtractError::Axes {
                path: recording.path.clone(),
                needs: front_end.axes,
                has: recording.axes,
            });
        }
        if front_end.orders.is_some() {
            let path = || recording.path.clone();
            let hz =
                recording.shaft_hz().ok_or_else(|| ExtractError::NoShaftSpeed { path: path() })?;
            let checked = front_end.device().check_shaft_speed(hz);
            checked.map_err(|reason| ExtractError::ShaftSpeed { path: path(), reason })?;
        }
    }
    let _stage = progress::stage("computing features", parts.len());
    let rows: Vec<Vec<f32>> = parts
        .par_iter()
        .map(|part| part_features(&recordings[part.recording], part, front_end))
        .inspect(|_| progress::done(1))
        .collect::<Result<_, _>>()?;

    let dims = front_end.dims();
    let mut recording = Vec::new();
    for (part, rows) in parts.iter().zip(&rows) {
        recording.extend(std::iter::repeat_n(part.recording, rows.len() / dims));
    }
    for (index, missing) in recordings.iter().enumerate() {
        let own = || parts.iter().filter(|part| part.recording == index);
        if own().next().is_some() && !recording.contains(&index) {
            return Err(ExtractError::TooShort {
                path: missing.path.clone(),
                needs: front_end.window_len(),
                has: own().map(|part| part.frames().len()).max().unwrap_or(0),
            });
        }
    }
    let mut x = Array2::zeros((recording.len(), dims));
    for (place, value) in x.iter_mut().zip(rows.iter().flatten()) {
        *place = *value;
    }
    Ok(Features { x, recording })
}

fn part_features(
    recording: &Recording,
    part: &Part,
    front_end: &FrontEndSettings,
) -> Result<Vec<f32>, ExtractError> {
    let device = front_end.device();
    let per_axis = front_end.axis_features();
    let dims = front_end.dims();
    let axes = front_end.axes;
    let samples = &recording.segments[part.segment][part.start * axes..part.end * axes];
    let fault_at = |segment: usize, segments: usize, fault| ExtractError::Fault {
        path: recording.path.clone(),
        segment: part.segment,
        start: part.start + segment * front_end.hop,
        end: part.start + (segment + segments - 1) * front_end.hop + front_end.fft_len,
        fault,
    };

    // Power of each segment in every band, all axes side by side.
    let mut power: Vec<f32> = Vec::new();
    for axis in 0..axes {
        let mut window = Window::<f32, 4096, 1>::new(front_end.fft_len, front_end.hop);
        let mut scratch = [0.0; 4096];
        let mut segment = 0;
        for sample in samples.iter().skip(axis).step_by(axes) {
            if !window.push([*sample]) {
                continue;
            }
            power.resize(power.len().max((segment + 1) * dims), 0.0);
            let sums = &mut power[segment * dims + axis * per_axis..][..per_axis];
            blocks::add_segment(&window, 0, &device, recording.shaft_hz(), &mut scratch, sums)
                .map_err(|fault| fault_at(segment, 1, fault))?;
            segment += 1;
        }
    }

    let mut rows = Vec::new();
    for first in 0..(power.len() / dims + 1).saturating_sub(front_end.segments) {
        // Sums in the device's order, so that they have the device's bits.
        let mut sums = vec![0.0; dims];
        for segment in power[first * dims..].chunks_exact(dims).take(front_end.segments) {
            for (sum, power) in sums.iter_mut().zip(segment) {
                *sum += power;
            }
        }
        let mut row = vec![0.0; dims];
        for (sums, features) in sums.chunks_exact(per_axis).zip(row.chunks_exact_mut(per_axis)) {
            blocks::log_blocks(&device, sums, features)
                .map_err(|fault| fault_at(first, front_end.segments, fault))?;
        }
        rows.extend(row);
    }
    Ok(rows)
}
