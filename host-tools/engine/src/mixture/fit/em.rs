//! Expectation maximisation: a feature matrix to a mixture.

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

/// How EM is to run. Names and meanings are scikit-learn's where it has them.
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
    /// Added to every variance in every M-step (`reg_covar`), so that none is ever below it;
    /// to the diagonal of tied and full covariances.
    pub variance_floor: f64,
    /// How many times to start, each from new random numbers; the likeliest fit wins
    /// (`n_init`). Pointless from a given start.
    pub restarts: usize,
    /// Seed of the random numbers. The same seed gives the same mixture on any number of threads.
    pub seed: u64,
    /// Where to start.
    pub start: Start,
    /// A component that holds less than this many samples is put at the sample that is
    /// explained worst, and counted in [`Fit::reseeded`]. Zero leaves such components alone,
    /// as scikit-learn does.
    pub minimum_count: f64,
}

impl EmSettings {
    /// Diagonal covariance, one k-means start, and scikit-learn's defaults for the rest.
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

/// Where EM starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// k-means from k-means++ seeds, until it settles.
    KMeans,
    /// k-means++ seeds alone.
    KMeansPlusPlus,
    /// These means, K × d; weights and covariances are those of the samples nearest to each.
    Means(Array2<f64>),
    /// This mixture.
    Mixture(Mixture),
}

/// A fitted mixture and how the fit went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// The mixture.
    pub mixture: Mixture,
    /// Mean log-likelihood per sample in the last E-step, that is before the last M-step
    /// (scikit-learn's `lower_bound_`).
    pub log_likelihood: f64,
    /// Iterations made.
    pub iterations: usize,
    /// Whether the tolerance was reached before the iteration limit.
    pub converged: bool,
    /// How many times a component had lost its samples and was put elsewhere.
    pub reseeded: usize,
    /// Which of the restarts won, from zero.
    pub restart: usize,
    /// Columns that are constant over all samples; the variance floor alone carries them.
    pub constant_columns: Vec<usize>,
}

/// Where a running fit stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Which restart, from zero.
    pub restart: usize,
    /// Iterations made.
    pub iteration: usize,
    /// Mean log-likelihood per sample in this iteration.
    pub log_likelihood: f64,
}

/// Fits a mixture to the rows of `x`, each counted `sample_weights` times (once where `None`).
///
/// The matrix is used where it lies, in its own precision; only one that is not in standard
/// layout is copied. `progress` is called after each iteration, from any thread.
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
/// The steps of an iteration are often shorter than a sleeping thread takes to wake up, so that
/// the second thread would come too late for all of them; OpenMP's threads spin for the same
/// reason. This one gives its turn away whenever it finds nothing: a kernel may wake it on the
/// processor of the thread that it is to help, and spinning there would halve the speed until
/// one of them is moved. Others may sleep: where there is work for them it lasts longer.
fn awake<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let done = AtomicBool::new(false);
    let working = || {
        // Also if the work panics, or the other thread would never come back.
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

/// Sets a flag when it goes.
struct OnDrop<'a>(&'a AtomicBool);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Fits a mixture to rows that were checked; `stream` tells apart fits with the same seed.
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
            // Streams of neighbouring numbers are unrelated: seeding runs them through SplitMix64.
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
    // Every re-seeding may rob another component; this ends the dance.
    let mut chances = 2 * settings.components;
    let bounded = worthwhile(rows, settings.components)
        && matches!(settings.covariance, CovarianceKind::Diagonal | CovarianceKind::Spherical);
    let mut moments = Moments::new(rows, settings.components, settings.covariance, bounded);
    let mut before = None;
    let mut log_likelihood = f64::NEG_INFINITY;
    let (mut iterations, mut converged, mut reseeded) = (0, false, 0);
    crate::progress::expect(settings.max_iterations);
    while iterations < settings.max_iterations && !converged {
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

/// The first mixture.
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
    // A component that no sample is nearest to needs some weight to win any.
    let share = 1.0 / rows.len() as f64;
    mixture.weights.mapv_inplace(|w| w.max(share));
    let total = mixture.weights.sum();
    mixture.weights /= total;
    mixture
}
