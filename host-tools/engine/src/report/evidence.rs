//! Evidence from the envelope spectra for the labels, if the bearing's geometry is known.

use anyhow::{Context, Result};
use maud::{Markup, html};
use plotters::prelude::*;

use super::chart::{Axes, chart, stroke, svg};
use super::timeline::{file_name, not_drawn};
use super::{Figure, Page, Section};
use crate::evidence::{Checked, EnvelopeSpectrum, Evidence, Part};
use crate::words::axis_name;

const SIZE: (u32, u32) = (340, 190);
/// Largest number of spectra drawn.
const SPECTRA: usize = 40;
/// Number of points in a line. Each is the largest of the bins that it stands for.
const POINTS: usize = 320;
/// Number of harmonics that are marked.
const HARMONICS: usize = 3;
const LINE: RGBColor = RGBColor(60, 60, 60);

/// The colour of a part's frequencies, the same in every picture.
fn colour(part: Part) -> RGBColor {
    match part {
        Part::OuterRace => RGBColor(0, 114, 178),
        Part::InnerRace => RGBColor(213, 94, 0),
        Part::Ball => RGBColor(0, 158, 115),
        Part::Cage => RGBColor(204, 121, 167),
    }
}

pub(super) fn section(page: &Page<'_>) -> Result<Section> {
    let section = Section::new("evidence", "Bearing", "Evidence at the bearing's frequencies");
    let checked = page.contents.checked;
    if checked.is_empty() {
        return Ok(section.saying(html! {
            p {
                "The bearing's geometry was not given. With " code { (page.contents.origin.hints.bearing) }
                " and the shaft's rpm in the manifest, the labels are checked here against the frequencies of the \
                 bearing's parts, independently of the model."
            }
        }));
    }
    let table = Figure::new(
        "evidence",
        "By recording",
        table(checked),
        "How to read it: the level of the envelope spectrum above its floor, at the frequency that the geometry gives \
         for each part, as a mean over three harmonics. Bold: the part that the label names. Noise alone gives about \
         5 dB. A part that is struck at every turn reaches 15 dB or more, but early faults and ball faults may not.",
    );
    let mut panels = Vec::new();
    let drawn = checked.iter().filter_map(|one| Some((one, one.envelope.as_ref()?)));
    for (one, (axis, spectrum)) in drawn.clone().take(SPECTRA) {
        panels.push((one, *axis, picture(one, spectrum)?));
    }
    if panels.is_empty() {
        return Ok(section.with(table));
    }
    let several = page.contents.target.axes > 1;
    let body = html! {
        ul class="legend" {
            @for part in Part::ALL {
                @let style = format!("background:{};color:#ffffff", super::classes::css(colour(part)));
                li { span class="chip" { b style=(style) { (part.abbreviation()) } " " (part.to_string()) } }
            }
        }
        div class="panels" {
            @for (one, axis, picture) in &panels {
                div class="panel" {
                    p class="name" {
                        span class="file" { (file_name(&one.path)) }
                        span class="note" {
                            (one.label) @if several { ", axis " (axis_name(*axis)) }
                        }
                    }
                    (picture)
                }
            }
        }
    };
    let left_out = drawn.count().saturating_sub(SPECTRA);
    let caption = format!(
        "How to read it: the envelope spectrum of each recording. Ticks at the top mark the frequency of each part and \
         its harmonics. For the part that the label names, they are full lines. Peaks on the lines of a part speak \
         for a defect of that part; peaks elsewhere come from the shaft.{}",
        not_drawn(left_out)
    );
    let title = "Envelope spectra";
    Ok(section.with(table).with(Figure::new("envelope", title, body, &caption)))
}

fn table(checked: &[Checked]) -> Markup {
    html! {
        div class="wide" {
            table {
                thead {
                    tr {
                        th scope="col" { "recording" }
                        th scope="col" { "label" }
                        @for part in Part::ALL { th scope="col" { (part.abbreviation()) } }
                    }
                }
                tbody {
                    @for one in checked {
                        tr {
                            th scope="row" { (file_name(&one.path)) }
                            td { (one.label) (format!(" ({:.0} %)", 100.0 * one.share)) }
                            @if let Some(problem) = &one.problem { td class="prose" colspan="4" { (problem) } }
                            @for found in &one.evidence {
                                td {
                                    @if Some(found.part) == one.part { b { (level(found)) } }
                                    @else { (level(found)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn level(found: &Evidence) -> String {
    format!("{:.1} dB at {:.1} Hz", found.level_db, found.frequency_hz)
}

fn picture(one: &Checked, spectrum: &EnvelopeSpectrum) -> Result<Markup> {
    let highest = one.evidence.iter().map(|found| found.frequency_hz).fold(0.0, f64::max);
    let most_hz = (HARMONICS as f64 + 0.4) * highest;
    let bins = ((most_hz / spectrum.bin_hz).ceil() as usize).clamp(2, spectrum.power.len().max(2));
    // The first bins hold the part of the mean that the taper leaves.
    let power = spectrum.power.get(2..bins).unwrap_or(&[]);
    let largest = power.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let width = power.len().div_ceil(POINTS).max(1);
    let line: Vec<(f64, f64)> = power
        .chunks(width)
        .enumerate()
        .map(|(at, bins)| {
            let middle = 2.0 + (at * width) as f64 + 0.5 * bins.len() as f64;
            let peak = bins.iter().copied().fold(0.0, f64::max);
            (middle * spectrum.bin_hz, (10.0 * libm::log10((peak / largest).max(1e-6))).max(-50.0))
        })
        .collect();
    let label = format!(
        "Envelope spectrum of {} up to {most_hz:.0} Hz, with the frequencies of the bearing's parts marked: {}",
        file_name(&one.path),
        one.evidence
            .iter()
            .map(|e| format!("{} {}", e.part.abbreviation(), level(e)))
            .collect::<Vec<_>>()
            .join(", ")
    );
    svg(SIZE, &label, |area| {
        let names = Axes { title: "", x: "Hz", y: "dB", digits: (0, 0) };
        let mut chart = chart(area, &names, 0.0..most_hz.max(1.0), -50.0..8.0)?;
        for found in &one.evidence {
            let named = Some(found.part) == one.part;
            for harmonic in (1..=HARMONICS).map(|harmonic| harmonic as f64 * found.frequency_hz) {
                if harmonic > most_hz {
                    continue;
                }
                let low = if named { -50.0 } else { 3.0 };
                let style = stroke(colour(found.part).mix(if named { 0.8 } else { 1.0 }), 1.6);
                let mark = LineSeries::new([(harmonic, low), (harmonic, 8.0)], style);
                chart.draw_series(mark).context("frequencies")?;
            }
        }
        chart.draw_series(LineSeries::new(line, stroke(LINE, 1.0))).context("spectrum")?;
        Ok(())
    })
}

/// Returns the evidence for a recording's label, in a sentence.
pub fn evidence_sentence(checked: &Checked) -> String {
    let name = file_name(&checked.path);
    let label =
        format!("{name}: {} in {:.0} % of its windows", checked.label, 100.0 * checked.share);
    match (checked.for_label(), &checked.problem) {
        (Some(evidence), _) => format!(
            "{label}; the envelope spectrum is {:.1} dB above its floor at {} ({:.1} Hz)",
            evidence.level_db,
            evidence.part.abbreviation(),
            evidence.frequency_hz
        ),
        (None, Some(problem)) => format!("{label}; no evidence: {problem}"),
        (None, None) => format!("{label}, which names no part of the bearing"),
    }
}
