//! Results of an evaluation, as text of at most 80 columns.

use std::fmt::Write as _;

use rebearing_host::evaluate::{Run, Scores};
use rebearing_host::words::plural;

/// Largest width of the text, in columns.
const WIDTH: usize = 80;
/// Width of a confusion table before its counts.
const HEAD: usize = 25;
/// Least width of a count.
const COUNT: usize = 5;
/// Columns of a confusion table that are not a class: name, heading and meaning.
const ASIDE: [(&str, &str, &str); 2] =
    [("unknown", "u", "unknown"), ("unknown_fault", "uf", "fault of unknown type")];

/// The rates of one pair of domains, over one run or several.
#[derive(Debug, Clone)]
pub(crate) struct PairScores<'a> {
    /// Runs of the pair, one for each seed; at least one.
    pub(crate) runs: &'a [Run],
    /// Mean over the seeds.
    pub(crate) mean: Scores,
    /// Standard deviation over the seeds.
    pub(crate) spread: Scores,
}

impl<'a> PairScores<'a> {
    /// Returns the rates over the runs of one pair.
    pub(crate) fn new(runs: &'a [Run]) -> Self {
        let scores: Vec<Scores> = runs.iter().map(|run| run.scores).collect();
        Self { runs, mean: Scores::mean(&scores), spread: Scores::spread(&scores) }
    }

    /// Returns the mean predicted accuracy, if the runs have one.
    pub(crate) fn predicted(&self) -> Option<f64> {
        mean(self.runs.iter().filter_map(|run| run.predicted_accuracy))
    }

    /// Returns the mean true accuracy of the carried labels, if labels were carried.
    pub(crate) fn carried(&self) -> Option<f64> {
        mean(self.runs.iter().filter_map(|run| run.carried_accuracy))
    }

    /// Returns the chosen source if the runs agree on it.
    pub(crate) fn chosen(&self) -> String {
        let first = &self.runs[0];
        let same = self.runs.iter().all(|run| run.chosen == first.chosen);
        let chosen = first.chosen.as_ref().filter(|_| same);
        chosen.cloned().unwrap_or_else(|| if same { first.source.clone() } else { "mixed".into() })
    }

    /// Returns the verdict if the runs have one and agree on it.
    pub(crate) fn verdict(&self) -> String {
        let mut verdicts = self.runs.iter().map(|run| run.verdict);
        match verdicts.next().flatten() {
            None => "-".into(),
            Some(first) if verdicts.all(|verdict| verdict == Some(first)) => first.to_string(),
            Some(_) => "mixed".into(),
        }
    }
}

/// Columns of a table after the accuracy: heading, and the rate by its place in
/// [`Scores::NAMES`].
pub(crate) type Columns = [(&'static str, usize); 5];
/// The columns of most tables.
pub(crate) const RATES: Columns =
    [("balan.", 1), ("false", 2), ("detec.", 3), ("type", 4), ("unkn.", 5)];
/// The columns if labels were left out: unknowns that are wrong, and unknowns that are right.
pub(crate) const NOVEL: Columns =
    [("false", 2), ("detec.", 3), ("type", 4), ("f.unk.", 6), ("novel", 7)];

/// Returns the table of every pair, with mean and worst below.
pub(crate) fn matrix(
    pairs: &[PairScores<'_>],
    mean: &Scores,
    worst: &Scores,
    columns: &Columns,
) -> String {
    let seeds = pairs.first().map_or(1, |pair| pair.runs.len());
    let headings = columns.map(|(heading, _)| format!("{heading:>6}")).join(" ");
    let mut text = format!(
        "{:<12} {:<12} {:>10} {headings} {:>8}\n",
        "source", "target", "accuracy", "verdict"
    );
    let mut row = |source: &str, target: &str, scores: &Scores, spread: &str, verdict: &str| {
        let rates = scores.values().map(percent);
        let accuracy = format!("{}{spread}", rates[0]);
        let rest = columns.map(|(_, rate)| format!("{:>6}", rates[rate])).join(" ");
        let (source, target) = (shortened(source, 12), shortened(target, 12));
        let line = format!("{source:<12} {target:<12} {accuracy:>10} {rest} {verdict:>8}");
        text.push_str(line.trim_end());
        text.push('\n');
    };
    for pair in pairs {
        let run = &pair.runs[0];
        let spread = match pair.spread.accuracy {
            Some(spread) if seeds > 1 => format!(" ±{:.1}", 100.0 * spread),
            _ => String::new(),
        };
        row(&run.source, &run.target, &pair.mean, &spread, &pair.verdict());
    }
    row("mean", "", mean, "", "");
    row("worst", "", worst, "", "");
    text
}

/// Returns one pair in detail: rates, confusion of the first seed, verdict with its reasons.
pub(crate) fn pair(pair: &PairScores<'_>) -> String {
    let run = &pair.runs[0];
    let mut text = format!(
        "{} -> {} by {}, pool {}: adapted on {}, tested on {}\n\n",
        run.source,
        run.target,
        run.method,
        run.pool,
        plural(run.n_pool, "window", "windows"),
        run.n_test
    );
    let rates = Scores::NAMES.iter().zip(pair.mean.values()).zip(pair.spread.values());
    for ((name, rate), spread) in rates {
        let spread = match spread {
            Some(spread) if pair.runs.len() > 1 => {
                format!(" ± {:.1} over {} seeds", 100.0 * spread, pair.runs.len())
            }
            _ => String::new(),
        };
        let _ = writeln!(text, "{:<20} {:>6} %{spread}", name.replace('_', " "), percent(rate));
    }
    text.push('\n');
    text.push_str(&confusion(run));
    if let Some(verdict) = run.verdict {
        let forced = if run.forced { ", FORCED: classes are named all the same" } else { "" };
        let _ = writeln!(text, "\nverdict: {verdict}{forced}");
        if let (Some(predicted), Some(carried)) = (run.predicted_accuracy, run.carried_accuracy) {
            let _ = writeln!(
                text,
                "  carried from {}: predicted accuracy {} %, true {} %",
                run.chosen.as_deref().unwrap_or("-"),
                percent(Some(predicted)),
                percent(Some(carried))
            );
        }
        for reason in &run.reasons {
            let _ = writeln!(text, "  {reason}");
        }
    }
    text
}

/// Returns the confusion: a row for each true label, and a column for each label that was given.
/// Columns have the numbers of the rows. Columns without room go into a table below.
fn confusion(run: &Run) -> String {
    let most = run.confusion.iter().flatten().max().copied().unwrap_or(0);
    let width = COUNT.max(most.to_string().len() + 1);
    let columns: Vec<usize> = (0..run.confusion_columns.len()).collect();
    let tables: Vec<String> = columns
        .chunks((WIDTH - HEAD) / width)
        .map(|columns| confusion_table(run, columns, width))
        .collect();
    let mut text = tables.join("\n");
    let meanings: Vec<String> = ASIDE
        .iter()
        .filter(|(name, ..)| run.confusion_columns.iter().any(|column| column == name))
        .map(|(_, heading, meaning)| format!("{heading}: {meaning}"))
        .collect();
    if !meanings.is_empty() {
        let _ = writeln!(text, "    {}", meanings.join("; "));
    }
    text
}

/// Returns some columns of the confusion, each `width` wide.
fn confusion_table(run: &Run, columns: &[usize], width: usize) -> String {
    let heading = |column: usize| {
        let name = &run.confusion_columns[column];
        let aside = ASIDE.iter().find(|(aside, ..)| aside == name);
        aside.map_or_else(|| (column + 1).to_string(), |(_, heading, _)| (*heading).into())
    };
    let mut text = format!("{:>3} {:<13} {:>7}", "", "true label", "right %");
    for column in columns {
        let _ = write!(text, "{:>width$}", heading(*column));
    }
    text.push('\n');
    for (index, (label, counts)) in run.classes.iter().zip(&run.confusion).enumerate() {
        let windows: usize = counts.iter().sum();
        let right = if run.confusion_columns.get(index) == Some(label) { counts[index] } else { 0 };
        let right = percent((windows > 0).then(|| right as f64 / windows as f64));
        let _ = write!(text, "{:>3} {:<13} {right:>7}", index + 1, shortened(label, 13));
        for column in columns {
            let _ = write!(text, "{:>width$}", counts[*column]);
        }
        text.push('\n');
    }
    text
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

pub(crate) fn percent(rate: Option<f64>) -> String {
    rate.map_or("-".into(), |rate| format!("{:.1}", 100.0 * rate))
}

/// Returns at most `width` characters. The last one is an ellipsis if some were cut off.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.into();
    }
    text.chars().take(width - 1).chain(['…']).collect()
}
