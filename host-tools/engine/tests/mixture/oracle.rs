//! EM against a naive step in f64, written from the formulas, and properties that hold for any
//! data.

use std::sync::Mutex;

use nalgebra::DMatrix;
use ndarray::{Array1, Array2, Array3, ArrayView1, Axis};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rebearing_host::mixture::{
    Covariance, CovarianceKind, EmSettings, Fit, Mixture, Sample, Start, fit,
};

const KINDS: [CovarianceKind; 4] = [
    CovarianceKind::Diagonal,
    CovarianceKind::Spherical,
    CovarianceKind::Tied,
    CovarianceKind::Full,
];

/// Returns overlapping clusters of nearly normal values; rows take the clusters in turn.
fn data(seed: u64, n: usize, d: usize, clusters: usize, spread: f64) -> Array2<f64> {
    sequence(seed, n, d, clusters, spread, |i| i % clusters)
}

/// Returns the same clusters in another order: a function gives the cluster of each row.
fn sequence(
    seed: u64,
    n: usize,
    d: usize,
    clusters: usize,
    spread: f64,
    cluster: impl Fn(usize) -> usize,
) -> Array2<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let centres = Array2::from_shape_fn((clusters, d), |_| spread * rng.random::<f64>());
    Array2::from_shape_fn((n, d), |(i, j)| {
        let noise = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        centres[[cluster(i), j]] + noise
    })
}

/// Returns the covariance of a component as a matrix.
fn matrix(mixture: &Mixture, k: usize) -> DMatrix<f64> {
    let d = mixture.dimensions();
    DMatrix::from_fn(d, d, |i, j| match &mixture.covariance {
        Covariance::Diagonal(v) if i == j => v[[k, i]],
        Covariance::Spherical(v) if i == j => v[k],
        Covariance::Diagonal(_) | Covariance::Spherical(_) => 0.0,
        Covariance::Tied(v) => v[[i, j]],
        Covariance::Full(v) => v[[k, i, j]],
    })
}

fn naive_log_density(mixture: &Mixture, x: &ArrayView1<f64>, k: usize) -> f64 {
    if let Covariance::Diagonal(v) = &mixture.covariance {
        let log_density = |j: usize| {
            let t = x[j] - mixture.means[[k, j]];
            -0.5 * ((std::f64::consts::TAU * v[[k, j]]).ln() + t * t / v[[k, j]])
        };
        return mixture.weights[k].ln() + (0..x.len()).map(log_density).sum::<f64>();
    }
    let covariance = matrix(mixture, k);
    let log_det: f64 = covariance.clone().symmetric_eigenvalues().iter().map(|v| v.ln()).sum();
    let inverse = covariance.try_inverse().unwrap();
    let d = mixture.dimensions();
    let t = nalgebra::DVector::from_fn(d, |j, _| x[j] - mixture.means[[k, j]]);
    mixture.weights[k].ln()
        - 0.5 * (d as f64 * std::f64::consts::TAU.ln() + log_det + t.dot(&(&inverse * &t)))
}

/// Runs one EM iteration. The log-likelihood is the one before it.
fn naive_step(x: &Array2<f64>, weights: &[f64], start: &Mixture, floor: f64) -> (Mixture, f64) {
    let (n, d) = x.dim();
    let components = start.components();
    let total: f64 = weights.iter().sum();
    let mut shares = Array2::zeros((n, components));
    let mut log_likelihood = 0.0;
    for i in 0..n {
        let density: Vec<f64> =
            (0..components).map(|k| naive_log_density(start, &x.row(i), k)).collect();
        let best = density.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = density.iter().map(|v| (v - best).exp()).sum();
        log_likelihood += weights[i] * (best + sum.ln());
        for k in 0..components {
            shares[[i, k]] = weights[i] * (density[k] - best).exp() / sum;
        }
    }
    let counts = shares.sum_axis(Axis(0));
    let mut means = Array2::zeros((components, d));
    let mut full = Array3::zeros((components, d, d));
    let diagonal = matches!(start.covariance, Covariance::Diagonal(_));
    for k in 0..components {
        for j in 0..d {
            means[[k, j]] = (0..n).map(|i| shares[[i, k]] * x[[i, j]]).sum::<f64>() / counts[k];
        }
        for a in 0..d {
            for b in if diagonal { a..a + 1 } else { 0..d } {
                let product = |i: usize| (x[[i, a]] - means[[k, a]]) * (x[[i, b]] - means[[k, b]]);
                let sum: f64 = (0..n).map(|i| shares[[i, k]] * product(i)).sum();
                full[[k, a, b]] = sum / counts[k] + if a == b { floor } else { 0.0 };
            }
        }
    }
    let diagonal = Array2::from_shape_fn((components, d), |(k, j)| full[[k, j, j]]);
    let covariance = match start.covariance.kind() {
        CovarianceKind::Diagonal => Covariance::Diagonal(diagonal),
        CovarianceKind::Spherical => Covariance::Spherical(diagonal.mean_axis(Axis(1)).unwrap()),
        CovarianceKind::Tied => {
            let within = (0..components).map(|k| &full.index_axis(Axis(0), k) * counts[k] / total);
            Covariance::Tied(within.fold(Array2::zeros((d, d)), |a, b| a + b))
        }
        CovarianceKind::Full => Covariance::Full(full),
    };
    (Mixture { weights: counts / total, means, covariance }, log_likelihood / total)
}

fn covariances(mixture: &Mixture) -> Vec<f64> {
    match &mixture.covariance {
        Covariance::Diagonal(v) | Covariance::Tied(v) => v.iter().copied().collect(),
        Covariance::Spherical(v) => v.to_vec(),
        Covariance::Full(v) => v.iter().copied().collect(),
    }
}

/// Returns the largest difference of any parameter.
fn difference(a: &Mixture, b: &Mixture) -> f64 {
    let of = |m: &Mixture| -> Vec<f64> {
        m.weights.iter().chain(&m.means).copied().chain(covariances(m)).collect()
    };
    of(a).iter().zip(of(b)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn start(x: &Array2<f64>, components: usize, kind: CovarianceKind) -> Mixture {
    let d = x.ncols();
    let identity = Array2::<f64>::eye(d);
    Mixture {
        weights: Array1::from_elem(components, 1.0 / components as f64),
        means: x.slice(ndarray::s![..components, ..]).to_owned(),
        covariance: match kind {
            CovarianceKind::Diagonal => Covariance::Diagonal(Array2::ones((components, d))),
            CovarianceKind::Spherical => Covariance::Spherical(Array1::ones(components)),
            CovarianceKind::Tied => Covariance::Tied(identity),
            CovarianceKind::Full => {
                let mut all = Array3::zeros((components, d, d));
                all.axis_iter_mut(Axis(0)).for_each(|mut m| m.assign(&identity));
                Covariance::Full(all)
            }
        },
    }
}

fn run<T: Sample>(x: &Array2<T>, weights: Option<&[f64]>, settings: &EmSettings) -> Fit {
    fit(x.view(), weights, settings, &|_| {}).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn one_iteration_is_the_naive_one(
        seed: u64, n in 12usize..150, d in 1usize..9, k in 1usize..11, kind in 0usize..4,
        weighted: bool,
    ) {
        let x = data(seed, n, d, 3, 4.0);
        let kind = KINDS[kind];
        let weights: Vec<f64> =
            (0..n).map(|i| if weighted { 0.5 + (i % 4) as f64 } else { 1.0 }).collect();
        let from = start(&x, k, kind);
        let settings = EmSettings {
            covariance: kind,
            max_iterations: 1,
            variance_floor: 1e-3,
            minimum_count: 0.0,
            start: Start::Mixture(from.clone()),
            ..EmSettings::new(k)
        };
        let fit = run(&x, weighted.then_some(&weights[..]), &settings);
        let (expected, log_likelihood) = naive_step(&x, &weights, &from, 1e-3);
        prop_assert!((fit.log_likelihood - log_likelihood).abs() < 1e-9);
        let difference = difference(&fit.mixture, &expected);
        prop_assert!(difference < 1e-9, "{difference}");
    }

    /// Dimensions around the sizes of blocks and registers, in both precisions.
    #[test]
    fn many_dimensions_are_summed_like_few(seed: u64, d in 10usize..140, k in 1usize..12) {
        let x = data(seed, 70, d, 4, 1.0).mapv(|v| v as f32);
        let wide = x.mapv(f64::from);
        let from = start(&wide, k, CovarianceKind::Diagonal);
        let settings = EmSettings {
            max_iterations: 1,
            variance_floor: 0.1,
            minimum_count: 0.0,
            start: Start::Mixture(from.clone()),
            ..EmSettings::new(k)
        };
        let (expected, log_likelihood) = naive_step(&wide, &[1.0; 70], &from, 0.1);
        let fit = run(&wide, None, &settings);
        prop_assert!((fit.log_likelihood - log_likelihood).abs() < 1e-9 * d as f64);
        prop_assert!(difference(&fit.mixture, &expected) < 1e-9);
        let fit = run(&x, None, &settings);
        prop_assert!((fit.log_likelihood - log_likelihood).abs() < 1e-5 * d as f64);
        let difference = difference(&fit.mixture, &expected);
        prop_assert!(difference < 1e-3, "{difference}");
    }

    #[test]
    fn the_likelihood_never_falls(seed: u64, kind in 0usize..4) {
        let x = data(seed, 80, 3, 3, 5.0);
        let seen = Mutex::new(Vec::new());
        let settings = EmSettings {
            covariance: KINDS[kind],
            tolerance: 0.0,
            max_iterations: 30,
            minimum_count: 0.0,
            ..EmSettings::new(3)
        };
        fit(x.view(), None, &settings, &|p| seen.lock().unwrap().push(p.log_likelihood)).unwrap();
        let seen = seen.into_inner().unwrap();
        prop_assert!(seen.len() > 1);
        // The floor added to the variances takes a little of each gain.
        prop_assert!(seen.windows(2).all(|w| w[1] >= w[0] - 1e-5), "{seen:?}");
    }
}

/// EM rules components out by bounds from earlier iterations: tile by tile in few dimensions, row
/// by row in many. In very many dimensions it first looks at some of them. It must never leave out
/// a component that counts, whether clusters are apart or on top of each other, in the order of
/// time or not.
#[test]
fn iterations_that_leave_components_out_are_the_naive_ones() {
    for d in [40, 64, 150, 600] {
        for (seed, spread) in [(1, 0.2), (2, 0.8), (3, 3.0)] {
            let clusters = 5;
            check_iterations(&sequence(seed, 150, d, clusters, spread, |i| i % clusters), "mixed");
            check_iterations(
                &sequence(seed, 150, d, clusters, spread, |i| i * clusters / 150),
                "in time",
            );
        }
        // Components that start at one end spread along a line, from tile to tile.
        let noise = data(4, 200, d, 1, 0.0);
        let line = Array2::from_shape_fn((200, d), |(i, j)| {
            noise[[i, j]] + 0.05 * i as f64 * f64::cos(j as f64)
        });
        check_iterations(&line, "line");
    }
}

/// Checks twelve iterations, and the likelihood after them, against the formulas. One case has so
/// few components that EM computes them row by row; the other has more.
fn check_iterations(x: &Array2<f64>, what: &str) {
    for components in [3, 7] {
        check_iterations_of(x, components, &format!("{what}, {components} components"));
    }
}

fn check_iterations_of(x: &Array2<f64>, k: usize, what: &str) {
    let (n, d) = x.dim();
    let iterations = 12;
    let from = start(x, k, CovarianceKind::Diagonal);
    let settings = EmSettings {
        tolerance: 0.0,
        max_iterations: iterations,
        variance_floor: 0.1,
        minimum_count: 0.0,
        start: Start::Mixture(from.clone()),
        ..EmSettings::new(k)
    };
    let fit = run(x, None, &settings);
    let mut expected = (from, 0.0);
    for _ in 0..iterations {
        expected = naive_step(x, &vec![1.0; n], &expected.0, 0.1);
    }
    let error = (fit.log_likelihood - expected.1).abs();
    assert!(error < 1e-8, "{what}, {d} dims: {error}");
    let difference = difference(&fit.mixture, &expected.0);
    assert!(difference < 1e-8, "{what}, {d} dims: {difference}");
    let likelihoods = fit.mixture.log_likelihoods(x.view()).unwrap();
    let (_, next) = naive_step(x, &vec![1.0; n], &fit.mixture, 0.1);
    assert!((likelihoods.mean().unwrap() - next).abs() < 1e-8, "{what}, {d} dims");
}

/// Moments are about a centre, which stays in place while a component stays near. A component that
/// starts far away loses digits there and must get them back.
#[test]
fn a_component_that_comes_from_far_away_has_its_digits_in_single_precision() {
    let (n, d) = (200, 130);
    let x = data(4, n, d, 1, 1.0);
    let from = Mixture {
        weights: Array1::ones(1),
        means: Array2::from_elem((1, d), 1000.0),
        covariance: Covariance::Diagonal(Array2::from_elem((1, d), 1e6)),
    };
    let settings = EmSettings {
        tolerance: 0.0,
        max_iterations: 4,
        start: Start::Mixture(from.clone()),
        ..EmSettings::new(1)
    };
    let single = x.mapv(|v| v as f32);
    let fit = run(&single, None, &settings);
    let expected = naive_step(&x, &vec![1.0; n], &from, settings.variance_floor).0;
    let difference = difference(&fit.mixture, &expected);
    assert!(difference < 1e-5, "{difference}");
}

#[test]
fn k_means_in_many_dimensions_finds_the_clusters() {
    let x = data(7, 300, 140, 6, 1.5);
    let fit = run(&x, None, &EmSettings { max_iterations: 1, restarts: 4, ..EmSettings::new(6) });
    let nearest = |i: usize| {
        let distance = |k: usize| (&x.row(i) - &fit.mixture.means.row(k)).mapv(|v| v * v).sum();
        (0..6).min_by(|&a, &b| distance(a).total_cmp(&distance(b))).unwrap()
    };
    for cluster in 0..6 {
        let first = nearest(cluster);
        assert!((cluster..300).step_by(6).all(|i| nearest(i) == first), "cluster {cluster}");
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    for (dimensions, covariance) in
        KINDS.into_iter().map(|kind| (20, kind)).chain([(64, CovarianceKind::Diagonal)])
    {
        let x = data(1, 3000, dimensions, 6, 3.0).mapv(|v| v as f32);
        let settings =
            EmSettings { covariance, restarts: 3, max_iterations: 5, ..EmSettings::new(5) };
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(&x, None, &settings))
        };
        let one = on(1);
        assert_eq!(one, on(2), "{covariance:?}");
        assert_eq!(one, on(5), "{covariance:?}");
    }
}

#[test]
fn restarts_really_restart_and_the_best_wins() {
    let x = data(2, 400, 2, 9, 30.0);
    let first = Mutex::new(vec![0.0; 6]);
    let settings = EmSettings { restarts: 6, start: Start::KMeansPlusPlus, ..EmSettings::new(6) };
    let best = fit(x.view(), None, &settings, &|p| {
        if p.iteration == 1 {
            first.lock().unwrap()[p.restart] = p.log_likelihood;
        }
    })
    .unwrap();
    let mut first = first.into_inner().unwrap();
    first.sort_by(f64::total_cmp);
    first.dedup();
    assert!(first.len() > 3, "starts are alike: {first:?}");
    let single = run(&x, None, &EmSettings { restarts: 1, ..settings.clone() });
    assert!(best.log_likelihood >= single.log_likelihood);
    let other = run(&x, None, &EmSettings { seed: 1, restarts: 1, ..settings });
    assert_ne!(single.mixture, other.mixture, "another seed, another start");
}

#[test]
fn a_layout_that_is_not_standard_gives_the_same() {
    let x = data(3, 90, 4, 2, 6.0);
    let settings = EmSettings::new(2);
    let transposed = x.t().as_standard_layout().to_owned();
    let same = fit(transposed.t(), None, &settings, &|_| {}).unwrap();
    assert_eq!(run(&x, None, &settings), same);
}

#[test]
fn far_from_the_origin_nothing_is_lost() {
    // Unit variances, ten million away: sums of squares about the origin would lose them.
    let near = data(4, 200, 3, 2, 8.0);
    let far = near.mapv(|v| v + 1e7);
    let settings = EmSettings::new(2);
    let (near, far) = (run(&near, None, &settings), run(&far, None, &settings));
    assert!((near.log_likelihood - far.log_likelihood).abs() < 1e-6);
    for (a, b) in covariances(&near.mixture).iter().zip(covariances(&far.mixture)) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}
