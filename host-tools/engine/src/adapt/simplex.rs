//! The mixture of given points that comes nearest to another point.
//!
//! We have our own code because the problem has at most some hundred unknowns, and a solver for
//! general quadratic programs would be a large dependency for it.

use ndarray::{Array1, Array2, ArrayRef1, Axis};

/// Most steps. Well-conditioned problems take some tens.
const STEPS: usize = 5000;
/// The shares are found if none moves by more than this.
const TOLERANCE: f64 = 1e-9;

/// The nearest mixture of some points.
#[derive(Debug, Clone, PartialEq)]
pub struct Nearest {
    /// The share of each point; not negative, and summing to one.
    pub shares: Vec<f64>,
    /// The squared distance that is left.
    pub squared_distance: f64,
}

/// Mixes the rows of `points` to come near `target`: minimises `|target − Σ s·row|² + even·|s|²`
/// over shares s that are not negative and sum to one.
///
/// Accelerated projected gradients, restarted where they would climb.
pub fn nearest(points: &Array2<f64>, target: &ArrayRef1<f64>, even: f64) -> Nearest {
    let n = points.nrows();
    // Seen from the target, so that nothing cancels: |Σ s·(row − target)|².
    let away = points - &target.to_owned().insert_axis(Axis(0));
    let mut gram = away.dot(&away.t());
    gram.diag_mut().mapv_inplace(|x| x + even);
    // The largest eigenvalue is at most the largest row sum.
    let steepest = gram.rows().into_iter().map(|row| row.mapv(f64::abs).sum()).fold(0.0, f64::max);
    let mut shares = Array1::from_elem(n, 1.0 / n.max(1) as f64);
    if n > 1 && steepest > 0.0 {
        let (mut ahead, mut pace) = (shares.clone(), 1.0_f64);
        for _ in 0..STEPS {
            let next = projected(&(&ahead - &(gram.dot(&ahead) / steepest)));
            let step = &next - &shares;
            // Momentum that points uphill is dropped.
            let uphill = (&ahead - &next).dot(&step) > 0.0;
            let faster = 0.5 * (1.0 + (1.0 + 4.0 * pace * pace).sqrt());
            ahead = if uphill { next.clone() } else { &next + &(&step * ((pace - 1.0) / faster)) };
            pace = if uphill { 1.0 } else { faster };
            let moved = step.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            shares = next;
            if moved <= TOLERANCE {
                break;
            }
        }
    }
    let left = shares.dot(&away);
    Nearest { squared_distance: left.dot(&left), shares: shares.to_vec() }
}

/// The point of the simplex nearest to `x`.
fn projected(x: &Array1<f64>) -> Array1<f64> {
    let mut sorted = x.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut level) = (0.0, 0.0);
    for (count, value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - 1.0) / (count + 1) as f64;
        if *value > candidate {
            level = candidate;
        }
    }
    x.mapv(|x| (x - level).max(0.0))
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_point_inside_is_reached_and_one_outside_is_not() {
        let corners = array![[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]];
        let inside = nearest(&corners, &array![1.0, 2.0], 0.0);
        assert!(inside.squared_distance < 1e-12, "{inside:?}");
        assert!((inside.shares[1] - 0.25).abs() < 1e-6 && (inside.shares[2] - 0.5).abs() < 1e-6);
        let outside = nearest(&corners, &array![2.0, -3.0], 0.0);
        assert!((outside.squared_distance - 9.0).abs() < 1e-9, "{outside:?}");
        let even = nearest(&corners, &array![0.0, 0.0], 1e9);
        assert!(even.shares.iter().all(|s| (s - 1.0 / 3.0).abs() < 1e-6), "{even:?}");
    }

    proptest! {
        /// No other mixture is nearer: the gradient points to no corner.
        #[test]
        fn no_corner_is_a_better_direction(
            values in prop::collection::vec(-5.0..5.0f64, 12),
            target in prop::collection::vec(-5.0..5.0f64, 3),
            even in 0.001..1.0f64,
        ) {
            let points = Array2::from_shape_vec((4, 3), values).unwrap();
            let target = Array1::from(target);
            let Nearest { shares, .. } = nearest(&points, &target, even);
            prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            prop_assert!(shares.iter().all(|s| *s >= 0.0));
            let s = Array1::from(shares);
            let gradient = 2.0 * points.dot(&(s.dot(&points) - &target)) + 2.0 * even * &s;
            let along = gradient.dot(&s);
            prop_assert!(gradient.iter().all(|g| *g >= along - 1e-4), "{gradient} {along}");
        }
    }
}
