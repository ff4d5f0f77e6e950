//! A library of four simulated machines: a target inside its range, one outside it, and one of
//! another build.

use std::path::Path;
use std::sync::LazyLock;

use rebearing_host::adapt::leave_one_out::fit_library;
use rebearing_host::adapt::verdict::{AdaptSettings, Adaptation, Pool, Verdict, adapt};
use rebearing_host::data::domain::Domain;
use rebearing_host::data::manifest::Manifest;
use rebearing_host::features::extract::Features;
use rebearing_host::features::front_end::{EqualBands, FrontEndSettings};
use rebearing_host::model::findings::findings;
use rebearing_host::simulate::{Class, Machine, SimulateSettings, simulate_machines};
use rebearing_host::source::library::{Library, Shared};
use rebearing_host::source::{LabelledFeatures, SourceSettings};

/// The known machines: stiffness relative to the family's nominal.
const KNOWN: [(&str, f64); 4] = [("k1", -0.03), ("k2", -0.01), ("k3", 0.01), ("k4", 0.03)];
const INSIDE: &str = "inside";
const OUTSIDE: &str = "outside";
const OTHER_BUILD: &str = "other-build";

struct World {
    library: Library,
    shared: Shared,
    targets: Vec<LabelledFeatures>,
}

/// One motor at another stiffness, which shifts all its resonances.
fn machine(name: &str, stiffness: f64) -> Machine {
    let mut machine = Machine::of_family(0, 1);
    machine.name = name.into();
    machine.rpm *= 1.0 + 2.0 * stiffness;
    for mode in &mut machine.modes {
        mode.frequency_hz *= 1.0 + stiffness;
    }
    machine
}

static WORLD: LazyLock<World> = LazyLock::new(|| {
    let mut machines: Vec<Machine> = KNOWN.map(|(name, by)| machine(name, by)).into();
    machines.push(machine(INSIDE, 0.0));
    machines.push(machine(OUTSIDE, 0.25));
    // Resonances at other places, each driven by another part of the machine.
    let mut other = machine(OTHER_BUILD, 0.0);
    let frequencies: Vec<f64> = other.modes.iter().map(|mode| mode.frequency_hz).collect();
    for (mode, hz) in other.modes.iter_mut().zip(frequencies.iter().rev()) {
        mode.frequency_hz = 1.13 * hz;
    }
    machines.push(other);

    let folder = tempfile::tempdir().expect("a temporary folder");
    let settings = SimulateSettings {
        seconds: 6.0,
        classes: Class::ALL[..4].to_vec(),
        ..SimulateSettings::default()
    };
    let simulated = simulate_machines(&machines, &settings, folder.path(), &|_, _| ())
        .expect("recordings of all machines");
    let manifest = Manifest::read(&simulated.manifest).expect("their manifest");
    let read = |machine: &Machine| {
        let domain = Domain::read(&manifest, &machine.name).expect("its recordings");
        let bands = EqualBands::usual(domain.rate_hz, domain.axes);
        let front_end = FrontEndSettings::equal_bands(bands).expect("a front end");
        LabelledFeatures::extract(&domain, &front_end).expect("its features")
    };
    let mut known: Vec<LabelledFeatures> = machines.iter().map(read).collect();
    let targets = known.split_off(KNOWN.len());
    let shared = Shared::new(known, None).expect("comparable machines");
    let library = fit_library(&shared, &SourceSettings::default()).expect("a library");
    World { library, shared, targets }
});

fn target(name: &str) -> &'static LabelledFeatures {
    WORLD.targets.iter().find(|target| target.domain == name).expect("a target")
}

/// The windows of a pool: all, or those of the healthy machine alone.
fn pool(target: &LabelledFeatures, healthy: bool) -> Features {
    let rows: Vec<usize> =
        (0..target.labels.len()).filter(|row| !healthy || target.labels[*row] == 0).collect();
    target.features.select(&rows)
}

fn adapted(name: &str, healthy: bool, settings: &AdaptSettings) -> Adaptation {
    adapt(&WORLD.library, &pool(target(name), healthy), settings).expect("an adaptation")
}

fn settings(pool_is: Pool) -> AdaptSettings {
    AdaptSettings { pool_is, ..AdaptSettings::default() }
}

/// The share of the target's windows that the device labels right, and the share that it names.
fn right_and_named(adaptation: &Adaptation, name: &str) -> (f64, f64) {
    let target = target(name);
    let model = adaptation.model(name, [0; 32]).expect("a model file");
    let labels: Vec<rebearing::Label> =
        findings(&model.model(), &target.features.x).rows.iter().map(|row| row.label).collect();
    let share = |count: usize| count as f64 / labels.len() as f64;
    let right = labels.iter().zip(&target.labels);
    let right = right.filter(|(label, truth)| **label == rebearing::Label::Class(**truth)).count();
    let named = labels.iter().filter(|label| matches!(label, rebearing::Label::Class(_))).count();
    (share(right), share(named))
}

#[test]
fn labels_carry_among_the_known_machines() {
    let World { library, shared, .. } = &*WORLD;
    assert_eq!(library.transfers.len(), KNOWN.len() * (KNOWN.len() - 1));
    for best in library.best_transfers() {
        assert!(best.accuracy > 0.95 && best.quality > 0.8, "{best:?}");
    }
    assert_eq!(library.odd_ones_out(), []);
    assert_eq!(shared.known.len(), library.sources.len());
}

#[test]
fn a_target_inside_the_range_is_adapted_to_and_the_promise_is_kept() {
    for pool_is in [Pool::All, Pool::Unknown] {
        let adaptation = adapted(INSIDE, false, &settings(pool_is));
        assert_eq!(adaptation.verdict, Verdict::Adapt, "{:?}", adaptation.reasons);
        let predicted = adaptation.prediction.expect("a prediction");
        assert_eq!(predicted.transfers, KNOWN.len(), "the library has a curve of its own");
        let (right, _) = right_and_named(&adaptation, INSIDE);
        assert!(right >= predicted.accuracy && right > 0.97, "{right} {predicted:?}");
        // The machine of the largest quality is chosen, and its weight says so.
        let chosen = adaptation.candidates.iter().find(|c| c.weight > 0.0).expect("a candidate");
        assert_eq!(chosen.domain, adaptation.source.domain);
        assert!(adaptation.candidates.iter().all(|other| other.quality <= chosen.quality));
        let weights: f64 = adaptation.candidates.iter().map(|c| c.weight).sum();
        assert!((weights - 1.0).abs() < 1e-12, "{:?}", adaptation.candidates);
    }
}

#[test]
fn a_healthy_pool_inside_the_range_gets_a_gate_and_fault_types() {
    let adaptation = adapted(INSIDE, true, &settings(Pool::Healthy));
    assert_eq!(adaptation.verdict, Verdict::Keep, "{:?}", adaptation.reasons);
    assert_eq!(adaptation.prediction, None, "fault types cannot be promised");
    let (right, named) = right_and_named(&adaptation, INSIDE);
    assert!(right > 0.9 && named > 0.99, "{right} {named}");
    assert!(adaptation.reasons.iter().any(|reason| reason.contains("mixture of the known")));
}

#[test]
fn nothing_is_named_outside_the_range_or_on_another_build() {
    for name in [OUTSIDE, OTHER_BUILD] {
        for (pool_is, healthy) in
            [(Pool::All, false), (Pool::Unknown, false), (Pool::Unknown, true)]
        {
            let adaptation = adapted(name, healthy, &settings(pool_is));
            assert_eq!(adaptation.verdict, Verdict::Abstain, "{name}: {:?}", adaptation.reasons);
            let (_, named) = right_and_named(&adaptation, name);
            assert!(named == 0.0, "{name}, {pool_is:?}: {named} of the windows are named");
            assert!(!adaptation.reasons.is_empty() && !adaptation.forced);
        }
        // With a gate of its own, healthy or not is told, and no fault has a name.
        let gated = adapted(name, true, &settings(Pool::Healthy));
        assert_eq!(gated.verdict, Verdict::Abstain, "{name}: {:?}", gated.reasons);
        assert!(gated.gate.is_some() && gated.mixture.is_none());
        let (right, named) = right_and_named(&gated, name);
        assert!((0.2..=0.26).contains(&right) && named < 0.27, "{right} {named}");
    }
}

#[test]
fn force_names_classes_and_says_so() {
    let force = AdaptSettings { force: true, ..settings(Pool::All) };
    let forced = adapted(OTHER_BUILD, false, &force);
    assert_eq!((forced.verdict, forced.forced), (Verdict::Abstain, true));
    assert!(forced.reasons.iter().any(|reason| reason.contains("FORCED")));
    assert!(right_and_named(&forced, OTHER_BUILD).1 > 0.5);
    let contents = forced.verdict_contents();
    assert!(contents.forced && contents.predicted_accuracy.is_some());
    // Nothing to force: the promise is kept.
    let kept = adapted(INSIDE, false, &force);
    assert_eq!((kept.verdict, kept.forced), (Verdict::Adapt, false));
}

#[test]
fn a_higher_promise_accepts_less() {
    let strict = AdaptSettings { promise: 0.999, ..settings(Pool::All) };
    assert_eq!(adapted(INSIDE, false, &strict).verdict, Verdict::Abstain);
    for promise in [0.0, -1.0, 1.5, f64::NAN] {
        let bad = AdaptSettings { promise, ..settings(Pool::All) };
        let error = adapt(&WORLD.library, &pool(target(INSIDE), false), &bad).unwrap_err();
        assert!(error.to_string().contains("`promise`"), "{error}");
    }
}

#[test]
fn a_library_is_read_as_it_was_written_and_damage_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("library.json");
    WORLD.library.write(&path).unwrap();
    assert_eq!(Library::read(&path).unwrap(), WORLD.library);

    let text = std::fs::read_to_string(&path).unwrap();
    let damaged = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        read_text(folder.path(), &text.replacen(from, to, 1)).unwrap_err()
    };
    assert!(damaged("\"domain\": \"k2\"", "\"domain\": \"k1\"").contains("twice"));
    assert!(damaged("\"version\": 2", "\"version\": 9").contains("version 9"));
    assert!(damaged("\"target\": \"k2\"", "\"target\": \"k9\"").contains("is not one"));
    let class = WORLD.library.first().classes[1].clone();
    let renamed = damaged(&format!("\"{class}\""), "\"Else\"");
    assert!(renamed.contains("differ in classes"), "{renamed}");
    assert!(read_text(folder.path(), "{\"sources\": []}").is_err());

    // The library of one machine is the source file of today.
    let one = Library::from(WORLD.library.sources[0].clone());
    one.write(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"version\": 1") && !text.contains("\"sources\""));
    assert_eq!(Library::read(&path).unwrap(), one);
}

fn read_text(folder: &Path, text: &str) -> Result<Library, String> {
    let path = folder.join("damaged.json");
    std::fs::write(&path, text).unwrap();
    Library::read(&path).map_err(|error| format!("{error:#}"))
}

#[test]
fn machines_that_cannot_be_compared_are_refused_or_left_out() {
    let known = &WORLD.shared.known;
    let without = |index: usize, class: &str| {
        let mut classes = known[index].classes.clone();
        classes.retain(|name| name != class);
        known[index].of_classes(&classes)
    };
    let healthy = known[0].classes[0].clone();
    let fault = known[0].classes[1].clone();
    let shared = Shared::new(vec![known[0].clone(), without(1, &fault)], None).unwrap();
    assert_eq!(shared.left_out.classes, [fault]);
    assert!(shared.known.iter().all(|known| known.classes.len() == 3));
    let shared = Shared::new(vec![known[0].clone(), without(1, &healthy)], None).unwrap();
    assert_eq!((shared.left_out.domains, shared.known.len()), (vec!["k2".to_owned()], 1));
    let mut axes = known[1].clone();
    axes.front_end.axes = 3;
    let error = Shared::new(vec![known[0].clone(), axes], None).unwrap_err().to_string();
    assert!(error.contains("1 axis") && error.contains('3'), "{error}");
}
