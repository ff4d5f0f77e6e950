//! Quantiles of the normal distribution.
//!
//! No crate of the workspace has them. `libm` has the complementary error function, and three steps
//! of Newton's method with it bring a rough formula to full precision.

use std::f64::consts::{PI, SQRT_2};

/// Returns the z that a standard normal variable exceeds with probability `p`, for 0 < p < 1.
///
/// The error is below 1e-12 for p from 1e-12 to 1 − 1e-6.
pub(super) fn upper_quantile(p: f64) -> f64 {
    if p > 0.5 {
        return -upper_quantile(1.0 - p);
    }
    // Abramowitz and Stegun 26.2.23: the error is below 4.5e-4.
    let t = (-2.0 * p.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut z = t - above / below;
    for _ in 0..3 {
        let tail = 0.5 * libm::erfc(z / SQRT_2);
        let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
        z += (tail - p) / density;
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.stats.norm.isf`; `tests/adapt/golden/gate.py` has the script.
    #[test]
    fn quantiles_are_scipys() {
        for (p, golden) in [
            (0.5, 0.0),
            (0.4, 0.253_347_103_135_799_7),
            (0.6, -0.253_347_103_135_799_7),
            (0.01, 2.326_347_874_040_840_8),
            (1e-4, 3.719_016_485_455_68),
            (7e-5, 3.808_168_264_449_02),
            (1e-12, 7.034_483_825_301_131),
            (1.0 - 1e-6, -4.753_424_308_817_087),
        ] {
            let z = upper_quantile(p);
            assert!((z - golden).abs() < 1e-12, "{p}: {z} is not {golden}");
        }
    }
}
