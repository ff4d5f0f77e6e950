//! The problems of `golden/transport.py`, drawn from the same generator.
#![allow(dead_code, reason = "each test binary uses its part")]

use ndarray::{Array1, Array2, Array3};
use rebearing_host::mixture::{Covariance, Mixture};

/// The generator of the golden scripts: 64 bits of state, draws in [0, 1).
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    pub(crate) fn draw(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn vector(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.draw()).collect()
    }

    pub(crate) fn matrix(&mut self, rows: usize, columns: usize) -> Array2<f64> {
        Array2::from_shape_simple_fn((rows, columns), || self.draw())
    }
}

pub(crate) fn normalised(weights: Vec<f64>) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|w| w / total).collect()
}

fn squared_distances(x: &Array2<f64>, y: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn((x.nrows(), y.nrows()), |(i, j)| {
        x.row(i).iter().zip(y.row(j)).map(|(x, y)| (x - y) * (x - y)).sum()
    })
}

/// Returns the weights of rows and columns, and the cost.
pub(crate) fn problem(
    seed: u64,
    rows: usize,
    columns: usize,
    kind: &str,
) -> (Vec<f64>, Vec<f64>, Array2<f64>) {
    let mut draws = Draws(seed);
    let cost = match kind {
        "points" | "uniform" | "zero-weights" => {
            squared_distances(&draws.matrix(rows, 3), &draws.matrix(columns, 3))
        }
        "ties" => {
            let mut grid = |n| draws.matrix(n, 3).mapv(|x| (3.0 * x).floor());
            squared_distances(&grid(rows), &grid(columns))
        }
        _ => draws.matrix(rows, columns).mapv(|c| match kind {
            "random" => c,
            "integer" => (10.0 * c).floor(),
            "huge" => c * 1e12,
            "tiny" => c * 1e-12,
            "negative" => c - 0.5,
            _ => panic!("no such kind of problem: {kind}"),
        }),
    };
    let mut weights = |n| {
        draws
            .vector(n)
            .into_iter()
            .map(|w| w + 0.05)
            .enumerate()
            .map(|(i, w)| match kind {
                "uniform" | "ties" => 1.0,
                "integer" => (4.0 * w).floor() + 1.0,
                "zero-weights" if i > 0 && w < 0.4 => 0.0,
                _ => w,
            })
            .collect()
    };
    let a = normalised(weights(rows));
    let b = normalised(weights(columns));
    (a, b, cost)
}

/// Returns a mixture with full covariances.
pub(crate) fn mixture(draws: &mut Draws, components: usize, dims: usize) -> Mixture {
    let means = draws.matrix(components, dims);
    let factors = Array3::from_shape_simple_fn((components, dims, dims), || draws.draw());
    let covariances = Array3::from_shape_fn((components, dims, dims), |(k, i, j)| {
        let product: f64 = (0..dims).map(|l| factors[[k, i, l]] * factors[[k, j, l]]).sum();
        product / dims as f64 + if i == j { 0.05 } else { 0.0 }
    });
    let weights = draws.vector(components).into_iter().map(|w| w + 0.05).collect();
    Mixture {
        weights: Array1::from_vec(normalised(weights)),
        means,
        covariance: Covariance::Full(covariances),
    }
}

/// Returns the same mixture with only the diagonals of its covariances.
pub(crate) fn diagonal(mixture: &Mixture) -> Mixture {
    let Covariance::Full(full) = &mixture.covariance else { panic!("not full") };
    let (components, dims, _) = full.dim();
    let variances = Array2::from_shape_fn((components, dims), |(k, i)| full[[k, i, i]]);
    Mixture { covariance: Covariance::Diagonal(variances), ..mixture.clone() }
}
