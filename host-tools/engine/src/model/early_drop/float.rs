//! Chooses the order of the features, so that the device can drop components early.
//!
//! The device scores all components on the first features of the order. Then it continues only with
//! the components that may still have a share in the result (`rebearing::classify`). The cost
//! depends on the order and on the number of first features. Both follow from the mixture alone.
//!
//! The features are sorted by Fisher's ratio: the spread of the components' means over the mean of
//! their variances. The number of first features is the one with the least expected work among
//! those whose worst case is within bounds. The expected work follows from distances: a vector of
//! component j has a mean distance of `Σ (σ_j² + (μ_j − μ_k)²)/σ_k²` from component k. This
//! distance tells how soon k is dropped.

use ndarray::Array2;
use rebearing::classify::kernel::BLOCK;
use rebearing::classify::margin;

use crate::mixture::{Covariance, Mixture};

/// Instructions for one feature of one component, if four components are scored in one pass.
///
/// This count and those below are for a Cortex-M4F with the kernel in assembly, fitted to
/// `cargo xtask bench device`.
const PASS: f64 = 2.4;
/// Instructions for one feature of one component, if components are scored one at a time and
/// checked now and then.
const SINGLE: f64 = 3.9;
/// Instructions to continue with one component, not counting its features.
const FINISH: f64 = 50.0;
/// Instructions to put one feature in its place.
const REORDER: f64 = 5.5;
/// Instructions for a component with a share in the result, in the full evaluation, not counting
/// its features.
const SHARE: f64 = 105.0;
/// Instructions for a component that is far away, in the full evaluation, not counting its
/// features.
const FAR: f64 = 48.0;
/// Instructions for a component that is dropped after the first features, not counting its
/// features.
const DROPPED: f64 = 60.0;
/// Extra instructions for a component that is checked and not dropped.
const KEPT: f64 = 40.0;

/// Largest extra cost of the worst case, in which nothing is dropped, as a share of the full
/// evaluation.
const WORST: f64 = 0.25;

/// The order of the features, and the number of features that are scored first.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlyDrop {
    /// Number of features on which all components are scored; a multiple of the kernel's block.
    pub features: usize,
    /// The features, best first.
    pub order: Vec<usize>,
    /// Expected instructions, as a share of the full evaluation.
    pub expected: f64,
    /// Instructions if nothing is dropped, as a share of the full evaluation.
    pub worst: f64,
}

impl EarlyDrop {
    /// Returns the best early drop for a mixture with diagonal covariance; `None` for any other,
    /// and if there are too few features to divide.
    pub fn choose(mixture: &Mixture) -> Option<Self> {
        let Covariance::Diagonal(variances) = &mixture.covariance else { return None };
        let (components, dims) = mixture.means.dim();
        let order = by_fisher_ratio(mixture, variances);
        let survivors = survivors(mixture, variances, &order);

        let (k, d) = (components as f64, dims as f64);
        let reorder = REORDER * d;
        let leads = survivors.iter().zip(1..).map(|(survivors, block)| {
            let features = block * BLOCK;
            let rest = d - features as f64;
            let all = reorder + k * (PASS * features as f64 + DROPPED);
            let expected = (all + survivors * (FINISH + SINGLE * rest)) / (k * (PASS * d + FAR));
            // The best component and the rest of its four are finished one by one.
            let singles = 4.0 * (FINISH + (SINGLE - PASS) * rest) + PASS * rest;
            let worst = 1.0 + (reorder + KEPT * k + singles) / (k * (PASS * d + SHARE));
            (features, expected, worst)
        });
        let (features, expected, worst) = leads.min_by(|a, b| {
            let beyond = |worst: f64| worst > 1.0 + WORST;
            beyond(a.2).cmp(&beyond(b.2)).then(a.1.total_cmp(&b.1))
        })?;
        Some(Self { features, order, expected, worst })
    }

    /// Returns true if a model should have it: less work on average, and not much more at worst.
    pub fn pays(&self) -> bool {
        self.expected < 1.0 && self.worst <= 1.0 + WORST
    }
}

/// Returns the features sorted by the spread of the means over the mean variance, largest first.
fn by_fisher_ratio(mixture: &Mixture, variances: &Array2<f64>) -> Vec<usize> {
    let weighted = |values: &mut dyn Iterator<Item = f64>| {
        mixture.weights.iter().zip(values).map(|(weight, value)| weight * value).sum::<f64>()
    };
    let total: f64 = mixture.weights.sum();
    let ratio = |feature: usize| {
        let means = mixture.means.column(feature);
        let mean = weighted(&mut means.iter().copied()) / total;
        let spread = weighted(&mut means.iter().map(|m| (m - mean).powi(2)));
        spread / weighted(&mut variances.column(feature).iter().copied())
    };
    let ratios: Vec<f64> = (0..mixture.means.ncols()).map(ratio).collect();
    let mut order: Vec<usize> = (0..ratios.len()).collect();
    // Stable: equal features keep their order.
    order.sort_by(|a, b| ratios[*b].total_cmp(&ratios[*a]));
    order
}

/// Returns the expected number of components that are left after each block of features except the
/// last.
fn survivors(mixture: &Mixture, variances: &Array2<f64>, order: &[usize]) -> Vec<f64> {
    let (components, dims) = mixture.means.dim();
    let mut survivors = vec![0.0; dims.saturating_sub(1) / BLOCK];
    let total: f64 = mixture.weights.sum();
    let ln_volumes: Vec<f64> = variances
        .rows()
        .into_iter()
        .map(|row| 0.5 * row.iter().map(|v| v.ln()).sum::<f64>())
        .collect();
    let constant = |k: usize| mixture.weights[k].ln() - ln_volumes[k];
    for j in 0..components {
        let share = mixture.weights[j] / total;
        let least = constant(j) - 0.5 * dims as f64 - f64::from(margin(components));
        for k in 0..components {
            let mut bound = constant(k);
            for (block, survivors) in order.chunks(BLOCK).zip(&mut survivors) {
                for &i in block {
                    let apart = (mixture.means[[j, i]] - mixture.means[[k, i]]).powi(2);
                    bound -= 0.5 * (variances[[j, i]] + apart) / variances[[k, i]];
                }
                if bound < least {
                    break;
                }
                *survivors += share;
            }
        }
    }
    survivors
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2};

    use super::*;

    fn mixture(components: usize, dims: usize, apart: impl Fn(usize) -> f64) -> Mixture {
        Mixture {
            weights: Array1::from_elem(components, 1.0 / components as f64),
            means: Array2::from_shape_fn((components, dims), |(k, i)| k as f64 * apart(i)),
            covariance: Covariance::Diagonal(Array2::ones((components, dims))),
        }
    }

    /// Only the odd features separate the components, and later ones do it better.
    fn odd(i: usize) -> f64 {
        if i % 2 == 1 { i as f64 } else { 0.0 }
    }

    #[test]
    fn features_that_tell_components_apart_come_first() {
        let leading = EarlyDrop::choose(&mixture(40, 128, odd)).unwrap();
        assert_eq!(leading.order[..3], [127, 125, 123]);
        assert_eq!(leading.order[64..67], [0, 2, 4]);
        assert_eq!(leading.features, BLOCK);
        assert!(leading.pays() && leading.expected < 0.5, "{leading:?}");
    }

    #[test]
    fn a_lead_whose_worst_case_is_too_long_gives_way_to_a_longer_one() {
        // One block would do, but then more features of the best component's four are finished one
        // by one.
        let leading = EarlyDrop::choose(&mixture(40, 64, odd)).unwrap();
        assert_eq!(leading.features, 2 * BLOCK);
        assert!(leading.pays(), "{leading:?}");
    }

    #[test]
    fn nothing_is_gained_where_components_are_one_on_the_other() {
        let leading = EarlyDrop::choose(&mixture(40, 64, |_| 0.0)).unwrap();
        assert!(leading.expected > 1.0 && !leading.pays(), "{leading:?}");
        // The components are far apart, but the model is too small: the worst case would take half
        // as much again.
        let leading = EarlyDrop::choose(&mixture(10, 16, |_| 9.0)).unwrap();
        assert!(leading.worst > 1.3 && !leading.pays(), "{leading:?}");
        assert_eq!(EarlyDrop::choose(&mixture(20, BLOCK, |_| 1.0)), None);
    }
}
