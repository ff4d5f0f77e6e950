//! The promises of guarded adaptation, in miniature on simulated machines: the same limits as on
//! real recordings, checked with the device's own code.
//!
//! Motor-b and motor-c are alike, like one machine at two speeds; motor-a is a different machine.

use std::sync::LazyLock;

use rebearing_host::adapt::plan::{PlanSettings, Solver};
use rebearing_host::adapt::verdict::{Pool, Verdict};
use rebearing_host::baselines::Method;
use rebearing_host::data::domain::Domain;
use rebearing_host::data::manifest::Manifest;
use rebearing_host::evaluate::{
    EvaluateSettings, EvaluatedMethod, LeaveOut, Run, SourceDomain, Sources, TargetDomain, evaluate,
};
use rebearing_host::features::front_end::{EqualBands, FrontEndSettings};
use rebearing_host::simulate::{Class, SimulateSettings, simulate};

static MACHINES: LazyLock<Vec<(SourceDomain, TargetDomain)>> = LazyLock::new(|| {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let settings = SimulateSettings {
        machines: 3,
        seconds: 8.0,
        classes: Class::ALL[..4].to_vec(),
        ..SimulateSettings::default()
    };
    let simulated = simulate(&settings, directory.path(), &|_, _| ()).expect("a simulation");
    let manifest = Manifest::read(&simulated.manifest).expect("its manifest");
    ["motor-a", "motor-b", "motor-c"]
        .map(|name| {
            let domain = Domain::read(&manifest, name).expect("its recordings");
            let front_end =
                FrontEndSettings::equal_bands(EqualBands::usual(domain.rate_hz, 1)).unwrap();
            let source = SourceDomain::extract(&domain, &front_end).expect("features");
            let target = TargetDomain::extract(&domain, &front_end, 0.6, None).expect("features");
            (source, target)
        })
        .into()
});

const A: usize = 0;
const B: usize = 1;
const C: usize = 2;
/// Every ordered pair of machines.
const PAIRS: [(usize, usize); 6] = [(A, B), (A, C), (B, A), (B, C), (C, A), (C, B)];
/// The pairs of machines that are alike.
const ALIKE: [(usize, usize); 2] = [(B, C), (C, B)];

fn guarded(pool: &str, pool_is: Pool) -> EvaluateSettings {
    EvaluateSettings { pool: pool.parse().unwrap(), pool_is, ..EvaluateSettings::default() }
}

fn runs(pairs: &[(usize, usize)], settings: &EvaluateSettings) -> Vec<Run> {
    let pair = |(source, target): &(usize, usize)| {
        let sources = Sources::one(&MACHINES[*source].0);
        evaluate(&sources, &MACHINES[*target].1, settings, 0).expect("runs")
    };
    pairs.iter().flat_map(pair).collect()
}

/// Returns the mean of a rate over runs, and its largest value.
fn rates(runs: &[Run], rate: impl Fn(&Run) -> Option<f64>) -> (f64, f64) {
    let rates: Vec<f64> = runs.iter().map(|run| rate(run).expect("a rate")).collect();
    let most = rates.iter().copied().fold(0.0, f64::max);
    (rates.iter().sum::<f64>() / rates.len() as f64, most)
}

#[test]
fn a_complete_pool_is_adapted_to() {
    let alike = runs(&ALIKE, &guarded("all", Pool::All));
    assert!(alike.iter().all(|run| run.verdict == Some(Verdict::Adapt)), "{alike:?}");
    let (accuracy, _) = rates(&alike, |run| run.scores.accuracy);
    assert!(accuracy > 0.98, "{accuracy}");
    // Whatever the verdict: labels that are accepted are as right as predicted.
    for run in runs(&PAIRS, &guarded("all", Pool::All)) {
        let (predicted, exact) = (run.predicted_accuracy.unwrap(), run.carried_accuracy.unwrap());
        assert!(run.verdict != Some(Verdict::Adapt) || exact >= predicted, "{predicted} {exact}");
    }
    let map = EvaluatedMethod::Baseline(Method::GmmOtdaMap);
    let map = EvaluateSettings { method: map, ..guarded("all", Pool::All) };
    let (accuracy, _) = rates(&runs(&PAIRS, &map), |run| run.scores.accuracy);
    assert!(accuracy > 0.99, "{accuracy}");
}

/// The guard exists for this trap: transport gives every fault label to some windows of a healthy
/// pool.
#[test]
fn a_healthy_pool_gives_no_false_alarms_and_every_fault_is_found() {
    let runs_of = |settings: &EvaluateSettings| runs(&PAIRS, settings);
    let guarded_runs = runs_of(&guarded("healthy", Pool::Healthy));
    let (false_alarms, worst) = rates(&guarded_runs, |run| run.scores.false_alarm_rate);
    assert!(false_alarms <= 0.01 && worst <= 0.05, "{false_alarms} {worst}");
    let (detection, _) = rates(&guarded_runs, |run| run.scores.detection_rate);
    assert!(detection >= 0.99, "{detection}");

    let plan = PlanSettings { solver: Solver::Sinkhorn, epsilon: 1e-2, ..Default::default() };
    let method = EvaluatedMethod::Baseline(Method::GmmOtdaMap);
    let balanced = EvaluateSettings { method, plan, ..guarded("healthy", Pool::Healthy) };
    let (false_alarms, _) = rates(&runs_of(&balanced), |run| run.scores.false_alarm_rate);
    assert!(false_alarms > 0.3, "balanced transport: {false_alarms}");
}

#[test]
fn fault_types_are_kept_on_a_machine_that_is_alike_and_not_named_on_another() {
    let kept = runs(&ALIKE, &guarded("healthy", Pool::Healthy));
    assert!(kept.iter().all(|run| run.verdict == Some(Verdict::Keep)), "{kept:?}");
    let (types, _) = rates(&kept, |run| run.scores.fault_type_accuracy);
    assert!(types >= 0.88, "{types}");
    for run in runs(&[(A, B), (C, A)], &guarded("healthy", Pool::Healthy)) {
        assert_eq!(run.verdict, Some(Verdict::Abstain));
        assert_eq!(run.scores.detection_rate, Some(1.0));
        let named = run.confusion.iter().flat_map(|row| &row[1..4]).sum::<usize>();
        assert_eq!(named, 0, "{:?}", run.confusion);
        let shift = run.reasons.iter().find(|reason| reason.contains("has moved by"));
        assert!(shift.is_some(), "{:?}", run.reasons);
    }
}

#[test]
fn a_pool_of_which_nothing_is_known_is_never_worse_than_source_or_silence() {
    let mut compared = 0;
    for pool in ["healthy", "healthy:0.9", "healthy:0.5", "half", "dirichlet", "all"] {
        for run in runs(&ALIKE, &guarded(pool, Pool::Unknown)) {
            assert_eq!(run.harmful, Some(false), "{pool}: {:?}", run.reasons);
            let false_alarms = run.scores.false_alarm_rate.unwrap();
            assert!(false_alarms <= 0.1, "{pool}: {false_alarms}, {:?}", run.reasons);
            compared += 1;
        }
    }
    assert_eq!(compared, 20);
    // On another machine nothing is named.
    for run in runs(&[(A, B), (B, A)], &guarded("healthy:0.9", Pool::Unknown)) {
        assert_eq!(run.verdict, Some(Verdict::Abstain), "{:?}", run.reasons);
        let named: usize = run.confusion.iter().flat_map(|row| &row[..4]).sum();
        assert_eq!(named, 0, "{:?}", run.confusion);
    }
}

#[test]
fn faults_that_were_left_out_come_out_as_unknown() {
    let each = EvaluateSettings { leave_out: Some(LeaveOut::Each), ..guarded("all", Pool::All) };
    // On another machine every window is unknown, and says nothing about this.
    let left_out = runs(&ALIKE, &each);
    let (found, _) = rates(&left_out, |run| run.scores.novel_unknown_rate);
    assert!(found >= 0.8, "{found}");
    let (unknown, _) = rates(&left_out, |run| run.scores.false_unknown_rate);
    assert!(unknown <= 0.01, "{unknown}");
}
