//! Adaptation: target mixture, plan, labels, and a verdict on whether to trust them.
//!
//! Balanced transport hands out the whole source mass, faults included. That is right when
//! the target pool holds every class, and wrong when it does not. So the user says what is
//! known of the pool, and where nothing is known the plan must pass two tests first.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use ndarray::{Array2, Axis};
use serde::Serialize;

use super::propagate;
use crate::extract::Features;
use crate::mixture::{self, LabelledMixture};
use crate::model_file::{self, ModelBytes, ModelContents, ModelFileError};
use crate::source::{Source, SourceSettings, calibration, held_out_threshold};
use crate::transport::{TransportError, cost, exact, relaxed, sinkhorn};

/// Least agreement between the balanced and the semi-relaxed plan's labels.
const MIN_AGREEMENT: f64 = 0.8;
/// Most conflict: what balance costs beyond the nearest components, per typical class distance.
const MAX_CONFLICT: f64 = 0.15;
/// Marginal error of an entropic plan: far below what a label's probability is worth, and
/// reached where the last digits would take many thousand iterations more.
const PLAN_TOLERANCE: f64 = 1e-6;
/// Windows that a target component needs at least.
const WINDOWS_PER_COMPONENT: usize = 8;

/// What the user knows of the target's recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// Every class of the source is in them.
    All,
    /// The machine was healthy throughout.
    Healthy,
    /// Nothing is known.
    Unknown,
}

/// How the plan is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Linear program, exactly.
    Exact,
    /// Entropic, in the log domain.
    Sinkhorn,
}

/// What was done with the target's recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The target's own mixture, with labels carried over by the plan.
    Adapt,
    /// The source's mixture, moved so that the healthy states coincide.
    Keep,
    /// The source's mixture as it is; windows unlike the source are unknown.
    Abstain,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Adapt => "adapt",
            Self::Keep => "keep",
            Self::Abstain => "abstain",
        })
    }
}

/// How a target is adapted to.
#[derive(Debug, Clone)]
pub struct AdaptSettings {
    /// What is known of the target's recordings.
    pub pool: Pool,
    /// How the plan is found.
    pub solver: Solver,
    /// Entropy of the Sinkhorn plan, relative to the largest cost.
    pub epsilon: f64,
    /// Target components per source class.
    pub components: usize,
    /// Variance floor, restarts and seed of the target's EM.
    pub em: SourceSettings,
}

impl Default for AdaptSettings {
    fn default() -> Self {
        Self {
            pool: Pool::Unknown,
            solver: Solver::Sinkhorn,
            epsilon: 1e-2,
            components: 2,
            em: SourceSettings::default(),
        }
    }
}

/// What adaptation found, ready to be written as a model.
#[derive(Debug, Clone)]
pub struct Adaptation {
    /// What was done.
    pub verdict: Verdict,
    /// Why, in words and figures.
    pub reasons: Vec<String>,
    /// Mixture over features standardised by `shift` and the source's scale.
    pub mixture: LabelledMixture,
    /// Subtracted from each feature.
    pub shift: Vec<f32>,
    /// Windows with a lower log-likelihood are unknown.
    pub log_likelihood_min: Option<f64>,
    /// The plan, where one was made: source components × target components.
    pub plan: Option<Array2<f64>>,
    /// Squared mixture-Wasserstein distance, where a plan was made.
    pub mw2_squared: Option<f64>,
    /// Time spent in EM and in transport.
    pub seconds: Seconds,
}

impl Adaptation {
    /// The model file of this adaptation of `source`; `hash` stands for all it was fitted from.
    pub fn model(
        &self,
        source: &Source,
        target: &str,
        hash: [u8; 32],
    ) -> Result<ModelBytes, ModelFileError> {
        model_file::encode(&ModelContents {
            front_end: &source.front_end,
            shift: &self.shift,
            scale: &source.scale,
            mixture: Some(&self.mixture),
            gate: None,
            class_names: &source.classes,
            healthy: source.healthy,
            log_likelihood_min: self.log_likelihood_min,
            source: &source.domain,
            target,
            hash,
        })
    }
}

/// Where the time went.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Seconds {
    /// EM on the target.
    pub fit_target: f64,
    /// Cost, plan and labels.
    pub transport: f64,
}

/// Adapts `source` to the target's features (not standardised).
pub fn adapt(source: &Source, target: &Features, settings: &AdaptSettings) -> Result<Adaptation> {
    match settings.pool {
        Pool::All => carry_labels(source, target, settings),
        Pool::Healthy => keep(source, target),
        Pool::Unknown => match carry_labels(source, target, settings) {
            Ok(adaptation) if adaptation.verdict == Verdict::Adapt => Ok(adaptation),
            Ok(adaptation) => Ok(abstain(source, adaptation.reasons, adaptation.seconds)),
            Err(error) => Ok(abstain(source, vec![format!("{error:#}")], Seconds::default())),
        },
    }
}

/// The method itself: EM on the target, plan between components, labels along the plan.
fn carry_labels(
    source: &Source,
    target: &Features,
    settings: &AdaptSettings,
) -> Result<Adaptation> {
    let classes = source.classes.len();
    let x = source.standardise(&target.x);
    let components = settings.components * classes;
    let windows = x.nrows();
    if windows < WINDOWS_PER_COMPONENT * components {
        bail!(
            "{windows} target windows are too few for {components} components ({WINDOWS_PER_COMPONENT} \
             windows each); record longer, or ask for fewer --components"
        );
    }

    let start = Instant::now();
    let em = settings.em.em(components);
    let calibration = calibration(target, &source.front_end);
    let calibrated = mixture::fit(calibration.fit_rows(&x).view(), None, &em, &|_| ())?;
    let log_likelihood_min = held_out_threshold(&calibrated.mixture, &x, &calibration)?;
    let fit = mixture::fit(x.view(), None, &em, &|_| ())?;
    let fit_target = start.elapsed();

    let start = Instant::now();
    let source_mixture = &source.mixture.mixture;
    let cost = cost::component_costs(source_mixture, &fit.mixture)?;
    let a = source_mixture.weights.to_vec();
    let b = fit.mixture.weights.to_vec();
    let mut reasons = Vec::new();
    let exact = || exact::solve(&a, &b, &cost, &exact::Options::default());
    let plan = match settings.solver {
        Solver::Exact => exact()?,
        Solver::Sinkhorn => {
            let options = sinkhorn::Options {
                epsilon: settings.epsilon,
                tolerance: PLAN_TOLERANCE,
                ..Default::default()
            };
            match sinkhorn::solve(&a, &b, &cost, &options) {
                // Nearly separate clusters can take the iteration very long; the exact plan
                // always ends, and for such clusters it is nearly the same.
                Err(TransportError::NotConverged { .. }) => {
                    reasons
                        .push("the entropic plan did not converge: the exact one was taken".into());
                    exact()?
                }
                plan => plan?,
            }
        }
    };
    let propagate = |plan: &Array2<f64>| {
        propagate::propagate(plan, &source.mixture.labels)
            .context("labels could not be carried over")
    };
    let labels = propagate(&plan.plan)?;
    let options = relaxed::Options { tolerance: PLAN_TOLERANCE, ..Default::default() };
    let agreement = match relaxed::solve(&a, &b, &cost, &options) {
        // Without a second opinion there is no agreement.
        Err(TransportError::NotConverged { .. }) => 0.0,
        free => agreement(&b, &labels, &propagate(&free?.plan)?),
    };
    let conflict = conflict(source, &b, &cost, plan.cost)?;
    let transport = start.elapsed();

    let trusted = agreement >= MIN_AGREEMENT && conflict <= MAX_CONFLICT;
    reasons.extend([
        format!("plan agreement {agreement:.2} (trusted from {MIN_AGREEMENT:.2})"),
        format!(
            "conflict {conflict:.2} of the typical class distance (trusted to {MAX_CONFLICT:.2})"
        ),
        format!("{components} target components for {classes} classes from {windows} windows"),
    ]);
    if settings.pool == Pool::All {
        reasons.insert(0, "the pool was declared to hold every class".into());
    }
    let verdict =
        if settings.pool == Pool::All || trusted { Verdict::Adapt } else { Verdict::Abstain };
    Ok(Adaptation {
        verdict,
        reasons,
        mixture: LabelledMixture { mixture: fit.mixture, labels },
        shift: source.shift.clone(),
        log_likelihood_min,
        mw2_squared: Some(plan.cost),
        plan: Some(plan.plan),
        seconds: seconds(fit_target, transport),
    })
}

/// Share of the target's mass on whose label two plans agree.
fn agreement(weights: &[f64], one: &Array2<f64>, other: &Array2<f64>) -> f64 {
    let overlap =
        |k: usize| -> f64 { one.row(k).iter().zip(other.row(k)).map(|(p, q)| p.min(*q)).sum() };
    weights.iter().enumerate().map(|(k, weight)| weight * overlap(k)).sum()
}

/// What balance costs beyond sending each target component to its nearest source component,
/// in units of the median distance between source components of different classes.
fn conflict(source: &Source, weights: &[f64], cost: &Array2<f64>, plan_cost: f64) -> Result<f64> {
    let nearest: f64 = cost
        .columns()
        .into_iter()
        .zip(weights)
        .map(|(column, weight)| weight * column.iter().copied().fold(f64::INFINITY, f64::min))
        .sum();
    let own = &source.mixture.mixture;
    let labels = &source.mixture.labels;
    let between = cost::component_costs(own, own)?;
    let mut distances: Vec<f64> = between
        .indexed_iter()
        .filter(|((k, l), _)| labels.row(*k).dot(&labels.row(*l)) < 0.5)
        .map(|(_, distance)| *distance)
        .collect();
    distances.sort_by(f64::total_cmp);
    let typical = distances.get(distances.len() / 2).copied().unwrap_or(1.0).max(f64::MIN_POSITIVE);
    Ok((plan_cost - nearest).max(0.0) / typical)
}

/// The source's mixture, moved so that the target's healthy state stands on the source's.
fn keep(source: &Source, target: &Features) -> Result<Adaptation> {
    let healthy = source.healthy.context(
        "the pool is declared healthy, but the source has no healthy class; name it with --healthy LABEL",
    )?;
    let labels = &source.mixture.labels;
    let mixture = &source.mixture.mixture;
    let weights = &mixture.weights * &labels.column(healthy);
    let healthy_mean = mixture.means.t().dot(&weights) / weights.sum();
    let x = source.standardise(&target.x);
    let mean = x.mapv(f64::from).mean_axis(Axis(0)).context("there are no target windows")?;
    let moved = &mean - &healthy_mean;
    let shift = source
        .shift
        .iter()
        .zip(&source.scale)
        .zip(&moved)
        .map(|((shift, scale), moved)| (f64::from(*shift) + moved / f64::from(*scale)) as f32)
        .collect();
    let rms = (moved.dot(&moved) / moved.len().max(1) as f64).sqrt();
    Ok(Adaptation {
        verdict: Verdict::Keep,
        reasons: vec![
            "the pool was declared healthy, so no fault label can be carried over from it".into(),
            format!("the healthy state moved by {rms:.2} standard deviations of the source"),
        ],
        mixture: source.mixture.clone(),
        shift,
        log_likelihood_min: source.log_likelihood_min,
        plan: None,
        mw2_squared: None,
        seconds: Seconds::default(),
    })
}

fn abstain(source: &Source, mut reasons: Vec<String>, seconds: Seconds) -> Adaptation {
    reasons.push(
        "the labels of the source are kept for windows like the source's; all others are unknown \
         (say --pool-is all if every class was recorded, --pool-is healthy if only the healthy machine was)"
            .into(),
    );
    Adaptation {
        verdict: Verdict::Abstain,
        reasons,
        mixture: source.mixture.clone(),
        shift: source.shift.clone(),
        log_likelihood_min: source.log_likelihood_min,
        plan: None,
        mw2_squared: None,
        seconds,
    }
}

fn seconds(fit_target: Duration, transport: Duration) -> Seconds {
    Seconds { fit_target: fit_target.as_secs_f64(), transport: transport.as_secs_f64() }
}
