//! How far healthy and faulty windows lie from a gate's threshold.

use anyhow::{Context, Result};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use rebearing_host::adapt::verdict::{AdaptSettings, Pool, adapt};
use rebearing_host::data::split;
use rebearing_host::features::extract::extract;
use rebearing_host::features::standardise::standardised;

use super::canvas::{COLOURS, FONT, TITLE, key, svg};
use super::story::Story;

/// Share of the healthy recording that the gate is fitted on.
const SPLIT: f64 = 0.6;
/// Bins per decade.
const BINS: i32 = 12;
/// Decades of the axis: 1 to 1000 standard deviations.
const DECADES: i32 = 3;

pub(super) fn draw(story: &Story) -> Result<String> {
    let (domain, source) = (&story.new.domain, &story.source);
    let healthy = story.class("Healthy")?;
    let (names, classes) = domain.classes()?;
    let healthy =
        names.iter().position(|name| *name == source.classes[healthy]).context("healthy")?;
    let parts = split::in_time(&domain.frames(), SPLIT)?;
    let of_healthy = |parts: &[split::Part]| -> Vec<split::Part> {
        parts.iter().filter(|part| classes[part.recording] == healthy).copied().collect()
    };
    let pool = extract(&domain.recordings, &of_healthy(&parts.first), &source.front_end)?;
    let settings = AdaptSettings { pool_is: Pool::Healthy, ..AdaptSettings::default() };
    let adaptation = adapt(&source.clone().into(), &pool, &settings)?;
    let gate = adaptation.gate.context("no gate")?;
    let test = extract(&domain.recordings, &parts.last, &source.front_end)?;
    let x = standardised(&test.x, &adaptation.shift, &adaptation.scale);
    let scores = gate.mixture.log_likelihoods(x.view())?;

    let held_out = &gate.held_out.log_likelihoods;
    let n = held_out.len() as f64;
    let mean = held_out.iter().sum::<f64>() / n;
    let sd = (held_out.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    let deviation = |score: f64| ((mean - score) / sd).max(0.0);
    let place = |deviations: f64| deviations.max(1.0).log10().min(f64::from(DECADES));
    let bins = (BINS * DECADES) as usize;
    let mut counts = [vec![0_usize; bins], vec![0_usize; bins]];
    for (score, recording) in scores.iter().zip(&test.recording) {
        let bin = (place(deviation(*score)) * f64::from(BINS)) as usize;
        counts[usize::from(classes[*recording] != healthy)][bin.min(bins - 1)] += 1;
    }
    let most = counts.iter().flatten().copied().max().unwrap_or(1);
    let threshold = place(deviation(gate.log_likelihood_min));

    svg(340, |area| {
        let (top, rest) = area.split_vertically(30);
        let names = [
            ("healthy windows".to_owned(), COLOURS[2]),
            ("windows of faults".to_owned(), COLOURS[1]),
        ];
        key(&top, (60, 15), &names)?;
        let mut chart = ChartBuilder::on(&rest)
            .caption("motor-b after the gate was set: none of these windows was seen before", TITLE)
            .margin(8)
            .margin_right(25)
            .x_label_area_size(40)
            .y_label_area_size(55)
            .build_cartesian_2d(0.0..f64::from(DECADES), 0..most + most / 8 + 1)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .label_style(FONT)
            .x_labels(DECADES as usize + 1)
            .x_label_formatter(&|decade| match decade.round() as i32 {
                0 => "up to 1".to_owned(),
                decade => format!("{}", 10_i32.pow(decade as u32)),
            })
            .x_desc("standard deviations below the mean log-likelihood of held-out healthy windows")
            .y_desc("windows")
            .draw()?;
        for (counts, colour) in counts.iter().zip([COLOURS[2], COLOURS[1]]) {
            let bars = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            chart.draw_series(bars.map(|(bin, count)| {
                let edge = |bin: usize| bin as f64 / f64::from(BINS);
                let corners = [(edge(bin), 0), (edge(bin + 1), *count)];
                Rectangle::new(corners, colour.mix(0.75).filled())
            }))?;
        }
        let line = [(threshold, 0), (threshold, most + most / 8)];
        chart.draw_series(LineSeries::new(line, BLACK.stroke_width(2)))?;
        let style = TextStyle::from(FONT.into_font()).pos(Pos::new(HPos::Left, VPos::Top));
        let at = (threshold + 0.02, most + most / 8);
        chart.draw_series([Text::new("threshold", at, style)])?;
        Ok(())
    })
}
