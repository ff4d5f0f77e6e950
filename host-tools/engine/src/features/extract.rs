//! Recordings to a feature matrix, by calling the device crate.
//!
//! There is no second implementation of the front end. Windows, spectra and features come from
//! `rebearing`, operation by operation in the device's order. So the features fitted here are, bit
//! for bit, those that the device will compute.

use std::collections::VecDeque;
use std::path::PathBuf;

use ndarray::{Array2, Axis};
use rayon::prelude::*;
use rebearing::features::{add_segment, log_blocks};
use rebearing::signal::Segment;
use rebearing::{SensorFault, ShaftSpeedError};
use thiserror::Error;

use crate::data::recording::{Recording, RecordingError};
use crate::data::split::Part;
use crate::features::front_end::FrontEndSettings;
use crate::progress;
use crate::words::plural;

/// Features of windows, one row each, and where each window comes from.
#[derive(Debug, Clone)]
pub struct Features {
    /// Features, not standardised, windows × dims.
    pub x: Array2<f32>,
    /// The recording of each window, as an index into the recordings given.
    pub recording: Vec<usize>,
    /// Samples from the start of a window to the start of the next one in its recording.
    pub stride: usize,
}

impl Features {
    /// Returns the windows at `rows`, in that order.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let recording = rows.iter().map(|row| self.recording[*row]).collect();
        Self { x: self.x.select(Axis(0), rows), recording, stride: self.stride }
    }
}

/// Why features could not be computed.
#[derive(Debug, Error)]
pub enum ExtractError {
    /// No stretch of a recording holds a whole window.
    #[error(
        "{}: no stretch of it holds a window of {needs} samples (the longest has {has}); \
         record longer, or fit with fewer `segments` or a shorter `fft_len`", path.display()
    )]
    TooShort {
        /// The recording.
        path: PathBuf,
        /// Samples in a window.
        needs: usize,
        /// Samples in the longest stretch.
        has: usize,
    },
    /// No label can be learnt from a stretch of a recording, because it has a sensor fault.
    #[error("{}: samples {start} to {end} of stretch {stretch}: {fault}; cut that part out of the recording", path.display())]
    Fault {
        /// The recording.
        path: PathBuf,
        /// Index of the stretch in the recording.
        stretch: usize,
        /// First sample of the window.
        start: usize,
        /// One past its last sample.
        end: usize,
        /// The sensor fault.
        fault: SensorFault,
    },
    /// The shaft speed of a recording is needed, but not known.
    #[error("{}: its shaft speed is not known, and the features of orders and envelope need it; fill the manifest's rpm column, or fit with `blocks` bands", path.display())]
    NoShaftSpeed {
        /// The recording.
        path: PathBuf,
    },
    /// The shaft speed of a recording cannot be used.
    #[error("{}: {reason}, or fit with `blocks` bands", path.display())]
    ShaftSpeed {
        /// The recording.
        path: PathBuf,
        /// Why it cannot be used.
        reason: ShaftSpeedError,
    },
    /// Windows of this stride do not fall on those of the device.
    #[error("a `stride` of {stride} samples does not divide the `hop` of {hop}")]
    Stride {
        /// Samples from one window to the next.
        stride: usize,
        /// Samples from one segment to the next.
        hop: usize,
    },
    /// A recording that is read piece by piece could not be read to its end.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// A recording has another number of axes.
    #[error(
        "{}: has {}, but {needs} are needed; name the channels in the manifest's channel column or \
         with `channel`",
        path.display(),
        plural(*has, "axis", "axes")
    )]
    Axes {
        /// The recording.
        path: PathBuf,
        /// Axes of the front end.
        needs: usize,
        /// Axes of the recording.
        has: usize,
    },
}

/// Computes the features of every window in `parts`. Each window starts one hop after the previous
/// one.
///
/// No window spans two parts. Each recording must give at least one window.
///
/// ```
/// use rebearing_host::features::extract::extract;
/// use rebearing_host::features::front_end::{EqualBands, FrontEndSettings};
/// use rebearing_host::data::{recording, split};
///
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("fine.csv");
/// let samples: Vec<String> = (0..4096).map(|n| format!("{}", f64::from(n * n % 97))).collect();
/// std::fs::write(&file, format!("x\n{}\n", samples.join("\n")))?;
/// let recordings = [recording::read(&file, None)?];
///
/// // Two FFTs of 1024 points that overlap by half in a window, 32 bands.
/// let front_end = FrontEndSettings::equal_bands(EqualBands {
///     rate_hz: 20_000.0,
///     axes: 1,
///     fft_len: 1024,
///     hop: 512,
///     segments: 2,
///     bands: 32,
/// })?;
/// let whole = split::whole(&[recordings[0].stretch_frames()]);
/// let features = extract(&recordings, &whole, &front_end)?;
/// assert_eq!(features.x.dim(), (6, 32));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn extract(
    recordings: &[Recording],
    parts: &[Part],
    front_end: &FrontEndSettings,
) -> Result<Features, ExtractError> {
    extract_every(recordings, parts, front_end, front_end.hop)
}

/// Computes the features of one window every `stride` samples; `stride` divides the hop.
pub(super) fn extract_every(
    recordings: &[Recording],
    parts: &[Part],
    front_end: &FrontEndSettings,
    stride: usize,
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
    let dims = front_end.dims();
    let windows = |part: &Part| windows(part.frames().len(), front_end, stride);
    let mut recording = Vec::new();
    for part in parts {
        recording.extend(std::iter::repeat_n(part.recording, windows(part)));
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
    // A new array is contiguous. Rows are written in place, because they may be most of the memory.
    let mut rest = x.as_slice_mut().unwrap_or_default();
    let mut places = Vec::new();
    for part in parts {
        let (own, others) = std::mem::take(&mut rest).split_at_mut(windows(part) * dims);
        places.push((part, own));
        rest = others;
    }
    let passes = front_end.hop / stride;
    let _stage = progress::stage("computing features", parts.len());
    places.into_par_iter().try_for_each(|(part, rows)| {
        // Each pass starts one stride later. Its windows are one hop apart, so its rows are
        // `passes` rows apart.
        for pass in 0..passes {
            let shifted = Part { start: part.start + pass * stride, ..*part };
            if windows(&shifted) == 0 {
                break;
            }
            let rows = rows.chunks_exact_mut(dims).skip(pass).step_by(passes);
            part_features(&recordings[part.recording], &shifted, front_end, rows)?;
        }
        progress::done(1);
        Ok::<_, ExtractError>(())
    })?;
    Ok(Features { x, recording, stride })
}

/// Returns the number of windows in a stretch of `frames` frames, one every `stride` frames.
pub(super) fn windows(frames: usize, front_end: &FrontEndSettings, stride: usize) -> usize {
    let spare = frames.checked_sub(front_end.window_len());
    spare.map_or(0, |spare| spare / stride + 1)
}

/// Writes the features of a part's windows to `rows`, one row each, one window every hop.
fn part_features<'a>(
    recording: &Recording,
    part: &Part,
    front_end: &FrontEndSettings,
    mut rows: impl Iterator<Item = &'a mut [f32]>,
) -> Result<(), ExtractError> {
    let device = front_end.device();
    let per_axis = front_end.axis_features();
    let (dims, axes) = (front_end.dims(), front_end.axes);
    let fault_at = |segment: usize, segments: usize, fault| ExtractError::Fault {
        path: recording.path.clone(),
        stretch: part.stretch,
        start: part.start + segment * front_end.hop,
        end: part.start + (segment + segments - 1) * front_end.hop + front_end.fft_len,
        fault,
    };
    let mut windows = vec![Segment::<f32, 4096, 1>::new(front_end.fft_len, front_end.hop); axes];
    let mut scratch = [0.0; 4096];
    // Power in every band of the last segments, all axes side by side.
    let mut powers: VecDeque<Vec<f32>> = VecDeque::new();
    let mut segment = 0;
    recording.each_chunk(part.stretch, part.frames(), |chunk| {
        for frame in chunk.chunks_exact(axes) {
            let mut full = false;
            for (window, sample) in windows.iter_mut().zip(frame) {
                full = window.push([*sample]);
            }
            if !full {
                continue;
            }
            progress::pulse();
            let mut power = if powers.len() == front_end.segments {
                powers.pop_front().unwrap_or_default()
            } else {
                Vec::new()
            };
            power.clear();
            power.resize(dims, 0.0);
            for (window, sums) in windows.iter().zip(power.chunks_exact_mut(per_axis)) {
                add_segment(window, 0, &device, recording.shaft_hz(), &mut scratch, sums)
                    .map_err(|fault| fault_at(segment, 1, fault))?;
            }
            powers.push_back(power);
            segment += 1;
            if powers.len() < front_end.segments {
                continue;
            }
            // Adds in the device's order, so that the sums have the device's bits.
            let mut sums = vec![0.0; dims];
            for power in &powers {
                for (sum, power) in sums.iter_mut().zip(power) {
                    *sum += power;
                }
            }
            let Some(row) = rows.next() else { continue };
            for (sums, features) in sums.chunks_exact(per_axis).zip(row.chunks_exact_mut(per_axis))
            {
                log_blocks(&device, sums, features).map_err(|fault| {
                    fault_at(segment - front_end.segments, front_end.segments, fault)
                })?;
            }
        }
        Ok(())
    })
}
