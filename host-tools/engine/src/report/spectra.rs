//! Mean log spectra of each class in dB over Hz, with source and target in one chart.

use std::f64::consts::LN_10;
use std::ops::Range;

use anyhow::{Context, Result};
use maud::html;
use ndarray::{Array1, Axis};
use plotters::prelude::*;

use super::chart::{Axes, around, chart, stroke, svg};
use super::{Figure, Page, Section};
use crate::adapt::reference::Reference;
use crate::features::front_end::FrontEndSettings;
use crate::words::axis_name;

const WIDTH: u32 = 340;
const BLOCK_HEIGHT: u32 = 170;
/// Colour of the target's line, over the colour of every class.
const TARGET: RGBColor = BLACK;

/// Features that share one chart.
struct Block {
    title: String,
    x_name: &'static str,
    digits: usize,
    /// Position of each feature on the x axis.
    x: Vec<f64>,
    /// Indices of these features.
    features: Range<usize>,
}

/// Mean and standard deviation of each feature, in dB.
struct Spectrum {
    mean: Vec<f64>,
    deviation: Vec<f64>,
}

impl Spectrum {
    fn new(mean: &Array1<f64>, deviation: &Array1<f64>) -> Self {
        // Features are natural logarithms of power.
        let decibel = |values: &Array1<f64>| values.iter().map(|x| 10.0 / LN_10 * x).collect();
        Self { mean: decibel(mean), deviation: decibel(deviation) }
    }
}

/// Returns the blocks of a front end, axis by axis, as the device lays them out.
fn blocks(front_end: &FrontEndSettings) -> Vec<Block> {
    let bin_hz = front_end.rate_hz / front_end.fft_len as f64;
    let middles = front_end.band_edges.windows(2);
    let hertz: Vec<f64> =
        middles.map(|edges| f64::from(edges[0] + edges[1]) / 2.0 * bin_hz).collect();
    let mut kinds = vec![("", "Hz", 0, hertz)];
    if let Some(orders) = front_end.orders {
        let middle = |band: usize| f64::from(orders.first + (band as f32 + 0.5) * orders.width);
        let x: Vec<f64> = (0..orders.bands).map(middle).collect();
        if orders.spectrum {
            kinds.push(("orders of the spectrum", "shaft orders", 0, x.clone()));
        }
        if orders.envelope {
            kinds.push(("orders of the envelope", "shaft orders", 0, x));
        }
    }
    let mut blocks = Vec::new();
    let mut first = 0;
    for axis in 0..front_end.axes {
        for (name, x_name, digits, x) in &kinds {
            let several = front_end.axes > 1;
            let of_axis = if several { format!("axis {}", axis_name(axis)) } else { String::new() };
            let parts = [of_axis.as_str(), name].into_iter().filter(|part| !part.is_empty());
            let title = parts.collect::<Vec<_>>().join(", ");
            let features = first..first + x.len();
            first = features.end;
            blocks.push(Block { title, x_name, digits: *digits, x: x.clone(), features });
        }
    }
    blocks
}

/// Returns the spectrum of each class of the source.
fn of_source(reference: &Reference) -> Vec<Spectrum> {
    let (means, weights) = (&reference.mixture.means, &reference.mixture.weights);
    let class = |labels: ndarray::ArrayView1<'_, f64>| {
        let weights = weights * &labels;
        let weights = &weights / weights.sum().max(f64::MIN_POSITIVE);
        let mean = means.t().dot(&weights);
        let spread = (means - &mean).mapv(|x| x * x) + &reference.variances;
        Spectrum::new(&mean, &spread.t().dot(&weights).mapv(f64::sqrt))
    };
    reference.labels.columns().into_iter().map(class).collect()
}

/// Returns the spectrum of the target's windows with each label; `None` if no window has the label.
fn of_target(page: &Page<'_>) -> Vec<Option<Spectrum>> {
    let x = &page.contents.features.x;
    (0..page.classes.entries().len())
        .map(|place| {
            let rows: Vec<usize> = (0..x.nrows()).filter(|row| page.label(*row) == place).collect();
            let own = x.select(Axis(0), &rows).mapv(f64::from);
            let mean = own.mean_axis(Axis(0))?;
            Some(Spectrum::new(&mean, &own.std_axis(Axis(0), 0.0)))
        })
        .collect()
}

pub(super) fn section(page: &Page<'_>) -> Result<Section> {
    let contents = page.contents;
    let blocks = blocks(&contents.source.front_end);
    let source = of_source(&Reference::new(contents.source)?);
    let target = of_target(page);
    let limits = {
        let ends = |spectrum: &Spectrum| -> Vec<f64> {
            let pairs = spectrum.mean.iter().zip(&spectrum.deviation);
            pairs.flat_map(|(mean, deviation)| [mean - deviation, mean + deviation]).collect()
        };
        let all = source.iter().chain(target.iter().flatten());
        around(all.flat_map(ends), 0.05)
    };
    let (from, to) = (&contents.source.domain, &contents.target.name);
    let mut panels = Vec::new();
    for (place, entry) in page.classes.entries().iter().enumerate() {
        let (known, new) = (source.get(place), target[place].as_ref());
        if known.is_none() && new.is_none() {
            continue;
        }
        let label = format!(
            "Mean spectrum of {}: {}",
            entry.name,
            match (known, new) {
                (Some(_), Some(_)) => format!("{from} as a solid line, {to} dashed"),
                (Some(_), None) => format!("{from} alone, no window of {to} has this label"),
                _ => format!("{to} alone"),
            }
        );
        let height = BLOCK_HEIGHT * blocks.len() as u32;
        let picture = svg((WIDTH, height), &label, |area| {
            for (block, area) in blocks.iter().zip(area.split_evenly((blocks.len(), 1))) {
                let names = Axes {
                    title: &block.title,
                    x: block.x_name,
                    y: "dB",
                    digits: (block.digits, 0),
                };
                let last = block.x.last().copied().unwrap_or(1.0);
                let mut chart = chart(&area, &names, 0.0..last * 1.02, limits.clone())?;
                let line = |spectrum: &Spectrum, sign: f64| -> Vec<(f64, f64)> {
                    let values = block
                        .features
                        .clone()
                        .map(|feature| spectrum.mean[feature] + sign * spectrum.deviation[feature]);
                    block.x.iter().copied().zip(values).collect()
                };
                if let Some(known) = known {
                    let mut outline = line(known, 1.0);
                    outline.extend(line(known, -1.0).into_iter().rev());
                    let shade = Polygon::new(outline, entry.colour.mix(0.22).filled());
                    chart.draw_series(std::iter::once(shade)).context("spread")?;
                    let style = stroke(entry.colour, 2.0);
                    chart
                        .draw_series(LineSeries::new(line(known, 0.0), style))
                        .context("source")?;
                }
                if let Some(new) = new {
                    let style = stroke(TARGET, 1.6);
                    let dashes = DashedLineSeries::new(line(new, 0.0), 20, 12, style);
                    chart.draw_series(dashes).context("target")?;
                }
            }
            Ok(())
        })?;
        let windows = page.count(place);
        panels.push((page.classes.chip(place), windows, picture));
    }
    let body = html! {
        div class="panels" {
            @for (chip, windows, picture) in &panels {
                div class="panel" {
                    p class="name" { (chip) span class="note" { (windows) " windows of " (to) } }
                    (picture)
                }
            }
        }
    };
    let caption = format!(
        "How to read it: the coloured line is the mean of {from} with this label, its shade one standard deviation. \
         The dashed black line is the mean of the windows of {to} with this label from the model. Levels are in dB \
         relative to the mean of all bands of a window, so the sensor's gain does not matter. Two lines of the same \
         shape speak for the label but do not prove it, because machines also differ in their resonances. A class \
         without a dashed line was given to no window of {to}."
    );
    let title = "Spectra by class";
    Ok(Section::new("spectra", "Spectra", title)
        .with(Figure::new("spectra", title, body, &caption)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::front_end::{Blocks, EqualBands};

    #[test]
    fn blocks_stand_as_the_device_lays_features_out() {
        let bands = FrontEndSettings::equal_bands(EqualBands::usual(20_000.0, 2)).unwrap();
        let plain = blocks(&bands);
        assert_eq!(plain.len(), 2);
        assert_eq!(plain[1].features, 32..64);
        // 32 equal bands of 10 kHz: the first in the middle of 0 to 312.5 Hz.
        assert_eq!((plain[0].x[0], plain[0].x[31]), (156.25, 9843.75));
        let all = bands.with_blocks(Blocks { orders: true, envelope: true }).unwrap();
        let found = blocks(&all);
        assert_eq!(found.len(), 6);
        assert_eq!((found[2].features.clone(), found[2].x[0]), (64..96, 0.75));
        assert_eq!(found[5].features.end, all.dims());
        assert_eq!(found[5].title, "axis y, orders of the envelope");
    }
}
