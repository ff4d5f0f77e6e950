//! `rebearing evaluate`: how well labels carry over from one domain to another.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail};
use clap::Args;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::Outcome;
use super::fit::FrontEndArgs;
use crate::adapt::verdict::Pool;
use crate::domain::Domain;
use crate::evaluate::noise::Noise;
use crate::evaluate::table::{self, PairScores};
use crate::evaluate::{
    EvaluateError, EvaluateSettings, EvaluatedMethod, PoolChoice, Run, Scores, SourceDomain,
    TargetDomain, evaluate,
};
use crate::manifest::Manifest;
use crate::progress::{Bar, Step};
use crate::split;

/// The word that stands for every domain.
const ALL: &str = "all";

/// Measure how well labels carry over: fit on one domain, adapt on the first part in time of
/// another, test on the rest of it
///
/// The labels of the target choose what is in the pool and score the test; no method sees them.
/// Rates: an alarm is a window called a fault class. False alarms are alarms among healthy
/// windows, detection is alarms among fault windows, fault type is fault windows called rightly.
/// Unknown is wrong in the accuracy, is no alarm, and has its own rate.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rebearing evaluate --manifest machines.csv --source motor-a --target motor-b --pool-is all
  rebearing evaluate --manifest machines.csv --source motor-a --target motor-b --pool healthy --pool-is healthy
  rebearing evaluate --manifest machines.csv --source all --target all --method gmm-otda-map --seeds 3")]
pub(super) struct EvaluateArgs {
    /// Table of recordings; all that are used need a label
    #[arg(long, value_name = "CSV")]
    manifest: PathBuf,
    /// Domain whose labels are known, or all
    #[arg(long, value_name = "NAME")]
    source: String,
    /// Domain to adapt to and test on, or all (never a domain to itself then)
    #[arg(long, value_name = "NAME")]
    target: String,
    /// guarded (what `rebearing adapt` does) or a method to compare with
    #[arg(long, value_name = "NAME", default_value = "guarded")]
    method: EvaluatedMethod,
    /// Which target recordings are adapted on: those with these labels, all or healthy
    #[arg(long, value_name = "LABEL,…|all|healthy", default_value = "all")]
    pool: PoolChoice,
    /// What guarded is told of the pool; other methods take every pool for complete
    #[arg(long, value_enum, default_value_t = Pool::Unknown)]
    pool_is: Pool,
    /// Share of each target recording, in time, that is adapted on
    #[arg(long, value_name = "SHARE", default_value_t = 0.6)]
    split: f64,
    /// Labels to compare, also those that only one of the domains has [default: those of both]
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',')]
    labels: Option<Vec<String>>,
    /// Label of the healthy machine [default: the class called healthy or normal]
    #[arg(long, value_name = "LABEL")]
    healthy: Option<String>,
    /// Seed of whatever is random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Runs with seeds N, N + 1 … from --seed on, and gives mean and spread
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: Option<u64>,
    /// Adds white noise to the target's recordings, at this signal-to-noise ratio; drawn from --seed
    #[arg(long, value_name = "SNR_DB", allow_negative_numbers = true)]
    noise: Option<f64>,
    #[command(flatten)]
    front_end: FrontEndArgs,
    /// Components per class, of source and target
    #[arg(long, value_name = "N", default_value_t = 2)]
    components: usize,
    /// Smallest variance of a component, in units of each feature's variance
    #[arg(long, value_name = "V", default_value_t = 0.01)]
    variance_floor: f64,
    /// Starts of each EM; the likeliest is kept
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
            healthy: self.healthy.clone(),
            components: self.components,
            variance_floor: self.variance_floor,
            restarts: self.restarts,
        }
    }

    /// Every ordered pair of domains that is asked for.
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
    // A split that cannot be is refused before any recording is read.
    split::in_time(&[], args.split)?;
    let pairs = args.pairs(&manifest)?;
    let settings = args.settings();
    let features = Extracted::read(args, &manifest, &pairs)?;
    settings.check_labels(&features.labels())?;

    let seeds = args.seeds.unwrap_or(1);
    let results = {
        let bar = Bar::start("evaluating");
        let done = AtomicUsize::new(0);
        let total = pairs.len() * seeds as usize;
        let run_pair = |(source, target): &(&str, &str)| -> Vec<Result<Run, EvaluateError>> {
            (0..seeds)
                .into_par_iter()
                .map(|seed| {
                    let seed = args.seed.wrapping_add(seed);
                    let (source, target) = (&features.sources[source], &features.targets[target]);
                    let result = evaluate(source, target, &settings, seed);
                    bar.at(done.fetch_add(1, Ordering::Relaxed) + 1, total);
                    result
                })
                .collect()
        };
        pairs.par_iter().map(run_pair).collect::<Vec<_>>()
    };
    let mut evaluated = Vec::new();
    let mut skipped = Vec::new();
    for results in results {
        match results.into_iter().collect::<Result<Vec<Run>, _>>() {
            Ok(runs) => evaluated.push(runs),
            // Of many pairs, those that cannot be compared as asked are named and passed over.
            Err(EvaluateError::Task { from, to, reason }) if pairs.len() > 1 => {
                skipped.push((from, to, reason.to_string()));
            }
            Err(error) => return Err(error.into()),
        }
    }
    let scores: Vec<PairScores<'_>> = evaluated.iter().map(|runs| PairScores::new(runs)).collect();
    match scores.as_slice() {
        [] => {
            let (from, to, reason) = skipped.first().context("no pair of domains")?;
            bail!("no pair of domains can be evaluated; the first, {from} -> {to}: {reason}")
        }
        [pair] if pairs.len() == 1 => single(args, pair),
        scores => matrix(args, scores, &skipped),
    }
}

/// The features of every domain in use, in the parts it has.
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
        for name in manifest.domains() {
            let as_source = pairs.iter().any(|(source, _)| *source == name);
            let as_target = pairs.iter().any(|(_, target)| *target == name);
            if !as_source && !as_target {
                continue;
            }
            let _step = Step::start(format!("reading the recordings of {name}"));
            // One domain's samples at a time are in memory; its features stay.
            let domain = Domain::read(manifest, name)?;
            let front_end = args.front_end.settings(domain.rate_hz, domain.axes)?;
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

fn single(args: &EvaluateArgs, pair: &PairScores<'_>) -> Result<Outcome> {
    let run = &pair.runs[0];
    let mut text = table::pair(pair);
    text.push_str(&left_out_line(&run.left_out));
    Ok(Outcome::new(text, pair_json(args, pair)?))
}

fn matrix(
    args: &EvaluateArgs,
    pairs: &[PairScores<'_>],
    skipped: &[(String, String, String)],
) -> Result<Outcome> {
    let means: Vec<Scores> = pairs.iter().map(|pair| pair.mean).collect();
    let (mean, worst) = (Scores::mean(&means), Scores::worst(&means));
    let mut text = format!("{}, pool {}; rates in %\n\n", args.method, args.pool);
    text.push_str(&table::matrix(pairs, &mean, &worst));
    let mut left_out: Vec<String> =
        pairs.iter().flat_map(|pair| pair.runs[0].left_out.clone()).collect();
    left_out.sort();
    left_out.dedup();
    text.push_str(&left_out_line(&left_out));
    for (source, target, reason) in skipped {
        let _ = writeln!(text, "passed over: {source} -> {target}: {reason}");
    }
    let skipped: Vec<Value> = skipped
        .iter()
        .map(|(source, target, reason)| json!({"source": source, "target": target, "reason": reason}))
        .collect();
    let pairs = pairs.iter().map(|pair| pair_json(args, pair)).collect::<Result<Vec<_>>>()?;
    let json = json!({ "pairs": pairs, "mean": mean, "worst": worst, "skipped": skipped });
    Ok(Outcome::new(text, json))
}

/// One run as it is; several seeds as `{source, target, runs, mean, spread}`.
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
        "not compared, as only one of the domains has them or --labels does not: {}\n",
        labels.join(", ")
    )
}
