//! The known machines, in the order of how well they suit the new one.

use maud::{Markup, html};

use super::{Kind, Page};
use crate::adapt::choose::Candidate;
use crate::words::plural;

/// Most machines in the table.
const MOST: usize = 12;

/// Returns the table of the known machines; nothing if there was no choice.
pub(super) fn table(page: &Page<'_>) -> Markup {
    let candidates = page.contents.adaptation.map_or(&[][..], |adaptation| &adaptation.candidates);
    if candidates.len() < 2 {
        return html! {};
    }
    let ranked = ranked(candidates);
    let left_out = ranked.len().saturating_sub(MOST);
    let carried = ranked.iter().any(|candidate| candidate.quality.is_some());
    html! {
        h3 { "Known machines" }
        div class="wide" {
            table class="known" {
                thead {
                    tr {
                        th scope="col" { "machine" }
                        th scope="col" { "share" }
                        @if carried { th scope="col" { "labels agree" } }
                        th scope="col" { "shift" }
                    }
                }
                tbody {
                    @for candidate in ranked.iter().take(MOST) {
                        tr {
                            th scope="row" { (candidate.domain) }
                            td { (share(candidate.weight)) }
                            @if carried { td { (number(candidate.quality)) } }
                            td { (number(Some(candidate.shift))) }
                        }
                    }
                }
            }
        }
        p class="note" {
            (note(page.kind, carried))
            @if left_out > 0 { " " (plural(left_out, "more machine is", "more machines are")) " not listed." }
        }
    }
}

/// The chosen machines first, then by how well their labels agree, then by their shift.
fn ranked(candidates: &[Candidate]) -> Vec<&Candidate> {
    let mut ranked: Vec<&Candidate> = candidates.iter().collect();
    ranked.sort_by(|a, b| {
        let quality = |candidate: &Candidate| candidate.quality.unwrap_or(f64::NEG_INFINITY);
        (b.weight.total_cmp(&a.weight))
            .then(quality(b).total_cmp(&quality(a)))
            .then(a.shift.total_cmp(&b.shift))
    });
    ranked
}

fn note(kind: Kind, carried: bool) -> &'static str {
    match (kind, carried) {
        (Kind::Nothing, true) => {
            "Share: the machine whose labels would have been taken; they were not used. Labels agree: 1 is best. Shift: \
             how far the new machine is from this one, in units of the distance between classes."
        }
        (_, true) => {
            "Share: the machine that the labels come from. Labels agree: 1 is best. Shift: how far the new machine is \
             from this one, in units of the distance between classes."
        }
        (_, false) => {
            "Share: the part of each machine in the mixture that is nearest to the healthy state. Shift: how far the \
             healthy state is from this machine's, in units of the distance to a typical fault."
        }
    }
}

fn share(weight: f64) -> String {
    if weight == 0.0 { "–".into() } else { format!("{:.0} %", 100.0 * weight) }
}

fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or("–".into(), |value| format!("{value:.2}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_machine_comes_first_and_then_the_likest() {
        let candidate = |domain: &str, weight, quality, shift| Candidate {
            domain: domain.into(),
            weight,
            score: None,
            consistency: None,
            quality,
            shift,
        };
        let names = |candidates: &[Candidate]| -> Vec<String> {
            ranked(candidates).iter().map(|candidate| candidate.domain.clone()).collect()
        };
        let carried = [
            candidate("b", 0.0, Some(0.4), 0.1),
            candidate("c", 0.0, Some(0.9), 0.1),
            candidate("a", 1.0, Some(0.95), 0.1),
        ];
        assert_eq!(names(&carried), ["a", "c", "b"]);
        let healthy = [
            candidate("b", 0.0, None, 0.5),
            candidate("c", 0.0, None, f64::INFINITY),
            candidate("a", 1.0, None, 0.9),
        ];
        assert_eq!(names(&healthy), ["a", "b", "c"]);
        assert_eq!((number(Some(f64::INFINITY)), share(0.25)), ("–".into(), "25 %".into()));
    }
}
