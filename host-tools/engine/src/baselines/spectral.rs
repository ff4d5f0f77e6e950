//! Spectral clustering (Ng, Jordan, Weiss 2001) with local scaling (Zelnik-Manor & Perona 2004).

use nalgebra::DMatrix;
use ndarray::{Array2, ArrayRef2};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::BaselineError;
use crate::adapt::maps::likeliest;
use crate::mixture::{CovarianceKind, EmSettings, fit};
use crate::progress::pulse;
use crate::transport::cost::squared_distances;

/// Each sample's length scale is the distance to its neighbour of this rank.
const NEIGHBOUR: usize = 7;
/// Largest number of subspace iterations.
const ITERATIONS: usize = 500;
/// Change at which the subspace iterations stop.
const SETTLED: f64 = 1e-8;

/// The cluster of each row, `0..clusters`.
///
/// Affinities are `exp(−‖x_i − x_j‖² / σ_i σ_j)`, where σ is the distance to the seventh neighbour.
/// The rows of the leading eigenvectors of the normalised affinity, scaled to length one, are
/// clustered by a spherical mixture.
pub fn spectral_clusters(
    x: &ArrayRef2<f64>,
    clusters: usize,
    seed: u64,
) -> Result<Vec<usize>, BaselineError> {
    let n = x.nrows();
    if clusters == 0 || n < clusters {
        return Err(BaselineError::TooFew { samples: n, clusters });
    }
    let embedding = embedding(&normalised_affinity(x), clusters, seed);
    let settings = EmSettings {
        covariance: CovarianceKind::Spherical,
        variance_floor: 1e-4,
        restarts: 10,
        seed,
        ..EmSettings::new(clusters)
    };
    let mixture = fit(embedding.view(), None, &settings, &|_| ())?.mixture;
    let responsibilities = mixture.responsibilities(embedding.view())?;
    Ok(responsibilities.outer_iter().map(|row| likeliest(row.iter().copied())).collect())
}

/// `D^-½ A D^-½`, where D holds the row sums of the affinity A.
fn normalised_affinity(x: &ArrayRef2<f64>) -> DMatrix<f64> {
    let distances = squared_distances(x, x);
    let n = x.nrows();
    let scales: Vec<f64> = distances
        .outer_iter()
        .map(|row| {
            let mut row = row.to_vec();
            // A sample is its own neighbour 0.
            let neighbour = NEIGHBOUR.min(n - 1);
            let (_, distance, _) = row.select_nth_unstable_by(neighbour, f64::total_cmp);
            distance.sqrt()
        })
        .collect();
    let mut affinity = DMatrix::from_fn(n, n, |i, j| {
        let scale = scales[i] * scales[j];
        // Seven equal samples have no scale. They are completely alike, and unlike all others.
        let distance = distances[[i, j]];
        if scale > 0.0 { (-distance / scale).exp() } else { f64::from(u8::from(distance <= 0.0)) }
    });
    let root: Vec<f64> = affinity.row_iter().map(|row| row.sum().sqrt()).collect();
    for ((i, j), value) in (0..n).flat_map(|j| (0..n).map(move |i| (i, j))).zip(affinity.iter_mut())
    {
        *value /= root[i] * root[j];
    }
    affinity
}

/// The leading eigenvectors, by subspace iteration, with rows of length one.
fn embedding(affinity: &DMatrix<f64>, count: usize, seed: u64) -> Array2<f64> {
    let n = affinity.nrows();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut basis = DMatrix::from_fn(n, count, |_, _| rng.random::<f64>() - 0.5).qr().q();
    for _ in 0..ITERATIONS {
        pulse();
        // Eigenvalues lie in −1..1. Adding the basis makes the largest ones the largest in
        // magnitude.
        let next = (affinity * &basis + &basis).qr().q();
        // The part of the new basis outside the span of the old one.
        let outside = (&next - &basis * basis.tr_mul(&next)).norm();
        basis = next;
        if outside < SETTLED {
            break;
        }
    }
    let mut rows = Array2::from_shape_fn((n, count), |(i, j)| basis[(i, j)]);
    for mut row in rows.outer_iter_mut() {
        let length = row.dot(&row).sqrt();
        if length > 0.0 {
            row /= length;
        }
    }
    rows
}
