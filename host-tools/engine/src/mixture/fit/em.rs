//! Expectation maximisation: fits a mixture to a feature matrix.

use std::sync::atomic::{AtomicBool, Ordering};

use ndarray::{Array2, ArrayView2};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::check::{check_data, check_settings, constant_columns};
use super::maximisation::Background;
use super::start::{k_means, sample, seeds};
use crate::mixture::engine::expectation::{Evaluator, Nearest, NotPositiveDefinite};
use crate::mixture::engine::moments::Moments;
use crate::mixture::engine::near::worthwhile;
use crate::mixture::engine::tiles::log_likelihoods;
use crate::mixture::sample::{Rows, Sample};
use crate::mixture::{CovarianceKind, Mixture, MixtureError};

/// Settings of EM. Names and meanings follow scikit-learn if it has them.
#[derive(Debug, Clone, PartialEq)]
pub struct EmSettings {
    /// Number of components K.
    pub components: usize,
    /// Shape of the covariances.
    pub covariance: CovarianceKind,
    /// Stop when the mean log-likelihood per sample changes by less than this (`tol`).
    pub tolerance: f64,
    /// Stop after this many iterations (`max_iter`).
    pub max_iterations: usize,
    /// Added to every variance in every M-step (`reg_covar`), so no variance is ever below it. For
    /// tied and full covariances it is added to the diagonal.
    pub variance_floor: f64,
    /// Number of starts, each with new random numbers; the likeliest fit wins (`n_init`). It has no
    /// use with a given start.
    pub restarts: usize,
    /// Seed of the random numbers. The same seed gives the same mixture on any number of threads.
    pub seed: u64,
    /// The starting point.
    pub start: Start,
    /// A component with fewer samples than this is moved to the sample that the mixture explains
    /// worst, and counted in [`Fit::reseeded`]. Zero leaves such components alone, as scikit-learn
    /// does.
    pub minimum_count: f64,
}

impl EmSettings {
    /// Diagonal covariance, one k-means start, and scikit-learn's defaults for everything else.
    pub fn new(components: usize) -> Self {
        Self {
            components,
            covariance: CovarianceKind::Diagonal,
            tolerance: 1e-3,
            max_iterations: 100,
            variance_floor: 1e-6,
            restarts: 1,
            seed: 0,
            start: Start::KMeans,
            minimum_count: 0.5,
        }
    }
}

/// The starting point of EM.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// k-means from k-means++ seeds, run until it settles.
    KMeans,
    /// k-means++ seeds alone.
    KMeansPlusPlus,
    /// These means, K × d. Weights and covariances come from the samples nearest to each mean.
    Means(Array2<f64>),
    /// This mixture.
    Mixture(Mixture),
}

/// A fitted mixture and the course of the fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// The mixture.
    pub mixture: Mixture,
    /// Mean log-likelihood per sample in the last E-step, that is, before the last M-step
    /// (scikit-learn's `lower_bound_`).
    pub log_likelihood: f64,
    /// Number of iterations.
    pub iterations: usize,
    /// Whether the tolerance was reached before the iteration limit.
    pub converged: bool,
    /// How many times a component lost its samples and was moved.
    pub reseeded: usize,
    /// The restart that won, counted from zero.
    pub restart: usize,
    /// Columns that are constant over all samples. Their variance is the variance floor alone.
    pub constant_columns: Vec<usize>,
}

/// Progress of a running fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// The restart, counted from zero.
    pub restart: usize,
    /// Number of iterations so far.
    pub iteration: usize,
    /// Mean log-likelihood per sample in this iteration.
    pub log_likelihood: f64,
}

/// Fits a mixture to the rows of `x`. Each row counts `sample_weights` times (once if `None`).
///
/// The matrix is used in place, in its own precision. It is copied only if it is not in standard
/// layout. `progress` is called after each iteration, from any thread.
pub fn fit<T: Sample>(
    x: ArrayView2<T>,
    sample_weights: Option<&[f64]>,
    settings: &EmSettings,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Fit, MixtureError> {
    check_data(x, sample_weights)?;
    let x = x.as_standard_layout();
    let Some(rows) = Rows::new(x.view(), sample_weights) else {
        unreachable!("the matrix was just put in standard layout");
    };
    awake(|| fit_rows(&rows, settings, 0, progress))
}

/// Does the work while one more thread looks for a share in it without ever falling asleep.
///
/// The steps of an iteration are often shorter than the time to wake a sleeping thread. The second
/// thread would come too late for all of them. OpenMP's threads spin for the same reason. This
/// thread yields whenever it finds nothing to do: the kernel may wake it on the same processor as
/// the thread it should help, and spinning there would halve the speed until one of them is moved.
/// Other threads may sleep: if there is work for them, it lasts longer.
fn awake<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let done = AtomicBool::new(false);
    let working = || {
        // Set even if the work panics. Otherwise the other thread would never return.
        let _guard = OnDrop(&done);
        work()
    };
    let waiting = || {
        while !done.load(Ordering::Acquire) {
            if rayon::yield_now() != Some(rayon::Yield::Executed) {
                std::thread::yield_now();
            }
        }
    };
    rayon::join(working, waiting).0
}

/// Sets a flag when it is dropped.
struct OnDrop<'a>(&'a AtomicBool);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Fits a mixture to checked rows. `stream` separates the random numbers of fits with the same
/// seed.
pub(in crate::mixture) fn fit_rows<T: Sample>(
    rows: &Rows<T>,
    settings: &EmSettings,
    stream: u64,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Fit, MixtureError> {
    check_settings(rows, settings)?;
    let fits: Vec<_> = (0..settings.restarts)
        .into_par_iter()
        .map(|restart| {
            // Streams of neighbouring numbers are unrelated, because seeding uses SplitMix64.
            let seed = settings
                .seed
                .wrapping_add(stream.wrapping_mul(0x9E37_79B9_7F4A_7C15))
                .wrapping_add((restart as u64).wrapping_mul(0xD1B5_4A32_D192_ED03));
            run(rows, settings, restart, seed, progress)
        })
        .collect();
    let mut best: Option<Fit> = None;
    for fit in fits {
        let fit = fit?;
        if best.as_ref().is_none_or(|b| fit.log_likelihood > b.log_likelihood) {
            best = Some(fit);
        }
    }
    let Some(mut best) = best else {
        unreachable!("settings with no restarts are refused");
    };
    best.constant_columns = constant_columns(rows);
    Ok(best)
}

fn run<T: Sample>(
    rows: &Rows<T>,
    settings: &EmSettings,
    restart: usize,
    seed: u64,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Fit, MixtureError> {
    let singular = |NotPositiveDefinite(component)| MixtureError::Singular { component };
    let background = Background::new(rows, settings.covariance, settings.variance_floor);
    let mut mixture = start(rows, settings, &background, seed);
    let weight = rows.total_weight();
    let least = settings.minimum_count * weight / rows.len() as f64;
    // Every re-seeding may take samples from another component. This limit stops the oscillation.
    let mut chances = 2 * settings.components;
    let bounded = worthwhile(rows, settings.components)
        && matches!(settings.covariance, CovarianceKind::Diagonal | CovarianceKind::Spherical);
    let mut moments = Moments::new(rows, settings.components, settings.covariance, bounded);
    let mut before = None;
    let mut log_likelihood = f64::NEG_INFINITY;
    let (mut iterations, mut converged, mut reseeded) = (0, false, 0);
    crate::progress::expect(settings.max_iterations);
    while iterations < settings.max_iterations && !converged {
        crate::progress::pulse();
        iterations += 1;
        let evaluator = Evaluator::new(&mixture, before.as_ref()).map_err(singular)?;
        moments.sum(rows, mixture.means.view(), &evaluator);
        let last = std::mem::replace(&mut mixture, background.maximise(&moments));
        let statistics = moments.total();
        let mut lost: Vec<usize> =
            (0..settings.components).filter(|&k| statistics.counts[k] < least).collect();
        lost.truncate(chances);
        if !lost.is_empty() {
            let likelihoods = log_likelihoods(&last, rows).map_err(singular)?;
            background.reseed(&mut mixture, &lost, &likelihoods);
            chances -= lost.len();
            reseeded += lost.len();
        }
        before = Some(last);
        let previous = std::mem::replace(&mut log_likelihood, statistics.log_likelihood / weight);
        if !log_likelihood.is_finite() {
            return Err(MixtureError::Overflow);
        }
        progress(Progress { restart, iteration: iterations, log_likelihood });
        crate::progress::done(1);
        converged = lost.is_empty() && (log_likelihood - previous).abs() < settings.tolerance;
    }
    crate::progress::spared(settings.max_iterations - iterations);
    Ok(Fit {
        mixture,
        log_likelihood,
        iterations,
        converged,
        reseeded,
        restart,
        constant_columns: Vec::new(),
    })
}

/// The mixture to start from.
fn start<T: Sample>(
    rows: &Rows<T>,
    settings: &EmSettings,
    background: &Background<T>,
    seed: u64,
) -> Mixture {
    let means = match &settings.start {
        Start::Mixture(mixture) => return mixture.clone(),
        Start::Means(means) => means.clone(),
        Start::KMeans | Start::KMeansPlusPlus => {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let sample = sample(rows, settings.components, &mut rng);
            let rows = rows.select(&sample);
            let chosen = seeds(&rows, settings.components, &mut rng);
            let means = Array2::from_shape_fn((chosen.len(), rows.dimensions()), |(k, j)| {
                rows.row(chosen[k])[j].into()
            });
            match settings.start {
                Start::KMeans => k_means(&rows, means),
                _ => means,
            }
        }
    };
    let mut moments = Moments::new(rows, settings.components, settings.covariance, false);
    moments.sum(rows, means.view(), &Nearest::new(&means, None));
    let mut mixture = background.maximise(&moments);
    if let Start::Means(given) = &settings.start {
        mixture.means.assign(given);
    }
    // If no sample is nearest to a component, it needs some weight to win any.
    let share = 1.0 / rows.len() as f64;
    mixture.weights.mapv_inplace(|w| w.max(share));
    let total = mixture.weights.sum();
    mixture.weights /= total;
    mixture
}
