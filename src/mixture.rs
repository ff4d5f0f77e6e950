//! Features to responsibilities: diagonal-Gaussian log densities and log-sum-exp.
//!
//! A component is stored whitened: `scale` r = 1/σ and `offset` m = −μ/σ per dimension, so
//! that t = r·x + m and the log density is constant − ½ Σ t². A dimension costs two loads,
//! one multiply-add and one square-add.
//!
//! Host and device give the same bits because every operation is a single IEEE-754 add,
//! multiply or divide in the written order (Rust never fuses or reorders them) and ln and
//! exp are the same pure-Rust code on both.

use crate::math;
use crate::model::Component;

/// Writes the weighted log density of `x` under each component to `scores`.
///
/// Two components are evaluated per pass, so that each feature is loaded once for both.
pub fn log_densities<'m>(
    mut components: impl Iterator<Item = Component<'m>>,
    x: &[f32],
    scores: &mut [f32],
) {
    for pair in scores.chunks_mut(2) {
        match (pair, components.next()) {
            ([first, second], Some(a)) => {
                let Some(b) = components.next() else { return };
                let (square_a, square_b) = squared_distances(x, &a, &b);
                *first = a.constant - 0.5 * square_a;
                *second = b.constant - 0.5 * square_b;
            }
            ([last], Some(a)) => {
                let (square, _) = squared_distances(x, &a, &a);
                *last = a.constant - 0.5 * square;
            }
            _ => return,
        }
    }
}

/// Squared Mahalanobis distances of `x` from two components.
fn squared_distances(x: &[f32], a: &Component<'_>, b: &Component<'_>) -> (f32, f32) {
    let mut square_a = 0.0;
    let mut square_b = 0.0;
    let parameters = a.scale.iter().zip(a.offset).zip(b.scale.iter().zip(b.offset));
    for (x, ((ra, ma), (rb, mb))) in x.iter().zip(parameters) {
        let ta = ra * x + ma;
        let tb = rb * x + mb;
        square_a += ta * ta;
        square_b += tb * tb;
    }
    (square_a, square_b)
}

/// Turns scores into responsibilities in place and gives the log-likelihood.
///
/// The largest score is subtracted before exp, so nothing overflows and at least one term
/// of the sum is 1. An empty slice gives −∞.
pub fn responsibilities(scores: &mut [f32]) -> f32 {
    let mut largest = f32::NEG_INFINITY;
    for score in scores.iter() {
        largest = largest.max(*score);
    }
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = math::exp(*score - largest);
        sum += *score;
    }
    for score in scores.iter_mut() {
        *score /= sum;
    }
    if sum > 0.0 { largest + math::ln(sum) } else { f32::NEG_INFINITY }
}

#[cfg(test)]
mod tests {
    use super::responsibilities;

    #[test]
    fn far_scores_do_not_overflow() {
        let mut scores = [-1e30, -2000.0, -2000.0];
        let log_likelihood = responsibilities(&mut scores);
        assert_eq!(scores, [0.0, 0.5, 0.5]);
        assert!((log_likelihood - (-2000.0 + core::f32::consts::LN_2)).abs() < 1e-3);
    }

    #[test]
    fn one_component_is_certain() {
        let mut scores = [-7.25];
        assert_eq!(responsibilities(&mut scores).to_bits(), (-7.25_f32).to_bits());
        assert_eq!(scores, [1.0]);
    }
}
