//! Healthy or not: a mixture of the target's own healthy windows, with a threshold.
//!
//! ```text
//! windows ─► blocks ─► pool (EM, shrink) ─► components ─► threshold ─► Gate
//! ```
//!
//! `blocks` holds out a fifth of each recording in turn. `components` takes as many components
//! as explain the held-out windows. `threshold` sets the limit by how far they lie from the
//! mixture that was not fitted on them. Windows that overlap are near-copies, so everything that
//! counts windows counts independent ones.

mod blocks;
mod components;
mod independent;
mod normal;
mod pool;
mod shrink;
mod threshold;
mod tolerance;

use ndarray::{Array1, Array2};
use thiserror::Error;

use super::false_alarms::FalseAlarms;
use super::reference::{HealthyReference, column_means};
use crate::features::dense::overlap;
use crate::features::extract::Features;
use crate::features::front_end::FrontEndSettings;
use crate::mixture::held_out::HeldOut;
use crate::mixture::{InvalidMixture, Mixture, MixtureError};
use crate::source::SourceSettings;
use independent::independent;
use pool::HealthyPool;

/// Least number of independent windows for a gate.
pub const LEAST_INDEPENDENT: f64 = 5.0;
/// Below this number of independent windows, the threshold lies far out and faint faults are
/// missed.
pub const FEW_INDEPENDENT: f64 = 13.0;

/// Decides whether a window is healthy.
#[derive(Debug, Clone)]
pub struct Gate {
    /// Mixture of the healthy windows, over features that are not standardised.
    pub mixture: Mixture,
    /// Windows with at least this log-likelihood are healthy.
    pub log_likelihood_min: f64,
    /// Mean of the windows it was fitted on.
    pub mean: Array1<f64>,
    /// Number of windows it was fitted on.
    pub windows: usize,
    /// Number of windows without a common sample that they stand for.
    pub independent: f64,
    /// The share of healthy windows beyond the threshold that it aims at.
    pub rate: f64,
    /// Every window, with the log-likelihood that it has for a mixture that was not fitted on it:
    /// as far below the peak of the gate's mixture as it lies below the peak of the other.
    pub held_out: HeldOut,
}

/// Settings of a gate's fit.
#[derive(Debug, Clone, Copy)]
pub struct GateSettings<'a> {
    /// Settings that turned samples into features.
    pub front_end: &'a FrontEndSettings,
    /// The false alarms to aim at.
    pub false_alarms: &'a FalseAlarms,
    /// Restarts and seed of EM.
    pub em: &'a SourceSettings,
}

/// Why there is no gate.
#[derive(Debug, Error)]
pub enum GateError {
    /// There are too few windows to fit on and to hold out.
    #[error(
        "a gate needs {needs:.2} s of the healthy machine, and there are {has:.2} s; record it for longer"
    )]
    TooFew {
        /// Seconds that are needed.
        needs: f64,
        /// Seconds that there are.
        has: f64,
    },
    /// EM failed.
    #[error("the healthy windows could not be fitted: {0}")]
    Fit(#[from] MixtureError),
    /// The mixture cannot be evaluated.
    #[error("the gate cannot be evaluated: {0}")]
    Evaluate(#[from] InvalidMixture),
}

impl GateError {
    /// The error for a pool that stands for `independent` windows.
    pub(super) fn too_few(independent: f64, front_end: &FrontEndSettings) -> Self {
        let seconds = |windows: f64| windows * front_end.window_len() as f64 / front_end.rate_hz;
        Self::TooFew { needs: seconds(LEAST_INDEPENDENT), has: seconds(independent) }
    }
}

impl Gate {
    /// Fits a gate to windows of a healthy machine.
    pub fn fit(
        windows: &Features,
        known: &HealthyReference,
        settings: &GateSettings<'_>,
    ) -> Result<Self, GateError> {
        let GateSettings { front_end, false_alarms, em } = *settings;
        let share = (windows.stride as f64 / front_end.window_len() as f64).min(1.0);
        let recording = &windows.recording;
        let independent = independent(recording, 0..recording.len(), share);
        let too_few = GateError::too_few(independent, front_end);
        if independent < LEAST_INDEPENDENT {
            return Err(too_few);
        }
        let pool = HealthyPool { windows, known: known.std.mapv(|std| std * std), share, em };
        let blocks = blocks::blocks(recording, overlap(front_end, windows.stride));
        let validated = components::choose(&pool, &blocks, independent)?.ok_or(too_few)?;
        let mixture = pool.fit_all(validated.components)?;
        // A finding comes when the last segment of a window is done. The next window starts a hop
        // later than that segment did.
        let spacing = (front_end.hop * front_end.segments) as f64 / front_end.rate_hz;
        let rate = false_alarms.per_window(spacing);
        let limit = threshold::limit(&validated.log_distances.concat(), independent, rate);
        let peak = threshold::peak(&mixture);
        let mut held_out: Vec<(usize, f64)> = blocks
            .iter()
            .flat_map(|block| &block.held_out)
            .zip(validated.log_distances.iter().flatten())
            .map(|(row, log_distance)| (*row, peak - 0.5 * log_distance.exp()))
            .collect();
        held_out.sort_by_key(|(row, _)| *row);
        let (rows, log_likelihoods) = held_out.into_iter().unzip();
        Ok(Self {
            mixture,
            log_likelihood_min: peak - 0.5 * limit,
            mean: column_means(&windows.x),
            windows: windows.x.nrows(),
            independent,
            rate,
            held_out: HeldOut { rows, log_likelihoods },
        })
    }

    /// The same gate, with row numbers of a pool. `rows` are the pool's rows it was fitted on.
    #[must_use]
    pub fn of_rows(mut self, rows: &[usize]) -> Self {
        for row in &mut self.held_out.rows {
            *row = rows[*row];
        }
        self
    }

    /// Whether each window is healthy.
    pub fn accepts(&self, x: &Array2<f32>) -> Result<Vec<bool>, InvalidMixture> {
        let scores = self.mixture.log_likelihoods(x.view())?;
        Ok(scores.iter().map(|score| *score >= self.log_likelihood_min).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference::Reference;
    use super::super::reference::tests::source;
    use super::*;
    use crate::simulate::random::Random;

    fn windows(n: usize, centres: &[[f64; 2]], seed: u64) -> Features {
        let mut random = Random::new(seed, 0);
        let centre = |row: usize| centres[row * centres.len() / n];
        let x = Array2::from_shape_fn((n, 2), |(row, i)| {
            (centre(row)[i] + 0.1 * random.normal()) as f32
        });
        let recording = (0..n).map(|row| row * centres.len() / n).collect();
        Features { x, recording, stride: 256 }
    }

    fn fit_with(windows: &Features, false_alarms: &FalseAlarms) -> Result<Gate, GateError> {
        let source = source();
        let healthy = Reference::new(&source).unwrap().healthy.unwrap();
        let em = SourceSettings::default();
        let settings = GateSettings { front_end: &source.front_end, false_alarms, em: &em };
        Gate::fit(windows, &healthy, &settings)
    }

    fn fit(windows: &Features) -> Result<Gate, GateError> {
        fit_with(windows, &FalseAlarms::default())
    }

    fn accepted(gate: &Gate, x: &Features) -> f64 {
        let accepted = gate.accepts(&x.x).unwrap();
        accepted.iter().filter(|accepted| **accepted).count() as f64 / accepted.len() as f64
    }

    #[test]
    fn healthy_windows_pass_and_others_do_not() {
        let gate = fit(&windows(100, &[[1.3, 2.2]], 1)).unwrap();
        assert!(accepted(&gate, &windows(2000, &[[1.3, 2.2]], 2)) >= 0.999);
        assert!(accepted(&gate, &windows(2000, &[[3.3, 2.2]], 3)) <= 0.001);
        assert_eq!((gate.windows, gate.independent), (100, 100.0));
        assert_eq!(gate.held_out.rows, (0..100).collect::<Vec<_>>());
        // The held-out scores are in the units of the threshold.
        let below = |score: &f64| *score < gate.log_likelihood_min;
        assert_eq!(gate.held_out.log_likelihoods.iter().filter(|score| below(score)).count(), 0);
        let own = gate.mixture.log_likelihoods(windows(100, &[[1.3, 2.2]], 1).x.view()).unwrap();
        let differences = own.iter().zip(&gate.held_out.log_likelihoods).map(|(a, b)| a - b);
        let mean = differences.sum::<f64>() / 100.0;
        assert!(mean.abs() < 0.1, "{mean}");
    }

    #[test]
    fn more_states_get_more_components_and_what_lies_between_is_no_state() {
        let states = [[1.0, 2.0], [3.0, 2.0]];
        let gate = fit(&windows(200, &states, 1)).unwrap();
        assert_eq!(gate.mixture.components(), 2);
        assert!(accepted(&gate, &windows(2000, &states, 2)) >= 0.999);
        assert!(accepted(&gate, &windows(2000, &[[2.0, 5.0]], 3)) <= 0.001);
        assert_eq!(fit(&windows(200, &[[1.0, 2.0]], 4)).unwrap().mixture.components(), 1);
    }

    #[test]
    fn more_false_alarms_make_a_lower_limit_and_overlap_a_higher_one() {
        let pool = windows(60, &[[1.3, 2.2]], 5);
        let limit = |gate: &Gate| threshold::peak(&gate.mixture) - gate.log_likelihood_min;
        let usual = fit(&pool).unwrap();
        let often = FalseAlarms { per_year: 1000.0, ..FalseAlarms::default() };
        let often = fit_with(&pool, &often).unwrap();
        assert!(often.rate > usual.rate && limit(&often) < limit(&usual));
        let overlapping = fit(&Features { stride: 32, ..pool }).unwrap();
        assert!((overlapping.independent - (1.0 + 59.0 / 8.0)).abs() < 1e-12);
        assert!(limit(&overlapping) > limit(&usual));
    }

    #[test]
    fn too_few_windows_are_refused_in_seconds() {
        // Windows of 256 samples at 100 Hz.
        for (n, has) in [(1, "2.56 s"), (2, "5.12 s"), (4, "10.24 s")] {
            let message = fit(&windows(n, &[[1.0, 2.0]], 1)).unwrap_err().to_string();
            assert!(message.contains(has) && message.contains("12.80 s"), "{message}");
        }
        let overlapping = Features { stride: 64, ..windows(16, &[[1.0, 2.0]], 1) };
        assert!(matches!(fit(&overlapping), Err(GateError::TooFew { .. })));
        assert!(fit(&windows(5, &[[1.0, 2.0]], 1)).is_ok());
    }
}
