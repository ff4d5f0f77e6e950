//! The verdict in a sentence, its reasons, and what the windows are called.

use maud::{Markup, html};

use super::confusion::Confusion;
use super::{Kind, Page, Section};
use crate::adapt::verdict::Verdict;

/// What the model does, in a sentence that asks for no knowledge of the method.
pub(super) fn sentence(page: &Page<'_>) -> String {
    let (from, to) = (&page.contents.source.domain, &page.contents.target.name);
    let conditions = page.classes.classes();
    let abstained = page.contents.adaptation.is_some_and(|a| a.verdict == Verdict::Abstain);
    match page.kind {
        Kind::Adapted => format!(
            "The {conditions} conditions known from {from} were found in {to}'s own recordings: the model names them \
             on {to}, and calls anything else unknown."
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

/// What to do next.
fn advice(page: &Page<'_>) -> &'static str {
    match page.kind {
        Kind::Adapted => {
            "Before you rely on it: the strips below should be of one colour each, and recordings whose condition you \
             know should have it."
        }
        Kind::Gate { types: true } => {
            "An alarm for a fault is to be trusted before its type: have the machine looked at, and take the type as \
             the first place to look."
        }
        Kind::Gate { types: false } => {
            "An alarm says that the machine is no longer as it was when it was recorded; where to look must be found \
             out on site."
        }
        Kind::Source => {
            "To get more: say what was recorded. --pool-is healthy if the machine was healthy throughout, --pool-is \
             all if every condition is in the recordings."
        }
    }
}

pub(super) fn section(page: &Page<'_>) -> Section {
    let contents = page.contents;
    let confusion = Confusion::of(page);
    let reasons = contents.adaptation.map_or(contents.reasons, |adaptation| &adaptation.reasons);
    let (title, word) = match contents.adaptation {
        Some(adaptation) => ("Verdict", Some(adaptation.verdict)),
        None => ("What the model does", None),
    };
    Section::new("verdict", title).saying(html! {
        p class="lead" {
            @if let Some(word) = word {
                span class={ "badge " (word) } { (word.to_string()) } " "
            }
            (sentence(page))
        }
        p { (advice(page)) }
        h3 { "Why" }
        ul { @for reason in reasons { li { (reason) } } }
        h3 { "What the " (contents.windows.len()) " windows are called" }
        (shares(page))
        @if let Some(confusion) = confusion {
            p class="note" {
                (format!(
                    "{:.1} % of the {} windows whose recording has a label in the manifest are called by it. The \
                     labels were not used.",
                    100.0 * confusion.accuracy(),
                    confusion.windows()
                ))
            }
        }
    })
}

/// Each label with its share of the windows, as a bar.
fn shares(page: &Page<'_>) -> Markup {
    let all = page.contents.windows.len().max(1);
    let named = (0..page.classes.entries().len())
        .filter(|place| *place < page.classes.classes() || page.count(*place) > 0);
    html! {
        table class="shares" {
            @for place in named {
                @let share = 100.0 * page.count(place) as f64 / all as f64;
                @let colour = super::classes::css(page.classes.entry(place).colour);
                tr {
                    th scope="row" { (page.classes.chip(place)) }
                    td class="count" { (page.count(place)) }
                    td class="count" { (format!("{share:.1} %")) }
                    td class="bar" { span style=(format!("width:{share:.2}%;background:{colour}")) {} }
                }
            }
        }
    }
}
