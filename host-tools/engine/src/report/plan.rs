//! The transport plan as a heat map, components of one class side by side.

use anyhow::{Context, Result};
use maud::{Markup, html};
use ndarray::Array2;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::chart::{AXIS, GRID, placed, px, stroke, svg, type_of};
use super::classes::{Classes, Entry, on};
use super::components::largest;
use super::{Figure, Page, Section};

/// Room for the numbers of the classes, in pixels of the page.
const MARGIN: f64 = 46.0;
/// Cells below this share of the largest cell are left white.
const NOTHING: f64 = 1e-4;
/// Colour of the darkest cell.
const MUCH: RGBColor = RGBColor(8, 48, 107);

/// Components in drawing order, with their classes.
type Ordered = Vec<(usize, usize)>;

/// Returns the components sorted by class. Within a class they keep their order.
fn ordered(labels: &Array2<f64>) -> Ordered {
    let mut order: Ordered =
        labels.rows().into_iter().map(|row| largest(&row)).enumerate().collect();
    order.sort_by_key(|(component, class)| (*class, *component));
    order
}

pub(super) fn section(page: &Page<'_>) -> Result<Section> {
    let contents = page.contents;
    let section = Section::new("plan", "Plan", "Transport plan");
    let (from, to) = (&contents.source.domain, &contents.target.name);
    let found = contents.adaptation.map(|adaptation| (&adaptation.plan, &adaptation.mixture));
    let (plan, mixture) = match found {
        Some((Some(plan), Some(mixture))) => (plan, mixture),
        Some(_) => {
            return Ok(section.saying(html! {
                p { "No label was carried over to this model, so it has no plan. The reasons are at the top of the page." }
            }));
        }
        None => {
            return Ok(section.saying(html! {
                p {
                    "The plan is made while adapting and is not part of a model file: see the report that "
                    code { (contents.origin.hints.plan) } " wrote with the model."
                }
            }));
        }
    };
    let (rows, columns) = (ordered(&contents.source.mixture.labels), ordered(&mixture.labels));
    let picture = draw(
        plan,
        &rows,
        &columns,
        &page.classes,
        &format!(
            "Heat map of the transport plan: {} components of {from} in rows, {} of {to} in columns, sorted by class",
            rows.len(),
            columns.len()
        ),
    )?;
    let mut named: Vec<usize> = rows.iter().chain(&columns).map(|(_, class)| *class).collect();
    named.sort_unstable();
    named.dedup();
    let body = html! {
        (page.classes.legend(named))
        div class="wide" { (picture) }
    };
    let own: f64 = rows
        .iter()
        .flat_map(|(row, a)| columns.iter().map(move |(column, b)| (row, column, a == b)))
        .filter(|(.., same)| *same)
        .map(|(row, column, _)| plan[[*row, *column]])
        .sum::<f64>()
        / plan.sum().max(f64::MIN_POSITIVE);
    let distance = contents.adaptation.and_then(|adaptation| adaptation.mw2_squared);
    let caption = format!(
        "How to read it: a row is a component of {from} with its class, a column is a component of {to} with the \
         class that it was given. The darker a cell, the more of the row's weight goes to the column. If each \
         column has one dark class, the labels are certain, which does not make them right. Here {:.0} % of the weight is in cells with the same class on both sides.{}",
        100.0 * own,
        distance.map_or_else(String::new, |cost| format!(
            " The squared mixture-Wasserstein distance is {cost:.2}."
        ))
    );
    Ok(section.with(Figure::new("plan", "Transport plan", body, &caption).beside()))
}

fn draw(
    plan: &Array2<f64>,
    rows: &Ordered,
    columns: &Ordered,
    classes: &Classes,
    label: &str,
) -> Result<Markup> {
    // Few components give large cells. With many components, cells are still large enough to see.
    let cell = (520.0 / rows.len().max(columns.len()).max(1) as f64).clamp(7.0, 26.0);
    let (width, height) = (cell * columns.len() as f64, cell * rows.len() as f64);
    let size = [width, height].map(|side| (side + MARGIN + 4.0).ceil() as u32);
    let most = plan.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let x = |column: usize| px(MARGIN + cell * column as f64);
    let y = |row: usize| px(MARGIN + cell * row as f64);
    svg((size[0], size[1]), label, |area| {
        for (at, (row, _)) in rows.iter().enumerate() {
            for (across, (column, _)) in columns.iter().enumerate() {
                let share = plan[[*row, *column]] / most;
                if share < NOTHING {
                    continue;
                }
                // The square root makes small shares visible too.
                let mix = |dark: u8| (255.0 - share.sqrt() * (255.0 - f64::from(dark))) as u8;
                let colour = RGBColor(mix(MUCH.0), mix(MUCH.1), mix(MUCH.2));
                let corners = [(x(across), y(at)), (x(across + 1), y(at + 1))];
                area.draw(&Rectangle::new(corners, colour.filled())).context("cells")?;
            }
        }
        let (right, bottom) = (x(columns.len()), y(rows.len()));
        for (first, last, class) in groups(rows) {
            let line = |at| PathElement::new([(x(0), at), (right, at)], stroke(GRID, 1.0));
            area.draw(&line(y(first))).context("classes")?;
            badge(
                area,
                (px(MARGIN - 12.0), i32::midpoint(y(first), y(last))),
                classes.entry(class),
            )?;
        }
        for (first, last, class) in groups(columns) {
            let line = |at| PathElement::new([(at, y(0)), (at, bottom)], stroke(GRID, 1.0));
            area.draw(&line(x(first))).context("classes")?;
            badge(
                area,
                (i32::midpoint(x(first), x(last)), px(MARGIN - 12.0)),
                classes.entry(class),
            )?;
        }
        let frame = [(x(0), y(0)), (right, y(0)), (right, bottom), (x(0), bottom), (x(0), y(0))];
        area.draw(&PathElement::new(frame, stroke(AXIS, 1.0))).context("frame")?;
        let name = |text: &'static str, at, turned: bool| {
            let style = placed(&type_of(11, AXIS), HPos::Left, VPos::Center);
            let style = if turned { style.transform(FontTransform::Rotate90) } else { style };
            Text::new(text, at, style)
        };
        area.draw(&name("target →", (px(MARGIN), px(9.0)), false)).context("names")?;
        area.draw(&name("source →", (px(9.0), px(MARGIN)), true)).context("names")?;
        Ok(())
    })
}

/// Returns the groups of one class: first place, place after the last, class.
fn groups(order: &Ordered) -> Vec<(usize, usize, usize)> {
    let mut groups: Vec<(usize, usize, usize)> = Vec::new();
    for (place, (_, class)) in order.iter().enumerate() {
        match groups.last_mut() {
            Some((_, end, of)) if of == class => *end = place + 1,
            _ => groups.push((place, place + 1, *class)),
        }
    }
    groups
}

/// Draws the number of a class in its colour.
fn badge(area: &super::chart::Area<'_>, at: (i32, i32), entry: &Entry) -> Result<()> {
    let Entry { mark, colour, .. } = entry;
    let half = px(7.0);
    let corners = [(at.0 - half, at.1 - half), (at.0 + half, at.1 + half)];
    area.draw(&Rectangle::new(corners, colour.filled())).context("numbers")?;
    let style = placed(&type_of(10, on(*colour)), HPos::Center, VPos::Center);
    area.draw(&Text::new(mark.clone(), (at.0, at.1 + px(0.5)), style)).context("numbers")
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn components_of_one_class_stand_together() {
        let labels = array![[0.1, 0.9], [0.8, 0.2], [0.4, 0.6], [1.0, 0.0]];
        let order = ordered(&labels);
        assert_eq!(order, [(1, 0), (3, 0), (0, 1), (2, 1)]);
        assert_eq!(groups(&order), [(0, 2, 0), (2, 4, 1)]);
    }
}
