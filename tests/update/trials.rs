//! Trials: what confirms a model, what ends it, and counters in hardware.

use crate::common;
use crate::keys::{
    GATE, GOLDEN, OLDER, Run, ToyKeys, commissioned, layout, restart, send, signed, signed_for,
    started,
};
use crate::simulated_flash::SimulatedFlash;
use rebearing::operation::DriftWatch;
use rebearing::update::{
    DeviceId, FloorCounter, ModelStore, Outcome, Receiver, Refusal, Standing, TrialRules, Unusable,
};
use rebearing::{Classification, Finding, Label, Model, ModelError, SensorFault, Statistics};
use rebearing_host::model::drift::DriftContents;
use rebearing_host::model::encoded::ModelBytes;
use rebearing_host::model::sections::drift_section;
use zerocopy::IntoBytes;

const RULES: TrialRules = TrialRules { windows: 5, sensor_faults: 4, starts: 3 };

/// A model whose drift watch has blocks of three windows; more than one unknown window of a block is
/// a drift.
fn watched() -> ModelBytes {
    let drift = DriftContents {
        block: 3,
        correlation: 1,
        deviation_min: -512,
        unknown_max: 1,
        blocks_per_false_alarm: 1000,
        held_out: 100,
        held_out_unknown: 0,
        classes: vec![(0, 256); 3],
    };
    common::golden_contents().with_sections(&[drift_section(&drift)]).expect("a model")
}

fn window(label: Label) -> Finding<1, 3> {
    let statistics = [Statistics { level: 0.0, rms: 1.0, kurtosis: 3.0, crest: 4.0 }];
    let result = Ok(Classification {
        label,
        gate_log_likelihood: None,
        log_likelihood: Some(0.0),
        posterior: [1.0, 0.0, 0.0].into_iter().collect(),
        statistics,
        severity: None,
    });
    Finding { index: 0, result }
}

fn fault() -> Finding<1, 3> {
    Finding { index: 0, result: Err(SensorFault::Flat) }
}

/// A device with a confirmed model and a new one that waits for its first start.
fn updated() -> SimulatedFlash<8> {
    let mut flash = commissioned(GOLDEN, 3);
    let (_, mut store) = restart(&mut flash);
    send(&mut store, &signed(GATE, OLDER, 7, DeviceId::ANY), 200).expect("an update");
    flash
}

/// Runs findings through a trial; returns the outcome, and the model after a restart.
fn trial(findings: &[Finding<1, 3>]) -> (Option<Outcome>, Run, Outcome) {
    let mut flash = updated();
    let (run, mut store) = restart(&mut flash);
    assert_eq!(run.expect("a model").standing, Standing::OnTrial);
    store.set_trial_rules(RULES);
    let watched = watched();
    let watched = watched.model();
    let mut watch = DriftWatch::new(watched.drift().expect("a reference"));
    let outcome = findings.iter().find_map(|finding| {
        watch.update(finding);
        store.observe(finding, Some(&watch))
    });
    let (run, store) = restart(&mut flash);
    (outcome, run.expect("a model"), store.status().outcome)
}

#[test]
fn enough_good_windows_confirm_a_model() {
    let good = window(Label::Class(0));
    let mut findings =
        vec![good.clone(), fault(), good.clone(), fault(), good.clone(), good.clone()];
    let (outcome, run, kept) = trial(&findings);
    // The outcome is still that of the model before.
    let before = Outcome::ConfirmedRemotely;
    assert_eq!((outcome, run.standing, kept), (None, Standing::OnTrial, before));
    findings.push(good);
    let (outcome, run, kept) = trial(&findings);
    assert_eq!((outcome, kept), (Some(Outcome::Confirmed), Outcome::Confirmed));
    assert_eq!((run.model, run.standing), (GATE.to_vec(), Standing::Confirmed));
}

#[test]
fn a_drift_or_sensor_faults_bring_the_old_model_back_with_the_reason() {
    let drifting = [window(Label::Class(0)), window(Label::Unknown), window(Label::Unknown)];
    let failing = [fault(), fault(), window(Label::Class(0)), fault(), fault()];
    for (findings, reason) in [(&drifting[..], Outcome::Drift), (&failing, Outcome::SensorFaults)] {
        let (outcome, run, kept) = trial(findings);
        assert_eq!((outcome, kept), (Some(reason), reason));
        assert_eq!((run.model, run.standing), (GOLDEN.to_vec(), Standing::Confirmed));
    }
}

#[test]
fn three_starts_without_confirmation_bring_the_old_model_back() {
    let mut flash = updated();
    for starts in 0..3 {
        let (run, store) = restart(&mut flash);
        assert_eq!(run.expect("a model").model, GATE, "start {starts}");
        assert_eq!(store.status().restarts, starts);
    }
    let words: Vec<u32> = flash.region_words();
    let mut store = crate::keys::open(&mut flash);
    let old = started(&mut store, words.as_bytes()).expect("the old model");
    assert_eq!((old.model, old.ended), (GOLDEN.to_vec(), Some(Outcome::Restarts)));
    // It stays so, and a model with that counter is not taken again.
    let (run, mut store) = restart(&mut flash);
    assert_eq!(run.expect("a model").model, GOLDEN);
    let again = send(&mut store, &signed(GATE, OLDER, 7, DeviceId::ANY), 200);
    assert_eq!(again, Err(Refusal::OldCounter));
    assert_eq!(send(&mut store, &signed(GATE, OLDER, 8, DeviceId::ANY), 200), Ok(()));
}

#[test]
fn a_first_model_stays_on_trial_until_it_has_shown_enough() {
    let file = signed(GOLDEN, OLDER, 1, DeviceId::ANY);
    let mut flash = SimulatedFlash::<4>::probed(&file);
    for _ in 0..6 {
        let (run, mut store) = restart(&mut flash);
        assert_eq!(run.expect("nothing else to run").standing, Standing::OnTrial);
        store.set_trial_rules(RULES);
        for _ in 0..9 {
            assert_eq!(store.observe(&fault(), None), None, "nothing to return to");
        }
    }
    let (_, mut store) = restart(&mut flash);
    store.set_trial_rules(RULES);
    let outcomes: Vec<_> = (0..6).map(|_| store.observe(&window(Label::Class(0)), None)).collect();
    assert_eq!(outcomes[4..], [Some(Outcome::Confirmed), None]);
    assert_eq!(store.status().floor, 1);
}

#[test]
fn while_a_model_is_on_trial_the_old_one_is_not_overwritten() {
    let mut flash = updated();
    let (_, mut store) = restart(&mut flash);
    let next = signed(GOLDEN, OLDER, 9, DeviceId::ANY);
    assert_eq!(send(&mut store, &next, 200), Err(Refusal::OnTrial));
    assert_eq!(store.reject(), Ok(()));
    assert_eq!(store.reject(), Err(Refusal::NotOnTrial));
    assert_eq!(store.confirm(), Err(Refusal::NotOnTrial));
    // What it shows until the restart does not save it.
    for _ in 0..500 {
        assert_eq!(store.observe(&window(Label::Class(0)), None), None);
    }
    assert_eq!(store.status().floor, 3);
    let (run, mut store) = restart(&mut flash);
    assert_eq!(run.expect("a model").model, GOLDEN);
    assert_eq!(send(&mut store, &next, 200), Ok(()));
}

#[test]
fn a_model_that_the_firmware_cannot_run_ends_its_trial_at_the_start() {
    for refuse in [
        ModelError::DoesNotFit { what: "components", needs: 4, holds: 3 },
        ModelError::WindowTooLong { window_ms: 9000, longest_ms: 4000 },
    ] {
        let mut flash = updated();
        let words = flash.region_words();
        let mut store = crate::keys::open(&mut flash);
        let started =
            store.start(
                words.as_bytes(),
                |model: Model<'_>| {
                    if model.bytes() == GATE { Err(refuse) } else { Ok(()) }
                },
            );
        let started = started.expect("the old model");
        assert_eq!(started.ended, Some(Outcome::DoesNotFit));
        assert_eq!(started.other, Some(Unusable::Model(refuse)));
        assert_eq!(store.status().outcome, Outcome::DoesNotFit);
    }
}

#[test]
fn a_model_that_rots_on_trial_ends_it_as_damaged() {
    let mut flash = updated();
    flash.spoil_slot_of(GATE);
    let (run, store) = restart(&mut flash);
    assert_eq!(run.expect("the old model").model, GOLDEN);
    assert_eq!(store.status().outcome, Outcome::Damaged);
}

/// A counter in hardware.
#[derive(Debug, Clone, Copy)]
struct Fuses {
    floor: Option<u32>,
    works: bool,
}

impl FloorCounter for &mut Fuses {
    fn floor(&mut self) -> Option<u32> {
        self.floor
    }

    fn raise(&mut self, floor: u32) -> bool {
        if self.works {
            self.floor = self.floor.max(Some(floor));
        }
        self.floor >= Some(floor)
    }
}

#[test]
fn a_counter_in_hardware_holds_when_the_ledger_is_erased() {
    let file = signed(GOLDEN, OLDER, 5, DeviceId::ANY);
    let mut fuses = Fuses { floor: Some(0), works: false };
    let mut flash = SimulatedFlash::<4>::probed(&file);
    let words = flash.region_words();
    let run = |flash: &mut SimulatedFlash<4>, fuses: &mut Fuses| {
        let mut store =
            ModelStore::new(flash, &layout(), ToyKeys, fuses, signed_for()).expect("a layout");
        let run = store.start(words.as_bytes(), |_: Model<'_>| Ok(()));
        (run.map(|run| run.standing), store.confirm())
    };
    // Confirmed in the ledger; the fuses could not be blown.
    assert_eq!(run(&mut flash, &mut fuses), (Ok(Standing::OnTrial), Err(Refusal::Counter)));
    // The next start makes up for it.
    fuses.works = true;
    let (standing, confirmed) = run(&mut flash, &mut fuses);
    assert_eq!((standing, confirmed), (Ok(Standing::Confirmed), Err(Refusal::NotOnTrial)));
    assert_eq!(fuses.floor, Some(5));
    // Somebody erases the ledger: the model at the floor may start anew, nothing below it.
    let mut erased = SimulatedFlash::<4>::probed(&file);
    assert_eq!(run(&mut erased.clone(), &mut fuses).0, Ok(Standing::OnTrial));
    fuses.floor = Some(6);
    assert!(run(&mut erased, &mut fuses).0.is_err());
    // A counter that cannot be read lets nothing run.
    fuses.floor = None;
    let none = run(&mut flash, &mut fuses).0.expect_err("no floor");
    assert_eq!(none.a, Unusable::Refused(Refusal::Counter));
}
