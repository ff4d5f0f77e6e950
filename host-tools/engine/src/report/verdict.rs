//! The verdict in a sentence, its reasons, and the labels of the windows.

use std::borrow::Cow;

use super::Hints;
use maud::{Markup, html};

use super::confusion::Confusion;
use super::{Kind, Page, Section};
use crate::adapt::verdict::Verdict;
use crate::words::plural;

/// Describes the model in a sentence that needs no knowledge of the method.
pub(super) fn sentence(page: &Page<'_>) -> String {
    let (from, to) = (&page.contents.source.domain, &page.contents.target.name);
    let conditions = page.classes.classes();
    let abstained = page.contents.adaptation.is_some_and(|a| a.verdict == Verdict::Abstain);
    match page.kind {
        Kind::Adapted => format!(
            "The labels of the {conditions} conditions known from {from} were carried over to {to}'s own recordings: \
             the model names these conditions on {to}, and calls anything else unknown."
        ),
        Kind::Gate { types: true } => format!(
            "The model tells healthy from faulty by {to}'s own healthy recordings. It names the type of a fault by the \
             faults of {from}."
        ),
        Kind::Gate { types: false } => format!(
            "The model tells healthy from faulty by {to}'s own healthy recordings. It does not name the type of a \
             fault, because {to} is too unlike {from}."
        ),
        Kind::Source if abstained => format!(
            "{to} is too unlike {from} to name its conditions: most windows are called unknown. Do not rely on \
             this model for {to}."
        ),
        Kind::Source => format!(
            "Nothing was learnt from {to}: a window gets the nearest condition of {from}, and a window far from all \
             of them is called unknown."
        ),
    }
}

/// Returns advice for the next step.
fn advice(page: &Page<'_>) -> Cow<'static, str> {
    match page.kind {
        Kind::Adapted => {
            "Before you rely on it, check two things: each strip below should have one colour, and a recording with a \
             known condition should be called by it."
                .into()
        }
        Kind::Gate { types: true } => {
            "Trust an alarm for a fault more than its type: have the machine inspected, and look first where the type \
             points."
                .into()
        }
        Kind::Gate { types: false } => {
            "An alarm says that the machine is no longer as it was when it was recorded. It does not say where to \
             look."
                .into()
        }
        Kind::Source => {
            let Hints { pool_healthy, pool_all, .. } = page.contents.origin.hints;
            format!(
                "To get more, say what was recorded: {pool_healthy} if the machine was healthy throughout, \
                 {pool_all} if every condition is in the recordings."
            )
            .into()
        }
    }
}

/// Returns a caution if the labels rest on the user's word and not on the recordings alone.
fn caution(page: &Page<'_>) -> Option<String> {
    let adaptation = page.contents.adaptation.filter(|_| page.kind == Kind::Adapted)?;
    let prediction = adaptation.prediction.as_ref()?;
    adaptation.forced.then(|| {
        format!(
            "FORCED: {:.0} % of the windows or more are predicted to be right, and {:.0} % were promised.",
            100.0 * prediction.accuracy,
            100.0 * adaptation.promise
        )
    })
}

pub(super) fn section(page: &Page<'_>) -> Section {
    let contents = page.contents;
    let confusion = Confusion::of(page);
    let reasons = contents.adaptation.map_or(contents.reasons, |adaptation| &adaptation.reasons);
    let (title, word) = match contents.adaptation {
        Some(adaptation) => ("Verdict", Some(adaptation.verdict)),
        None => ("What the model does", None),
    };
    Section::new("verdict", "Verdict", title).saying(html! {
        p class="lead" {
            @if let Some(word) = word {
                span class={ "badge " (word) } { (word.to_string()) } " "
            }
            (sentence(page))
        }
        @if let Some(caution) = caution(page) { p class="caution" { (caution) } }
        p { (advice(page)) }
        div class="split" {
            div {
                h3 { "What the " (plural(contents.windows.len(), "window is", "windows are")) " called" }
                (shares(page))
                @if let Some(confusion) = confusion {
                    p class="note" {
                        (format!(
                            "{:.1} % of the {} windows with a label in the manifest got that label. The model was made \
                             without these labels.",
                            100.0 * confusion.accuracy(),
                            confusion.windows()
                        ))
                    }
                }
            }
            div {
                h3 { "Why" }
                ul { @for reason in reasons { li { (reason) } } }
            }
        }
    })
}

/// Returns each label with its share of the windows, as a bar.
fn shares(page: &Page<'_>) -> Markup {
    let all = page.contents.windows.len().max(1);
    let places = page.classes.entries().len();
    let most = (0..places).map(|place| page.count(place)).max().unwrap_or(1).max(1);
    let named = (0..page.classes.entries().len())
        .filter(|place| *place < page.classes.classes() || page.count(*place) > 0);
    html! {
        table class="shares" {
            @for place in named {
                @let share = 100.0 * page.count(place) as f64 / all as f64;
                @let width = 100.0 * page.count(place) as f64 / most as f64;
                @let colour = super::classes::css(page.classes.entry(place).colour);
                tr {
                    th scope="row" { (page.classes.chip(place)) }
                    td class="count" { (page.count(place)) }
                    td class="count" { (format!("{share:.1} %")) }
                    td class="bar" { span style=(format!("width:{width:.1}%;background:{colour}")) {} }
                }
            }
        }
    }
}
