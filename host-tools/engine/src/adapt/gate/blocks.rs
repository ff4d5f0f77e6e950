//! Blocks of windows to hold out in turn, so that every window is scored by a mixture that was not
//! fitted on it.

/// Number of blocks.
const BLOCKS: usize = 5;
/// A recording with fewer windows is held out whole.
const LEAST_WINDOWS: usize = 2 * BLOCKS;

/// Rows that are held out together, and the rows to fit on meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// Rows to fit on. None of their windows shares a sample with a held-out window.
    pub(super) fit: Vec<usize>,
    /// Rows that are held out, in ascending order.
    pub(super) held_out: Vec<usize>,
}

/// Cuts windows into up to five blocks. Each window is held out once.
///
/// Every recording is cut in time, so that each of its states is fitted on in every turn. Only
/// recordings of fewer than ten windows are held out whole. `recording` is the recording of each
/// row; `overlap` is the number of windows after a window that share samples with it.
pub(super) fn blocks(recording: &[usize], overlap: usize) -> Vec<Block> {
    let lengths: Vec<usize> = recording.chunk_by(|a, b| a == b).map(<[usize]>::len).collect();
    let short = lengths.iter().filter(|length| **length < LEAST_WINDOWS).count();
    // Too few recordings to hold them out whole: what is left would not stand for the machine.
    let cut_all = lengths.len() < BLOCKS;
    let mut blocks = vec![Block { fit: Vec::new(), held_out: Vec::new() }; BLOCKS];
    let (mut start, mut chained) = (0, 0);
    for length in lengths {
        let whole = !cut_all && length < LEAST_WINDOWS;
        for (index, block) in blocks.iter_mut().enumerate() {
            let edge = |index: usize| (index * length).div_ceil(BLOCKS);
            let held_out = match whole {
                true if chained * BLOCKS / short == index => 0..length,
                true => 0..0,
                false => edge(index)..edge(index + 1),
            };
            block.held_out.extend(held_out.clone().map(|row| start + row));
            let near = if held_out.is_empty() {
                0..0
            } else {
                held_out.start.saturating_sub(overlap)..held_out.end + overlap
            };
            block.fit.extend((0..length).filter(|row| !near.contains(row)).map(|row| start + row));
        }
        chained += usize::from(whole);
        start += length;
    }
    blocks.retain(|block| !block.fit.is_empty() && !block.held_out.is_empty());
    blocks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn recordings(lengths: &[usize]) -> Vec<usize> {
        lengths.iter().enumerate().flat_map(|(index, length)| vec![index; *length]).collect()
    }

    #[test]
    fn long_recordings_are_cut_and_short_ones_held_out_whole() {
        let found = blocks(&recordings(&[12, 3, 3, 3, 3, 3]), 1);
        let held_out: Vec<_> = found.iter().map(|block| block.held_out.clone()).collect();
        assert_eq!(
            held_out,
            [
                vec![0, 1, 2, 12, 13, 14],
                vec![3, 4, 15, 16, 17],
                vec![5, 6, 7, 18, 19, 20],
                vec![8, 9, 21, 22, 23],
                vec![10, 11, 24, 25, 26],
            ]
        );
        let fit: Vec<usize> = (0..2).chain(6..15).chain(18..27).collect();
        assert_eq!(found[1].fit, fit);
        // A single short recording cannot be held out whole.
        assert_eq!(blocks(&[0; 7], 0).len(), 5);
        assert!(blocks(&[0; 7], 7).is_empty());
    }

    proptest! {
        #[test]
        fn each_window_is_held_out_once_and_shares_no_sample_with_fitted_ones(
            lengths in prop::collection::vec(1_usize..40, 1..12), overlap in 0_usize..6,
        ) {
            let recording = recordings(&lengths);
            let found = blocks(&recording, overlap);
            let mut all: Vec<usize> = found.iter().flat_map(|block| block.held_out.clone()).collect();
            all.sort_unstable();
            all.dedup();
            let held_out: usize = found.iter().map(|block| block.held_out.len()).sum();
            prop_assert_eq!(all.len(), held_out);
            if found.len() == BLOCKS {
                prop_assert_eq!(held_out, recording.len());
            }
            for block in &found {
                for row in 0..recording.len() {
                    let near = |other: &usize| {
                        recording[row] == recording[*other] && row.abs_diff(*other) <= overlap
                    };
                    prop_assert_eq!(block.fit.contains(&row), !block.held_out.iter().any(near));
                }
            }
        }
    }
}
