//! Measures how well a method carries labels from one domain to another.
//!
//! A method is fitted on all of the source's recordings. It is adapted on the first part, in time,
//! of the target recordings in the pool. It is tested on the last part of *all* target recordings.
//! No window crosses the cut. Labels of the target select the pool, just as a user decides what to
//! record, and they score the test. Fitting and choosing never see them.
//!
//! The modules are in the order of the data: [`domains`] and [`noise`] give the features of each
//! domain once. [`pools`] and [`task`] select the data of one pair of domains. [`predict`] labels
//! the test windows. [`scores`] counts, and [`risk`] compares predicted with true accuracy.

pub mod domains;
pub mod noise;
pub mod pools;
pub mod predict;
pub mod risk;
pub mod scores;
pub mod task;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rebearing::Label;
use serde::Serialize;
use thiserror::Error;

pub use domains::{SourceDomain, Sources, TargetDomain};
pub use pools::PoolChoice;
pub use predict::{Fitted, PredictError};
pub use scores::{Confusion, Scores};
pub use task::{Task, TaskError};

use crate::adapt::choose::Candidate;
use crate::adapt::curve::Prediction;
use crate::adapt::false_alarms::FalseAlarms;
use crate::adapt::plan::PlanSettings;
use crate::adapt::plausible::Plausibility;
use crate::adapt::transfer::Support;
use crate::adapt::verdict::{AdaptSettings, Pool, Verdict};
use crate::baselines::{self, Method};
use crate::source::library::Shared;

/// A method by its `--method` name: the method of `rebearing adapt`, or one to compare it with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvaluatedMethod {
    /// `guarded`: adapt, keep or abstain. It ends in the model file that is deployed.
    Guarded,
    /// One of the methods of [`baselines`].
    Baseline(Method),
}

impl EvaluatedMethod {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Guarded => "guarded",
            Self::Baseline(method) => method.name(),
        }
    }
}

impl fmt::Display for EvaluatedMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error for a name that is not a method.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no method '{0}'; the methods are guarded, {list}", list = Method::ALL.map(Method::name).join(", "))]
pub struct UnknownMethod(String);

impl FromStr for EvaluatedMethod {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        if name == "guarded" {
            return Ok(Self::Guarded);
        }
        name.parse().map(Self::Baseline).map_err(|_| UnknownMethod(name.into()))
    }
}

/// Settings of an evaluation: the data to compare, and the settings of the methods.
#[derive(Debug, Clone)]
pub struct EvaluateSettings {
    /// The method.
    pub method: EvaluatedMethod,
    /// The content of the pool.
    pub pool: PoolChoice,
    /// The statement about the pool that `guarded` gets.
    pub pool_is: Pool,
    /// Labels to compare. If absent, these are the labels that both domains have.
    pub labels: Option<Vec<String>>,
    /// Labels that only the test contains, not source or pool.
    pub leave_out: Option<LeaveOut>,
    /// Label of the healthy machine; guessed if absent.
    pub healthy: Option<String>,
    /// Settings of the plan between mixtures.
    pub plan: PlanSettings,
    /// Components per class, for both source and target.
    pub components: usize,
    /// Added to every variance of a component, in standardised units.
    pub variance_floor: f64,
    /// Number of starts of each EM.
    pub restarts: usize,
    /// The accuracy from which `guarded` trusts carried labels.
    pub promise: f64,
    /// The false alarms that the gate of `guarded` aims at.
    pub false_alarms: FalseAlarms,
    /// Whether `guarded` names classes although its verdict is to abstain.
    pub force: bool,
}

impl Default for EvaluateSettings {
    /// `guarded` on all of the pool, of which nothing is known, with the settings of
    /// [`AdaptSettings`].
    fn default() -> Self {
        let AdaptSettings { pool_is, promise, false_alarms, force, plan, components, em } =
            AdaptSettings::default();
        Self {
            method: EvaluatedMethod::Guarded,
            pool: PoolChoice::All,
            pool_is,
            labels: None,
            leave_out: None,
            healthy: None,
            plan,
            components,
            variance_floor: em.variance_floor,
            restarts: em.restarts,
            promise,
            false_alarms,
            force,
        }
    }
}

impl EvaluateSettings {
    /// Refuses settings out of their range.
    pub fn check(&self) -> anyhow::Result<()> {
        let Self { promise, false_alarms, .. } = *self;
        AdaptSettings { promise, false_alarms, ..AdaptSettings::default() }.check()
    }

    /// Checks that every named label is one of `known`, the labels of all domains in use.
    ///
    /// A single pair of domains may lack some of them.
    pub fn check_labels(&self, known: &[String]) -> Result<(), UnknownLabel> {
        let pool = match &self.pool {
            PoolChoice::Labels(labels) => labels.as_slice(),
            _ => &[],
        };
        let leave_out = match &self.leave_out {
            Some(LeaveOut::Labels(labels)) => labels.as_slice(),
            _ => &[],
        };
        let named = [
            ("pool", pool),
            ("leave_out", leave_out),
            ("labels", self.labels.as_deref().unwrap_or_default()),
            ("healthy", self.healthy.as_slice()),
        ];
        for (field, labels) in named {
            if let Some(label) = labels.iter().find(|label| !known.contains(label)) {
                let (label, known) = (label.clone(), known.join(", "));
                return Err(UnknownLabel { field, label, known });
            }
        }
        Ok(())
    }
}

/// Labels that a method meets for the first time in the test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaveOut {
    /// `each` fault label in turn.
    Each,
    /// These labels, together.
    Labels(Vec<String>),
}

impl FromStr for LeaveOut {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "each" => Self::Each,
            _ => Self::Labels(text.split(',').map(|label| label.trim().to_owned()).collect()),
        })
    }
}

/// The error for a label in the settings that no recording has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{field}`: no recording has the label '{label}'; the labels are {known}")]
pub struct UnknownLabel {
    /// The setting that names the label.
    pub field: &'static str,
    /// The label.
    pub label: String,
    /// All labels of the domains in use.
    pub known: String,
}

/// The time spent in a run, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Seconds {
    /// Time for the features of both domains. It is spent once for all runs that share them.
    pub features: f64,
    /// Time for the source mixture, or for the classifier on the carried samples.
    pub fit_source: f64,
    /// Time for the target mixture or clusters.
    pub fit_target: f64,
    /// Time for cost, plan, labels and map.
    pub transport: f64,
    /// Total time, including the labels of the test.
    pub total: f64,
}

/// The result of one method on one pair of domains with one seed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// The domain with labels.
    pub source: String,
    /// The domain without labels.
    pub target: String,
    /// The method's name.
    pub method: &'static str,
    /// The pool, as it was requested.
    pub pool: String,
    /// Number of windows of each label in the pool.
    pub pool_windows: BTreeMap<String, usize>,
    /// Labels of the test that neither source nor pool has.
    pub novel: Vec<String>,
    /// Seed of the method.
    pub seed: u64,
    /// The rates.
    #[serde(flatten)]
    pub scores: Scores,
    /// Accuracy of the source's model on the same test, for `guarded`.
    pub source_only_accuracy: Option<f64>,
    /// The accuracy that `guarded` predicted for the carried labels, if it carried some. Read it as
    /// "at least, on pools like these".
    pub predicted_accuracy: Option<f64>,
    /// The prediction by both curves, and its basis.
    pub prediction: Option<Prediction>,
    /// How well the carried labels agree with what is known of the machines.
    pub plausibility: Option<Plausibility>,
    /// The true accuracy of the carried labels, whether they were used or not.
    pub carried_accuracy: Option<f64>,
    /// Whether this run is clearly worse than the better of the source's model and saying nothing.
    pub harmful: Option<bool>,
    /// The machine or machines that the labels come from.
    pub chosen: Option<String>,
    /// Every machine of the library, and how well it suits the target.
    pub sources: Vec<Candidate>,
    /// Whether classes were named although the verdict is to abstain.
    pub forced: bool,
    /// Contradictions between the pool and what was said about it.
    pub warnings: Vec<String>,
    /// The evidence for the plan, if `guarded` made one. It is here even if the plan was rejected.
    pub support: Option<Support>,
    /// The verdict of `guarded`. Other methods always adapt and give no verdict.
    pub verdict: Option<Verdict>,
    /// The reasons, in words and figures.
    pub reasons: Vec<String>,
    /// Number of windows to adapt on.
    pub n_pool: usize,
    /// Number of test windows.
    pub n_test: usize,
    /// True labels of the test windows: first the source's classes, then the labels that only the
    /// target has.
    pub classes: Vec<String>,
    /// Number of test windows by true label (row) and predicted label (column).
    pub confusion: Vec<Vec<usize>>,
    /// Names of the columns: the source's classes, and `unknown` and `unknown_fault` for a method
    /// that can give them.
    pub confusion_columns: Vec<String>,
    /// Labels of either domain that were not compared.
    pub left_out: Vec<String>,
    /// The time spent.
    pub seconds: Seconds,
}

/// Why a pair of domains could not be evaluated.
#[derive(Debug, Error)]
pub enum EvaluateError {
    /// The pair cannot be compared with these settings.
    #[error("{from} -> {to}: {reason}")]
    Task {
        /// Source domain.
        from: String,
        /// Target domain.
        to: String,
        /// The reason.
        reason: TaskError,
    },
    /// The method failed.
    #[error("{from} -> {to}, {method}: {reason}")]
    Predict {
        /// Source domain.
        from: String,
        /// Target domain.
        to: String,
        /// The method.
        method: EvaluatedMethod,
        /// The reason.
        reason: PredictError,
    },
}

/// Fits, adapts and tests one method on the sources and a target. It does this once for each pool that
/// the settings request and each label that they leave out.
///
/// ```
/// use rebearing_host::adapt::verdict::Pool;
/// use rebearing_host::data::domain::Domain;
/// use rebearing_host::evaluate::{
///     EvaluateSettings, SourceDomain, Sources, TargetDomain, evaluate,
/// };
/// use rebearing_host::features::front_end::{EqualBands, FrontEndSettings};
/// use rebearing_host::data::manifest::Manifest;
/// use rebearing_host::simulate::{SimulateSettings, simulate};
///
/// let folder = tempfile::tempdir()?;
/// let settings = SimulateSettings { seconds: 4.0, ..SimulateSettings::default() };
/// let manifest = simulate(&settings, folder.path(), &|_, _| ())?.manifest;
/// let manifest = Manifest::read(&manifest)?;
/// let front_end = FrontEndSettings::equal_bands(EqualBands::usual(20_000.0, 1))?;
/// let known = SourceDomain::extract(&Domain::read(&manifest, "motor-a")?, &front_end)?;
/// // The first 60 % in time to adapt on, the rest to test on.
/// let new = TargetDomain::extract(&Domain::read(&manifest, "motor-b")?, &front_end, 0.6, None)?;
/// let settings = EvaluateSettings {
///     method: "gmm-otda-map".parse()?,
///     pool_is: Pool::All,
///     ..EvaluateSettings::default()
/// };
/// let runs = evaluate(&Sources::one(&known), &new, &settings, 0)?;
/// println!("{:?} of {} windows right", runs[0].scores.accuracy, runs[0].n_test);
/// # assert!(runs[0].scores.accuracy > Some(0.9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evaluate(
    sources: &Sources<'_>,
    target: &TargetDomain,
    settings: &EvaluateSettings,
    seed: u64,
) -> Result<Vec<Run>, EvaluateError> {
    let names = || (sources.name.clone(), target.name.clone());
    let tasks = Task::select(sources, target, settings, seed).map_err(|reason| {
        let (from, to) = names();
        EvaluateError::Task { from, to, reason }
    })?;
    let features =
        sources.domains.iter().map(|source| source.seconds).sum::<f64>() + target.seconds;
    // Tasks that differ only in their pool share one library.
    let mut fitted: Option<(Arc<Shared>, Fitted)> = None;
    let mut runs = Vec::new();
    for task in tasks {
        let failed = |reason| {
            let (from, to) = names();
            EvaluateError::Predict { from, to, method: settings.method, reason }
        };
        let reused = fitted.take().filter(|(shared, _)| Arc::ptr_eq(shared, &task.known));
        let known = match reused {
            Some((_, known)) => known,
            None => Fitted::new(&task, settings, seed).map_err(failed)?,
        };
        let shared = task.known.clone();
        runs.push(run(task, &known, settings, seed, features).map_err(failed)?);
        fitted = Some((shared, known));
    }
    Ok(runs)
}

fn run(
    task: Task,
    fitted: &Fitted,
    settings: &EvaluateSettings,
    seed: u64,
    features: f64,
) -> Result<Run, PredictError> {
    let start = std::time::Instant::now();
    let prediction = predict::predict(&task, fitted, settings, seed)?;
    let with_unknown = settings.method == EvaluatedMethod::Guarded;
    let classes = task.classes().len();
    let count = |labels: &[Label], with_unknown: bool| {
        Confusion::count(&task.truth, labels, task.labels.len(), classes, with_unknown)
    };
    let confusion = count(&prediction.labels, with_unknown);
    let accuracy = |labels: &[Label]| count(labels, false).scores(task.healthy).accuracy;
    let source_only = prediction.source_only.as_deref();
    let harmful = source_only.map(|source_only| {
        scores::harmful(&task.truth, &prediction.labels, source_only, task.healthy)
    });
    let unknown = ["unknown", "unknown_fault"].map(String::from).into_iter();
    let baselines::Seconds { fit_source, fit_target, transport } = prediction.seconds;
    let total = features + start.elapsed().as_secs_f64();
    let column_names = task.classes().to_vec().into_iter();
    Ok(Run {
        source: task.source,
        target: task.target,
        method: settings.method.name(),
        pool: settings.pool.to_string(),
        pool_windows: task.pool_windows,
        novel: task.labels[classes..].to_vec(),
        seed,
        scores: confusion.scores(task.healthy),
        source_only_accuracy: source_only.and_then(accuracy),
        predicted_accuracy: prediction.predicted.map(|predicted| predicted.accuracy),
        prediction: prediction.predicted,
        plausibility: prediction.plausibility,
        carried_accuracy: prediction.carried.as_deref().and_then(accuracy),
        harmful,
        chosen: prediction.chosen,
        sources: prediction.candidates,
        forced: prediction.forced,
        warnings: prediction.warnings,
        support: prediction.support,
        verdict: prediction.verdict,
        reasons: prediction.reasons,
        n_pool: task.pool.x.nrows(),
        n_test: task.truth.len(),
        confusion: confusion.rows(),
        confusion_columns: column_names.chain(unknown.filter(|_| with_unknown)).collect(),
        classes: task.labels,
        left_out: task.left_out,
        seconds: Seconds { features, fit_source, fit_target, transport, total },
    })
}
