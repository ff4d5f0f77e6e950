//! The report's pictures, as SVG text.

use anyhow::{Context, Result};
use ndarray::{Array1, Array2, Axis};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::source::Source;

const WIDTH: u32 = 900;
const FONT: (&str, u32) = ("sans-serif", 14);
const BINS: usize = 60;
/// Colours that stand out on white and differ for the colour-blind (after Okabe and Ito).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 0, 0),
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(120, 90, 40),
];

/// Heat map of a plan, rows by source class, columns by the class they were given.
pub(super) fn plan(source: &Source, plan: &Array2<f64>, labels: &Array2<f64>) -> Result<String> {
    let (rows, columns) = plan.dim();
    let class_of = |row: ndarray::ArrayView1<'_, f64>| {
        let best = |best: usize, (i, p): (usize, &f64)| if *p > row[best] { i } else { best };
        row.iter().enumerate().fold(0, best)
    };
    // Columns of one class stand together, so that a sound plan is a diagonal of blocks.
    let mut order: Vec<usize> = (0..columns).collect();
    order.sort_by_key(|column| class_of(labels.row(*column)));
    let name = |class: usize| source.classes.get(class).cloned().unwrap_or_default();
    let row_names: Vec<String> =
        source.mixture.labels.rows().into_iter().map(|row| name(class_of(row))).collect();
    let column_names: Vec<String> =
        order.iter().map(|column| name(class_of(labels.row(*column)))).collect();
    let largest = plan.iter().copied().fold(f64::MIN_POSITIVE, f64::max);

    svg(60 + 24 * rows as u32, |area| {
        let mut chart = ChartBuilder::on(area)
            .x_label_area_size(110)
            .y_label_area_size(130)
            .margin(5)
            .build_cartesian_2d((0..columns).into_segmented(), (0..rows).into_segmented())
            .context("plan")?;
        let name_at = |names: &[String], at: &SegmentValue<usize>| match at {
            SegmentValue::CenterOf(index) => names.get(*index).cloned().unwrap_or_default(),
            _ => String::new(),
        };
        // Rotated, a name that hangs from its column starts at its left end.
        let hanging = TextStyle::from(FONT.into_font().transform(FontTransform::Rotate90))
            .pos(Pos::new(HPos::Left, VPos::Center));
        chart
            .configure_mesh()
            .disable_mesh()
            .y_labels(rows + 1)
            .y_label_formatter(&|at| name_at(&row_names, at))
            .x_labels(columns + 1)
            .x_label_formatter(&|at| name_at(&column_names, at))
            .x_label_style(hanging)
            .y_label_style(FONT)
            .draw()
            .context("plan")?;
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        chart
            .draw_series(cells.map(|(row, column)| {
                let share = (plan[[row, order[column]]] / largest).sqrt();
                let colour = HSLColor(0.6, 0.6, 1.0 - 0.75 * share);
                let corner = |row, column| (SegmentValue::Exact(column), SegmentValue::Exact(row));
                Rectangle::new([corner(row, column), corner(row + 1, column + 1)], colour.filled())
            }))
            .context("plan")?;
        Ok(())
    })
}

/// Mean features of each class: of the source by its mixture, of the target by posterior.
pub(super) fn class_means(
    source: &Source,
    features: &Array2<f32>,
    posterior: &Array2<f64>,
) -> Result<String> {
    let mixture = &source.mixture.mixture;
    let raw = |standardised: Array1<f64>| -> Vec<f64> {
        let constants = source.shift.iter().zip(&source.scale);
        standardised
            .iter()
            .zip(constants)
            .map(|(x, (shift, scale))| x / f64::from(*scale) + f64::from(*shift))
            .collect()
    };
    let of_source = |class: usize| {
        let weights = &mixture.weights * &source.mixture.labels.column(class);
        raw(mixture.means.t().dot(&weights) / weights.sum())
    };
    let of_target = |class: usize| -> Option<Vec<f64>> {
        let weights = posterior.column(class);
        // A class that hardly any window got has no mean worth drawing.
        let mass: f64 = weights.sum();
        (mass >= 1.0).then(|| (features.mapv(f64::from).t().dot(&weights) / mass).to_vec())
    };
    let dims = source.front_end.dims();
    let spread = features.map_axis(Axis(0), |column| {
        column.iter().fold(0.0_f64, |most, x| most.max(f64::from(x.abs())))
    });
    let limit = spread.iter().copied().fold(1.0, f64::max);

    svg(380, |area| {
        let mut chart = ChartBuilder::on(area)
            .x_label_area_size(35)
            .y_label_area_size(45)
            .margin(8)
            .build_cartesian_2d(0..dims.saturating_sub(1), -limit..limit)
            .context("class means")?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .label_style(FONT)
            .x_desc("band")
            .y_desc("nats")
            .draw()
            .context("class means")?;
        for (class, name) in source.classes.iter().enumerate() {
            let colour = COLOURS[class % COLOURS.len()];
            chart
                .draw_series(LineSeries::new(of_source(class).into_iter().enumerate(), colour))
                .context("class means")?
                .label(name.clone())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour));
            if let Some(mean) = of_target(class) {
                chart
                    .draw_series(DashedLineSeries::new(
                        mean.into_iter().enumerate(),
                        6,
                        4,
                        colour.into(),
                    ))
                    .context("class means")?;
            }
        }
        chart
            .configure_series_labels()
            .background_style(WHITE.mix(0.8))
            .label_font(FONT)
            .position(SeriesLabelPosition::UpperRight)
            .draw()
            .context("class means")?;
        Ok(())
    })
}

/// Histogram of log-likelihoods with the threshold below which a window is unknown.
pub(super) fn histogram(values: &[f64], threshold: Option<f64>) -> Result<String> {
    let all = values.iter().copied().chain(threshold);
    let low = all.clone().fold(f64::INFINITY, f64::min);
    let high = all.fold(f64::NEG_INFINITY, f64::max);
    let width = ((high - low) / BINS as f64).max(1e-9);
    let mut counts = [0_usize; BINS];
    for value in values {
        counts[(((value - low) / width) as usize).min(BINS - 1)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(1).max(1);

    svg(260, |area| {
        let mut chart = ChartBuilder::on(area)
            .x_label_area_size(35)
            .y_label_area_size(50)
            .margin(8)
            .build_cartesian_2d(low - width..high + width, 0..most + 1)
            .context("histogram")?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .disable_x_mesh()
            .label_style(FONT)
            .x_desc("log-likelihood, nats")
            .y_desc("windows")
            .draw()
            .context("histogram")?;
        chart
            .draw_series(counts.iter().enumerate().filter(|(_, count)| **count > 0).map(
                |(bin, count)| {
                    let left = low + bin as f64 * width;
                    Rectangle::new([(left, 0), (left + width, *count)], BLUE.mix(0.5).filled())
                },
            ))
            .context("histogram")?;
        if let Some(threshold) = threshold {
            let line = [(threshold, 0), (threshold, most + 1)];
            chart.draw_series(LineSeries::new(line, RED.stroke_width(2))).context("histogram")?;
        }
        Ok(())
    })
}

/// Draws on an SVG of this height.
fn svg(
    height: u32,
    draw: impl FnOnce(&DrawingArea<SVGBackend<'_>, plotters::coord::Shift>) -> Result<()>,
) -> Result<String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        draw(&area)?;
        area.present().context("drawing")?;
    }
    // Standing inside a page, the picture scales with it by its view box.
    Ok(text)
}
