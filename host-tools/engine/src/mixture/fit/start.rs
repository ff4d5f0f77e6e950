//! Starting points for EM: k-means++ seeds and k-means.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use ndarray::Array2;
use rand::{Rng, RngExt};
use rayon::prelude::*;

use super::maximisation::Background;
use crate::mixture::CovarianceKind;
use crate::mixture::engine::expectation::Nearest;
use crate::mixture::engine::kernel::squared_distance;
use crate::mixture::engine::moments::Moments;
use crate::mixture::engine::near::worthwhile;
use crate::mixture::sample::{Rows, Sample};
use crate::progress::pulse;

/// Number of rows in one task, for any number of threads.
const CHUNK: usize = 256;
/// Number of rows per component for finding a start. More would hardly change the means, and EM
/// changes them anyway.
const ROWS_PER_COMPONENT: usize = 64;

/// k-means stops when the means move by less than this fraction of the data's variance, measured by
/// the sum of squared distances, like scikit-learn's.
const TOLERANCE: f64 = 1e-4;
/// k-means stops after this many rounds at the latest.
const ROUNDS: usize = 300;

/// The rows to start from, in order, as row numbers of the whole matrix. These are all rows, or one
/// random row from each of the required number of equal stretches, so that all times are
/// represented.
pub(in crate::mixture) fn sample<T: Sample>(
    rows: &Rows<T>,
    components: usize,
    rng: &mut impl Rng,
) -> Vec<usize> {
    let weighted: Vec<usize> =
        (0..rows.len()).filter(|&i| rows.weight(i) > 0.0).map(|i| rows.index(i)).collect();
    let wanted = components * ROWS_PER_COMPONENT;
    if weighted.len() <= wanted {
        return weighted;
    }
    let at = |stretch: usize| stretch * weighted.len() / wanted;
    (0..wanted).map(|i| weighted[rng.random_range(at(i)..at(i + 1))]).collect()
}

/// Row numbers of `components` seeds by greedy k-means++: each next seed is the best of a few
/// rows drawn with probability proportional to the squared distance to the seeds so far.
pub(in crate::mixture) fn seeds<T: Sample>(
    rows: &Rows<T>,
    components: usize,
    rng: &mut impl Rng,
) -> Vec<usize> {
    let n = rows.len();
    let trials = 2 + (components as f64).ln() as usize;
    let mut nearest: Vec<f64> = (0..n).map(|i| rows.weight(i)).collect();
    let first = draw(&nearest, rng);
    let mut chosen = vec![first];
    nearest.fill(f64::INFINITY);
    nearest = distances(rows, first, &nearest);
    while chosen.len() < components {
        pulse();
        let potential: Vec<f64> =
            nearest.iter().enumerate().map(|(i, d)| d * rows.weight(i)).collect();
        let candidates: Vec<usize> = (0..trials).map(|_| draw(&potential, rng)).collect();
        let best = candidates
            .into_par_iter()
            .map(|candidate| {
                let after = distances(rows, candidate, &nearest);
                let sum: f64 = after.iter().enumerate().map(|(i, d)| d * rows.weight(i)).sum();
                (sum, candidate, after)
            })
            .collect::<Vec<_>>()
            .into_iter()
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, candidate, after)) = best {
            chosen.push(candidate);
            nearest = after;
        }
    }
    chosen
}

/// An index drawn with probability proportional to `weights`. If all are zero, any index may be
/// drawn. This happens if there are fewer distinct rows than components.
fn draw(weights: &[f64], rng: &mut impl Rng) -> usize {
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return rng.random_range(0..weights.len());
    }
    let mut left = rng.random::<f64>() * total;
    for (i, w) in weights.iter().enumerate() {
        left -= w;
        if left < 0.0 && *w > 0.0 {
            return i;
        }
    }
    weights.iter().rposition(|w| *w > 0.0).unwrap_or(0)
}

/// For each row, the smaller of `nearest` and the squared distance to row `seed`.
fn distances<T: Sample>(rows: &Rows<T>, seed: usize, nearest: &[f64]) -> Vec<f64> {
    let seed = rows.row(seed);
    let arch = pulp::Arch::new();
    let mut out = nearest.to_vec();
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, nearest)| {
        arch.dispatch(Distances { rows, from: chunk * CHUNK, seed, nearest });
    });
    out
}

/// The rows of one task, compiled for the instructions found at run time.
struct Distances<'a, T> {
    rows: &'a Rows<'a, T>,
    from: usize,
    seed: &'a [T],
    nearest: &'a mut [f64],
}

impl<T: Sample> pulp::WithSimd for Distances<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<Instructions: pulp::Simd>(self, _: Instructions) {
        for (i, nearest) in self.nearest.iter_mut().enumerate() {
            let distance = squared_distance(self.rows.row(self.from + i), self.seed, *nearest);
            *nearest = nearest.min(distance);
        }
    }
}

/// The means that k-means reaches from the given means (Lloyd's rounds).
pub(in crate::mixture) fn k_means<T: Sample>(
    rows: &Rows<T>,
    mut means: Array2<f64>,
) -> Array2<f64> {
    let tolerance =
        TOLERANCE * Background::new(rows, CovarianceKind::Diagonal, 0.0).mean_variance();
    let bounded = worthwhile(rows, means.nrows());
    let mut moments = Moments::new(rows, means.nrows(), CovarianceKind::Tied, bounded);
    let mut before = None;
    for _ in 0..ROUNDS {
        pulse();
        moments.sum(rows, means.view(), &Nearest::new(&means, before.as_ref()));
        before = Some(means.clone());
        let statistics = moments.total();
        let mut moved = 0.0;
        let sums = statistics.first.outer_iter().zip(&statistics.counts);
        let sums = sums.zip(moments.centres.outer_iter());
        for (mut mean, ((first, &count), centre)) in means.outer_iter_mut().zip(sums) {
            if count > 0.0 {
                let now = &centre + &(&first / count);
                mean -= &now;
                moved += mean.dot(&mean);
                mean.assign(&now);
            }
        }
        if moved <= tolerance {
            break;
        }
    }
    means
}
