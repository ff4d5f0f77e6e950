//! Settings of the methods: the classifier and its penalty.

use crate::problems::Draws;
use ndarray::{Array2, array};
use rebearing_host::baselines::{Classifier, ClassifierKind, Method, Nearest, Settings, Task};

#[test]
fn nearest_gives_the_label_of_the_nearest_sample() {
    let samples = array![[0.0, 0.0], [4.0, 0.0], [4.0, 0.0]];
    let nearest = Nearest { samples, labels: vec![1, 2, 0], classes: 3 };
    let posterior = nearest.posterior(&array![[1.9, 9.0], [2.1, -9.0]]);
    // The second and third sample are at the same place: the first of them counts.
    assert_eq!(posterior, array![[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
}

/// Rows around one centre per class. Centres are the same for all shifts; noise is not.
fn domain(draws: &mut Draws, centres: &Array2<f64>, per_class: usize, shift: f64) -> Array2<f64> {
    let (classes, dims) = centres.dim();
    Array2::from_shape_fn((classes * per_class, dims), |(row, dim)| {
        let noise = (0..6).map(|_| draws.draw() - 0.5).sum::<f64>();
        centres[[row % classes, dim]] + noise + shift
    })
}

#[test]
fn the_classifier_is_the_one_in_the_settings_and_needs_no_unit() {
    let mut draws = Draws(3);
    let centres = draws.matrix(3, 4) * 2.0;
    let source = domain(&mut draws, &centres, 30, 0.0);
    let target = domain(&mut draws, &centres, 30, 1.0);
    let labels: Vec<usize> = (0..90).map(|row| row % 3).collect();
    let fit = |unit: f64, classifier: ClassifierKind, method: Method| {
        let (source, pool) = (&source * unit, &target * unit);
        let task = Task { source: source.view(), labels: &labels, classes: 3, pool: pool.view() };
        let settings =
            Settings { classifier, variance_floor: 0.01 * unit * unit, ..Settings::default() };
        let classifier = method.fit(&task, &settings).expect("fits").classifier;
        let posterior = classifier.posterior(pool.view()).expect("labels");
        (classifier, posterior)
    };
    let (nearest, _) = fit(1.0, ClassifierKind::Nearest, Method::OtdaExact);
    assert!(matches!(nearest, Classifier::Nearest(_)), "{nearest:?}");
    for method in [Method::OtdaAffineDiagonal, Method::GmmOtdaT] {
        let (softmax, posterior) = fit(1.0, ClassifierKind::Softmax, method);
        assert!(matches!(softmax, Classifier::Softmax(_)), "{softmax:?}");
        for unit in [1e-3, 1e3] {
            let (_, other) = fit(unit, ClassifierKind::Softmax, method);
            let apart = (&other - &posterior).iter().fold(0.0_f64, |most, v| most.max(v.abs()));
            assert!(apart < 1e-6, "{method} in units of {unit}: {apart}");
        }
    }
}
