//! Variances from few windows, widened towards those of known healthy machines.
//!
//! A few windows may happen to agree in some feature. Their variance is then far too small, and the
//! next healthy window looks like a fault. How the features of a healthy machine vary *relative* to
//! one another is known from the source. How much they vary is the target's own.

use ndarray::{Array1, Array2, Axis};

/// Weight of the known variances, in independent windows.
const KNOWN_WINDOWS: f64 = 4.0;
/// Smallest variance that is compared, in nats².
const LEAST_VARIANCE: f64 = 1e-12;

/// Widens the variances of each component. `counts` are the independent windows of each, and
/// `known` are the healthy variances of the source. No variance becomes smaller.
pub(super) fn shrink(
    variances: &mut Array2<f64>,
    weights: &Array1<f64>,
    counts: &Array1<f64>,
    known: &Array1<f64>,
) {
    let known = known.mapv(|variance| variance.max(LEAST_VARIANCE));
    let mean = variances.t().dot(weights);
    let logs = mean.iter().zip(&known).map(|(own, known)| (own.max(LEAST_VARIANCE) / known).ln());
    let level = (logs.sum::<f64>() / known.len().max(1) as f64).exp();
    for (mut row, count) in variances.axis_iter_mut(Axis(0)).zip(counts) {
        for (variance, known) in row.iter_mut().zip(&known) {
            let target = count * *variance + KNOWN_WINDOWS * level * known;
            *variance = variance.max(target / (count + KNOWN_WINDOWS));
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    /// `tests/adapt/golden/gate.py` has the script.
    #[test]
    fn few_windows_take_the_known_shape_at_their_own_level() {
        let known = array![0.02, 0.02, 0.01];
        let own = array![[0.04, 0.01, 0.0025]];
        let mut variances = own.clone();
        shrink(&mut variances, &array![1.0], &array![10.0], &known);
        for (variance, golden) in variances.iter().zip([0.04, 0.010_743, 0.003_586]) {
            assert!((variance - golden).abs() < 1e-6, "{variance} is not {golden}");
        }
        // The level is of all components, the count is each one's own.
        let mut two = array![[0.04, 0.01, 0.0025], [0.04, 0.01, 0.0025]];
        shrink(&mut two, &array![0.9, 0.1], &array![10.0, 1e9], &known);
        assert_eq!(two.row(0), variances.row(0));
        assert!((&two.row(1) - &own.row(0)).iter().all(|change| change.abs() < 1e-9));
    }

    #[test]
    fn a_constant_feature_gets_a_variance() {
        let mut variances = array![[0.01, 0.0]];
        shrink(&mut variances, &array![1.0], &array![5.0], &array![0.01, 0.01]);
        assert!(variances[[0, 1]] > 0.0 && variances[[0, 0]] == 0.01);
    }
}
