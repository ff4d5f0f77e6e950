//! Predicted against true accuracy, as text of at most 80 columns.

use std::fmt::Write as _;

use rebearing_host::evaluate::risk::{RiskCoverage, predicted_and_true};
use rebearing_host::evaluate::{Run, Scores};

use super::evaluation::{PairScores, percent, shortened};

/// Returns the table of every target: the chosen source, the predicted and the true accuracy of the
/// carried labels, and the rates of the model.
pub(crate) fn matrix(pairs: &[PairScores<'_>], mean: &Scores, worst: &Scores) -> String {
    let mut text = format!(
        "{:<12} {:<12} {:>6} {:>6} {:>10} {:>6} {:>6} {:>6} {:>8}\n",
        "chosen", "target", "pred.", "true", "accuracy", "false", "detec.", "type", "verdict"
    );
    let mut row =
        |names: [&str; 2], carried: [Option<f64>; 2], scores: &Scores, last: [&str; 2]| {
            let [chosen, target] = names.map(|name| shortened(name, 12));
            let [predicted, carried] = carried.map(percent);
            let [spread, verdict] = last;
            let accuracy = format!("{}{spread}", percent(scores.accuracy));
            let rates =
                [scores.false_alarm_rate, scores.detection_rate, scores.fault_type_accuracy];
            let [alarms, detection, types] = rates.map(percent);
            let line = format!(
                "{chosen:<12} {target:<12} {predicted:>6} {carried:>6} {accuracy:>10} {alarms:>6} \
             {detection:>6} {types:>6} {verdict:>8}"
            );
            text.push_str(line.trim_end());
            text.push('\n');
        };
    for pair in pairs {
        let spread = match pair.spread.accuracy {
            Some(spread) if pair.runs.len() > 1 => format!(" ±{:.1}", 100.0 * spread),
            _ => String::new(),
        };
        row(
            [&pair.chosen(), &pair.runs[0].target],
            [pair.predicted(), pair.carried()],
            &pair.mean,
            [&spread, &pair.verdict()],
        );
    }
    let predicted: Vec<f64> = pairs.iter().filter_map(PairScores::predicted).collect();
    let carried: Vec<f64> = pairs.iter().filter_map(PairScores::carried).collect();
    let average = |x: &[f64]| (!x.is_empty()).then(|| x.iter().sum::<f64>() / x.len() as f64);
    let least = |x: &[f64]| x.iter().copied().reduce(f64::min);
    row(["mean", ""], [average(&predicted), average(&carried)], mean, ["", ""]);
    row(["worst", ""], [least(&predicted), least(&carried)], worst, ["", ""]);
    text
}

/// Returns the share of runs that each promise accepts, and how right their labels are.
pub(crate) fn risk_table(rows: &[RiskCoverage]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let mut text = format!(
        "\npromise  accepted of {:<5} true accuracy   worst  below the promise\n",
        first.runs
    );
    for row in rows {
        let _ = writeln!(
            text,
            "{:>5.0} %  {:>8} ({:>3.0} %) {:>13} {:>7}  {:>17}",
            100.0 * row.promise,
            row.accepted,
            100.0 * row.coverage,
            percent(row.accuracy),
            percent(row.worst),
            row.broken
        );
    }
    text.push('\n');
    text
}

/// Returns the predicted against the true accuracy of each run, in the order of the prediction.
pub(crate) fn calibration<'a>(runs: impl IntoIterator<Item = &'a Run>) -> String {
    let mut points: Vec<(f64, f64, &Run)> = runs
        .into_iter()
        .filter_map(|run| predicted_and_true(run).map(|(predicted, exact)| (predicted, exact, run)))
        .collect();
    if points.is_empty() {
        return "no run carried labels, so there is nothing to calibrate\n".into();
    }
    points.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut text = String::from("predicted   true  by       source -> target (seed)\n");
    for (predicted, exact, run) in &points {
        let library = run.prediction.is_some_and(|prediction| prediction.by_library());
        let _ = writeln!(
            text,
            "{:>9} {:>6}  {:<8} {} -> {} ({})",
            percent(Some(*predicted)),
            percent(Some(*exact)),
            if library { "library" } else { "fixed" },
            shortened(run.chosen.as_deref().unwrap_or("-"), 20),
            shortened(&run.target, 20),
            run.seed
        );
    }
    let kept = points.iter().filter(|(predicted, exact, _)| exact >= predicted).count();
    let _ = writeln!(text, "at least as right as predicted: {kept} of {} runs\n", points.len());
    text
}
