//! EM on data that are short, degenerate or broken.

use ndarray::{Array2, Axis, array, s};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rebearing_host::mixture::{
    ComponentCount, ConditionalFit, Covariance, CovarianceKind, EmSettings, Fit, Mixture,
    MixtureError, Start, fit, fit_conditional,
};

const KINDS: [CovarianceKind; 4] = [
    CovarianceKind::Diagonal,
    CovarianceKind::Spherical,
    CovarianceKind::Tied,
    CovarianceKind::Full,
];

/// Returns clusters of `each` rows around (10c, −10c, 10c, …), nearly normal with unit variance.
fn clusters(count: usize, each: usize, d: usize) -> Array2<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    Array2::from_shape_fn((count * each, d), |(i, j)| {
        let centre = 10.0 * (i / each) as f64 * if j % 2 == 0 { 1.0 } else { -1.0 };
        centre + (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
    })
}

fn try_fit(x: &Array2<f64>, settings: &EmSettings) -> Result<Fit, MixtureError> {
    fit(x.view(), None, settings, &|_| {})
}

fn conditional(
    x: &Array2<f64>,
    labels: &[usize],
    classes: usize,
    components: &ComponentCount,
) -> Result<ConditionalFit, MixtureError> {
    let names: Vec<String> = (0..classes).map(|c| format!("class {c}")).collect();
    let settings = EmSettings::new(1);
    fit_conditional(x.view(), labels, &names, None, components, &settings, &|_| {})
}

#[test]
fn broken_features_are_named() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut x = clusters(2, 300, 3);
        x[[417, 2]] = value;
        let error = try_fit(&x, &EmSettings::new(2)).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("row 417, column 2"), "{message}");
        assert!(matches!(error, MixtureError::NotFinite { row: 417, column: 2, .. }));
        let fitted = try_fit(&clusters(2, 300, 3), &EmSettings::new(2)).unwrap();
        assert!(fitted.mixture.log_likelihoods(x.view()).is_err());
    }
}

#[test]
fn a_constant_column_is_carried_by_the_floor_and_reported() {
    for covariance in KINDS {
        let mut x = clusters(2, 20, 3);
        x.column_mut(1).fill(0.1);
        let settings = EmSettings { covariance, ..EmSettings::new(2) };
        let fit = try_fit(&x, &settings).unwrap();
        assert_eq!(fit.constant_columns, [1], "{covariance:?}");
        fit.mixture.validate().unwrap();
        if let Covariance::Diagonal(v) = &fit.mixture.covariance {
            assert!(v.column(1).iter().all(|v| (v - 1e-6).abs() < 1e-18), "{v}");
        }
    }
}

#[test]
fn equal_rows_fit_any_number_of_components() {
    for covariance in KINDS {
        let x = Array2::from_elem((12, 2), 5.0);
        let settings = EmSettings { covariance, ..EmSettings::new(3) };
        let fit = try_fit(&x, &settings).unwrap();
        fit.mixture.validate().unwrap();
        assert!(fit.mixture.means.iter().all(|m| (m - 5.0).abs() < 1e-12));
        assert!(fit.log_likelihood.is_finite());
    }
}

#[test]
fn one_sample_and_one_dimension_work() {
    for covariance in KINDS {
        let settings = EmSettings { covariance, ..EmSettings::new(1) };
        let fit = try_fit(&array![[3.0]], &settings).unwrap();
        assert_eq!(fit.mixture.means, array![[3.0]]);
        let settings = EmSettings { covariance, ..EmSettings::new(2) };
        let fit = try_fit(&clusters(2, 10, 1), &settings).unwrap();
        let mut means = fit.mixture.means.column(0).to_vec();
        means.sort_by(f64::total_cmp);
        assert!(means[0].abs() < 2.0 && (means[1] - 10.0).abs() < 2.0, "{means:?}");
    }
}

#[test]
fn too_few_samples_are_refused_with_the_remedy() {
    let error = try_fit(&clusters(1, 3, 2), &EmSettings::new(4)).unwrap_err();
    assert_eq!(error, MixtureError::TooFewSamples { samples: 3, components: 4 });
    assert!(error.to_string().contains("at most 3"));
    // Rows with weight zero do not count as samples.
    let weights = [1.0, 0.0, 1.0];
    let x = clusters(1, 3, 2);
    let error = fit(x.view(), Some(&weights), &EmSettings::new(3), &|_| {}).unwrap_err();
    assert_eq!(error, MixtureError::TooFewSamples { samples: 2, components: 3 });
    let empty = Array2::<f64>::zeros((0, 2));
    assert!(matches!(try_fit(&empty, &EmSettings::new(1)), Err(MixtureError::Empty { .. })));
    let flat = Array2::<f64>::zeros((2, 0));
    assert!(matches!(try_fit(&flat, &EmSettings::new(1)), Err(MixtureError::Empty { .. })));
}

#[test]
fn settings_out_of_range_are_refused() {
    let x = clusters(2, 10, 2);
    let good = EmSettings::new(2);
    for settings in [
        EmSettings { components: 0, ..good.clone() },
        EmSettings { restarts: 0, ..good.clone() },
        EmSettings { max_iterations: 0, ..good.clone() },
        EmSettings { tolerance: f64::NAN, ..good.clone() },
        EmSettings { variance_floor: 0.0, ..good.clone() },
        EmSettings { variance_floor: f64::INFINITY, ..good.clone() },
        EmSettings { minimum_count: -1.0, ..good.clone() },
    ] {
        let error = try_fit(&x, &settings).unwrap_err();
        assert!(matches!(error, MixtureError::Setting { .. }), "{error}");
    }
    for (weights, row) in [([1.0, -1.0], 1), ([f64::NAN, 1.0], 0)] {
        let x = clusters(2, 1, 2);
        let error = fit(x.view(), Some(&weights), &EmSettings::new(1), &|_| {}).unwrap_err();
        assert!(matches!(error, MixtureError::SampleWeight { row: r, .. } if r == row));
    }
    let error = fit(x.view(), Some(&[1.0]), &good, &|_| {}).unwrap_err();
    assert!(matches!(error, MixtureError::Length { expected: 20, found: 1, .. }));
}

#[test]
fn a_start_that_does_not_fit_is_refused() {
    let x = clusters(2, 10, 2);
    let with = |start| try_fit(&x, &EmSettings { start, ..EmSettings::new(2) });
    for means in [array![[0.0, 0.0]], array![[0.0], [1.0]], array![[0.0, f64::NAN], [1.0, 1.0]]] {
        with(Start::Means(means)).unwrap_err();
    }
    let mixture = Mixture {
        weights: array![0.5, 0.6],
        means: array![[0.0, 0.0], [10.0, -10.0]],
        covariance: Covariance::Spherical(array![1.0, 1.0]),
    };
    let error = with(Start::Mixture(mixture.clone())).unwrap_err();
    assert!(error.to_string().contains("sum to"), "{error}");
    let mixture = Mixture { weights: array![0.4, 0.6], ..mixture };
    let error = with(Start::Mixture(mixture)).unwrap_err();
    assert!(error.to_string().contains("Spherical"), "{error}");
}

#[test]
fn a_component_without_samples_is_put_where_the_fit_is_worst() {
    let x = clusters(3, 20, 2);
    // The third mean is so far out that no sample is near it.
    let means = array![[0.0, 0.0], [10.0, -10.0], [1e4, 1e4]];
    for covariance in KINDS {
        let settings =
            EmSettings { covariance, start: Start::Means(means.clone()), ..EmSettings::new(3) };
        let fit = try_fit(&x, &settings).unwrap();
        assert!(fit.reseeded > 0, "{covariance:?}");
        assert!(
            fit.mixture.means.iter().all(|m| m.abs() < 30.0),
            "{covariance:?} {}",
            fit.mixture.means
        );
        assert!(
            fit.mixture.weights.iter().all(|w| *w > 0.03),
            "{covariance:?} {}",
            fit.mixture.weights
        );
    }
}

/// A component with weight zero (its logarithm is infinite) has no share of anything and does no
/// harm. That holds if components are left out tile by tile, row by row, or not at all.
#[test]
fn a_component_without_weight_changes_nothing() {
    for (d, count) in [(3, 2), (40, 5), (64, 2), (64, 5), (600, 5)] {
        let x = clusters(count, 40, d);
        let start = |weights: Vec<f64>, rows: Vec<usize>| Mixture {
            covariance: Covariance::Diagonal(Array2::ones((rows.len(), d))),
            means: x.select(Axis(0), &rows),
            weights: weights.into(),
        };
        let (weights, rows) = (vec![1.0 / count as f64; count], (0..count).map(|c| 40 * c));
        let alone = start(weights.clone(), rows.clone().collect());
        // The component lies at the place of another one.
        let beside = start([vec![0.0], weights].concat(), [0].into_iter().chain(rows).collect());
        let [alone, beside] = [alone, beside].map(|start| {
            let settings = EmSettings {
                max_iterations: 4,
                tolerance: 0.0,
                minimum_count: 0.0,
                ..EmSettings::new(start.components())
            };
            try_fit(&x, &EmSettings { start: Start::Mixture(start), ..settings }).unwrap()
        });
        assert!(beside.mixture.weights[0] <= 0.0, "{d} dims");
        let difference = (alone.log_likelihood - beside.log_likelihood).abs();
        assert!(difference < 1e-9, "{d} dims: {difference}");
    }
}

#[test]
fn a_weight_counts_as_so_many_rows() {
    let x = clusters(2, 15, 3);
    let weights: Vec<f64> = (0..30).map(|i| f64::from(i % 3)).collect();
    let repeated: Vec<usize> = (0..30).flat_map(|i| vec![i; i % 3]).collect();
    let repeated = x.select(Axis(0), &repeated);
    for covariance in KINDS {
        let settings = EmSettings {
            covariance,
            start: Start::Means(x.slice(s![13..17;3, ..]).to_owned()),
            ..EmSettings::new(2)
        };
        let a = fit(x.view(), Some(&weights), &settings, &|_| {}).unwrap();
        let b = try_fit(&repeated, &settings).unwrap();
        assert_eq!(a.iterations, b.iterations);
        assert!((a.log_likelihood - b.log_likelihood).abs() < 1e-9, "{covariance:?}");
        assert!((&a.mixture.means - &b.mixture.means).iter().all(|e| e.abs() < 1e-9));
    }
}

#[test]
fn a_weight_counts_as_so_many_rows_of_its_class() {
    let x = clusters(2, 15, 3);
    let labels: Vec<usize> = (0..30).map(|i| i / 15).collect();
    let weights: Vec<f64> = (0..30).map(|i| f64::from(i % 3)).collect();
    let rows: Vec<usize> = (0..30).flat_map(|i| vec![i; i % 3]).collect();
    let repeated_labels: Vec<usize> = rows.iter().map(|&i| labels[i]).collect();
    let repeated = x.select(Axis(0), &rows);
    let names = ["class 0".into(), "class 1".into()];
    let (one, settings) = (ComponentCount::Bic { most: 1 }, EmSettings::new(1));
    let weighted = |weights: &[f64]| {
        fit_conditional(x.view(), &labels, &names, Some(weights), &one, &settings, &|_| {})
    };
    let (a, b) =
        (weighted(&weights).unwrap(), conditional(&repeated, &repeated_labels, 2, &one).unwrap());
    let (means, expected) = (&a.mixture.mixture.means, &b.mixture.mixture.means);
    assert!((means - expected).iter().all(|e| e.abs() < 1e-9));
    assert!((a.classes[1].log_likelihood - b.classes[1].log_likelihood).abs() < 1e-9);
    assert_eq!(a.classes[0].samples, 10, "rows without weight are not there");

    let mut nobody = weights;
    nobody[15..].fill(0.0);
    let error = weighted(&nobody).unwrap_err();
    assert!(error.to_string().contains("'class 1' has no samples"), "{error}");
    nobody[3] = -1.0;
    assert!(matches!(weighted(&nobody).unwrap_err(), MixtureError::SampleWeight { row: 3, .. }));
}

#[test]
fn small_and_absent_classes() {
    let x = clusters(3, 4, 2);
    let labels = [0, 0, 0, 0, 1, 0, 0, 0, 2, 2, 2, 2];
    let fit = conditional(&x, &labels, 3, &ComponentCount::PerClass(2)).unwrap();
    let components: Vec<usize> = fit.classes.iter().map(|c| c.components).collect();
    assert_eq!(components, [2, 1, 2], "the class of one sample has one component");
    assert_eq!(fit.classes[1].asked, Some(2));
    fit.mixture.mixture.validate().unwrap();
    assert!((fit.mixture.mixture.weights[2] - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(fit.mixture.labels.row(2).to_vec(), [0.0, 1.0, 0.0]);

    let error = conditional(&x, &labels, 4, &ComponentCount::PerClass(1)).unwrap_err();
    assert!(error.to_string().contains("'class 3' has no samples"), "{error}");
    let error = conditional(&x, &labels, 2, &ComponentCount::PerClass(1)).unwrap_err();
    assert!(matches!(error, MixtureError::Label { row: 8, label: 2, classes: 2 }), "{error}");
    let error = conditional(&x, &labels[..5], 3, &ComponentCount::PerClass(1)).unwrap_err();
    assert!(matches!(error, MixtureError::Length { expected: 12, found: 5, .. }));
    let one_class = conditional(&x, &[0; 12], 1, &ComponentCount::PerClass(3)).unwrap();
    assert_eq!(one_class.mixture.labels, Array2::<f64>::ones((3, 1)));
}

#[test]
fn components_are_counted_by_bic_and_by_held_out_likelihood() {
    // Class 0 is one cluster and class 1 is three. The rows alternate, so each part in time has all
    // of them.
    let (one, three) = (clusters(1, 300, 3), clusters(3, 100, 3));
    let mut x = Array2::zeros((600, 3));
    for i in 0..300 {
        x.row_mut(i).assign(&one.row(i));
        x.row_mut(300 + i).assign(&three.row(i % 3 * 100 + i / 3));
    }
    let labels: Vec<usize> = (0..600).map(|i| i / 300).collect();
    for choice in [ComponentCount::Bic { most: 5 }, ComponentCount::HeldOut { most: 5, part: 0.3 }]
    {
        let fit = conditional(&x, &labels, 2, &choice).unwrap();
        assert!(fit.classes[0].components <= 2, "{choice:?}: {:?}", fit.classes);
        assert_eq!(fit.classes[1].components, 3, "{choice:?}: {:?}", fit.classes);
        assert_eq!(fit.classes[0].asked, None);
    }
    for choice in [
        ComponentCount::PerClass(0),
        ComponentCount::Each(vec![1]),
        ComponentCount::Bic { most: 0 },
        ComponentCount::HeldOut { most: 2, part: 1.0 },
        ComponentCount::HeldOut { most: 2, part: f64::NAN },
    ] {
        conditional(&x, &labels, 2, &choice).unwrap_err();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Any finite data give a mixture or an error, never NaN.
    #[test]
    fn finite_data_never_give_nan(
        n in 1usize..30, d in 1usize..5, k in 1usize..6, seed: u64, kind in 0usize..4,
        magnitude in -8i32..8, distinct in 1u64..40,
    ) {
        let scale = 10f64.powi(magnitude);
        let x = Array2::from_shape_fn((n, d), |(i, j)| {
            let mixed = (i as u64 * 31 + j as u64 * 17).wrapping_mul(seed | 1) >> 7;
            (mixed % distinct) as f64 * scale
        });
        let settings = EmSettings { covariance: KINDS[kind], seed, ..EmSettings::new(k) };
        match try_fit(&x, &settings) {
            Ok(fit) => {
                prop_assert!(fit.log_likelihood.is_finite());
                prop_assert!(fit.mixture.weights.iter().all(|w| w.is_finite()));
                prop_assert!((fit.mixture.weights.sum() - 1.0).abs() < 1e-9);
                prop_assert!(fit.mixture.means.iter().all(|m| m.is_finite()));
            }
            Err(MixtureError::TooFewSamples { .. }) => prop_assert!(n < k),
            Err(MixtureError::Singular { .. }) => prop_assert!(kind >= 2),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
