//! The warnings, the verdict in a sentence, the predicted accuracy, the reasons, and the labels of
//! the windows.

use maud::{Markup, html};

use super::badge::Badge;
use super::confusion::Confusion;
use super::document::warnings;
use super::{Hints, Kind, Page, Section, known};
use crate::model::verdict::accuracy_text;
use crate::words::{decimal, plural};

/// Describes the model in a sentence that needs no knowledge of the method.
fn sentence(page: &Page<'_>) -> String {
    let (from, to) = (&page.contents.source.domain, &page.contents.target.name);
    let conditions = page.classes.classes();
    match page.kind {
        Kind::Adapted => format!(
            "The labels of the {conditions} conditions known from {from} were carried over to {to}'s own recordings. \
             The model gives {to}'s windows these labels, and calls a window unlike all of them unknown."
        ),
        Kind::Gate { types: true } => format!(
            "The model tells healthy from faulty by {to}'s own healthy recordings. It names the type of a fault by the \
             faults of {from}, which cannot be promised."
        ),
        Kind::Gate { types: false } => format!(
            "The model tells healthy from faulty by {to}'s own healthy recordings. It does not name the type of a \
             fault, because {to} is too unlike {from}."
        ),
        Kind::Nothing => format!(
            "The model names nothing: every window of {to} is unknown. Do not rely on this model. Neither the labels \
             of {from} nor a healthy state of {to} could be trusted."
        ),
        Kind::Source => format!(
            "Nothing was learnt from {to}: a window gets the nearest condition of {from}, and a window far from all \
             of them is called unknown."
        ),
    }
}

/// Returns advice for the next step.
fn advice(page: &Page<'_>, badge: Option<&Badge>) -> String {
    let untrusted = badge.is_some_and(|badge| badge.made_under.forced || badge.denied.is_some());
    match page.kind {
        _ if untrusted => "Do not act on a name that this model gives: have the machine inspected first.".into(),
        Kind::Adapted => "Before you rely on it, compare it with recordings whose condition you know: each should be \
                          called by its condition. Strips of one colour below show that the model is steady, not that \
                          it is right."
            .into(),
        Kind::Gate { types: true } => "Trust an alarm for a fault more than its type: have the machine inspected, and \
                                       look first where the type points."
            .into(),
        Kind::Gate { types: false } => "An alarm says that the machine is no longer as it was when it was recorded. It \
                                        does not say where to look."
            .into(),
        Kind::Nothing | Kind::Source => {
            let Hints { pool_healthy, pool_all, .. } = page.contents.origin.hints;
            format!(
                "To get more, say what was recorded: {pool_healthy} if the machine was healthy throughout, \
                 {pool_all} if every condition is in the recordings. Or add a machine like this one to the known ones."
            )
        }
    }
}

/// Returns the predicted accuracy and how to read it.
fn predicted(page: &Page<'_>, badge: &Badge) -> String {
    let accuracy = accuracy_text(&badge.made_under);
    match (page.kind, badge.made_under.predicted_accuracy) {
        (Kind::Adapted, Some(_)) => format!("Predicted: {accuracy}."),
        (_, Some(_)) => {
            format!("Labels could be carried over: {accuracy}. They are not used: see the reasons.")
        }
        (_, None) => format!("No labels were carried over: {accuracy}."),
    }
}

/// A share in percent, with as few digits as it needs.
fn percent(share: f32) -> String {
    format!("{} %", (1000.0 * decimal(share)).round() / 10.0)
}

/// Returns everything that the reader must know before the verdict.
fn cautions(page: &Page<'_>, badge: Option<&Badge>) -> Markup {
    let mut severe = Vec::new();
    if let Some(Badge { made_under, denied, .. }) = badge {
        let promise = percent(made_under.promise);
        if let Some(accuracy) = denied {
            severe.push(format!(
                "The figures on this page contradict the verdict: {:.1} % of the windows with a label in the manifest \
                 got that label, and {promise} were promised. Do not use this model. If the manifest is right, {}",
                100.0 * accuracy,
                if page.same_recordings {
                    "this is a bug, because a verdict must not contradict its own figures: please report it."
                } else {
                    "the machine or its sensor has changed since the model was made: adapt it again."
                }
            ));
        }
        if made_under.forced {
            severe.push(
                "FORCED: the verdict was to name no fault, but somebody asked for names all the same. Expect wrong \
                 names."
                    .into(),
            );
        }
    }
    html! {
        @for text in &severe { p class="caution severe" { (text) } }
        (warnings(page.contents.warnings))
    }
}

pub(super) fn section(page: &Page<'_>) -> Section {
    let contents = page.contents;
    let confusion = Confusion::of(page);
    let badge = Badge::of(page, confusion.as_ref());
    let reasons = contents.adaptation.map_or(contents.reasons, |adaptation| &adaptation.reasons);
    let title = if badge.is_some() { "Verdict" } else { "What the model does" };
    Section::new("verdict", "Verdict", title).saying(html! {
        (cautions(page, badge.as_ref()))
        p class="lead" {
            @if let Some(badge) = &badge {
                span class={ "badge " (badge.colour.class()) } {
                    (badge.made_under.verdict.name()) @if badge.made_under.forced { ", forced" }
                } " "
            }
            (sentence(page))
        }
        @if let Some(badge) = &badge { p class="predicted" { (predicted(page, badge)) } }
        p { (advice(page, badge.as_ref())) }
        div class="split" {
            div {
                h3 { "What the " (plural(contents.windows.len(), "window is", "windows are")) " called" }
                (shares(page))
                @if let Some(confusion) = confusion {
                    p class="note" { (confusion.sentence()) " The model was made without these labels." }
                }
                (known::table(page))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_shown_as_it_was_given() {
        assert_eq!([0.995, 0.9, 0.29].map(percent), ["99.5 %", "90 %", "29 %"]);
    }
}
