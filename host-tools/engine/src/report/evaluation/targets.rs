//! Every target: the chosen source, the predicted and the true accuracy, and the verdict.

use maud::{Markup, html};

use super::{EvaluationContents, mean, percent};
use crate::adapt::verdict::Verdict;
use crate::evaluate::Run;
use crate::report::document::{Figure, Section};
use crate::words::plural;

/// Most pairs in the table.
const MOST: usize = 500;

/// The section, with `warnings` at its top.
pub(super) fn section(contents: &EvaluationContents<'_>, warnings: Markup) -> Section {
    let section = Section::new("targets", "Targets", "Targets");
    let section = section.saying(warnings).saying(summary(&Used::of(contents)));
    let left_out = contents.pairs.len().saturating_sub(MOST);
    let caption = format!(
        "How to read it: a row for each target, as a mean over its seeds. Predicted and true: the accuracy of the \
         labels that were carried over, whether the verdict used them or not. Promise: whether the true accuracy kept \
         the promise of {} %, where the verdict is adapt. Accuracy, false alarms and detection are of the \
         model that the verdict made; unknown counts as wrong.{}",
        100.0 * contents.promise,
        match left_out {
            0 => String::new(),
            more => format!(" {} not listed.", plural(more, "more pair is", "more pairs are")),
        }
    );
    section.with(Figure::new("targets", "Every target", table(contents), &caption))
}

/// The runs whose carried labels were used, because the verdict is to adapt.
struct Used {
    /// Runs with a verdict.
    verdicts: usize,
    /// True accuracy of each run with the verdict to adapt.
    accuracies: Vec<f64>,
    promise: f64,
}

impl Used {
    fn of(contents: &EvaluationContents<'_>) -> Self {
        Self {
            verdicts: contents.runs().filter(|run| run.verdict.is_some()).count(),
            accuracies: contents.runs().filter_map(used).collect(),
            promise: contents.promise,
        }
    }

    fn broken(&self) -> usize {
        self.accuracies.iter().filter(|accuracy| **accuracy < self.promise).count()
    }
}

/// The true accuracy of the carried labels, if the verdict used them.
fn used(run: &Run) -> Option<f64> {
    run.carried_accuracy.filter(|_| run.verdict == Some(Verdict::Adapt))
}

/// The promise in a sentence, with a caution if it was broken.
fn summary(used: &Used) -> Markup {
    let (promise, broken) = (100.0 * used.promise, used.broken());
    let all = plural(used.verdicts, "run", "runs");
    let worst = used.accuracies.iter().copied().reduce(f64::min);
    html! {
        @if broken > 0 {
            p class="caution severe" {
                (format!(
                    "The promise of {promise} % was broken: {broken} of {} had fewer labels right.",
                    plural(used.accuracies.len(), "adapted run", "adapted runs")
                ))
            }
        }
        p class="lead" {
            @if used.verdicts == 0 {
                "This method gives no verdict, so no promise can be checked."
            } @else if let Some(worst) = worst {
                (format!(
                    "The verdict is to adapt in {} of {all}. There, {} % of the labels are right on average, and {} % in \
                     the worst run.",
                    used.accuracies.len(), percent(mean(used.accuracies.iter().copied())), percent(Some(worst))
                ))
            } @else {
                (format!("The verdict is to adapt in none of {all}, so nothing was promised."))
            }
        }
    }
}

fn table(contents: &EvaluationContents<'_>) -> Markup {
    html! {
        div class="wide" {
            table class="targets" {
                thead {
                    tr {
                        @for name in [
                            "chosen source", "target", "predicted %", "true %", "promise", "verdict", "accuracy %",
                            "false alarms %", "detection %",
                        ] { th scope="col" { (name) } }
                    }
                }
                tbody {
                    @for runs in contents.pairs.iter().take(MOST) {
                        @let scores = |rate: fn(&Run) -> Option<f64>| percent(mean(runs.iter().filter_map(rate)));
                        tr {
                            td { (agreed(runs, |run| run.chosen.clone().unwrap_or_else(|| run.source.clone()))) }
                            th scope="row" { (agreed(runs, |run| run.target.clone())) }
                            td { (scores(|run| run.predicted_accuracy)) }
                            td { (scores(|run| run.carried_accuracy)) }
                            (promise(runs, contents.promise))
                            td { (agreed(runs, verdict)) }
                            td { (scores(|run| run.scores.accuracy)) }
                            td { (scores(|run| run.scores.false_alarm_rate)) }
                            td { (scores(|run| run.scores.detection_rate)) }
                        }
                    }
                }
            }
        }
    }
}

fn verdict(run: &Run) -> String {
    let verdict = run.verdict.map_or("–".into(), |verdict| verdict.to_string());
    if run.forced { format!("{verdict}, forced") } else { verdict }
}

/// The text of all runs if they agree on it.
fn agreed(runs: &[Run], text: impl Fn(&Run) -> String) -> String {
    let mut all = runs.iter().map(text);
    let first = all.next().unwrap_or_default();
    if all.all(|other| other == first) { first } else { "mixed".into() }
}

/// Whether the labels of a pair were used, and kept the promise.
fn promise(runs: &[Run], promise: f64) -> Markup {
    let used: Vec<f64> = runs.iter().filter_map(used).collect();
    let broken = used.iter().filter(|accuracy| **accuracy < promise).count();
    match (used.len(), broken) {
        (0, _) => html! { td { "–" } },
        (_, 0) => html! { td { "kept" } },
        (all, broken) => {
            html! { td class="broken" { "broken" @if all > 1 { (format!(" ({broken} of {all})")) } } }
        }
    }
}
