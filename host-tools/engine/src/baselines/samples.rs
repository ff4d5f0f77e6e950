//! Samples for the methods with a plan between samples: in f64, and thinned.

use std::time::Instant;

use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2, ArrayView2};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{BaselineError, Classifier, ClassifierKind, Fitted, Nearest, Seconds, Settings, Task};
use crate::adapt::softmax::{self, Softmax};
use crate::mixture::Sample;

/// Source samples with labels and target samples, in f64 and thinned.
pub(super) struct Samples {
    pub(super) source: Array2<f64>,
    pub(super) labels: Vec<usize>,
    pub(super) pool: Array2<f64>,
    pub(super) classes: usize,
}

/// Source samples carried over to the target, and the time for finding the target's structure.
pub(super) type Carried = Result<(Array2<f64>, f64), BaselineError>;

/// Carries the source samples over and trains the classifier on them.
pub(super) fn with_classifier<T: Sample>(
    task: &Task<'_, T>,
    settings: &Settings,
    carry: impl Fn(&Samples, &Settings) -> Carried,
) -> Result<Fitted, BaselineError> {
    if settings.max_samples == 0 {
        let (name, allowed) = ("max_samples", "at least 1");
        return Err(BaselineError::Setting { name, value: 0.0, allowed });
    }
    let samples = samples(task, settings);
    let start = Instant::now();
    let (carried, fit_target) = carry(&samples, settings)?;
    let transport = start.elapsed().as_secs_f64() - fit_target;
    let start = Instant::now();
    let Samples { source, labels, classes, .. } = samples;
    let classifier = match settings.classifier {
        ClassifierKind::Softmax => {
            let weights = vec![1.0; labels.len()];
            let options = relative_penalty(&settings.softmax, source.view());
            let softmax = Softmax::train(&carried, &labels, &weights, classes, &options)?;
            Classifier::Softmax(softmax)
        }
        ClassifierKind::Nearest => {
            Classifier::Nearest(Nearest { samples: carried, labels, classes })
        }
    };
    let fit_source = start.elapsed().as_secs_f64();
    Ok(Fitted { classifier, seconds: Seconds { fit_source, fit_target, transport } })
}

fn samples<T: Sample>(task: &Task<'_, T>, settings: &Settings) -> Samples {
    let (n, limit) = (task.labels.len(), settings.max_samples);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(settings.seed);
    let mut chosen = Vec::with_capacity(n.min(limit));
    for class in 0..task.classes {
        let members: Vec<usize> = (0..n).filter(|&row| task.labels[row] == class).collect();
        // At least one row of every class stays.
        let share = (members.len() * limit / n).max(1);
        chosen.extend(thinned(members.len(), share, &mut rng).into_iter().map(|i| members[i]));
    }
    chosen.sort_unstable();
    let pool = thinned(task.pool.nrows(), limit, &mut rng);
    Samples {
        source: to_f64(&task.source, &chosen),
        labels: chosen.iter().map(|&row| task.labels[row]).collect(),
        pool: to_f64(&task.pool, &pool),
        classes: task.classes,
    }
}

/// At most `limit` of the indices `0..len`: a random one from each of `limit` equal stretches. Even
/// steps could coincide with a period in the rows.
fn thinned(len: usize, limit: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<usize> {
    let count = len.min(limit);
    (0..count).map(|i| rng.random_range(i * len / count..(i + 1) * len / count)).collect()
}

/// The rows in f64.
fn to_f64<T: Sample>(x: &ArrayRef2<T>, rows: &[usize]) -> Array2<f64> {
    Array2::from_shape_fn((rows.len(), x.ncols()), |(i, j)| x[[rows[i], j]].into())
}

/// The options with a penalty relative to the total variance of the source's columns.
pub(super) fn relative_penalty<T: Sample>(
    options: &softmax::Options,
    source: ArrayView2<'_, T>,
) -> softmax::Options {
    let n = source.nrows() as f64;
    // Row by row, as the matrix lies in memory.
    let mut means = vec![0.0; source.ncols()];
    for row in source.rows() {
        means.iter_mut().zip(row).for_each(|(mean, &v)| *mean += v.into() / n);
    }
    let mut total = 0.0;
    for row in source.rows() {
        let squares = row.iter().zip(&means).map(|(&v, mean)| (v.into() - mean).powi(2));
        total += squares.sum::<f64>() / n;
    }
    let unit = if total > 0.0 { options.unit * total.sqrt() } else { options.unit };
    softmax::Options { unit, ..*options }
}

/// Equal weights.
pub(super) fn uniform(len: usize) -> Vec<f64> {
    vec![1.0 / len as f64; len]
}

/// Mean of each column.
pub(super) fn column_means(x: &ArrayRef2<f64>) -> Array1<f64> {
    x.sum_axis(ndarray::Axis(0)) / x.nrows() as f64
}

/// Rows minus a vector.
pub(super) fn centred(x: &ArrayRef2<f64>, mean: &ArrayRef1<f64>) -> Array2<f64> {
    &x.view() - &mean.view().insert_axis(ndarray::Axis(0))
}
