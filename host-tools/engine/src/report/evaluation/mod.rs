//! One self-contained HTML page about an evaluation: every target, and whether the predicted accuracy
//! kept its promises.
//!
//! ```text
//! runs ─► targets, risk and coverage, calibration, settings ─► page
//! ```

mod calibration;
mod risk;
mod targets;

use anyhow::Result;
use maud::{Markup, html};
use plotters::style::RGBColor;

use super::classes::css;
use super::document::{Report, Section, document, warnings};
use super::provenance::{self, Origin};
use crate::evaluate::Run;
use crate::words::plural;

/// Colour of marks that keep their promise.
const KEPT: RGBColor = RGBColor(0, 114, 178);
/// Colour of marks that are below what was predicted.
const BELOW: RGBColor = RGBColor(230, 159, 0);
/// Colour of marks that break the promise.
const BROKEN: RGBColor = RGBColor(166, 27, 27);

/// The contents of the page.
#[derive(Debug, Clone, Copy)]
pub struct EvaluationContents<'a> {
    /// The name of the data, for the heading.
    pub data: &'a str,
    /// The runs of each pair of sources and target, one for each seed. No pair is empty.
    pub pairs: &'a [&'a [Run]],
    /// Pairs without results.
    pub missing: &'a [NotEvaluated],
    /// The accuracy from which labels are trusted.
    pub promise: f64,
    /// How the page was made.
    pub origin: &'a Origin,
}

/// A pair of sources and target without results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotEvaluated {
    /// The sources.
    pub source: String,
    /// The target.
    pub target: String,
    /// Why there is no result.
    pub reason: String,
}

impl<'a> EvaluationContents<'a> {
    fn runs(&self) -> impl Iterator<Item = &'a Run> + Clone + use<'a> {
        self.pairs.iter().copied().flatten()
    }
}

/// Returns the page about an evaluation.
pub fn evaluation(contents: &EvaluationContents<'_>) -> Result<Report> {
    let mut said: Vec<String> = contents.runs().flat_map(|run| run.warnings.clone()).collect();
    said.sort_unstable();
    said.dedup();
    let sections = vec![
        targets::section(contents, warnings(&said)).saying(missing(contents.missing)),
        risk::section(contents)?,
        calibration::section(contents)?,
        Section::new("provenance", "Settings", "Settings")
            .saying(provenance::command(contents.origin))
            .saying(files(contents.origin))
            .saying(provenance::options(contents.origin)),
    ];
    let title = format!("Evaluation of {}", contents.data);
    Ok(document("rebearing evaluate", &title, &title, sections))
}

fn files(origin: &Origin) -> Markup {
    html! {
        table class="facts" {
            tr { th scope="row" { "Written by" } td { "rebearing " (env!("CARGO_PKG_VERSION")) } }
            @for file in &origin.files {
                tr {
                    th scope="row" { (file.what) " (SHA-256)" }
                    td { (file.path) br; code { (file.sha256) } }
                }
            }
        }
    }
}

fn missing(missing: &[NotEvaluated]) -> Markup {
    html! {
        @if !missing.is_empty() {
            details {
                summary { (plural(missing.len(), "pair has", "pairs have")) " no result" }
                ul { @for one in missing { li { (one.source) " → " (one.target) ": " (one.reason) } } }
            }
        }
    }
}

/// Returns a legend of colours and their meanings.
fn legend(entries: &[(RGBColor, &str)]) -> Markup {
    html! {
        ul class="legend" {
            @for (colour, meaning) in entries {
                li { span class="chip" { b style=(format!("background:{}", css(*colour))) { "\u{a0}" } " " (meaning) } }
            }
        }
    }
}

/// A rate in percent.
fn percent(rate: Option<f64>) -> String {
    rate.map_or("–".into(), |rate| format!("{:.1}", 100.0 * rate))
}

/// The mean, if there is any value.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
