//! Where EM starts: k-means++ seeds, k-means, or what the caller gives.

use ndarray::Array2;
use rand::{Rng, RngExt};
use rayon::prelude::*;

use super::sample::{Rows, Sample, squared_distance};

/// Rows that one task takes at a time, whatever the number of threads.
const CHUNK: usize = 256;

/// k-means stops when the means move less than this share of the data's variance, squared
/// distances summed, as scikit-learn's does.
const TOLERANCE: f64 = 1e-4;
/// k-means stops after this many rounds in any case.
const ROUNDS: usize = 300;

/// Row numbers of `components` seeds by greedy k-means++: each next seed is the best of a few
/// rows drawn with probability proportional to the squared distance to the seeds so far.
pub(super) fn seeds<T: Sample>(
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
        let potential: Vec<f64> =
            nearest.iter().enumerate().map(|(i, d)| d * rows.weight(i)).collect();
        let best = (0..trials)
            .map(|_| draw(&potential, rng))
            .map(|candidate| {
                let after = distances(rows, candidate, &nearest);
                let sum: f64 = after.iter().enumerate().map(|(i, d)| d * rows.weight(i)).sum();
                (sum, candidate, after)
            })
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, candidate, after)) = best {
            chosen.push(candidate);
            nearest = after;
        }
    }
    chosen
}

/// An index drawn with probability proportional to `weights`; any index where all are zero,
/// which happens when there are fewer distinct rows than components.
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

/// Squared distances to row `seed` where they are below `nearest`, otherwise `nearest`.
fn distances<T: Sample>(rows: &Rows<T>, seed: usize, nearest: &[f64]) -> Vec<f64> {
    let seed = rows.row(seed);
    let arch = pulp::Arch::new();
    let mut out = nearest.to_vec();
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(c, out)| {
        arch.dispatch(
            #[inline(always)]
            || {
                for (i, nearest) in out.iter_mut().enumerate() {
                    let distance = squared_distance(rows.row(c * CHUNK + i), seed, *nearest);
                    *nearest = nearest.min(distance);
                }
            },
        );
    });
    out
}

/// The nearest mean of each row into `assignment`, whose values before are taken as guesses.
pub(super) fn assign<T: Sample>(rows: &Rows<T>, means: &Array2<f64>, assignment: &mut [u32]) {
    let means = means.mapv(T::from_f64);
    let means: Vec<&[T]> = means.rows().into_iter().filter_map(|r| r.to_slice()).collect();
    let arch = pulp::Arch::new();
    assignment.par_chunks_mut(CHUNK).enumerate().for_each(|(c, assignment)| {
        arch.dispatch(
            #[inline(always)]
            || {
                for (i, nearest) in assignment.iter_mut().enumerate() {
                    let x = rows.row(c * CHUNK + i);
                    let guess = *nearest as usize;
                    let mut best = squared_distance(x, means[guess], f64::INFINITY);
                    for (k, mean) in means.iter().enumerate() {
                        if k != guess {
                            let distance = squared_distance(x, mean, best);
                            if distance < best {
                                best = distance;
                                *nearest = k as u32;
                            }
                        }
                    }
                }
            },
        );
    });
}

/// Means and assignment of k-means from the given means (Lloyd's rounds).
pub(super) fn k_means<T: Sample>(
    rows: &Rows<T>,
    mut means: Array2<f64>,
) -> (Array2<f64>, Vec<u32>) {
    let mut assignment = vec![0; rows.len()];
    let tolerance = TOLERANCE * mean_variance(rows);
    for _ in 0..ROUNDS {
        assign(rows, &means, &mut assignment);
        let statistics = super::expectation::assigned(
            rows,
            &mut assignment,
            means.view(),
            super::CovarianceKind::Tied,
        );
        let mut moved = 0.0;
        for ((mut mean, first), count) in
            means.outer_iter_mut().zip(statistics.first.outer_iter()).zip(&statistics.counts)
        {
            if *count > 0.0 {
                let step = &first / *count;
                moved += step.dot(&step);
                mean += &step;
            }
        }
        if moved <= tolerance {
            break;
        }
    }
    assign(rows, &means, &mut assignment);
    (means, assignment)
}

/// The variance of the rows, mean over the dimensions.
fn mean_variance<T: Sample>(rows: &Rows<T>) -> f64 {
    let centre = row_mean(rows);
    let mut assignment = vec![0; rows.len()];
    let centres = centre.insert_axis(ndarray::Axis(0));
    let statistics = super::expectation::assigned(
        rows,
        &mut assignment,
        centres.view(),
        super::CovarianceKind::Diagonal,
    );
    statistics.second.sum() / (statistics.counts[0] * rows.dimensions() as f64)
}

/// The weighted mean of the rows.
pub(super) fn row_mean<T: Sample>(rows: &Rows<T>) -> ndarray::Array1<f64> {
    let mut assignment = vec![0; rows.len()];
    let centres = Array2::zeros((1, rows.dimensions()));
    let statistics = super::expectation::assigned(
        rows,
        &mut assignment,
        centres.view(),
        super::CovarianceKind::Tied,
    );
    statistics.first.row(0).to_owned() / statistics.counts[0]
}
