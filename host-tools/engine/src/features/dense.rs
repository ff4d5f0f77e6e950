//! More windows of a short recording, for fitting.
//!
//! A recording of two seconds gives few windows, and a mixture of many components needs more than
//! that. Windows that start closer together than a hop are near-copies, but each of them is a
//! window that a device could have seen.

use std::collections::BTreeMap;

use crate::data::recording::Recording;
use crate::data::split::Part;
use crate::features::extract::{ExtractError, Features, extract_every, windows};
use crate::features::front_end::FrontEndSettings;

/// Windows that each recording should give for a fit: with three windows that share samples counted
/// as one, about ten for each of the two components of a class.
const ENOUGH_WINDOWS: usize = 64;

/// Half the stride must give every recording at least this many times as many windows. A recording
/// of many short stretches gains nothing, and would become rare among the others.
const LEAST_GAIN: f64 = 1.5;

/// Most windows to a hop. Windows closer than an eighth of a hop share nearly all their samples and
/// only cost time.
const MOST_PER_HOP: usize = 8;

/// Smallest stride in samples: half of the shortest FFT, so that even its neighbouring windows
/// differ.
const LEAST_STRIDE: usize = 128;

/// Most windows of all recordings together that a smaller stride may lead to. A pool of hours does
/// not grow because one of its recordings is short.
const MOST_WINDOWS: usize = 20_000;

/// Computes the features of every window in `parts`. Each window starts `stride` samples after the
/// previous one, and `stride` divides the hop.
///
/// Every row has the bits that a device computes for a window that starts there. The rows of a part
/// are in the order of time, and no window spans two parts. Each recording must give at least one
/// window.
pub fn extract_dense(
    recordings: &[Recording],
    parts: &[Part],
    front_end: &FrontEndSettings,
    stride: usize,
) -> Result<Features, ExtractError> {
    let hop = front_end.hop;
    if !hop.is_multiple_of(stride) {
        return Err(ExtractError::Stride { stride, hop });
    }
    extract_every(recordings, parts, front_end, stride)
}

/// Returns the stride for fitting on `parts`: the hop if each recording gives at least 64 windows,
/// otherwise the largest of hop/2, hop/4 and hop/8 that does.
///
/// If none of them does, the smallest is returned that every recording gains from and that gives at
/// most 20,000 windows. The stride always divides the hop, and only a hop below 128 samples gives a
/// stride below 128 samples.
pub fn stride_for(parts: &[Part], front_end: &FrontEndSettings) -> usize {
    let hop = front_end.hop;
    let counts = |stride: usize| {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for part in parts {
            *counts.entry(part.recording).or_default() +=
                windows(part.frames().len(), front_end, stride);
        }
        counts
    };
    let mut stride = hop;
    let mut given = counts(stride);
    while given.values().any(|windows| *windows < ENOUGH_WINDOWS)
        && stride.is_multiple_of(2)
        && stride / 2 >= LEAST_STRIDE.max(hop.div_ceil(MOST_PER_HOP))
    {
        let denser = counts(stride / 2);
        let gains = given.values().zip(denser.values());
        let gained = gains.into_iter().all(|(now, then)| *then as f64 >= LEAST_GAIN * *now as f64);
        if !gained || denser.values().sum::<usize>() > MOST_WINDOWS {
            break;
        }
        (stride, given) = (stride / 2, denser);
    }
    stride
}

/// Returns the windows of `dense` that start a hop apart, from the start of each of `parts`. Windows
/// behind those of the parts, such as those of snapshots, are kept.
///
/// # Panics
/// If `dense` has fewer windows than `parts` give.
pub fn at_hop(dense: Features, parts: &[Part], front_end: &FrontEndSettings) -> Features {
    let (hop, stride) = (front_end.hop, dense.stride);
    if stride >= hop {
        return dense;
    }
    let (mut rows, mut start) = (Vec::new(), 0);
    for part in parts {
        let count = windows(part.frames().len(), front_end, stride);
        rows.extend((start..start + count).step_by(hop / stride));
        start += count;
    }
    rows.extend(start..dense.x.nrows());
    Features { stride: hop, ..dense.select(&rows) }
}

/// Returns how many windows after a window share samples with it, if one starts every `stride`
/// samples.
pub fn overlap(front_end: &FrontEndSettings, stride: usize) -> usize {
    front_end.window_len().div_ceil(stride) - 1
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;
    use crate::data::recording::Samples;
    use crate::data::split;
    use crate::features::extract::extract;
    use crate::features::front_end::{Blocks, EqualBands};

    fn front_end(axes: usize, hop: usize, segments: usize) -> FrontEndSettings {
        FrontEndSettings::equal_bands(EqualBands {
            rate_hz: 20_000.0,
            axes,
            fft_len: 256,
            hop,
            segments,
            bands: 4,
        })
        .unwrap()
    }

    /// Noise that differs in every frame.
    fn recording(axes: usize, frames: &[usize], seed: u64) -> Recording {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f32 / 16_777_216.0 - 0.5
        };
        let stretches =
            frames.iter().map(|frames| (0..frames * axes).map(|_| next()).collect()).collect();
        of_samples(axes, stretches)
    }

    fn of_samples(axes: usize, stretches: Vec<Vec<f32>>) -> Recording {
        Recording {
            path: PathBuf::from("x"),
            rate_hz: None,
            rpm: Some(18_000.0),
            axes,
            samples: Samples::Memory(stretches),
        }
    }

    proptest! {
        #[test]
        fn every_row_is_the_window_that_starts_there(
            axes in 1usize..3,
            stride in prop::sample::select(vec![16usize, 32, 64, 128]),
            segments in 1usize..4,
            orders: bool,
            frames in prop::collection::vec(prop::collection::vec(100usize..1200, 1..4), 1..3),
            seed: u64,
        ) {
            let blocks = Blocks { orders, envelope: orders };
            let front_end = front_end(axes, 128, segments).with_blocks(blocks).unwrap();
            let recordings: Vec<_> =
                frames.iter().zip(seed..).map(|(f, seed)| recording(axes, f, seed)).collect();
            let split = split::in_time(&frames, 0.6).unwrap();
            for parts in [split.first, split.last] {
                let (mut rows, mut of) = (Vec::new(), Vec::new());
                for part in &parts {
                    let mut start = part.start;
                    while start + front_end.window_len() <= part.end {
                        let window = Part { start, end: start + front_end.window_len(), ..*part };
                        let alone = extract(&recordings, &[window], &front_end).unwrap();
                        prop_assert_eq!(alone.x.nrows(), 1);
                        rows.extend(alone.x.iter().map(|x| x.to_bits()));
                        of.push(part.recording);
                        start += stride;
                    }
                }
                let given = |index: &usize| parts.iter().any(|part| part.recording == *index);
                let empty = (0..recordings.len()).filter(given).any(|index| !of.contains(&index));
                match extract_dense(&recordings, &parts, &front_end, stride) {
                    Ok(dense) => {
                        let bits: Vec<u32> = dense.x.iter().map(|x| x.to_bits()).collect();
                        prop_assert!(!empty);
                        prop_assert_eq!(&dense.recording, &of);
                        prop_assert_eq!(bits, rows);
                        // Two more rows, as of a snapshot.
                        let count = dense.x.nrows();
                        let more: Vec<usize> = (0..count).chain([0, 0]).collect();
                        let own = extract(&recordings, &parts, &front_end).unwrap();
                        let hops = at_hop(dense.select(&more), &parts, &front_end);
                        prop_assert_eq!(hops.stride, 128);
                        let (windows, found) = (own.x.nrows(), hops.x.nrows());
                        prop_assert_eq!(found, windows + 2);
                        prop_assert_eq!(&hops.x.slice(ndarray::s![..windows, ..]), &own.x.view());
                        prop_assert_eq!(&hops.recording[..windows], &own.recording[..]);
                    }
                    Err(error) => {
                        prop_assert!(empty);
                        let short = matches!(error, ExtractError::TooShort { .. });
                        prop_assert!(short, "{}", error);
                    }
                }
            }
        }

        #[test]
        fn windows_share_samples_as_far_as_the_overlap_says(
            stride in 1usize..200, hop in 1usize..256, segments in 1usize..5,
        ) {
            let front_end = front_end(1, hop, segments);
            let share = |windows: usize| windows * stride < front_end.window_len();
            let shared = (1..2000).filter(|windows| share(*windows)).count();
            prop_assert_eq!(overlap(&front_end, stride), shared);
        }
    }

    #[test]
    fn a_stride_that_does_not_divide_the_hop_is_refused() {
        let front_end = front_end(1, 128, 1);
        for stride in [0, 48, 256] {
            let error = extract_dense(&[], &[], &front_end, stride).unwrap_err().to_string();
            assert!(error.contains("`hop` of 128") && error.contains(&stride.to_string()));
        }
    }

    #[test]
    fn a_fault_is_reported_where_it_lies() {
        let mut samples: Vec<f32> = (0..600).map(|n| (n * n % 97) as f32).collect();
        samples[400] = f32::NAN;
        let known = [of_samples(1, vec![samples])];
        let front_end = front_end(1, 128, 1);
        let dense = |start: usize| {
            let part = Part { recording: 0, stretch: 0, start, end: start + 256 + 64 };
            extract_dense(&known, &[part], &front_end, 64).map(|features| features.x.nrows())
        };
        assert_eq!(dense(0).unwrap(), 2);
        assert_eq!(dense(144 - 64).unwrap(), 2);
        match dense(145 - 64).unwrap_err() {
            ExtractError::Fault { start, end, .. } => assert_eq!((start, end), (145, 401)),
            error => panic!("{error}"),
        }
    }

    #[test]
    fn a_short_recording_gets_a_smaller_stride_and_a_long_one_the_hop() {
        let usual = |rate_hz| FrontEndSettings::equal_bands(EqualBands::usual(rate_hz, 1)).unwrap();
        let stride = |frames: &[usize], front_end: &FrontEndSettings| {
            let frames: Vec<_> = frames.iter().map(|frames| vec![*frames]).collect();
            stride_for(&split::whole(&frames), front_end)
        };
        let usual = usual(20_000.0);
        let with = |windows: usize, stride: usize| usual.window_len() + (windows - 1) * stride;
        // Two seconds, cut at 60 %.
        assert_eq!(stride(&[24_000], &usual), 256);
        for length in [1024, 512, 256, 128] {
            assert_eq!(stride(&[with(64, length), 200_000], &usual), length);
            assert_eq!(stride(&[with(64, length) - 1], &usual), (length / 2).max(128));
        }
        assert_eq!(stride(&[with(15_000, 1024), 10], &usual), 1024, "30,000 windows are too many");
        assert_eq!(stride(&[with(9_900, 1024), 10], &usual), 512);
        assert_eq!(stride(&[10], &usual), 128, "an eighth of the hop at the least");
        assert_eq!(stride(&[10], &front_end(1, 256, 1)), 128, "128 samples at the least");
        assert_eq!(stride(&[10], &front_end(1, 100, 1)), 100);
        let odd = FrontEndSettings { hop: 1028, ..usual.clone() };
        assert_eq!(stride(&[10], &odd), 257, "an odd stride has no half");
        let long = FrontEndSettings { hop: 2048, ..usual.clone() };
        assert_eq!(stride(&[10], &long), 256);
        // The windows of all parts of a recording count, and each part has its own.
        let parts = split::whole(&[vec![with(41, 1024); 2], vec![with(16, 1024); 5]]);
        assert_eq!(stride_for(&parts, &usual), 1024);
        assert_eq!(stride_for(&parts[1..], &usual), 512);
        // Stretches of one window gain nothing, and would become rare among the others.
        let parts = split::whole(&[vec![with(1, 1024); 60], vec![with(60, 1024)]]);
        assert_eq!(stride_for(&parts, &usual), 1024);
    }
}
