//! The verdict in a sentence, its reasons, and the labels of the windows.

use std::borrow::Cow;

use super::Hints;
use maud::{Markup, html};

use super::confusion::Confusion;
use super::{Kind, Page, Section};
use crate::adapt::verdict::{MIN_AGREEMENT, Verdict};
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
            "The model tells healthy from faulty by {to}'s own healthy recordings, and names the type of a fault as \
             {from} showed it."
        ),
        Kind::Gate { types: false } => format!(
            "The model tells healthy from faulty by {to}'s own healthy recordings. It does not name the type of a \
             fault, because {to} is too unlike {from}."
        ),
        Kind::Source if abstained => format!(
            "{to} is too unlike {from} for its conditions to be named: most windows are called unknown. Do not rely \
             on this model for {to}."
        ),
        Kind::Source => format!(
            "Nothing was learnt from {to}: its windows get the nearest condition of {from}, and what is far from all \
             of them is called unknown."
        ),
    }
}

/// Returns advice for the next step.
fn advice(page: &Page<'_>) -> Cow<'static, str> {
    match page.kind {
        Kind::Adapted => {
            "Before you rely on it: the strips below should be of one colour each, and recordings whose condition you \
             know should have it."
                .into()
        }
        Kind::Gate { types: true } => {
            "An alarm for a fault is to be trusted before its type: have the machine looked at, and take the type as \
             the first place to look."
                .into()
        }
        Kind::Gate { types: false } => {
            "An alarm says that the machine is no longer as it was when it was recorded; where to look must be found \
             out on site."
                .into()
        }
        Kind::Source => {
            let Hints { pool_healthy, pool_all, .. } = page.contents.origin.hints;
            format!(
                "To get more: say what was recorded. {pool_healthy} if the machine was healthy throughout, \
                 {pool_all} if every condition is in the recordings."
            )
            .into()
        }
    }
}

/// Returns a caution if the labels rest on the user's word and not on the recordings alone.
fn caution(page: &Page<'_>) -> Option<String> {
    let adaptation = page.contents.adaptation.filter(|_| page.kind == Kind::Adapted)?;
    let support = adaptation.support.as_ref()?;
    let conditions = page.classes.classes();
    let trusted = support.agreement >= MIN_AGREEMENT && support.classes_found == conditions;
    (!trusted).then(|| {
        format!(
            "This rests on your word that every condition is in the recordings. From the recordings alone it would \
             not have been trusted: {} of {conditions} conditions were recognised without the plan, and plan and \
             source agree in {:.0} % (trusted from {:.0} %).",
            support.classes_found,
            100.0 * support.agreement,
            100.0 * MIN_AGREEMENT
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
                            "{:.1} % of the {} windows whose recording has a label in the manifest are called by it. \
                             The labels were not used.",
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
