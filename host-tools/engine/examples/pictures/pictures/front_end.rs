//! Samples, the spectrum of a window, and its features.

use std::f64::consts::PI;

use anyhow::{Context, Result};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use rebearing_host::data::split::Part;
use rebearing_host::features::extract::extract;

use super::canvas::{Area, COLOURS, FONT, GREY, TITLE, WIDTH, svg};
use super::story::{self, FFT, HOP, SEGMENTS, Story};

/// Bands of the finest spectrum that the front end can give.
const FINE: usize = 256;

pub(super) fn draw(story: &Story) -> Result<String> {
    let domain = &story.known.domain;
    let label = Some("InnerRace".to_owned());
    let recording = domain.labels.iter().position(|own| *own == label).context("no InnerRace")?;
    let end = FFT + HOP * (SEGMENTS - 1);
    let part = Part { recording, stretch: 0, start: 0, end };
    let samples = &domain.recordings[recording].stretches()?[0][..end];
    let features = |bands| -> Result<Vec<f64>> {
        let front_end = story::front_end(domain, bands)?;
        let features = extract(&domain.recordings, &[part], &front_end)?;
        Ok(features.x.row(0).iter().map(|x| f64::from(*x)).collect())
    };
    let (fine, bands) = (features(FINE)?, features(32)?);
    let top_khz = domain.rate_hz / 2000.0;

    svg(660, |area| {
        let panels = area.split_evenly((3, 1));
        let ms = |frame: usize| 1000.0 * frame as f64 / domain.rate_hz;
        let peak = samples.iter().fold(0.0_f64, |most, x| most.max(f64::from(x.abs())));
        let mut chart = ChartBuilder::on(&panels[0])
            .caption(
                "1. samples: a window is two FFTs that overlap by half, each under a Hann window",
                TITLE,
            )
            .margin(8)
            .margin_right(25)
            .x_label_area_size(35)
            .y_label_area_size(50)
            .build_cartesian_2d(0.0..ms(end), -1.05 * peak..1.05 * peak)?;
        chart
            .configure_mesh()
            .disable_mesh()
            .label_style(FONT)
            .x_desc("ms")
            .y_desc("acceleration")
            .draw()?;
        // About one point per pixel: more would be drawn over one another.
        let step = (end / WIDTH as usize).max(1);
        let line = samples.iter().enumerate().step_by(step);
        chart.draw_series(LineSeries::new(line.map(|(n, x)| (ms(n), f64::from(*x))), GREY))?;
        for segment in 0..SEGMENTS {
            let hann = |n: usize| 0.5 - 0.5 * (2.0 * PI * n as f64 / FFT as f64).cos();
            let outline = (0..=FFT).step_by(32).map(|n| (ms(segment * HOP + n), peak * hann(n)));
            let style = COLOURS[1 + segment].stroke_width(2);
            chart.draw_series(LineSeries::new(outline, style))?;
        }

        let mut chart = panel(
            &panels[1],
            "2. spectrum: the mean power of both, its logarithm, the mean of that taken off",
            top_khz,
            &fine,
        )?;
        let khz = |band: usize, bands: usize| top_khz * band as f64 / bands as f64;
        let points = fine.iter().enumerate().map(|(b, x)| (khz(b, FINE) + 0.5 * khz(1, FINE), *x));
        chart.draw_series(LineSeries::new(points, COLOURS[2]))?;

        let mut chart = panel(
            &panels[2],
            "3. features: the same for 32 bands; these 32 numbers are all that the mixture sees",
            top_khz,
            &bands,
        )?;
        chart.draw_series(bands.iter().enumerate().map(|(b, x)| {
            let width = khz(1, 32);
            let left = khz(b, 32);
            Rectangle::new(
                [(left + 0.1 * width, 0.0), (left + 0.9 * width, *x)],
                COLOURS[2].filled(),
            )
        }))?;
        Ok(())
    })
}

/// Returns axes for values over frequency, wide enough for all values.
fn panel<'a, 'b>(
    area: &'a Area<'b>,
    caption: &str,
    top_khz: f64,
    values: &[f64],
) -> Result<ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>> {
    let low = values.iter().copied().fold(0.0, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption(caption, TITLE)
        .margin(8)
        .margin_right(25)
        .x_label_area_size(35)
        .y_label_area_size(50)
        .build_cartesian_2d(0.0..top_khz, low - 0.5..high + 0.5)?;
    chart.configure_mesh().disable_mesh().label_style(FONT).x_desc("kHz").y_desc("nats").draw()?;
    Ok(chart)
}
