//! Risk and coverage: the share of runs that a promise accepts, and how right their labels are.

use anyhow::{Context, Result};
use maud::{Markup, html};
use plotters::prelude::*;

use super::{BELOW, EvaluationContents, KEPT, legend, percent};
use crate::evaluate::risk::{RiskCoverage, risk_coverage, risk_coverage_at};
use crate::report::chart::{AXIS, Axes, chart, stroke, svg};
use crate::report::document::{Figure, Section};

const SIZE: (u32, u32) = (380, 290);
/// The promises of the picture begin here, in percent, and end at 100.
const FIRST: u32 = 50;
const COVERAGE: RGBColor = RGBColor(0, 158, 115);

pub(super) fn section(contents: &EvaluationContents<'_>) -> Result<Section> {
    let title = "Risk and coverage";
    let section = Section::new("risk", title, title);
    let promises: Vec<f64> = (FIRST..=100).map(|percent| f64::from(percent) / 100.0).collect();
    let rows = risk_coverage_at(&promises, contents.runs());
    if rows.is_empty() {
        return Ok(section.saying(html! {
            p { "No run predicts its accuracy, so there is nothing to draw." }
        }));
    }
    let body = html! {
        (legend(&[
            (COVERAGE, "share of runs accepted"),
            (KEPT, "their true accuracy, mean"),
            (BELOW, "their true accuracy, worst"),
        ]))
        div class="single" { (picture(&rows, contents.promise)?) }
    };
    let caption = "How to read it: a higher promise accepts fewer runs, and the labels of those should be right more \
                   often. Accepted means that the predicted accuracy is at least the promise; the verdict asks for \
                   more. Where the worst line is above the grey diagonal, the promise was kept by every run that it \
                   accepted. The vertical line is the promise of this evaluation. Lines end where no run is accepted.";
    let table = Figure::new(
        "promises",
        "By promise",
        table(&risk_coverage(contents.runs())),
        "How to read it: accepted runs have a predicted accuracy of at least the promise. Broken: accepted runs whose \
         true accuracy is below it.",
    );
    Ok(section.with(Figure::new("risk", title, body, caption)).with(table))
}

fn picture(rows: &[RiskCoverage], promise: f64) -> Result<Markup> {
    let line = |value: fn(&RiskCoverage) -> Option<f64>| -> Vec<(f64, f64)> {
        rows.iter().filter_map(|row| Some((100.0 * row.promise, 100.0 * value(row)?))).collect()
    };
    let runs = rows.first().map_or(0, |row| row.runs);
    let label = format!(
        "Share of {runs} runs that a promise accepts, and mean and worst true accuracy of the accepted runs, over \
         promises from {FIRST} to 100 percent"
    );
    svg(SIZE, &label, |area| {
        let first = f64::from(FIRST);
        let names = Axes { title: "", x: "promise, %", y: "%", digits: (0, 0) };
        let mut chart = chart(area, &names, first..100.0, 0.0..104.0)?;
        let aside = [
            vec![(first, first), (100.0, 100.0)],
            vec![(100.0 * promise, 0.0), (100.0 * promise, 104.0)],
        ];
        for line in aside.into_iter().filter(|line| line[0].0 >= first) {
            chart.draw_series(LineSeries::new(line, stroke(AXIS, 1.0))).context("diagonal")?;
        }
        for (line, colour) in [
            (line(|row| Some(row.coverage)), COVERAGE),
            (line(|row| row.accuracy), KEPT),
            (line(|row| row.worst), BELOW),
        ] {
            chart.draw_series(LineSeries::new(line, stroke(colour, 2.0))).context("lines")?;
        }
        Ok(())
    })
}

fn table(rows: &[RiskCoverage]) -> Markup {
    html! {
        div class="wide" {
            table {
                thead {
                    tr {
                        @for name in ["promise %", "accepted", "coverage %", "true accuracy %", "worst %", "broken"] {
                            th scope="col" { (name) }
                        }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            th scope="row" { (format!("{:.0}", 100.0 * row.promise)) }
                            td { (row.accepted) " of " (row.runs) }
                            td { (percent(Some(row.coverage))) }
                            td { (percent(row.accuracy)) }
                            td { (percent(row.worst)) }
                            td { (row.broken) }
                        }
                    }
                }
            }
        }
    }
}
