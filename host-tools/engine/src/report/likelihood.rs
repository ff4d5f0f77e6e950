//! Histograms of log-likelihoods, with the thresholds that they are compared with.

use anyhow::{Context, Result};
use maud::{Markup, html};
use plotters::prelude::*;
use rebearing::model::{Integers, format};

use super::chart::{Axes, chart, stroke, svg};
use super::{Figure, Kind, Page, Section};
use crate::device::Shown;
use crate::model::deployed::DeployedModel;
use crate::report::windows::Window;
use crate::words::plural;

const SIZE: (u32, u32) = (360, 230);
const BINS: usize = 40;
/// Bars are drawn this far below the threshold, in units of the range above it.
const BELOW: f64 = 3.0;
const ABOVE: RGBColor = RGBColor(0, 114, 178);
const UNDER: RGBColor = RGBColor(213, 94, 0);

/// The thresholds of a model; the format writes "never" as the smallest number.
struct Thresholds {
    gate: Option<f64>,
    mixture: Option<f64>,
}

impl Thresholds {
    fn of(model: &DeployedModel) -> Self {
        match model {
            DeployedModel::F32(bytes) => {
                let model = bytes.model();
                let never = |min: &f32| *min > f32::MIN;
                Self {
                    gate: model.gate().map(|gate| f64::from(gate.log_likelihood_min)),
                    mixture: Some(model.log_likelihood_min()).filter(never).map(f64::from),
                }
            }
            DeployedModel::I16(bytes) => {
                let model = bytes.model();
                let wide = |q8: i32| f64::from(Integers::shown_nats(q8));
                let never = |min: &i32| *min > format::NEVER_UNKNOWN;
                Self {
                    gate: model.gate().map(|gate| wide(gate.log_likelihood_min)),
                    mixture: Some(model.log_likelihood_min()).filter(never).map(wide),
                }
            }
        }
    }
}

pub(super) fn section(page: &Page<'_>) -> Result<Section> {
    let contents = page.contents;
    let thresholds = Thresholds::of(contents.model);
    let to = &contents.target.name;
    let mut section = Section::new("likelihood", "Likelihood", "Log-likelihood and thresholds");
    let of = |value: fn(&Window) -> Option<f64>| -> Vec<f64> {
        contents.windows.iter().filter_map(value).collect()
    };
    let gate = of(|window| window.gate_log_likelihood);
    if thresholds.gate.is_some() {
        let caption = format!(
            "How to read it: the line is the gate's threshold. Windows of {to} to the right of it are like its \
             healthy windows and are called healthy. Windows to the left of it are called faults."
        );
        let (body, more) = histogram(&gate, thresholds.gate, "under the gate")?;
        let caption = caption + &more;
        section = section.with(Figure::new("gate", "Under the gate", body, &caption).beside());
    }
    if page.kind == Kind::Nothing {
        return Ok(section.saying(html! {
            p {
                "The model names nothing: its threshold lies where no window reaches it, so every window is unknown. \
                 There is no log-likelihood to judge it by."
            }
        }));
    }
    let mixture = of(|window| window.log_likelihood);
    if !mixture.is_empty() {
        let caption = match (thresholds.mixture, thresholds.gate) {
            (Some(_), _) => format!(
                "How to read it: the line is the model's threshold. Windows of {to} to the left of it are unlike \
                 anything that the model knows and are called unknown. The farther left, the less alike."
            ),
            (None, Some(_)) => "How to read it: how well the fault types explain the windows that did not pass the \
                                gate. There is no threshold: every fault gets the likeliest type."
                .into(),
            (None, None) => "How to read it: how well the model explains each window. It has no threshold: every \
                             window gets the likeliest class, because there were too few windows to set one."
                .into(),
        };
        let (body, more) = histogram(&mixture, thresholds.mixture, "under the model's mixture")?;
        let caption = caption + &more;
        let title = "Under the mixture that tells classes apart";
        section = section.with(Figure::new("mixture", title, body, &caption).beside());
    } else if thresholds.gate.is_some() {
        section = section.saying(html! {
            p { "No window was compared with the fault types: either all windows passed the gate, or the model names no types." }
        });
    }
    Ok(section)
}

/// Returns a histogram, and the text to add to its caption.
fn histogram(values: &[f64], threshold: Option<f64>, of: &str) -> Result<(Markup, String)> {
    let high = values.iter().copied().chain(threshold).fold(f64::NEG_INFINITY, f64::max);
    let lowest = values.iter().copied().chain(threshold).fold(f64::INFINITY, f64::min);
    // A single window far off must not squeeze all the others into one bar.
    let low = threshold.map_or(lowest, |min| lowest.max(min - BELOW * (high - min).max(1.0)));
    let beyond = values.iter().filter(|value| **value < low).count();
    let width = ((high - low) / BINS as f64).max(1e-9);
    let mut counts = [(0_usize, 0_usize); BINS];
    for value in values {
        let bin = (((value - low) / width).max(0.0) as usize).min(BINS - 1);
        if threshold.is_some_and(|min| *value < min) {
            counts[bin].1 += 1;
        } else {
            counts[bin].0 += 1;
        }
    }
    let most = counts.iter().map(|(above, under)| above + under).max().unwrap_or(1).max(1) as f64;
    let under = values.iter().filter(|value| threshold.is_some_and(|min| **value < min)).count();
    let label = format!(
        "Histogram of the log-likelihood of {} {of}, from {lowest:.1} to {high:.1} nats{}",
        plural(values.len(), "window", "windows"),
        threshold.map_or_else(String::new, |min| format!(
            "; {under} of them below the threshold at {min:.1}"
        ))
    );
    let picture = svg(SIZE, &label, |area| {
        let names = Axes { title: "", x: "log-likelihood, nats", y: "windows", digits: (0, 0) };
        let mut chart = chart(area, &names, low - 2.0 * width..high + width, 0.0..1.08 * most)?;
        let bars = counts.iter().enumerate().flat_map(|(bin, (above, under))| {
            let left = low + bin as f64 * width;
            let bar = |from: usize, to: usize, colour: RGBColor| {
                let corners = [(left, from as f64), (left + 0.92 * width, to as f64)];
                (to > from).then(|| Rectangle::new(corners, colour.filled()))
            };
            [bar(0, *under, UNDER), bar(*under, under + above, ABOVE)].into_iter().flatten()
        });
        chart.draw_series(bars).context("bars")?;
        if let Some(min) = threshold {
            let line = [(min, 0.0), (min, 1.08 * most)];
            chart.draw_series(LineSeries::new(line, stroke(BLACK, 2.0))).context("threshold")?;
        }
        Ok(())
    })?;
    let share = |count: usize| 100.0 * count as f64 / values.len().max(1) as f64;
    let body = html! {
        @if let Some(min) = threshold {
            p class="note" {
                "threshold " b { (format!("{min:.1} nats")) } "; "
                (format!("{under} of {} windows ({:.1} %) below it", values.len(), share(under)))
            }
        }
        div class="single" { (picture) }
    };
    let more = match beyond {
        0 => String::new(),
        1 => {
            " One window lies farther left than the picture reaches and is in its first bar.".into()
        }
        more => format!(
            " {more} windows lie farther left than the picture reaches and are in its first bar."
        ),
    };
    Ok((body, more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_far_off_is_counted_in_the_first_bar_and_said() {
        let (body, more) = histogram(&[-9000.0, 3.0, 4.0, 5.0], Some(2.0), "here").unwrap();
        let text = body.into_string();
        assert!(more.contains("One window"), "{more}");
        assert!(text.contains("1 of 4 windows (25.0 %)"), "{text}");
        // One bar left of the line and three right of it.
        assert_eq!(text.matches("#D55E00").count(), 1);
        assert_eq!(text.matches("#0072B2").count(), 3);
        // No value at all still gives a picture.
        assert!(histogram(&[], Some(1.0), "here").is_ok());
    }
}
