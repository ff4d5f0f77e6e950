//! Parts that all pictures share: size, type, axes.
//!
//! A picture is as wide as a phone shows it, so that its text is readable there. On a larger
//! screen, pictures are placed side by side. Only axes are grey: anything in another colour is a
//! mark with a meaning.

use std::ops::Range;

use anyhow::{Context, Result};
use maud::{Markup, PreEscaped, html};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Number of drawn pixels per pixel of the page. plotters draws on whole pixels, which would show
/// in a thin line or an ellipse.
const FINE: u32 = 4;
/// Colour of axes and their numbers.
pub(super) const AXIS: RGBColor = RGBColor(95, 107, 118);
/// Colour of the lines behind the marks.
pub(super) const GRID: RGBColor = RGBColor(227, 231, 234);
/// Size of text, in pixels of the page.
const TEXT: u32 = 11;

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Chart<'a, 'b> =
    ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Converts pixels of the page to drawn pixels.
pub(super) fn px(pixels: f64) -> i32 {
    (f64::from(FINE) * pixels).round() as i32
}

/// Returns the style of a line of this thickness.
pub(super) fn stroke(colour: impl Color, pixels: f64) -> ShapeStyle {
    ShapeStyle { color: colour.to_rgba(), filled: false, stroke_width: px(pixels).unsigned_abs() }
}

/// Draws a picture of this size in pixels of the page. `label` describes it to readers who cannot
/// see it.
pub(super) fn svg(
    (width, height): (u32, u32),
    label: &str,
    draw: impl FnOnce(&Area<'_>) -> Result<()>,
) -> Result<Markup> {
    let drawn = (FINE * width, FINE * height);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, drawn).into_drawing_area();
        draw(&area)?;
        area.present().context("drawing")?;
    }
    // In a page the tag needs a size and a name. It needs no namespace, which would be an address.
    let inside = text.split_once('>').map_or("", |(_, inside)| inside);
    let inside = inside.trim_end().trim_end_matches("</svg>");
    let view = format!("0 0 {} {}", drawn.0, drawn.1);
    Ok(html! {
        svg viewBox=(view) width=(width) height=(height) role="img" aria-label=(label) {
            (PreEscaped(inside))
        }
    })
}

/// Returns a text style of this size and colour.
pub(super) fn type_of(pixels: u32, colour: RGBColor) -> TextStyle<'static> {
    // The backend divides by this to get the size of an em.
    let size = f64::from(pixels * FINE) * 1.24;
    ("sans-serif", size).into_font().color(&colour)
}

/// Returns the style of text on the axes.
pub(super) fn small() -> TextStyle<'static> {
    type_of(TEXT, AXIS)
}

/// Returns `style` with the text's position relative to its point.
pub(super) fn placed(style: &TextStyle<'static>, h: HPos, v: VPos) -> TextStyle<'static> {
    style.pos(Pos::new(h, v))
}

/// The texts at the axes of a chart.
pub(super) struct Axes<'t> {
    /// Title above the chart; may be empty.
    pub(super) title: &'t str,
    /// Text under the chart.
    pub(super) x: &'t str,
    /// Text at the side of the chart.
    pub(super) y: &'t str,
    /// Digits after the point of the numbers at the axes, x and y.
    pub(super) digits: (usize, usize),
}

/// Returns a chart with axes over the whole of `area`.
pub(super) fn chart<'a, 'b>(
    area: &'a Area<'b>,
    axes: &Axes<'_>,
    x: Range<f64>,
    y: Range<f64>,
) -> Result<Chart<'a, 'b>> {
    let mut builder = ChartBuilder::on(area);
    builder.margin(px(4.0)).margin_right(px(22.0));
    builder.x_label_area_size(px(34.0)).y_label_area_size(px(46.0));
    if !axes.title.is_empty() {
        builder.caption(axes.title, type_of(TEXT + 1, BLACK));
    }
    let mut chart = builder.build_cartesian_2d(x, y).context("axes")?;
    let (x_digits, y_digits) = axes.digits;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(stroke(GRID, 1.0))
        .axis_style(stroke(AXIS, 1.0))
        .set_all_tick_mark_size(px(3.0))
        .label_style(small())
        .axis_desc_style(small())
        .x_labels(6)
        .y_labels(5)
        .x_label_formatter(&|x| number(*x, x_digits))
        .y_label_formatter(&|y| number(*y, y_digits))
        .x_desc(axes.x)
        .y_desc(axes.y)
        .draw()
        .context("axes")?;
    Ok(chart)
}

/// Formats a number with `digits` digits after the point. Zero has no sign.
fn number(x: f64, digits: usize) -> String {
    let text = format!("{x:.digits$}");
    if text.trim_start_matches(['-', '0', '.']).is_empty() { text.replace('-', "") } else { text }
}

/// Returns a range that holds all of `values` and a margin; never empty.
pub(super) fn around(values: impl IntoIterator<Item = f64>, margin: f64) -> Range<f64> {
    let finite = values.into_iter().filter(|value| value.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if low > high {
        return -1.0..1.0;
    }
    let room = (margin * (high - low)).max(1e-6 * (1.0 + high.abs()));
    low - room..high + room
}

/// Returns every n-th index below `count`, so that at most `most` are left.
pub(super) fn thinned(count: usize, most: usize) -> impl Iterator<Item = usize> {
    (0..count).step_by(count.div_ceil(most.max(1)).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_a_name_and_no_address() {
        let picture = svg((30, 20), "one \"line\" & more", |area| {
            area.draw(&PathElement::new([(0, 0), (9, 9)], stroke(RED, 1.0))).context("line")
        });
        let text = picture.unwrap().into_string();
        assert!(text.contains("viewBox=\"0 0 120 80\"") && text.contains("width=\"30\""), "{text}");
        assert!(text.contains("one &quot;line&quot; &amp; more"), "{text}");
        assert!(!text.contains("http"), "{text}");
        assert_eq!((text.matches("<svg").count(), text.matches("</svg>").count()), (1, 1));
    }

    #[test]
    fn ranges_are_never_empty_and_thinning_keeps_its_limit() {
        assert_eq!(around([f64::NAN], 0.1), -1.0..1.0);
        let one = around([5.0], 0.1);
        assert!(one.start < 5.0 && one.end > 5.0);
        for (count, most) in [(0, 5), (5, 5), (6, 5), (1000, 7)] {
            assert!(thinned(count, most).count() <= most);
        }
        assert_eq!(number(-0.04, 1), "0.0");
    }
}
