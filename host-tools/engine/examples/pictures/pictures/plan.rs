//! The transport plan between the components of the two machines.

use anyhow::{Context, Result};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{FONT, TITLE, svg};
use super::story::{Story, likeliest};

/// Left edge of the cells.
const LEFT: i32 = 160;
/// Top edge of the cells.
const TOP: i32 = 60;
/// Size of a cell.
const CELL: i32 = 30;

pub(super) fn draw(story: &Story) -> Result<String> {
    let plan = story.adaptation.plan.as_ref().context("no plan")?;
    let carried = story.adaptation.mixture.as_ref().context("no mixture was carried over")?;
    let source_classes = likeliest(&story.source.mixture.labels);
    let target_classes = likeliest(&carried.labels);
    // Columns of one class are next to each other, so a sound plan is a diagonal of blocks.
    let mut columns: Vec<usize> = (0..plan.ncols()).collect();
    columns.sort_by_key(|column| target_classes[*column]);
    let largest = plan.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let name = |class: usize| story.source.classes[class].clone();

    let height = TOP + CELL * plan.nrows() as i32 + 140;
    svg(height as u32, |area| {
        let heading = "mass from each component of motor-a (rows) to each of motor-b (columns); darker is more";
        area.draw(&Text::new(heading, (LEFT, 20), TITLE.into_font())).context("heading")?;
        let beside = TextStyle::from(FONT.into_font()).pos(Pos::new(HPos::Right, VPos::Center));
        for (row, class) in source_classes.iter().enumerate() {
            let y = TOP + CELL * row as i32;
            area.draw(&Text::new(name(*class), (LEFT - 10, y + CELL / 2), beside.clone()))?;
            for (place, column) in columns.iter().enumerate() {
                let x = LEFT + CELL * place as i32;
                let share = (plan[[row, *column]] / largest).sqrt();
                let fill = HSLColor(0.6, 0.6, 1.0 - 0.75 * share).filled();
                area.draw(&Rectangle::new([(x, y), (x + CELL, y + CELL)], fill))?;
                let edge = BLACK.mix(0.15).stroke_width(1);
                area.draw(&Rectangle::new([(x, y), (x + CELL, y + CELL)], edge))?;
            }
        }
        let hanging = TextStyle::from(FONT.into_font().transform(FontTransform::Rotate90))
            .pos(Pos::new(HPos::Left, VPos::Center));
        for (place, column) in columns.iter().enumerate() {
            let at = (LEFT + CELL * place as i32 + CELL / 2, TOP + CELL * plan.nrows() as i32 + 8);
            area.draw(&Text::new(name(target_classes[*column]), at, hanging.clone()))?;
        }
        let note = TextStyle::from(FONT.into_font()).pos(Pos::new(HPos::Left, VPos::Center));
        let beside = LEFT + CELL * plan.ncols() as i32 + 20;
        for (line, text) in
            ["rows: the label is known", "columns: the label arrives"].iter().enumerate()
        {
            area.draw(&Text::new(*text, (beside, TOP + 15 + 22 * line as i32), note.clone()))?;
        }
        Ok(())
    })
}
