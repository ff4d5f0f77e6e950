//! How many windows without a common sample some windows stand for, and what few of them cost.

/// Number of windows without a common sample that the windows at `rows` stand for.
///
/// `rows` are in ascending order, and `recording` is the recording of each row of the pool. Windows
/// next to each other start `share` of a window apart.
pub(super) fn independent(
    recording: &[usize],
    rows: impl IntoIterator<Item = usize>,
    share: f64,
) -> f64 {
    let mut last: Option<usize> = None;
    let mut count = 0.0;
    for row in rows {
        let next = last.is_some_and(|last| row == last + 1 && recording[row] == recording[last]);
        count += if next { share } else { 1.0 };
        last = Some(row);
    }
    count
}

/// How much farther a new window lies from a mixture than from the true distribution, as a factor
/// of the distance, if each component has `n` independent windows.
///
/// The mean of n windows is off by a share 1/n of the variance: (n + 1)/n. A variance from n
/// windows and four known ones is too small for some features and too large for others, and the
/// mean of its inverse is larger by (n + 3)/(n + 1). The product is 1 + 3/n.
pub(super) fn inflation(n: f64) -> f64 {
    1.0 + 3.0 / n
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::simulate::random::Random;

    proptest! {
        /// Marks the samples of windows of 12 samples, one by one.
        #[test]
        fn rows_stand_for_the_samples_that_they_span(
            recording in prop::collection::vec(0_usize..3, 1..40).prop_map(|mut r| { r.sort_unstable(); r }),
            keep in prop::collection::vec(any::<bool>(), 40),
            stride in 1_usize..=12,
        ) {
            let rows: Vec<usize> = (0..recording.len()).filter(|row| keep[*row]).collect();
            let share = stride as f64 / 12.0;
            let naive: f64 = (0..3)
                .map(|of: usize| {
                    let own: Vec<usize> = rows.iter().copied().filter(|row| recording[*row] == of).collect();
                    let runs = own.chunk_by(|a, b| a + 1 == *b);
                    runs.map(|run| ((run.len() - 1) * stride + 12) as f64 / 12.0).sum::<f64>()
                })
                .sum();
            prop_assert!((independent(&recording, rows, share) - naive).abs() < 1e-9);
        }
    }

    /// Simulated: mean and shrunk variance of few windows, then the distance of a new one.
    #[test]
    fn few_windows_inflate_the_distance_as_said() {
        let mut random = Random::new(7, 0);
        for n in [4_usize, 8, 20] {
            let (mut sum, trials) = (0.0, 40_000);
            for _ in 0..trials {
                let x: Vec<f64> = (0..n).map(|_| random.normal()).collect();
                let mean = x.iter().sum::<f64>() / n as f64;
                let square: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
                // Four windows of a machine whose variance is known to be like this one's, give or
                // take: as much as four windows can say.
                let known: f64 = (0..4).map(|_| random.normal().powi(2)).sum();
                let variance = (square + known) / (n as f64 + 3.0);
                sum += (random.normal() - mean).powi(2) / variance;
            }
            let (simulated, said) = (sum / f64::from(trials), inflation(n as f64));
            assert!((simulated / said - 1.0).abs() < 0.05, "{n}: {simulated} for {said}");
        }
    }
}
