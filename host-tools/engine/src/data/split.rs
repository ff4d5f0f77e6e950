//! Splits recordings in time: the first part of each, and the rest.
//!
//! Overlapping windows of one recording are near-copies. If windows were shuffled before a split, a
//! model would be tested on the data it was fitted on. So a split cuts the samples, and each window
//! lies inside one [`Part`].

use std::ops::Range;

/// A contiguous range of frames of one stretch; never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Index of the recording.
    pub recording: usize,
    /// Index of the stretch in its recording.
    pub stretch: usize,
    /// First frame.
    pub start: usize,
    /// The frame after the last one.
    pub end: usize,
}

impl Part {
    /// The frames.
    pub fn frames(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// The two sides of a split, each in the order of the recordings and of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The beginning of each recording.
    pub first: Vec<Part>,
    /// The rest of each recording.
    pub last: Vec<Part>,
}

/// The error for a split fraction that is not strictly between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("a split at {0}; the first part's share must be above 0 and below 1, for example 0.6")]
pub struct SplitError(pub f64);

/// Splits recordings in time: `fraction` of each goes to the first side.
///
/// `frames` holds the number of frames of each stretch of each recording. A recording of one
/// stretch is cut at the frame nearest to the fraction. A recording of several stretches is cut
/// between two stretches. If there are at least two frames (or stretches), both sides get at least
/// one.
pub fn in_time(frames: &[Vec<usize>], fraction: f64) -> Result<Split, SplitError> {
    if !(fraction > 0.0 && fraction < 1.0) {
        return Err(SplitError(fraction));
    }
    let mut split = Split { first: Vec::new(), last: Vec::new() };
    for (recording, stretches) in frames.iter().enumerate() {
        if let [len] = *stretches.as_slice() {
            let cut = cut(len, fraction);
            push(&mut split.first, recording, 0, 0..cut);
            push(&mut split.last, recording, 0, cut..len);
        } else {
            let cut = cut(stretches.len(), fraction);
            for (stretch, &len) in stretches.iter().enumerate() {
                let side = if stretch < cut { &mut split.first } else { &mut split.last };
                push(side, recording, stretch, 0..len);
            }
        }
    }
    Ok(split)
}

/// All stretches as parts, without a split.
pub fn whole(frames: &[Vec<usize>]) -> Vec<Part> {
    let mut parts = Vec::new();
    for (recording, stretches) in frames.iter().enumerate() {
        for (stretch, &len) in stretches.iter().enumerate() {
            push(&mut parts, recording, stretch, 0..len);
        }
    }
    parts
}

/// The number of items out of `n` that go to the first side.
fn cut(n: usize, fraction: f64) -> usize {
    let nearest = (n as f64 * fraction).round() as usize;
    nearest.clamp(n.min(1), n.saturating_sub(1).max(n.min(1)))
}

fn push(side: &mut Vec<Part>, recording: usize, stretch: usize, frames: Range<usize>) {
    if !frames.is_empty() {
        side.push(Part { recording, stretch, start: frames.start, end: frames.end });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_segment_is_cut_at_the_frame_and_a_list_between_segments() {
        let split = in_time(&[vec![1000], vec![3500; 103]], 0.6).unwrap();
        assert_eq!(split.first[0].frames(), 0..600);
        assert_eq!(split.last[0].frames(), 600..1000);
        // 0.6 × 103 = 61.8
        assert_eq!((split.first.len(), split.last.len()), (1 + 62, 1 + 41));
        assert_eq!(split.last[1].stretch, 62);
    }

    #[test]
    fn both_sides_get_something_where_there_are_two() {
        let split = in_time(&[vec![2], vec![5, 5]], 0.99).unwrap();
        assert_eq!((split.first.len(), split.last.len()), (2, 2));
        let split = in_time(&[vec![1], vec![], vec![0]], 0.01).unwrap();
        assert_eq!((split.first.len(), split.last.len()), (1, 0));
    }

    #[test]
    fn a_share_that_leaves_a_side_empty_is_refused() {
        for fraction in [0.0, 1.0, -0.5, 1.5, f64::NAN, f64::INFINITY] {
            let message = in_time(&[vec![10]], fraction).unwrap_err().to_string();
            assert!(message.contains("above 0 and below 1"), "{message}");
        }
    }

    proptest! {
        #[test]
        fn parts_cover_never_overlap_and_keep_the_order(
            frames in prop::collection::vec(prop::collection::vec(0usize..50, 0..6), 0..6),
            fraction in 0.001f64..0.999,
        ) {
            let split = in_time(&frames, fraction).unwrap();
            let place = |p: &Part| (p.recording, p.stretch, p.start);
            for side in [&split.first, &split.last] {
                prop_assert!(side.is_sorted_by(|a, b| place(a) < place(b)));
                prop_assert!(side.iter().all(|p| p.start < p.end));
            }
            // Counts how often each frame is given out. Exactly once means full cover and no
            // overlap.
            let mut given: Vec<Vec<Vec<u32>>> = frames
                .iter()
                .map(|stretches| stretches.iter().map(|&len| vec![0; len]).collect())
                .collect();
            for part in split.first.iter().chain(&split.last) {
                for frame in part.frames() {
                    given[part.recording][part.stretch][frame] += 1;
                }
            }
            prop_assert!(given.iter().flatten().flatten().all(|&n| n == 1));
            // In each recording the whole first side comes before the last side.
            for early in &split.first {
                for late in split.last.iter().filter(|late| late.recording == early.recording) {
                    prop_assert!(place(early) < place(late));
                }
            }
            // The share is met to within one frame or one stretch.
            for (recording, stretches) in frames.iter().enumerate().filter(|(_, s)| s.len() == 1) {
                let first: usize = split.first.iter().filter(|p| p.recording == recording)
                    .map(|p| p.end - p.start).sum();
                prop_assert!((first as f64 - stretches[0] as f64 * fraction).abs() <= 1.0);
            }
            let mut all = [split.first, split.last].concat();
            all.sort_by_key(place);
            let total = |parts: &[Part]| parts.iter().map(|p| p.end - p.start).sum::<usize>();
            prop_assert_eq!(total(&all), total(&whole(&frames)));
        }
    }
}
