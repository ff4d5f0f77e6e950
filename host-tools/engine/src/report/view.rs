//! Features in two dimensions, before and after adaptation: components as ellipses, windows as
//! dots.

use anyhow::{Context, Result};
use maud::html;
use ndarray::Axis;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::chart::{Axes, around, chart, placed, px, stroke, svg, thinned, type_of};
use super::classes::{Classes, Entry, on};
use super::components::{self, Drawn};
use super::plane::{Plane, SIGMAS};
use super::{Figure, Kind, Page, Section};
use crate::adapt::reference::Reference;
use crate::model::findings::findings;

const SIZE: (u32, u32) = (350, 322);
/// Largest number of windows drawn.
const DOTS: usize = 700;
/// With more components than this, numbers are smaller, so that they do not hide one another.
const MANY: usize = 16;
/// The axes may leave out this share of the windows at either end.
const OUTLIERS: f64 = 0.005;

/// One picture.
struct Panel<'a> {
    title: &'a str,
    components: Vec<Drawn>,
    /// Place of each window in the plane, and its label.
    dots: Vec<((f64, f64), usize)>,
}

pub(super) fn section(page: &Page<'_>) -> Result<Section> {
    let contents = page.contents;
    let (source, features) = (contents.source, &contents.features.x);
    let plane = Plane::of(source);
    let reference = Reference::new(source)?;
    let drawn: Vec<usize> = thinned(features.nrows(), DOTS).collect();
    let shown = features.select(Axis(0), &drawn);
    let points: Vec<(f64, f64)> =
        shown.rows().into_iter().map(|row| plane.point(&row.mapv(f64::from))).collect();
    // Without adaptation, every window gets the source's likeliest class, however far away it is.
    let source_only = findings(&source.model(false)?.model(), &shown).rows;
    let before = source_only.iter().map(|found| page.classes.place(found.label));
    let after = drawn.iter().map(|row| page.label(*row));
    let panels = [
        Panel {
            title: "Before",
            components: components::of_source(&reference),
            dots: points.iter().copied().zip(before).collect(),
        },
        Panel {
            title: "After",
            // The component of a model that names nothing stands for no class.
            components: match page.kind {
                Kind::Nothing => Vec::new(),
                _ => components::of_model(contents.model),
            },
            dots: points.iter().copied().zip(after).collect(),
        },
    ];
    let ranges = {
        let ellipses = panels.iter().flat_map(|panel| &panel.components);
        let outline: Vec<(f64, f64)> =
            ellipses.flat_map(|component| plane.ellipse(component)).collect();
        let range = |of: fn(&(f64, f64)) -> f64| {
            let mut values: Vec<f64> = points.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            let cut = (OUTLIERS * values.len() as f64).ceil() as usize;
            let kept = values.get(cut..values.len().saturating_sub(cut)).unwrap_or(&[]).to_vec();
            around(kept.into_iter().chain(outline.iter().map(of)), 0.04)
        };
        (range(|point| point.0), range(|point| point.1))
    };
    let (from, to) = (&source.domain, &contents.target.name);
    let captions = [
        format!(
            "Before: the components of {from} (ellipses, numbered by class), and the windows of {to} (dots) with \
             the labels that {from} alone would give them."
        ),
        match page.kind {
            Kind::Adapted => format!(
                "After: the components of {to}'s own mixture with the labels carried over to them, and the same \
                 windows with the labels of the model."
            ),
            Kind::Gate { .. } => format!(
                "After: the gate, fitted to {to}'s healthy windows, and the same windows with the labels of the \
                 model. Fault types go by the direction of the deviation from healthy and have no ellipse."
            ),
            Kind::Nothing => format!(
                "After: the same windows of {to}. The model calls every window unknown and has no component of a class."
            ),
            Kind::Source => format!(
                "After: the components of {from}, all of one width, and the same windows with the labels of the \
                 model."
            ),
        },
    ];
    let mut pictures = Vec::new();
    for (panel, caption) in panels.iter().zip(&captions) {
        pictures.push((panel.draw(&plane, &ranges, &page.classes, caption)?, caption));
    }
    let mut named: Vec<usize> =
        panels.iter().flat_map(|panel| panel.dots.iter().map(|(_, place)| *place)).collect();
    named.extend(panels.iter().flat_map(|panel| panel.components.iter().map(|c| c.class)));
    named.sort_unstable();
    named.dedup();
    let body = html! {
        (page.classes.legend(named))
        div class="pair" {
            @for (picture, caption) in &pictures { div { (picture) p { (caption) } } }
        }
    };
    let caption = format!(
        "How to read it: if the dots inside an ellipse have its colour, the labels follow the features. This does not \
         show that the labels are right. An ellipse reaches \
         {SIGMAS} standard deviations from its mean. The plane has the two principal axes (PCA) of the component \
         means of {from}, fitted on {from} alone. It holds {:.0} % of their spread, so groups that overlap here may \
         be apart in the other dimensions.{}",
        100.0 * plane.share,
        if drawn.len() < features.nrows() {
            format!(" {} of {} windows are drawn.", drawn.len(), features.nrows())
        } else {
            String::new()
        }
    );
    let title = "Features before and after";
    Ok(Section::new("view", "Features", title).with(Figure::new("view", title, body, &caption)))
}

impl Panel<'_> {
    fn draw(
        &self,
        plane: &Plane,
        ranges: &(std::ops::Range<f64>, std::ops::Range<f64>),
        classes: &Classes,
        label: &str,
    ) -> Result<maud::Markup> {
        svg(SIZE, label, |area| {
            let (x, y) = ranges.clone();
            let names = Axes {
                title: self.title,
                x: "first principal axis",
                y: "second principal axis",
                digits: (0, 0),
            };
            let mut chart = chart(area, &names, x.clone(), y.clone())?;
            let inside = |(a, b): (f64, f64)| (a.clamp(x.start, x.end), b.clamp(y.start, y.end));
            chart
                .draw_series(self.dots.iter().map(|(point, place)| {
                    Circle::new(
                        inside(*point),
                        px(1.8),
                        classes.entry(*place).colour.mix(0.6).filled(),
                    )
                }))
                .context("windows")?;
            for component in &self.components {
                let Entry { colour, .. } = classes.entry(component.class);
                let outline = plane.ellipse(component).into_iter().map(inside);
                chart
                    .draw_series(LineSeries::new(outline, stroke(*colour, 2.0)))
                    .context("ellipses")?;
            }
            // Numbers come last, so that no dot hides them. They are small if there are many.
            let (radius, type_size) =
                if self.components.len() > MANY { (5.5, 9) } else { (7.0, 10) };
            for component in &self.components {
                let Entry { mark, colour, .. } = classes.entry(component.class);
                let style = placed(&type_of(type_size, on(*colour)), HPos::Center, VPos::Center);
                let badge = |at| {
                    EmptyElement::at(at)
                        + Circle::new((0, 0), px(radius + 1.0), WHITE.filled())
                        + Circle::new((0, 0), px(radius), colour.filled())
                        + Text::new(mark.clone(), (0, px(0.5)), style.clone())
                };
                let at = inside(plane.point(&component.mean));
                chart.draw_series(std::iter::once(badge(at))).context("numbers")?;
            }
            Ok(())
        })
    }
}
