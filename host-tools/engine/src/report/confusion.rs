//! Compares the labels of the manifest with those of the model, if the manifest has any.

use std::fmt::Write as _;

use maud::{Markup, html};
use plotters::style::RGBColor;

use super::classes::{css, on};
use super::{Figure, Page, Section};
use crate::words::plural;

const RIGHT: RGBColor = RGBColor(0, 114, 178);
const WRONG: RGBColor = RGBColor(213, 94, 0);
/// A fault that was found without its type.
const FOUND: RGBColor = RGBColor(86, 180, 233);

/// Number of windows by the manifest's label (rows) and the model's label (columns).
pub(super) struct Confusion {
    /// Labels in the manifest. Labels of the source's classes come first.
    truths: Vec<(String, Option<usize>)>,
    /// Number of windows, truths × all labels that windows can have.
    counts: Vec<Vec<usize>>,
    /// The healthy class, if there is one.
    healthy: Option<usize>,
}

/// How often a fault was found, whatever it was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Detection {
    /// Windows of a faulty machine.
    faulty: usize,
    /// Those that were called a fault, of any type or of unknown type.
    found: usize,
    /// Windows of a healthy machine.
    healthy: usize,
    /// Those that were called a fault.
    alarms: usize,
}

impl Confusion {
    /// Counts the windows of a page; `None` if no recording has a label.
    pub(super) fn of(page: &Page<'_>) -> Option<Self> {
        let target = page.contents.target;
        let known = &page.contents.source.classes;
        let class = |label: &String| known.iter().position(|class| class == label);
        let mut truths: Vec<(String, Option<usize>)> = Vec::new();
        for label in target.labels.iter().flatten() {
            if truths.iter().all(|(name, _)| name != label) {
                truths.push((label.clone(), class(label)));
            }
        }
        truths.sort_by_key(|(_, class)| class.unwrap_or(usize::MAX));
        let mut counts = vec![vec![0; page.classes.entries().len()]; truths.len()];
        for (row, recording) in page.contents.features.recording.iter().enumerate() {
            let label = target.labels.get(*recording).and_then(Option::as_ref);
            let truth = label.and_then(|label| truths.iter().position(|(name, _)| name == label));
            if let Some(truth) = truth {
                counts[truth][page.label(row)] += 1;
            }
        }
        let healthy = page.contents.source.healthy;
        (!truths.is_empty()).then_some(Self { truths, counts, healthy })
    }

    /// Number of windows with a label in the manifest.
    pub(super) fn windows(&self) -> usize {
        self.counts.iter().flatten().sum()
    }

    /// Share of these windows with the right label from the model. If the source does not know the
    /// label, unknown is right.
    pub(super) fn accuracy(&self) -> f64 {
        let own = |(row, (_, class)): (usize, &(String, Option<usize>))| match class {
            Some(class) => self.counts[row][*class],
            None => self.counts[row].iter().rev().take(2).sum(),
        };
        let right: usize = self.truths.iter().enumerate().map(own).sum();
        right as f64 / self.windows().max(1) as f64
    }

    /// Counts alarms; `None` without a healthy class. Unknown is no alarm.
    fn detection(&self) -> Option<Detection> {
        let own = self.healthy?;
        let mut detection = Detection { faulty: 0, found: 0, healthy: 0, alarms: 0 };
        for ((_, class), counts) in self.truths.iter().zip(&self.counts) {
            let (all, unknown) = (counts.iter().sum::<usize>(), counts.len() - 2);
            let alarms = all - counts[own] - counts[unknown];
            if *class == Some(own) {
                detection.healthy += all;
                detection.alarms += alarms;
            } else {
                detection.faulty += all;
                detection.found += alarms;
            }
        }
        Some(detection)
    }

    /// Says how many windows got their label, and how many faults were found.
    pub(super) fn sentence(&self) -> String {
        let share = |count: usize, of: usize| 100.0 * count as f64 / of.max(1) as f64;
        let mut text = format!(
            "{:.1} % of the {} with a label in the manifest got that label.",
            100.0 * self.accuracy(),
            plural(self.windows(), "window", "windows")
        );
        let Some(Detection { faulty, found, healthy, alarms }) = self.detection() else {
            return text;
        };
        if faulty > 0 {
            let _ = write!(
                text,
                " {:.1} % of the {} of faults were found as faulty, whatever their type.",
                share(found, faulty),
                plural(faulty, "window", "windows")
            );
        }
        if healthy > 0 {
            let _ = write!(
                text,
                " {:.1} % of the {} are false alarms.",
                share(alarms, healthy),
                plural(healthy, "healthy window", "healthy windows")
            );
        }
        text
    }

    /// The colour of the label at `place` for a window of `class`. `None` is a class that the source
    /// does not know.
    fn hue(&self, class: Option<usize>, place: usize) -> RGBColor {
        let places = self.counts.first().map_or(0, Vec::len);
        let unknown_fault = place + 1 == places;
        match class {
            Some(class) if class == place => RIGHT,
            None if place + 2 >= places => RIGHT,
            Some(class) if unknown_fault && self.healthy.is_some_and(|own| own != class) => FOUND,
            _ => WRONG,
        }
    }

    fn table(&self, page: &Page<'_>) -> Markup {
        // Leaves out empty columns: no window is in them, and no label of the manifest asks for
        // them.
        let shown: Vec<usize> = (0..page.classes.entries().len())
            .filter(|place| {
                self.counts.iter().any(|row| row[*place] > 0)
                    || self.truths.iter().any(|(_, class)| *class == Some(*place))
            })
            .collect();
        let signs = shown.iter().copied().filter(|place| *place >= page.classes.classes());
        html! {
            (page.classes.legend(signs))
            div class="wide" {
                table class="confusion" {
                    thead {
                        tr {
                            th scope="col" { "manifest ↓ model →" }
                            @for place in &shown {
                                th scope="col" { (page.classes.mark(*place)) }
                            }
                        }
                    }
                    tbody {
                        @for ((name, class), counts) in self.truths.iter().zip(&self.counts) {
                            tr {
                                th scope="row" {
                                    @match class {
                                        Some(class) => (page.classes.chip(*class)),
                                        None => { (name) " (not in the source)" },
                                    }
                                }
                                @for place in &shown {
                                    (cell(counts[*place], counts.iter().sum(), self.hue(*class, *place)))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns a table cell with a count, in the colour of its share.
fn cell(count: usize, of: usize, base: RGBColor) -> Markup {
    if count == 0 {
        return html! { td { span class="none" { "0" } } };
    }
    let share = count as f64 / of.max(1) as f64;
    // Never white: a single wrong window among thousands must be visible.
    let mix = |x: u8| (255.0 - share.sqrt().max(0.25) * (255.0 - f64::from(x))) as u8;
    let colour = RGBColor(mix(base.0), mix(base.1), mix(base.2));
    let style = format!("background:{};color:{}", css(colour), css(on(colour)));
    html! { td class="hit" style=(style) { (count) } }
}

pub(super) fn section(page: &Page<'_>) -> Section {
    let section = Section::new("confusion", "Confusion", "Against the labels of the manifest");
    let to = &page.contents.target.name;
    let Some(confusion) = Confusion::of(page) else {
        return section.saying(html! {
            p { "The manifest has no label for " (to) ", so there is nothing to compare with. The model needs none." }
        });
    };
    let caption = format!(
        "How to read it: a row for each label of the manifest, a column for each label of the model. Cells count \
         windows; blue is right, orange is wrong{}. The labels of {to} are used only to check the finished model: \
         neither the model nor the verdict has seen them. {}{}",
        if confusion.healthy.is_some() {
            ", and light blue is a fault that was found without its type"
        } else {
            ""
        },
        confusion.sentence(),
        if page.same_recordings {
            " The model was made from these recordings, so others may do worse."
        } else {
            ""
        }
    );
    let title = "Confusion";
    let figure = Figure::new("confusion", title, confusion.table(page), &caption);
    // A wide table takes the full width.
    section.with(if page.classes.classes() > 8 { figure } else { figure.beside() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns: Normal, Inner, unknown, fault of unknown type.
    fn confusion(healthy: Option<usize>) -> Confusion {
        let truth = |name: &str, class| (name.to_owned(), class);
        Confusion {
            truths: vec![truth("Normal", Some(0)), truth("Inner", Some(1)), truth("Gear", None)],
            counts: vec![vec![9, 0, 0, 1], vec![1, 2, 1, 4], vec![0, 0, 2, 0]],
            healthy,
        }
    }

    #[test]
    fn a_fault_of_unknown_type_is_found_but_not_named() {
        let known = confusion(Some(0));
        let detection = Detection { faulty: 10, found: 6, healthy: 10, alarms: 1 };
        assert_eq!(known.detection(), Some(detection));
        let text = known.sentence();
        assert!(text.starts_with("65.0 % of the 20 windows"), "{text}");
        assert!(text.contains("60.0 % of the 10 windows of faults were found"), "{text}");
        assert!(text.contains("10.0 % of the 10 healthy windows are false alarms"), "{text}");
        assert_eq!(known.hue(Some(1), 3), FOUND);
        assert_eq!((known.hue(Some(0), 3), known.hue(Some(1), 2)), (WRONG, WRONG));
        assert_eq!((known.hue(None, 3), known.hue(Some(1), 1)), (RIGHT, RIGHT));
    }

    #[test]
    fn without_a_healthy_class_nothing_is_found_or_false() {
        let none = confusion(None);
        assert_eq!(none.detection(), None);
        assert!(!none.sentence().contains("found"), "{}", none.sentence());
        assert_eq!(none.hue(Some(1), 3), WRONG);
    }
}
