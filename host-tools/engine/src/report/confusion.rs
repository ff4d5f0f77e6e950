//! Compares the labels of the manifest with those of the model, if the manifest has any.

use maud::{Markup, html};
use plotters::style::RGBColor;

use super::classes::{css, on};
use super::{Figure, Page, Section};

const RIGHT: RGBColor = RGBColor(0, 114, 178);
const WRONG: RGBColor = RGBColor(213, 94, 0);

/// Number of windows by the manifest's label (rows) and the model's label (columns).
pub(super) struct Confusion {
    /// Labels in the manifest. Labels of the source's classes come first.
    truths: Vec<(String, Option<usize>)>,
    /// Number of windows, truths × all labels that windows can have.
    counts: Vec<Vec<usize>>,
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
        (!truths.is_empty()).then_some(Self { truths, counts })
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
                                    (cell(counts[*place], counts.iter().sum(), right(*class, *place, page)))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns true if the label at `place` is right for a window of `class`. `None` is a class that
/// the source does not know.
fn right(class: Option<usize>, place: usize, page: &Page<'_>) -> bool {
    class.map_or(place >= page.classes.classes(), |class| class == place)
}

/// Returns a table cell with a count, in the colour of its share.
fn cell(count: usize, of: usize, right: bool) -> Markup {
    if count == 0 {
        return html! { td { span class="none" { "0" } } };
    }
    let share = count as f64 / of.max(1) as f64;
    let base = if right { RIGHT } else { WRONG };
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
            p { "The manifest has no label for " (to) ", so that there is nothing to compare with. None is needed." }
        });
    };
    let caption = format!(
        "How to read it: a row for each label of the manifest, a column for what the model says, in windows; blue is \
         right, orange is not. The labels of {to} were used for this table and for nothing else: neither the model nor \
         the verdict has seen them. {:.1} % of {} windows are called by their label{}.",
        100.0 * confusion.accuracy(),
        confusion.windows(),
        if page.same_recordings {
            "; the model was made from these very recordings, so that others may come out worse"
        } else {
            ""
        }
    );
    let title = "Confusion";
    let figure = Figure::new("confusion", title, confusion.table(page), &caption);
    // A wide table takes the full width.
    section.with(if page.classes.classes() > 8 { figure } else { figure.beside() })
}
