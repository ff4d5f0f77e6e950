//! How strong the vibration of each recording is, and the recordings that do not fit the rest.

use anyhow::Result;
use maud::{Markup, html};

use super::timeline::file_name;
use super::{Figure, Page, Section};
use crate::data::levels::{OddLevel, RecordingLevels, levels, odd_levels};
use crate::features::turns::{MIN_TURNS, ShortWindow, short_window};
use crate::words::{axis_name, figure, plural};

/// Largest number of rows. Recordings that do not fit are always listed.
const ROWS: usize = 120;

pub(super) fn section(page: &Page<'_>) -> Result<Section> {
    let target = page.contents.target;
    let title = "How strong each recording is";
    let section = Section::new("recordings", "Recordings", title);
    if target.recordings.is_empty() {
        return Ok(section.saying(html! {
            p { "Snapshots hold features, not samples, so their level is not known." }
        }));
    }
    let levels = levels(target)?;
    let odd = odd_levels(&levels);
    let short = short_window(&page.contents.source.front_end, &target.recordings);
    let unit = target.unit.as_ref().map_or("the unit of the samples".into(), ToString::to_string);
    let left_out = levels.len() - rows(&levels, &odd).count();
    let caption = format!(
        "How to read it: rms in {unit}, about the mean; the loudest axis if there are several. Kurtosis is 3 for noise \
         and far more for impacts; crest is the largest deviation over rms. Features have no level, so a machine that \
         stood still or a file in another unit would be labelled like any other.{}",
        match left_out {
            0 => String::new(),
            more => format!(
                " {} not listed.",
                plural(more, "further recording is", "further recordings are")
            ),
        }
    );
    let table = table(&levels, &odd, target.axes > 1);
    Ok(section
        .saying(html! {
            @for odd in &odd { p class="caution" { (file_name(&odd.path)) ": " (odd.oddity.to_string()) } }
            @if let Some(short) = short { p class="caution" { (too_short(&short)) } }
        })
        .with(Figure::new("recordings", title, table, &caption)))
}

/// Says in words that a window is short; the page names no settings.
fn too_short(short: &ShortWindow) -> String {
    let ShortWindow { seconds, rpm, turns, segments } = short;
    let remedy = segments.map_or(String::new(), |segments| {
        format!(" A window of {segments} segments would hold {MIN_TURNS}.")
    });
    format!(
        "A window of {} s holds {} turns of the shaft at {rpm} rpm. Faults at the shaft's rate (imbalance, \
         misalignment) are not resolved.{remedy}",
        figure(*seconds),
        figure(*turns)
    )
}

/// Returns the recordings that the table lists, with the oddity of each.
fn rows<'a>(
    levels: &'a [RecordingLevels],
    odd: &'a [OddLevel],
) -> impl Iterator<Item = (&'a RecordingLevels, Option<&'a OddLevel>)> {
    let find = |index| odd.iter().find(|odd| odd.recording == index);
    let all = levels.iter().enumerate().map(move |(index, one)| (index, one, find(index)));
    all.filter(|(index, _, odd)| *index < ROWS || odd.is_some()).map(|(_, one, odd)| (one, odd))
}

fn table(levels: &[RecordingLevels], odd: &[OddLevel], several: bool) -> Markup {
    html! {
        div class="wide" {
            table {
                thead {
                    tr {
                        th scope="col" { "recording" }
                        th scope="col" { "label in the manifest" }
                        @if several { th scope="col" { "axis" } }
                        th scope="col" { "rms" }
                        th scope="col" { "kurtosis" }
                        th scope="col" { "crest" }
                        @if !odd.is_empty() { th scope="col" { "does not fit" } }
                    }
                }
                tbody {
                    @for (one, oddity) in rows(levels, odd) {
                        @let (axis, loudest) = one.loudest();
                        tr {
                            th scope="row" { (file_name(&one.path)) }
                            td { (one.label.as_deref().unwrap_or("none")) }
                            @if several { td { (axis_name(axis)) } }
                            td { (figure(loudest.rms)) }
                            td { (figure(loudest.kurtosis)) }
                            td { (figure(loudest.crest)) }
                            @if !odd.is_empty() {
                                td { @if let Some(odd) = oddity { b { (odd.oddity.words()) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}
