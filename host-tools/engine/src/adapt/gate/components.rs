//! How many states the healthy machine has: as many components as explain windows that they were
//! not fitted on.

use rayon::prelude::*;

use super::GateError;
use super::blocks::Block;
use super::independent::inflation;
use super::pool::HealthyPool;
use super::threshold::{log_distance, peak};

/// Numbers of components to try, in this order.
const CANDIDATES: [usize; 6] = [1, 2, 3, 4, 6, 8];
/// Least number of independent windows for each component.
const WINDOWS_PER_COMPONENT: f64 = 4.0;
/// More components are taken if the gain is above this many standard errors.
const ERRORS: f64 = 2.0;
/// From this number of components on, the first that brings nothing ends the search.
const LAST_CHANCE: usize = 3;

/// The scores of held-out windows, for one number of components.
#[derive(Debug, Clone)]
pub(super) struct Validated {
    /// The number of components.
    pub(super) components: usize,
    /// The log-likelihoods of each block, in nats.
    pub(super) log_likelihoods: Vec<Vec<f64>>,
    /// The logarithms of the distances of each block, as they will be from a mixture of all
    /// windows.
    pub(super) log_distances: Vec<Vec<f64>>,
}

impl Validated {
    /// Scores every block under a mixture that was not fitted on it. Returns `None` if a block
    /// leaves too few rows for so many components.
    fn new(
        pool: &HealthyPool<'_>,
        blocks: &[Block],
        components: usize,
        independent: f64,
    ) -> Result<Option<Self>, GateError> {
        if blocks.iter().any(|block| block.fit.len() < components) {
            return Ok(None);
        }
        let scores = |block: &Block| -> Result<(Vec<f64>, Vec<f64>), GateError> {
            let mixture = pool.fit_some(&block.fit, components)?;
            let peak = peak(&mixture);
            let scores = mixture.log_likelihoods(pool.rows(&block.held_out).view())?.to_vec();
            // All windows make a better mixture than those outside a block: it lies nearer.
            let inflation = |windows: f64| inflation(windows / components as f64);
            let nearer = (inflation(independent) / inflation(pool.independent(&block.fit))).ln();
            let distances =
                scores.iter().map(|score| log_distance(peak, *score) + nearer).collect();
            Ok((scores, distances))
        };
        let scores = blocks.par_iter().map(scores).collect::<Result<Vec<_>, _>>()?;
        let (log_likelihoods, log_distances) = scores.into_iter().unzip();
        Ok(Some(Self { components, log_likelihoods, log_distances }))
    }

    /// Whether these components explain held-out windows clearly better than `other` does.
    fn better_than(&self, other: &Self) -> bool {
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        let blocks = self.log_likelihoods.iter().zip(&other.log_likelihoods);
        let gains: Vec<f64> = blocks.map(|(own, other)| mean(own) - mean(other)).collect();
        clearly_positive(&gains)
    }
}

/// Whether the mean is positive by more than two standard errors.
fn clearly_positive(gains: &[f64]) -> bool {
    let n = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / n;
    let squares: f64 = gains.iter().map(|gain| (gain - mean).powi(2)).sum();
    n > 1.0 && mean > 0.0 && mean > ERRORS * (squares / (n - 1.0) / n).sqrt()
}

/// Chooses the number of components by the held-out windows of all blocks. Returns `None` if there
/// is no block.
pub(super) fn choose(
    pool: &HealthyPool<'_>,
    blocks: &[Block],
    independent: f64,
) -> Result<Option<Validated>, GateError> {
    if blocks.is_empty() {
        return Ok(None);
    }
    let mut best: Option<Validated> = None;
    for components in CANDIDATES {
        if components > 1 && independent < WINDOWS_PER_COMPONENT * components as f64 {
            break;
        }
        let Some(next) = Validated::new(pool, blocks, components, independent)? else { break };
        if best.as_ref().is_none_or(|best| next.better_than(best)) {
            best = Some(next);
        } else if components >= LAST_CHANCE {
            break;
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_counts_from_two_standard_errors_on() {
        assert!(clearly_positive(&[1.0, 1.1, 0.9, 1.0, 1.0]));
        assert!(!clearly_positive(&[-1.0, -1.1, -0.9, -1.0, -1.0]));
        // The mean is 1 and its standard error 0.71.
        assert!(!clearly_positive(&[3.0, 1.0, -1.0, 1.0 + 2.0, -1.0]));
        assert!(!clearly_positive(&[0.0; 5]));
        assert!(!clearly_positive(&[1.0]), "one block says nothing about chance");
    }
}
