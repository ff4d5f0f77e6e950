//! Results of an evaluation as text and JSON.

use std::fmt::Write as _;

use anyhow::Result;
use rebearing_host::evaluate::Scores;
use rebearing_host::evaluate::risk::risk_coverage;
use rebearing_host::words::plural;
use serde::Serialize;
use serde_json::{Value, json};

use super::{EvaluateArgs, Missing};
use crate::commands::Outcome;
use crate::text::evaluation::{self, PairScores};
use crate::text::prediction;

pub(super) fn single(args: &EvaluateArgs, pair: &PairScores<'_>) -> Result<Outcome> {
    let run = &pair.runs[0];
    let mut text = evaluation::pair(pair);
    if args.calibration {
        text.push_str(&prediction::calibration(pair.runs));
    }
    text.push_str(&left_out_line(&run.left_out));
    Ok(Outcome::new(text, pair_json(args, pair)?))
}

pub(super) fn matrix(
    args: &EvaluateArgs,
    pairs: &[PairScores<'_>],
    missing: &[Missing],
) -> Result<Outcome> {
    let means: Vec<Scores> = pairs.iter().map(|pair| pair.mean).collect();
    let (mean, worst) = (Scores::mean(&means), Scores::worst(&means));
    let mut text = format!("{}, pool {}; rates in %\n\n", args.method, args.pool);
    let predicted = pairs.iter().any(|pair| pair.predicted().is_some());
    if args.leave_out.is_some() {
        text.push_str(&evaluation::matrix(pairs, &mean, &worst, &evaluation::NOVEL));
    } else if predicted {
        text.push_str(&prediction::matrix(pairs, &mean, &worst));
    } else {
        text.push_str(&evaluation::matrix(pairs, &mean, &worst, &evaluation::RATES));
    }
    let all = || pairs.iter().flat_map(|pair| pair.runs);
    let risk = risk_coverage(all());
    text.push_str(&prediction::risk_table(&risk));
    if args.calibration {
        text.push_str(&prediction::calibration(all()));
    }
    let below = BelowSourceOnly::count(pairs);
    if let Some(below) = &below {
        let BelowSourceOnly { below, harmful, runs, .. } = below;
        let _ = writeln!(
            text,
            "more than 2 points below source-only: {below} of {}; below the better of\n\
             source-only and saying nothing (unknown: neither right nor wrong): {harmful}",
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
        "risk_coverage": risk,
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
    /// Runs that are clearly worse than the better of the source's model and saying nothing. Here
    /// an unknown window counts as neither right nor wrong.
    harmful: usize,
    /// Runs that were compared.
    runs: usize,
    /// Mean accuracy of the source's model over them.
    source_only_accuracy: f64,
}

impl BelowSourceOnly {
    const MARGIN: f64 = 0.02;

    fn count(pairs: &[PairScores<'_>]) -> Option<Self> {
        let all = || pairs.iter().flat_map(|pair| pair.runs);
        let compared: Vec<(f64, f64)> = all()
            .filter_map(|run| Some((run.scores.accuracy?, run.source_only_accuracy?)))
            .collect();
        let runs = compared.len();
        let below = compared.iter().filter(|(own, other)| *own < other - Self::MARGIN).count();
        let harmful = all().filter(|run| run.harmful == Some(true)).count();
        let sum: f64 = compared.iter().map(|(_, source_only)| source_only).sum();
        (runs > 0).then(|| Self { below, harmful, runs, source_only_accuracy: sum / runs as f64 })
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
