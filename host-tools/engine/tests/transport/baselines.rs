//! Baselines and classifier against POT, scikit-learn and numpy, and on problems with a known answer.

use std::str::FromStr;

use crate::problems::Draws;
use ndarray::{Array2, Axis, array, s};
use rebearing_host::adapt::maps::ComponentMaps;
use rebearing_host::adapt::softmax::{self, Softmax, SoftmaxError};
use rebearing_host::baselines::{
    BaselineError, InfoOt, InfoOtOptions, Method, Settings, Task, affine_map, barycentric,
    hierarchical_map, ledoit_wolf, spectral_clusters,
};
use rebearing_host::mixture::{Covariance, Mixture, Sample};
use rebearing_host::transport::{cost::squared_distances, exact, sinkhorn};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    exact: Vec<Vec<f64>>,
    sinkhorn: Vec<Vec<f64>>,
    affine: Vec<Vec<f64>>,
    softmax: GoldenSoftmax,
    ledoit_wolf: LedoitWolf,
    infoot: GoldenInfoOt,
    hot_da: GoldenHotDa,
}

#[derive(Deserialize)]
struct GoldenHotDa {
    epsilon: f64,
    clusters: Vec<usize>,
    carried: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct GoldenSoftmax {
    l2: f64,
    coefficients: Vec<Vec<f64>>,
    posterior: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct LedoitWolf {
    few: Vec<Vec<f64>>,
    few_amount: f64,
    many: Vec<Vec<f64>>,
    many_amount: f64,
}

#[derive(Deserialize)]
struct GoldenInfoOt {
    bandwidth: f64,
    information: f64,
    epsilon: f64,
    iterations: usize,
    plan: Vec<Vec<f64>>,
    barycentric: Vec<Vec<f64>>,
    conditional: Vec<Vec<f64>>,
}

/// Source, target, weights and labels of `golden/baselines.py`.
struct Data {
    source: Array2<f64>,
    target: Array2<f64>,
    weights: Vec<f64>,
    labels: Vec<usize>,
}

fn data() -> Data {
    let mut draws = Draws(7);
    let source = draws.matrix(12, 3);
    let target = draws.matrix(15, 3) * array![[2.0, 1.0, 0.5]] + 1.0;
    let weights = draws.vector(12).into_iter().map(|w| w + 0.1).collect();
    Data { source, target, weights, labels: (0..12).map(|i| i % 3).collect() }
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("golden/baselines.json")).expect("the golden file is JSON")
}

fn assert_close(found: &Array2<f64>, expected: &[Vec<f64>], tolerance: f64) {
    assert_eq!(found.dim(), (expected.len(), expected[0].len()));
    for ((i, j), value) in found.indexed_iter() {
        let error = (value - expected[i][j]).abs();
        assert!(error < tolerance, "row {i}, column {j}: {value} against {}", expected[i][j]);
    }
}

#[test]
fn barycentric_maps_are_pots() {
    let Data { source, target, .. } = data();
    let cost = squared_distances(&source, &target);
    let (a, b) = (vec![1.0; 12], vec![0.8; 15]);
    let plan = exact::solve(&a, &b, &cost, &exact::Options::default()).expect("solves");
    assert_close(&barycentric(&plan.plan, &target), &golden().exact, 1e-12);
    let options = sinkhorn::Options { epsilon: 0.05, tolerance: 1e-12, ..Default::default() };
    let plan = sinkhorn::solve(&a, &b, &cost, &options).expect("converges");
    assert_close(&barycentric(&plan.plan, &target), &golden().sinkhorn, 1e-10);
}

#[test]
fn affine_map_is_pots_and_matches_the_moments() {
    let Data { source, target, .. } = data();
    let map = affine_map(&source, &target).expect("has spread");
    let mut mapped = source.clone();
    for mut row in mapped.outer_iter_mut() {
        let image = map.apply(&row.to_vec());
        row.iter_mut().zip(image).for_each(|(to, from)| *to = from);
    }
    assert_close(&mapped, &golden().affine, 1e-10);
    let covariance = |x: &Array2<f64>| {
        let centred = x - &x.mean_axis(Axis(0)).expect("has rows");
        centred.t().dot(&centred) / x.nrows() as f64
    };
    let difference = covariance(&mapped) - covariance(&target);
    assert!(difference.iter().all(|d| d.abs() < 1e-12), "{difference}");
}

#[test]
fn shrinkage_is_scikit_learns() {
    let Data { source, target, .. } = data();
    let centred = |x: Array2<f64>| &x - &x.mean_axis(Axis(0)).expect("has rows");
    let golden = golden().ledoit_wolf;
    let few = centred(source.select(Axis(0), &[0, 1]));
    let (covariance, amount) = ledoit_wolf(&few);
    assert_close(&covariance, &golden.few, 1e-12);
    assert!((amount - golden.few_amount).abs() < 1e-12);
    let (covariance, amount) = ledoit_wolf(&centred(target));
    assert_close(&covariance, &golden.many, 1e-12);
    assert!((amount - golden.many_amount).abs() < 1e-12);
}

#[test]
fn weighted_softmax_is_scikit_learns() {
    let Data { source, target, weights, labels } = data();
    let golden = golden().softmax;
    let options =
        softmax::Options { l2: golden.l2, tolerance: 1e-9, unit: 1.0, max_iterations: 10_000 };
    let softmax = Softmax::train(&source, &labels, &weights, 3, &options).expect("trains");
    assert!(softmax.converged, "gradient {:e}", softmax.gradient);
    // A constant added to all classes changes nothing. Here, as in scikit-learn, the coefficients
    // sum to zero.
    assert_close(&softmax.coefficients, &golden.coefficients, 1e-6);
    assert_close(&softmax.posterior(&target), &golden.posterior, 1e-7);
}

#[test]
fn softmax_refuses_what_it_cannot_train_on() {
    let x = array![[0.0], [1.0]];
    let options = softmax::Options::default();
    let train =
        |labels: &[usize], weights: &[f64]| Softmax::train(&x, labels, weights, 2, &options);
    assert!(matches!(train(&[0], &[1.0, 1.0]), Err(SoftmaxError::Length { what: "labels", .. })));
    assert!(matches!(
        train(&[0, 2], &[1.0, 1.0]),
        Err(SoftmaxError::Label { row: 1, label: 2, .. })
    ));
    assert!(matches!(train(&[0, 1], &[1.0, -1.0]), Err(SoftmaxError::Weight { row: 1, .. })));
    assert!(matches!(train(&[0, 1], &[0.0, 0.0]), Err(SoftmaxError::Weight { .. })));
    let nan = Softmax::train(&array![[0.0], [f64::NAN]], &[0, 1], &[1.0, 1.0], 2, &options);
    assert!(matches!(nan, Err(SoftmaxError::Feature { row: 1, column: 0, .. })));
    let one_class = Softmax::train(&x, &[0, 0], &[1.0, 1.0], 1, &options).expect("trains");
    assert_eq!(one_class.posterior(&x), array![[1.0], [1.0]]);
}

#[test]
fn infoot_is_its_formulas() {
    let Data { source, target, labels, .. } = data();
    let golden = golden().infoot;
    let options = InfoOtOptions {
        bandwidth: golden.bandwidth,
        information: golden.information,
        epsilon: golden.epsilon,
        iterations: golden.iterations,
        tolerance: 0.0,
    };
    let solved = InfoOt::solve(&source, &labels, &target, &options).expect("solves");
    assert_close(&solved.plan, &golden.plan, 1e-5);
    assert_close(&solved.barycentric(&target), &golden.barycentric, 1e-4);
    assert_close(&solved.conditional(&target), &golden.conditional, 1e-4);
}

#[test]
fn hot_da_is_its_papers() {
    let Data { source, target, labels, .. } = data();
    let golden = golden().hot_da;
    let groups = ((&*source, &*labels), (&*target, &*golden.clusters));
    let carried = hierarchical_map(groups.0, groups.1, 3, golden.epsilon).expect("solves");
    assert_close(&carried, &golden.carried, 1e-5);
}

#[test]
fn spectral_clustering_finds_rings_that_no_mean_separates() {
    let mut draws = Draws(3);
    let rings = Array2::from_shape_fn((120, 2), |(i, j)| {
        let angle = i as f64 / 60.0 * std::f64::consts::TAU;
        let radius = if i < 60 { 1.0 } else { 5.0 };
        radius * if j == 0 { angle.cos() } else { angle.sin() } + 0.05 * draws.draw()
    });
    let clusters = spectral_clusters(&rings, 2, 0).expect("clusters");
    assert!(clusters[..60].iter().all(|c| *c == clusters[0]));
    assert!(clusters[60..].iter().all(|c| *c == clusters[60]));
    assert_ne!(clusters[0], clusters[60]);
}

/// Returns three classes in two dims, and the same classes on the target, stretched and moved so
/// far that each class lands near the place of another. The order of the classes stays, and with it
/// the exact plan.
fn shifted() -> (Array2<f64>, Vec<usize>, Array2<f64>, Array2<f64>) {
    let mut draws = Draws(11);
    let mut domain = |stretch: f64, shift: f64| {
        Array2::from_shape_fn((90, 2), |(i, j)| {
            let centre = if j == 0 { 4.0 * (i % 3) as f64 } else { 0.0 };
            let noise = (0..6).map(|_| draws.draw() - 0.5).sum::<f64>();
            stretch * (centre + noise) + if j == 0 { shift } else { 0.0 }
        })
    };
    let (source, pool, test) = (domain(1.0, 0.0), domain(1.1, 3.5), domain(1.1, 3.5));
    (source, (0..90).map(|i| i % 3).collect(), pool, test)
}

/// Adapts and gives the class posterior of each row of `test`.
fn predict<T: Sample>(
    method: Method,
    task: &Task<'_, T>,
    settings: &Settings,
    test: &Array2<T>,
) -> Result<Array2<f64>, BaselineError> {
    method.fit(task, settings)?.classifier.posterior(test.view())
}

fn accuracy(posterior: &Array2<f64>) -> f64 {
    let right = posterior.outer_iter().enumerate().filter(|(i, row)| {
        row.iter().enumerate().all(|(class, p)| class == i % 3 || *p < row[i % 3])
    });
    right.count() as f64 / posterior.nrows() as f64
}

#[test]
fn every_method_undoes_a_shift_that_source_only_does_not() {
    let (source, labels, pool, test) = shifted();
    let task = Task { source: source.view(), labels: &labels, classes: 3, pool: pool.view() };
    for method in Method::ALL {
        let posterior = predict(method, &task, &Settings::default(), &test)
            .unwrap_or_else(|error| panic!("{method}: {error}"));
        let sums = posterior.sum_axis(Axis(1));
        assert!(sums.iter().all(|s| (s - 1.0).abs() < 1e-12), "{method}");
        let accuracy = accuracy(&posterior);
        if method == Method::SourceOnly {
            assert!(accuracy < 0.5, "{method}: {accuracy}");
        } else {
            assert!(accuracy > 0.97, "{method}: {accuracy}");
        }
        let again = predict(method, &task, &Settings::default(), &test).expect("predicts");
        assert_eq!(again, posterior, "{method} is deterministic");
    }
}

#[test]
fn single_precision_thinning_and_sinkhorn_keep_the_answer() {
    let (source, labels, pool, test) = shifted();
    let single = |x: &Array2<f64>| x.mapv(|v| v as f32);
    // Class after class, like successive recordings, so that thinning keeps their shares. Balanced
    // transport needs equal shares: otherwise it must give the excess a wrong label.
    let by_class: Vec<usize> = (0..3).flat_map(|c| (c..90).step_by(3)).collect();
    let pool = pool.select(Axis(0), &by_class);
    let (source, pool, test) = (single(&source), single(&pool), single(&test));
    let task = Task { source: source.view(), labels: &labels, classes: 3, pool: pool.view() };
    let settings = Settings { max_samples: 60, ..Settings::default() };
    for method in [Method::GmmOtdaMap, Method::GmmOtdaT, Method::OtdaExact, Method::OtdaSinkhorn] {
        let posterior = predict(method, &task, &settings, &test).expect("predicts");
        let accuracy = accuracy(&posterior);
        assert!(accuracy > 0.97, "{method}: {accuracy}");
    }
}

#[test]
fn bad_tasks_are_refused_by_name() {
    let (source, labels, pool, test) = shifted();
    let good = Task { source: source.view(), labels: &labels, classes: 3, pool: pool.view() };
    let fit = |task: &Task<'_, f64>| Method::GmmOtdaMap.fit(task, &Settings::default());
    let mut nan = pool.clone();
    nan[[4, 1]] = f64::NAN;
    assert!(matches!(
        fit(&Task { pool: nan.view(), ..good }),
        Err(BaselineError::NotFinite { what: "pool", row: 4, column: 1, .. })
    ));
    let empty = Array2::zeros((0, 2));
    for method in [Method::GmmOtdaMap, Method::OtdaExact] {
        let classifier = method.fit(&good, &Settings::default()).expect("fits").classifier;
        assert!(matches!(
            classifier.posterior(nan.view()),
            Err(BaselineError::NotFinite { what: "test", row: 4, column: 1, .. })
        ));
        for wrong in [empty.view(), test.slice(s![.., ..1])] {
            assert!(matches!(
                classifier.posterior(wrong),
                Err(BaselineError::Shape { what: "test", .. })
            ));
        }
    }
    assert!(matches!(
        fit(&Task { labels: &labels[1..], ..good }),
        Err(BaselineError::Labels { .. })
    ));
    assert!(matches!(
        fit(&Task { classes: 4, ..good }),
        Err(BaselineError::AbsentClass { class: 3 })
    ));
    assert!(matches!(
        fit(&Task { classes: 2, ..good }),
        Err(BaselineError::Label { row: 2, label: 2, classes: 2 })
    ));
    let two = pool.select(Axis(0), &[0, 1]);
    let few = Method::HotDa.fit(&Task { pool: two.view(), ..good }, &Settings::default());
    assert!(matches!(few, Err(BaselineError::TooFew { samples: 2, clusters: 3 })));
}

#[test]
fn more_dims_than_samples_are_shrunk() {
    let mut draws = Draws(21);
    let source =
        Array2::from_shape_fn((12, 20), |(i, j)| draws.draw() + if j == i % 3 { 4.0 } else { 0.0 });
    let pool =
        Array2::from_shape_fn((12, 20), |(i, j)| draws.draw() + if j == i % 3 { 5.0 } else { 1.0 });
    let labels: Vec<usize> = (0..12).map(|i| i % 3).collect();
    let task = Task { source: source.view(), labels: &labels, classes: 3, pool: pool.view() };
    for method in [Method::OtdaAffine, Method::OtdaAffineDiagonal] {
        let posterior = predict(method, &task, &Settings::default(), &pool).expect("predicts");
        assert!(accuracy(&posterior) > 0.97, "{method}");
    }
}

#[test]
fn names_go_both_ways() {
    for method in Method::ALL {
        assert_eq!(Method::from_str(&method.to_string()), Ok(method));
    }
    let error = Method::from_str("dann").expect_err("not supported");
    assert!(error.to_string().contains("gmm-otda-map"), "{error}");
}

/// One source component goes to two places. Checks each of the three maps.
#[test]
fn the_three_maps_split_one_component_each_in_its_way() {
    let mixture = |weights: Vec<f64>, means: Array2<f64>, variances: Array2<f64>| Mixture {
        weights: weights.into(),
        means,
        covariance: Covariance::Diagonal(variances),
    };
    let source = mixture(vec![1.0], array![[0.0, 0.0]], array![[1.0, 4.0]]);
    let target =
        mixture(vec![0.25, 0.75], array![[8.0, 0.0], [-8.0, 0.0]], array![[4.0, 4.0], [1.0, 1.0]]);
    let plan = array![[0.25, 0.75]];
    let maps = ComponentMaps::new(&source, &target, &plan).expect("maps");
    let x = array![[1.0, 2.0]];
    // T_11 doubles the first dim, T_12 halves the second.
    let weighted = maps.weighted(x.view(), 0.0).expect("maps");
    assert_eq!(weighted.samples, array![[10.0, 2.0], [-7.0, 1.0]]);
    assert_eq!(weighted.weights, array![0.25, 0.75]);
    assert_eq!(weighted.origin, vec![0, 0]);
    let sharp = maps.weighted(x.view(), 0.5).expect("maps");
    assert_eq!(sharp.samples, array![[-7.0, 1.0]]);
    assert!(maps.weighted(x.view(), 0.9).is_err());
    let mean = maps.mean(x.view()).expect("maps");
    assert!((&mean - &array![[-2.75, 1.25]]).iter().all(|d| d.abs() < 1e-14), "{mean}");
    let many = Array2::from_shape_fn((2000, 2), |(_, j)| x[[0, j]]);
    let random = maps.random(many.view(), 5).expect("maps");
    assert_eq!(random, maps.random(many.view(), 5).expect("maps"));
    let first = random.column(0).iter().filter(|v| **v > 0.0).count();
    assert!((400..600).contains(&first), "a quarter of 2000 draws: {first}");
}
