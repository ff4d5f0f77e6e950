//! `rebearing evaluate`: measures how well labels carry over from one domain to another.

mod features;
mod page;
mod pairs;
mod tables;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail};
use clap::Args;
use rayon::prelude::*;
use rebearing_host::adapt::verdict::Pool;
use rebearing_host::data::manifest::Manifest;
use rebearing_host::data::split;
use rebearing_host::evaluate::{
    EvaluateError, EvaluateSettings, EvaluatedMethod, LeaveOut, PoolChoice, Run, Sources, evaluate,
};
use rebearing_host::files::output;
use serde::Serialize;

use self::features::Extracted;
use self::pairs::Pair;
use super::{Outcome, shown};
use crate::args::choice::{Choice as _, choice};
use crate::args::em::EmArgs;
use crate::args::false_alarms::FalseAlarmArgs;
use crate::args::front_end::FrontEndArgs;
use crate::args::resample::ResampleArgs;
use crate::args::solver::SolverArgs;
use crate::progress::Bar;
use crate::text::evaluation::PairScores;
use crate::text::flags::{all_as_flags, as_flags};

/// Measure how well labels carry over: fit on one domain, adapt on the first part of another in
/// time, test on the rest of it
///
/// Labels of the target only select the windows of the pool and score the test; no method sees
/// them.
///
/// Rates: an alarm is a window that is labelled as a fault class or as a fault of unknown type.
/// False alarms are alarms among healthy windows. Detection is alarms among fault windows. Fault
/// type is fault windows with the right label. Unknown counts as wrong in the accuracy and has its
/// own rate.
///
/// If domains have different sample rates, the bands end where the lowest rate ends. With
/// --resample, all recordings are brought to the lowest rate.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rebearing evaluate --manifest machines.csv --source motor-a --target motor-b --pool-is all
  rebearing evaluate --manifest machines.csv --source motor-a --target motor-b --pool healthy --pool-is healthy
  rebearing evaluate --manifest machines.csv --source others --target all --pool-is all --seeds 3
  rebearing evaluate --manifest machines.csv --source motor-a,motor-c --target motor-b --calibration
  rebearing evaluate --manifest machines.csv --source others --target all --pool-is all --report r.html
  rebearing evaluate --manifest machines.csv --source all --target all --pool healthy:0.9 --seeds 3
  rebearing evaluate --manifest machines.csv --source all --target all --pool-is all --leave-out each
  rebearing evaluate --manifest machines.csv --source all --target all --method gmm-otda-map --seeds 3
  rebearing evaluate --manifest machines.csv --source all --target all --method gmm-otda-map --bands mel:64")]
pub(super) struct EvaluateArgs {
    /// Table of recordings; every recording that is used needs a label
    #[arg(long, value_name = "CSV")]
    manifest: PathBuf,
    /// Domain with known labels. A list is a library of several; others is the library of every
    /// domain but the target; all runs every domain alone
    #[arg(long, value_name = "NAME[,…]|others|all")]
    source: String,
    /// Domain to adapt to and test on, a list, or all (a domain is never its own source)
    #[arg(long, value_name = "NAME[,…]|all")]
    target: String,
    /// How labels are carried over
    #[arg(long, value_name = "NAME", value_parser = choice::<EvaluatedMethod>(), default_value = EvaluatedMethod::Guarded.choice_name())]
    method: EvaluatedMethod,
    /// Target windows to adapt on. LABEL,…: windows with these labels. healthy:SHARE: that share
    /// of healthy windows and the rest of one fault, for each fault in turn. half: healthy and
    /// half of the faults. dirichlet: all labels, in shares that the seed draws
    #[arg(
        long,
        value_name = "LABEL,…|all|healthy|healthy:SHARE|half|dirichlet",
        default_value = "all"
    )]
    pool: PoolChoice,
    /// What is known about the pool. Only guarded uses it; other methods assume that every class is
    /// in the pool
    #[arg(long, value_parser = choice::<Pool>(), default_value = Pool::Unknown.choice_name())]
    pool_is: Pool,
    /// Accuracy from which guarded trusts carried labels. It adapts if it predicts at least this
    #[arg(long, value_name = "ACCURACY", default_value_t = 0.9)]
    promise: f64,
    #[command(flatten)]
    false_alarms: FalseAlarmArgs,
    /// Let guarded name classes although its verdict is to abstain
    #[arg(long)]
    force: bool,
    /// Print the predicted accuracy against the true one, run by run
    #[arg(long)]
    calibration: bool,
    /// Where to write a report: one self-contained HTML page with every target, the share of runs
    /// that a promise accepts, and the predicted against the true accuracy.
    #[arg(long, value_name = "R.html")]
    report: Option<PathBuf>,
    /// Share of each target recording to adapt on, from its start
    #[arg(long, value_name = "SHARE", default_value_t = 0.6)]
    split: f64,
    /// Use only the first part of every recording, this share of it. So you can choose settings by
    /// their results and keep the rest unseen for a final test
    #[arg(long, value_name = "SHARE")]
    first: Option<f64>,
    /// Labels to compare, even if only one of the domains has them [default: the labels that both
    /// have]
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',')]
    labels: Option<Vec<String>>,
    /// Labels to leave out of the source and the pool, or each fault in turn. The test then shows
    /// whether they are labelled unknown
    #[arg(long, value_name = "LABEL,…|each")]
    leave_out: Option<LeaveOut>,
    /// Label of the healthy machine [default: the class called healthy or normal]
    #[arg(long, value_name = "LABEL")]
    healthy: Option<String>,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Run N seeds, from --seed on, and print mean and spread
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: Option<u64>,
    /// Add white noise to the target's recordings, at this signal-to-noise ratio; --seed draws it
    #[arg(long, value_name = "SNR_DB", allow_negative_numbers = true)]
    noise: Option<f64>,
    #[command(flatten)]
    front_end: FrontEndArgs,
    #[command(flatten)]
    resample: ResampleArgs,
    #[command(flatten)]
    solver: SolverArgs,
    #[command(flatten)]
    em: EmArgs,
}

impl EvaluateArgs {
    fn settings(&self) -> EvaluateSettings {
        EvaluateSettings {
            method: self.method,
            pool: self.pool.clone(),
            pool_is: self.pool_is,
            labels: self.labels.clone(),
            leave_out: self.leave_out.clone(),
            plan: self.solver.settings(),
            healthy: self.healthy.clone(),
            components: self.em.components,
            variance_floor: self.em.variance_floor,
            restarts: self.em.restarts,
            promise: self.promise,
            false_alarms: self.false_alarms.settings(),
            force: self.force,
        }
    }
}

pub(super) fn run(args: &EvaluateArgs) -> Result<Outcome> {
    let manifest = Manifest::read(&args.manifest)?;
    // Refuses an impossible split before any recording is read.
    for share in [Some(args.split), args.first].into_iter().flatten() {
        split::in_time(&[], share)?;
    }
    let pairs = pairs::pairs(&manifest, &args.source, &args.target)?;
    let settings = args.settings();
    settings.check()?;
    if let Some(report) = &args.report {
        output::check_writable(report)?;
    }
    let features = Extracted::read(args, &manifest, &pairs)?;
    settings.check_labels(&features.labels())?;

    let seeds = args.seeds.unwrap_or(1);
    let results = {
        let bar = Bar::start("evaluating");
        let done = AtomicUsize::new(0);
        let total = pairs.len() * seeds as usize;
        let run_pair = |pair: &Pair<'_>| -> Vec<Result<Vec<Run>, Box<EvaluateError>>> {
            let domains = pair.sources.iter().map(|source| &features.sources[source]).collect();
            let sources = Sources { name: pair.name.clone(), domains };
            let target = &features.targets[pair.target];
            (0..seeds)
                .into_par_iter()
                .map(|seed| {
                    let seed = args.seed.wrapping_add(seed);
                    let result = evaluate(&sources, target, &settings, seed).map_err(Box::new);
                    bar.at(done.fetch_add(1, Ordering::Relaxed) + 1, total);
                    result
                })
                .collect()
        };
        pairs.par_iter().map(run_pair).collect::<Vec<_>>()
    };
    let mut evaluated: Vec<Vec<Run>> = Vec::new();
    let mut missing = Vec::new();
    for results in results {
        match results.into_iter().collect::<Result<Vec<_>, _>>() {
            Ok(runs) => {
                let mut runs: Vec<Run> = runs.into_iter().flatten().collect();
                for run in &mut runs {
                    all_as_flags(&mut run.reasons);
                }
                evaluated.push(runs);
            }
            Err(error) if pairs.len() > 1 => missing.push(Missing::new(*error)),
            Err(error) => return Err((*error).into()),
        }
    }
    let scores: Vec<PairScores<'_>> = evaluated.iter().map(|runs| PairScores::new(runs)).collect();
    let mut outcome = match scores.as_slice() {
        [] => {
            let first = missing.first().context("no pair of domains")?;
            let Missing { source, target, reason, .. } = first;
            bail!("no pair of domains can be evaluated; the first, {source} -> {target}: {reason}")
        }
        [pair] if pairs.len() == 1 => tables::single(args, pair),
        scores => tables::matrix(args, scores, &missing),
    }?;
    if let Some(path) = &args.report {
        page::write(path, args, &scores, &missing)?;
        let _ = writeln!(outcome.text, "report -> {}", path.display());
    }
    outcome.json["report"] = args.report.as_deref().map(shown).into();
    Ok(features.levels.added_to(outcome))
}

/// A pair without results.
#[derive(Debug, Serialize)]
struct Missing {
    source: String,
    target: String,
    reason: String,
    /// True if the method failed; false if the pair cannot be compared with these settings.
    #[serde(skip)]
    failed: bool,
}

impl Missing {
    fn new(error: EvaluateError) -> Self {
        match error {
            EvaluateError::Task { from, to, reason } => Self {
                source: from,
                target: to,
                reason: as_flags(&reason.to_string()),
                failed: false,
            },
            EvaluateError::Predict { from, to, reason, .. } => Self {
                source: from,
                target: to,
                reason: as_flags(&reason.to_string()),
                failed: true,
            },
        }
    }
}
