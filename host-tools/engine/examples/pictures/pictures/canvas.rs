//! Size, fonts and colours that all pictures share.

use anyhow::{Context, Result};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub(super) const WIDTH: u32 = 900;
pub(super) const FONT: (&str, u32) = ("sans-serif", 14);
pub(super) const TITLE: (&str, u32) = ("sans-serif", 16);
/// Colours that stand out on white and differ for the colour-blind (after Okabe and Ito).
pub(super) const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 0, 0),
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];
pub(super) const GREY: RGBColor = RGBColor(150, 150, 150);

pub(super) fn colour(class: usize) -> RGBColor {
    COLOURS[class % COLOURS.len()]
}

/// Draws on white, so that text stays readable on a dark page.
pub(super) fn svg(height: u32, draw: impl FnOnce(&Area<'_>) -> Result<()>) -> Result<String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        area.fill(&WHITE).context("background")?;
        draw(&area)?;
        area.present().context("drawing")?;
    }
    Ok(text)
}

/// Draws names next to small squares of their colours, in one line starting at `(x, y)`.
pub(super) fn key(
    area: &Area<'_>,
    (mut x, y): (i32, i32),
    names: &[(String, RGBColor)],
) -> Result<()> {
    let style = TextStyle::from(FONT.into_font()).pos(Pos::new(HPos::Left, VPos::Center));
    for (name, colour) in names {
        area.draw(&Rectangle::new([(x, y - 6), (x + 12, y + 6)], colour.filled()))
            .context("key")?;
        area.draw(&Text::new(name.clone(), (x + 18, y), style.clone())).context("key")?;
        // Without fonts, the width of a name is a guess. Its error leaves a gap, not an overlap.
        x += 34 + 8 * name.chars().count() as i32;
    }
    Ok(())
}
