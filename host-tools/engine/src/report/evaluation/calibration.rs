//! Calibration: the predicted against the true accuracy, a dot for each run.

use anyhow::{Context, Result};
use maud::{Markup, html};
use plotters::prelude::*;

use super::{BELOW, BROKEN, EvaluationContents, KEPT, legend};
use crate::evaluate::risk::predicted_and_true;
use crate::report::chart::{AXIS, Axes, chart, px, stroke, svg, thinned};
use crate::report::document::{Figure, Section};
use crate::words::plural;

const SIZE: (u32, u32) = (380, 340);
/// Largest number of dots drawn.
const DOTS: usize = 3000;

pub(super) fn section(contents: &EvaluationContents<'_>) -> Result<Section> {
    let title = "Calibration";
    let section = Section::new("calibration", title, title);
    let points: Vec<(f64, f64)> = contents.runs().filter_map(predicted_and_true).collect();
    if points.is_empty() {
        return Ok(section.saying(html! {
            p { "No run predicts its accuracy, so there is nothing to compare." }
        }));
    }
    let drawn: Vec<(f64, f64)> = thinned(points.len(), DOTS).map(|index| points[index]).collect();
    let body = html! {
        (legend(&[
            (KEPT, "at least as right as predicted"),
            (BELOW, "less right than predicted"),
            (BROKEN, "predicted to keep the promise, but below it"),
        ]))
        div class="single" { (picture(&drawn, contents.promise)?) }
    };
    let kept = points.iter().filter(|(predicted, exact)| exact >= predicted).count();
    let caption = format!(
        "How to read it: a dot for each run. A prediction stands for \u{201c}at least\u{201d}, so dots should lie above \
         the diagonal. {kept} of {} at least as right as predicted. The lines mark the promise: a dot to the right of \
         the upright line and below the level one was predicted to keep it and did not.{}",
        plural(points.len(), "run is", "runs are"),
        if drawn.len() < points.len() {
            format!(" {} of {} runs are drawn.", drawn.len(), points.len())
        } else {
            String::new()
        }
    );
    Ok(section.with(Figure::new("calibration", "Predicted and true accuracy", body, &caption)))
}

/// The colour of a run by its predicted and true accuracy.
fn colour((predicted, exact): (f64, f64), promise: f64) -> RGBColor {
    if predicted >= promise && exact < promise {
        BROKEN
    } else if exact < predicted {
        BELOW
    } else {
        KEPT
    }
}

/// The start of both axes in percent: a ten below every run, and below the promise.
fn lowest(points: &[(f64, f64)], promise: f64) -> f64 {
    let least =
        points.iter().map(|(predicted, exact)| predicted.min(*exact)).fold(promise, f64::min);
    10.0 * ((10.0 * least).ceil() - 1.0).max(0.0)
}

fn picture(points: &[(f64, f64)], promise: f64) -> Result<Markup> {
    let label = format!(
        "Predicted accuracy (across) and true accuracy (up) of {}, in percent, with the diagonal",
        plural(points.len(), "run", "runs")
    );
    svg(SIZE, &label, |area| {
        let names = Axes { title: "", x: "predicted, %", y: "true, %", digits: (0, 0) };
        let (low, high, promise_at) = (lowest(points, promise), 101.0, 100.0 * promise);
        let mut chart = chart(area, &names, low..high, low..high)?;
        for (line, width) in [
            ([(low, low), (high, high)], 1.5),
            ([(promise_at, low), (promise_at, high)], 1.0),
            ([(low, promise_at), (high, promise_at)], 1.0),
        ] {
            chart.draw_series(LineSeries::new(line, stroke(AXIS, width))).context("lines")?;
        }
        let dots = points.iter().map(|point| {
            let at = (100.0 * point.0, 100.0 * point.1);
            Circle::new(at, px(3.2), colour(*point, promise).mix(0.7).filled())
        });
        chart.draw_series(dots).context("runs")?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axes_hold_every_run_and_the_promise() {
        assert_eq!(lowest(&[(0.95, 0.97)], 0.9), 80.0);
        assert_eq!(lowest(&[(0.95, 0.97), (0.64, 0.91)], 0.9), 60.0);
        assert_eq!(lowest(&[(0.95, 0.0)], 0.9), 0.0);
    }

    #[test]
    fn a_dot_tells_a_broken_promise_from_a_low_prediction() {
        assert_eq!(colour((0.95, 0.97), 0.9), KEPT);
        assert_eq!(colour((0.95, 0.93), 0.9), BELOW);
        assert_eq!(colour((0.95, 0.5), 0.9), BROKEN);
        // Nobody relied on it.
        assert_eq!(colour((0.6, 0.5), 0.9), BELOW);
    }
}
