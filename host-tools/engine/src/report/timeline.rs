//! The label of every window over time, with one strip for each recording.

use anyhow::{Context, Result};
use maud::{Markup, html};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::chart::{AXIS, placed, px, small, stroke, svg, type_of};
use super::classes::{Classes, on};
use super::{Figure, Page, Section};
use crate::features::front_end::FrontEndSettings;
use crate::words::plural;

const WIDTH: u32 = 340;
const HEIGHT: u32 = 46;
const STRIP: (f64, f64) = (2.0, 24.0);
/// Largest number of columns in a strip. If there are more windows, several share a column.
const COLUMNS: usize = 320;
/// Largest number of strips drawn.
const STRIPS: usize = 120;
/// Smallest width of a group of columns with room for its number, in pixels of the page.
const NUMBERED: f64 = 16.0;

/// The windows of one recording.
struct Strip {
    name: String,
    /// Place of each window's label, in the order of time.
    labels: Vec<usize>,
    /// From the first window's start to the last one's end.
    length: f64,
    unit: &'static str,
}

/// Returns the seconds from the start of the first window to the end of the last one, in one
/// recording. The pauses between stretches are not known and count as zero.
fn seconds(windows: usize, segments: usize, front_end: &FrontEndSettings) -> f64 {
    let overlap = front_end.window_len() - front_end.hop;
    (windows * front_end.hop + segments * overlap) as f64 / front_end.rate_hz
}

fn strips(page: &Page<'_>) -> Vec<Strip> {
    let contents = page.contents;
    let front_end = &contents.source.front_end;
    let recordings = contents.target.recordings.iter().map(|recording| {
        let long = recording.stretch_frames();
        let segments = long.into_iter().filter(|frames| *frames >= front_end.window_len()).count();
        (file_name(&recording.path), Some(segments))
    });
    let snapshots = contents.snapshots.iter().map(|snapshot| {
        (format!("{}, record {}", file_name(&snapshot.path), snapshot.record), None)
    });
    let mut labels = page.by_recording().into_iter();
    recordings
        .chain(snapshots)
        .map(|(name, segments)| {
            let labels = labels.next().unwrap_or_default();
            let (length, unit) = match segments {
                Some(segments) => (seconds(labels.len(), segments, front_end), "s"),
                None => (labels.len() as f64, "windows"),
            };
            Strip { name, labels, length, unit }
        })
        .collect()
}

/// Says how many recordings a figure leaves out; empty where it leaves out none.
pub(super) fn not_drawn(left_out: usize) -> String {
    match left_out {
        0 => String::new(),
        more => {
            format!(
                " {} not drawn.",
                plural(more, "further recording is", "further recordings are")
            )
        }
    }
}

/// The last part of a path, for people.
pub(super) fn file_name(path: &std::path::Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

pub(super) fn section(page: &Page<'_>) -> Result<Section> {
    let strips = strips(page);
    let mut rows = Vec::new();
    for strip in strips.iter().take(STRIPS) {
        rows.push((strip, strip.draw(&page.classes)?));
    }
    let present: Vec<usize> =
        (0..page.classes.entries().len()).filter(|place| page.count(*place) > 0).collect();
    let body = html! {
        (page.classes.legend(present))
        div class="panels" {
            @for (strip, picture) in &rows {
                div class="panel strip" {
                    p class="name" {
                        span class="file" { (strip.name) }
                        span class="note" { (strip.main(&page.classes)) }
                    }
                    (picture)
                }
            }
        }
    };
    let left_out = strips.len().saturating_sub(STRIPS);
    let caption = format!(
        "How to read it: each strip is a recording from start to end. Its colour and number are the label of the \
         window that begins there. A machine does not change its condition from one second to the next, so a speckled \
         strip speaks against its labels. A strip of one colour shows that the model is steady, not that it is \
         right.{}{}",
        if strips.iter().any(|strip| strip.labels.len() > COLUMNS) {
            " If several windows fall into one column, the column shows their shares."
        } else {
            ""
        },
        not_drawn(left_out)
    );
    let title = "Labels over time";
    Ok(Section::new("timeline", "Over time", title)
        .with(Figure::new("timeline", title, body, &caption)))
}

impl Strip {
    /// The most frequent label and its share.
    fn main(&self, classes: &Classes) -> String {
        let count = |place: usize| self.labels.iter().filter(|label| **label == place).count();
        let places = 0..classes.entries().len();
        // The first of equal counts wins, because `max_by_key` takes the last and the order is
        // reversed.
        let Some(best) = places.rev().max_by_key(|place| count(*place)) else {
            return String::new();
        };
        let share = 100.0 * count(best) as f64 / self.labels.len().max(1) as f64;
        format!("{} {share:.0} %", classes.entry(best).name)
    }

    fn draw(&self, classes: &Classes) -> Result<Markup> {
        let label = format!(
            "Labels of {} over {:.1} {}: mostly {}",
            plural(self.labels.len(), "window", "windows"),
            self.length,
            self.unit,
            self.main(classes)
        );
        let (left, right) = (6.0, f64::from(WIDTH) - 14.0);
        svg((WIDTH, HEIGHT), &label, |area| {
            let columns = self.columns(classes.entries().len());
            let x =
                |column: usize| left + (right - left) * column as f64 / columns.len().max(1) as f64;
            let mut start = 0;
            for group in columns.chunk_by(|a, b| a == b) {
                let (from, to) = (x(start), x(start + group.len()));
                start += group.len();
                let mut top = STRIP.0;
                for (place, share) in group[0].iter().enumerate().filter(|(_, share)| **share > 0.0)
                {
                    let bottom = top + share * (STRIP.1 - STRIP.0);
                    let entry = classes.entry(place);
                    let corners = [(px(from), px(top)), (px(to), px(bottom))];
                    area.draw(&Rectangle::new(corners, entry.colour.filled())).context("strip")?;
                    if *share >= 1.0 && to - from >= NUMBERED {
                        let style =
                            placed(&type_of(11, on(entry.colour)), HPos::Center, VPos::Center);
                        let at = (
                            px(f64::midpoint(from, to)),
                            px(f64::midpoint(STRIP.0, STRIP.1) + 0.5),
                        );
                        area.draw(&Text::new(entry.mark.clone(), at, style)).context("numbers")?;
                    }
                    top = bottom;
                }
            }
            self.axis(area, left, right)
        })
    }

    /// Draws a few round numbers under the strip.
    fn axis(&self, area: &super::chart::Area<'_>, left: f64, right: f64) -> Result<()> {
        let step = round_step(self.length / 5.0);
        let baseline = STRIP.1 + 1.0;
        let line = |from: (f64, f64), to: (f64, f64)| {
            PathElement::new([(px(from.0), px(from.1)), (px(to.0), px(to.1))], stroke(AXIS, 1.0))
        };
        area.draw(&line((left, baseline), (right, baseline))).context("axis")?;
        let digits = usize::from(step < 1.0);
        let mut tick = 0.0;
        while tick <= self.length && step > 0.0 {
            let at = left + (right - left) * tick / self.length.max(f64::MIN_POSITIVE);
            area.draw(&line((at, baseline), (at, baseline + 3.0))).context("axis")?;
            let last = tick + step > self.length;
            let text = format!("{tick:.digits$}");
            let text = if last { format!("{text} {}", self.unit) } else { text };
            // At either end the text must not hang over the edge.
            let (side, at) = match at {
                at if at < left + 8.0 => (HPos::Left, at - 3.0),
                at if last && at > right - 24.0 => (HPos::Right, right + 10.0),
                at => (HPos::Center, at),
            };
            let style = placed(&small(), side, VPos::Top);
            area.draw(&Text::new(text, (px(at), px(baseline + 5.0)), style)).context("axis")?;
            tick += step;
        }
        Ok(())
    }

    /// Returns the share of each label in each column.
    fn columns(&self, places: usize) -> Vec<Vec<f64>> {
        let count = self.labels.len().clamp(1, COLUMNS);
        let mut columns = vec![vec![0.0; places]; count];
        for (row, place) in self.labels.iter().enumerate() {
            columns[row * count / self.labels.len()][*place] += 1.0;
        }
        for column in &mut columns {
            let sum = column.iter().sum::<f64>().max(1.0);
            for share in column {
                *share /= sum;
            }
        }
        columns
    }
}

/// Returns the smallest of 1, 2, 5, 10 … that is at least `least`.
fn round_step(least: f64) -> f64 {
    if !(least.is_finite() && least > 0.0) {
        return 1.0;
    }
    let power = 10.0_f64.powf(least.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    power * factors.into_iter().find(|factor| factor * power >= least).unwrap_or(10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_hold_every_window_once() {
        let strip = |labels: Vec<usize>| Strip {
            name: String::new(),
            length: labels.len() as f64,
            labels,
            unit: "s",
        };
        let few = strip(vec![0, 0, 1]).columns(3);
        assert_eq!(few, [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        let many = strip((0..1000).map(|row| usize::from(row >= 500)).collect()).columns(2);
        assert_eq!(many.len(), COLUMNS);
        let total: f64 = many.iter().map(|column| column[1]).sum();
        assert!((total - COLUMNS as f64 / 2.0).abs() <= 1.0, "{total}");
    }

    #[test]
    fn ticks_are_round() {
        for (least, step) in [(0.9, 1.0), (1.1, 2.0), (3.0, 5.0), (7.0, 10.0), (120.0, 200.0)] {
            assert_eq!(round_step(least), step);
        }
        assert_eq!(round_step(0.0), 1.0);
    }
}
