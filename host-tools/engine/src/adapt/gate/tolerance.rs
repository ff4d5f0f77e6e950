//! How many standard deviations above the mean a limit must lie, if mean and deviation are
//! estimates from few windows.
//!
//! This is the one-sided tolerance factor of the normal distribution, in the approximation of
//! Jennett and Welch (1939). It needs quantiles of the normal distribution only. The exact factor
//! needs the noncentral t distribution, and differs by less than 3 % from five windows on.

use super::normal::upper_quantile;

/// Probability that the limit lies at least as far out as the true quantile. One half would be
/// right on average. More costs detection on short pools.
const CONFIDENCE: f64 = 0.6;

/// Returns the factor for `n` independent values, if a share `p` of new values may exceed the
/// limit.
///
/// `n` is at least [`LEAST_INDEPENDENT`](super::LEAST_INDEPENDENT) and `p` at most 1 %.
pub(super) fn factor(n: f64, p: f64) -> f64 {
    let f = n - 1.0;
    let b = 1.0 - 1.0 / (4.0 * f) + 1.0 / (32.0 * f * f);
    let b2 = b * b;
    let delta = upper_quantile(p) * n.sqrt();
    let z = upper_quantile(1.0 - CONFIDENCE);
    let root = (b2 + (1.0 - b2) * (delta * delta - z * z)).sqrt();
    (delta * b + z * root) / (b2 - z * z * (1.0 - b2)) / n.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same formula with `scipy.stats.norm`, and the exact factor with `scipy.stats.nct`;
    /// `tests/adapt/golden/gate.py` has the script.
    #[test]
    fn factors_are_scipys() {
        for (n, p, golden, exact) in [
            (7.0, 1e-4, 4.206_82, 4.270_99),
            (13.0, 1e-4, 4.019_25, 4.046_62),
            (50.0, 1e-4, 3.843_01, 3.848_75),
            (200.0, 1e-2, 2.364_26, 2.364_96),
            (5.0, 7e-5, 4.485_28, 4.598_72),
        ] {
            let k = factor(n, p);
            assert!((k - golden).abs() < 1e-5, "{n}, {p}: {k} is not {golden}");
            assert!((k / exact - 1.0).abs() < 0.03, "{n}, {p}: {k} for {exact}");
        }
    }

    #[test]
    fn many_windows_need_no_allowance() {
        assert!((factor(1e9, 1e-3) - upper_quantile(1e-3)).abs() < 1e-3);
    }
}
