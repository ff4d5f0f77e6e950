//! Labels arrive, whatever the scale and the unit.

use ndarray::{Array2, Axis, ShapeBuilder as _};
use rebearing_host::adapt::maps::ComponentMaps;
use rebearing_host::adapt::softmax::Softmax;
use rebearing_host::adapt::verdict::Verdict;
use rebearing_host::baselines::{Classifier, Joined, Method, Settings, Task};
use rebearing_host::evaluate::EvaluatedMethod::{self, Baseline, Guarded};
use rebearing_host::matrices::{Given, MapKind, Marks, MatrixSettings, Prepared, Scale};
use rebearing_host::mixture::CovarianceKind;

use crate::clouds::{Domain, clouds, source, target};

fn prepared<'a>(known: &'a Domain, new: &'a Domain, scale: Scale) -> Prepared<'a, f64> {
    let (source, target) = (known.x.view().into(), new.x.view().into());
    Prepared::new(Given { source, labels: &known.labels, target }, scale).expect("prepared")
}

fn accuracy(known: &Domain, new: &Domain, scale: Scale, method: EvaluatedMethod) -> f64 {
    let prepared = prepared(known, new, scale);
    let model = prepared.fit(method, &MatrixSettings::default()).expect("fits");
    let found = model.label_prepared(prepared.target()).expect("labels");
    // Rows as they were given are standardised by the model itself.
    assert_eq!(model.label(new.x.view()).expect("labels").classes, found.classes);
    Marks::new(&new.classes, &found.classes, 3).expect("rows").accuracy
}

#[test]
fn every_method_carries_labels_at_every_scale() {
    let (known, new) = (source(), target());
    for method in Method::ALL.map(Baseline).into_iter().chain([Guarded]) {
        for scale in [Scale::None, Scale::Source, Scale::Each] {
            let right = accuracy(&known, &new, scale, method);
            // The clusters of hot-da do not quite part the clouds.
            let least = if method == Baseline(Method::HotDa) { 0.8 } else { 0.95 };
            assert!(right > least, "{method}, {scale:?}: {right}");
        }
    }
}

#[test]
fn units_do_not_matter_and_neither_does_the_layout() {
    let (known, new) = (source(), target());
    for unit in [1e-7, 1e6] {
        let scaled = |domain: &Domain| Domain {
            x: &domain.x * unit,
            labels: domain.labels.clone(),
            classes: domain.classes.clone(),
        };
        let (known, new) = (scaled(&known), scaled(&new));
        for method in [Method::GmmOtdaMap, Method::GmmOtdaT, Method::OtdaAffine] {
            let right = accuracy(&known, &new, Scale::None, Baseline(method));
            assert!(right > 0.95, "{method} in units of {unit}: {right}");
        }
        assert!(accuracy(&known, &new, Scale::None, Guarded) > 0.95);
    }
    // Column by column, as some programs save matrices.
    let mut columns = Array2::zeros(new.x.dim().f());
    columns.assign(&new.x);
    let turned = Domain { x: columns, labels: new.labels.clone(), classes: new.classes.clone() };
    let method = Baseline(Method::GmmOtdaMap);
    let settings = MatrixSettings::default();
    let labelled = |new: &Domain| {
        let prepared = prepared(&known, new, Scale::Source);
        let model = prepared.fit(method, &settings).expect("fits");
        model.label(new.x.view()).expect("labels")
    };
    assert_eq!(labelled(&turned), labelled(&new));
}

#[test]
fn guarded_abstains_where_the_target_is_another_thing_and_can_be_forced() {
    let (known, mut new) = (source(), target());
    // One cloud alone: two thirds of the classes are absent.
    new.x = new.x.select(Axis(0), &(0..120).map(|row| row - row % 3).collect::<Vec<_>>());
    let prepared = prepared(&known, &new, Scale::Source);
    let settings = MatrixSettings::default();
    let model = prepared.fit(Guarded, &settings).expect("fits");
    let guarded = model.guarded.as_ref().expect("a verdict");
    assert_eq!(guarded.verdict, Verdict::Abstain, "{:?}", guarded.reasons);
    let found = model.label(new.x.view()).expect("labels");
    assert!(found.classes.iter().all(Option::is_none));
    assert!(found.posterior.iter().all(|p| *p == 0.0));
    let settings = MatrixSettings { force: true, ..settings };
    let model = prepared.fit(Guarded, &settings).expect("fits");
    assert!(model.guarded.as_ref().expect("a verdict").forced);
    let found = model.label(new.x.view()).expect("labels");
    assert!(found.classes.iter().all(Option::is_some));
}

#[test]
fn maps_move_the_source_to_the_target_in_its_own_units() {
    let (known, new) = (source(), target());
    for scale in [Scale::None, Scale::Source, Scale::Each] {
        let prepared = prepared(&known, &new, scale);
        let settings = MatrixSettings::default();
        for kind in [MapKind::Weight, MapKind::Mean, MapKind::Rand] {
            let mapped = prepared.map(kind, &settings).expect("maps");
            assert_eq!(mapped, prepared.map(kind, &settings).expect("maps"), "same seed");
            assert_eq!(mapped.x.nrows(), mapped.origin.len());
            let total = mapped.weights.sum();
            let mean = mapped.x.t().dot(&mapped.weights) / total;
            let expected = new.x.mean_axis(Axis(0)).expect("rows");
            let off = (&mean - &expected).mapv(f64::abs).sum();
            assert!(off < 0.5, "{kind:?}, {scale:?}: {mean} {expected}");
            for (origin, class) in mapped.origin.iter().zip(&mapped.classes) {
                assert_eq!(*class, Some(known.classes[*origin]));
            }
            if kind != MapKind::Weight {
                assert_eq!(mapped.origin, (0..150).collect::<Vec<_>>());
                assert_eq!(total, 150.0);
            }
        }
    }
}

/// The samples of gmm-otda-t are never made. The result is that of samples that are.
#[test]
fn training_on_the_fly_is_training_on_mapped_samples() {
    let (known, new) = (clouds(900, 3, 0.0, 1.0), clouds(300, 4, 0.5, 1.2));
    for covariance in [CovarianceKind::Diagonal, CovarianceKind::Full] {
        let task =
            Task { source: known.x.view(), labels: &known.classes, classes: 3, pool: new.x.view() };
        let mut settings = Settings { covariance, ..Settings::default() };
        settings.softmax.tolerance = 1e-9;
        let joined = Joined::new(&task, &settings).expect("joins");
        let fitted = joined.clone().carried(&task, &settings).expect("trains");
        let Classifier::Softmax(found) = fitted.classifier else { panic!("a softmax") };
        let maps = ComponentMaps::new(&joined.source.mixture, &joined.target, &joined.plan)
            .expect("maps")
            .without_negligible();
        let mapped = maps.weighted(task.source, 0.0).expect("maps");
        let labels: Vec<usize> = mapped.origin.iter().map(|row| known.classes[*row]).collect();
        let weights = mapped.weights.to_vec();
        // The penalty is relative to the total variance of the source.
        settings.softmax.unit = known.x.var_axis(Axis(0), 0.0).sum().sqrt();
        let expected = Softmax::train(&mapped.samples, &labels, &weights, 3, &settings.softmax)
            .expect("trains");
        let off = (&found.coefficients - &expected.coefficients).mapv(f64::abs).sum();
        assert!(off < 1e-4, "{covariance:?}: {off}");
        settings.softmax.unit = 1.0;
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
        let alone = one.install(|| joined.carried(&task, &settings)).expect("trains");
        let Classifier::Softmax(alone) = alone.classifier else { panic!("a softmax") };
        assert_eq!(alone.coefficients, found.coefficients, "threads change nothing");
    }
}
