//! `rebearing evaluate`: measures how well labels carry over from one domain to another.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail};
use clap::Args;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use super::Outcome;
use crate::args::choice::{Choice as _, choice};
use crate::args::front_end::FrontEndArgs;
use crate::args::resample::ResampleArgs;
use crate::args::solver::SolverArgs;
use crate::progress::{Bar, Step};
use crate::text::evaluation::{self, PairScores};
use crate::text::flags::{all_as_flags, as_flags};
use rebearing_host::adapt::verdict::Pool;
use rebearing_host::data::domain::{Domain, Resample};
use rebearing_host::data::manifest::Manifest;
use rebearing_host::data::split;
use rebearing_host::data::units::Unit;
use rebearing_host::evaluate::noise::Noise;
use rebearing_host::evaluate::{
    EvaluateError, EvaluateSettings, EvaluatedMethod, LeaveOut, PoolChoice, Run, Scores,
    SourceDomain, TargetDomain, evaluate,
};
use rebearing_host::features::front_end::FrontEndSettings;
use rebearing_host::features::rates;
use rebearing_host::words::plural;

/// The word for every domain.
const ALL: &str = "all";

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
  rebearing evaluate --manifest machines.csv --source all --target all --pool healthy:0.9 --seeds 3
  rebearing evaluate --manifest machines.csv --source all --target all --pool-is all --leave-out each
  rebearing evaluate --manifest machines.csv --source all --target all --method gmm-otda-map --seeds 3
  rebearing evaluate --manifest machines.csv --source all --target all --method gmm-otda-map --bands mel:64")]
pub(super) struct EvaluateArgs {
    /// Table of recordings; every recording that is used needs a label
    #[arg(long, value_name = "CSV")]
    manifest: PathBuf,
    /// Domain with known labels, or all
    #[arg(long, value_name = "NAME")]
    source: String,
    /// Domain to adapt to and test on, or all (a domain is never its own source)
    #[arg(long, value_name = "NAME")]
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
    /// Components per class, of source and target
    #[arg(long, value_name = "N", default_value_t = 2)]
    components: usize,
    /// Value to add to every variance of a component, in units of each feature's variance
    #[arg(long, value_name = "V", default_value_t = 0.01)]
    variance_floor: f64,
    /// Starts of each EM; the likeliest fit is kept
    #[arg(long, value_name = "N", default_value_t = 4)]
    restarts: usize,
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
            components: self.components,
            variance_floor: self.variance_floor,
            restarts: self.restarts,
        }
    }

    /// Returns every ordered pair of domains to evaluate.
    fn pairs<'a>(&'a self, manifest: &'a Manifest) -> Result<Vec<(&'a str, &'a str)>> {
        let choose = |name: &'a String| -> Result<Vec<&'a str>> {
            if name == ALL && !manifest.domains().contains(&ALL) {
                return Ok(manifest.domains());
            }
            manifest.rows_of(name)?;
            Ok(vec![name.as_str()])
        };
        let (sources, targets) = (choose(&self.source)?, choose(&self.target)?);
        let pairs: Vec<_> = sources
            .iter()
            .flat_map(|source| targets.iter().map(move |target| (*source, *target)))
            .filter(|(source, target)| source != target)
            .collect();
        if pairs.is_empty() {
            bail!(
                "--source {} --target {}: the two must differ; the domains are {}",
                self.source,
                self.target,
                manifest.domains().join(", ")
            );
        }
        Ok(pairs)
    }
}

pub(super) fn run(args: &EvaluateArgs) -> Result<Outcome> {
    let manifest = Manifest::read(&args.manifest)?;
    // Refuses an impossible split before any recording is read.
    for share in [Some(args.split), args.first].into_iter().flatten() {
        split::in_time(&[], share)?;
    }
    let pairs = args.pairs(&manifest)?;
    let settings = args.settings();
    let features = Extracted::read(args, &manifest, &pairs)?;
    settings.check_labels(&features.labels())?;

    let seeds = args.seeds.unwrap_or(1);
    let results = {
        let bar = Bar::start("evaluating");
        let done = AtomicUsize::new(0);
        let total = pairs.len() * seeds as usize;
        let run_pair =
            |(source, target): &(&str, &str)| -> Vec<Result<Vec<Run>, Box<EvaluateError>>> {
                (0..seeds)
                    .into_par_iter()
                    .map(|seed| {
                        let seed = args.seed.wrapping_add(seed);
                        let (source, target) =
                            (&features.sources[source], &features.targets[target]);
                        let result = evaluate(source, target, &settings, seed).map_err(Box::new);
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
    match scores.as_slice() {
        [] => {
            let first = missing.first().context("no pair of domains")?;
            let Missing { source, target, reason, .. } = first;
            bail!("no pair of domains can be evaluated; the first, {source} -> {target}: {reason}")
        }
        [pair] if pairs.len() == 1 => single(args, pair),
        scores => matrix(args, scores, &missing),
    }
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

/// The features of every domain in use, as source, as target, or both.
struct Extracted<'a> {
    sources: HashMap<&'a str, SourceDomain>,
    targets: HashMap<&'a str, TargetDomain>,
}

impl<'a> Extracted<'a> {
    fn read(
        args: &EvaluateArgs,
        manifest: &'a Manifest,
        pairs: &[(&'a str, &'a str)],
    ) -> Result<Self> {
        let noise = args.noise.map(|snr_db| Noise { snr_db, seed: args.seed });
        let mut extracted = Self { sources: HashMap::new(), targets: HashMap::new() };
        let names = manifest.domains();
        let used: Vec<&str> = names
            .into_iter()
            .filter(|name| pairs.iter().any(|(source, target)| [source, target].contains(&name)))
            .collect();
        let lowest = lowest_rate(manifest, &used)?;
        let resample = match args.resample.choice() {
            Resample::Lowest => Resample::To(lowest),
            choice => choice,
        };
        let mut unit: Option<(&str, Unit)> = None;
        for name in used {
            let as_source = pairs.iter().any(|(source, _)| *source == name);
            let as_target = pairs.iter().any(|(_, target)| *target == name);
            let _step = Step::start(format!("reading the recordings of {name}"));
            // One domain's samples at a time are in memory; its features stay.
            let mut domain = Domain::read_at(manifest, name, resample)?;
            if let Some(own) = &domain.unit {
                let (first, unit) = unit.get_or_insert_with(|| (name, own.clone()));
                own.factor_to(unit).with_context(|| format!("domains {first} and {name}"))?;
            }
            if let Some(share) = args.first {
                domain.keep_first(share)?;
            }
            let front_end = front_end(args, lowest, &domain)?;
            if as_source {
                extracted.sources.insert(name, SourceDomain::extract(&domain, &front_end)?);
            }
            if as_target {
                let target = TargetDomain::extract(&domain, &front_end, args.split, noise)?;
                extracted.targets.insert(name, target);
            }
        }
        Ok(extracted)
    }

    /// Every label, in alphabetical order.
    fn labels(&self) -> Vec<String> {
        let sources = self.sources.values().flat_map(|domain| &domain.labels);
        let targets = self.targets.values().flat_map(|domain| &domain.labels);
        let mut labels: Vec<String> = sources.chain(targets).cloned().collect();
        labels.sort();
        labels.dedup();
        labels
    }
}

/// The lowest sample rate of the domains.
fn lowest_rate(manifest: &Manifest, names: &[&str]) -> Result<f64> {
    let mut lowest = f64::INFINITY;
    for name in names {
        lowest = manifest.rows_of(name)?.iter().map(|row| row.rate_hz).fold(lowest, f64::min);
    }
    Ok(lowest)
}

/// Returns the front end of a domain. Its bands end where the lowest rate ends.
fn front_end(args: &EvaluateArgs, lowest: f64, domain: &Domain) -> Result<FrontEndSettings> {
    let front_end = args.front_end.settings(lowest.min(domain.rate_hz), domain.axes)?;
    let front_end = args.resample.front_end(front_end)?;
    rates::at_rate(&front_end, domain.rate_hz).with_context(|| format!("domain {}", domain.name))
}

fn single(args: &EvaluateArgs, pair: &PairScores<'_>) -> Result<Outcome> {
    let run = &pair.runs[0];
    let mut text = evaluation::pair(pair);
    text.push_str(&left_out_line(&run.left_out));
    Ok(Outcome::new(text, pair_json(args, pair)?))
}

fn matrix(args: &EvaluateArgs, pairs: &[PairScores<'_>], missing: &[Missing]) -> Result<Outcome> {
    let means: Vec<Scores> = pairs.iter().map(|pair| pair.mean).collect();
    let (mean, worst) = (Scores::mean(&means), Scores::worst(&means));
    let mut text = format!("{}, pool {}; rates in %\n\n", args.method, args.pool);
    let columns = if args.leave_out.is_some() { &evaluation::NOVEL } else { &evaluation::RATES };
    text.push_str(&evaluation::matrix(pairs, &mean, &worst, columns));
    let below = BelowSourceOnly::count(pairs);
    if let Some(below) = &below {
        let BelowSourceOnly { below, runs, .. } = below;
        let _ = writeln!(
            text,
            "more than 2 points below source-only: {below} of {}",
            plural(*runs, "run", "runs")
        );
    }
    let mut left_out: Vec<String> =
        pairs.iter().flat_map(|pair| pair.runs[0].left_out.clone()).collect();
    left_out.sort();
    left_out.dedup();
    text.push_str(&left_out_line(&left_out));
    for Missing { source, target, reason, failed } in missing {
        let word = if *failed { "failed" } else { "skipped" };
        let _ = writeln!(text, "{word}: {source} -> {target}: {reason}");
    }
    let pairs = pairs.iter().map(|pair| pair_json(args, pair)).collect::<Result<Vec<_>>>()?;
    let (failed, skipped): (Vec<&Missing>, Vec<&Missing>) =
        missing.iter().partition(|missing| missing.failed);
    let json = json!({
        "pairs": pairs,
        "mean": mean,
        "worst": worst,
        "below_source_only": below,
        "skipped": skipped,
        "failed": failed,
    });
    Ok(Outcome { success: failed.is_empty(), ..Outcome::new(text, json) })
}

/// Counts how often a method is clearly worse than no adaptation.
#[derive(Debug, Serialize)]
struct BelowSourceOnly {
    /// Runs with an accuracy more than [`Self::MARGIN`] below that of the source's model.
    below: usize,
    /// Runs that were compared.
    runs: usize,
    /// Mean accuracy of the source's model over them.
    source_only_accuracy: f64,
}

impl BelowSourceOnly {
    const MARGIN: f64 = 0.02;

    fn count(pairs: &[PairScores<'_>]) -> Option<Self> {
        let compared: Vec<(f64, f64)> = pairs
            .iter()
            .flat_map(|pair| pair.runs)
            .filter_map(|run| Some((run.scores.accuracy?, run.source_only_accuracy?)))
            .collect();
        let runs = compared.len();
        let below = compared.iter().filter(|(own, other)| *own < other - Self::MARGIN).count();
        let sum: f64 = compared.iter().map(|(_, source_only)| source_only).sum();
        (runs > 0).then(|| Self { below, runs, source_only_accuracy: sum / runs as f64 })
    }
}

/// Returns one run as it is, and several seeds as `{source, target, runs, mean, spread}`.
fn pair_json(args: &EvaluateArgs, pair: &PairScores<'_>) -> Result<Value> {
    let run = &pair.runs[0];
    Ok(match args.seeds {
        None => serde_json::to_value(run)?,
        Some(_) => json!({
            "source": run.source,
            "target": run.target,
            "method": run.method,
            "pool": run.pool,
            "runs": pair.runs,
            "mean": pair.mean,
            "spread": pair.spread,
        }),
    })
}

fn left_out_line(labels: &[String]) -> String {
    if labels.is_empty() {
        return String::new();
    }
    format!(
        "not compared (only one of the domains has them, or --labels leaves them out): {}\n",
        labels.join(", ")
    )
}
