//! One self-contained HTML page about a model and the recordings of its machine: the verdict, its
//! reasons, and the pictures by which to judge them.
//!
//! ```text
//! recordings ─► windows ─┐
//! source, model ─────────┼─► verdict, timeline, spectra, view, plan, likelihood,
//! adaptation, if any ────┘   confusion, evidence, cost, provenance ─► page
//! ```
//!
//! A file a section. Every section is on every page: one that has nothing to show says why. The
//! page loads nothing, and its own policy forbids it to; the same input gives the same bytes.

mod chart;
mod classes;
mod components;
mod confusion;
mod cost;
mod evidence;
mod likelihood;
mod plan;
mod plane;
mod provenance;
mod spectra;
mod timeline;
mod verdict;
mod view;
mod windows;

use anyhow::Result;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

pub use evidence::evidence_sentence;
pub use provenance::{FileHash, Hints, Origin, Setting};
pub use windows::{Window, windows};

use self::classes::Classes;
use crate::adapt::verdict::Adaptation;
use crate::data::domain::Domain;
use crate::evidence::Checked;
use crate::features::extract::Features;
use crate::features::snapshot::Snapshot;
use crate::model::deployed::DeployedModel;
use crate::source::Source;

const STYLE: &str = include_str!("style.css");
/// Styles of the page itself, and nothing else from anywhere.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// What the report is about.
#[derive(Debug, Clone, Copy)]
pub struct ReportContents<'a> {
    /// The source, its front end at the target's rate.
    pub source: &'a Source,
    /// The target's recordings.
    pub target: &'a Domain,
    /// What the target's devices sent.
    pub snapshots: &'a [Snapshot],
    /// Features of the target's windows, not standardised.
    pub features: &'a Features,
    /// What the model says of each of them.
    pub windows: &'a [Window],
    /// The model.
    pub model: &'a DeployedModel,
    /// What adaptation found; `None` where the model was there before.
    pub adaptation: Option<&'a Adaptation>,
    /// What is to be said where there is no adaptation to give its reasons.
    pub reasons: &'a [String],
    /// Whether the model was made from these recordings.
    pub same_recordings: bool,
    /// What the recordings' envelope spectra say about their labels, where the bearing is known.
    pub checked: &'a [Checked],
    /// How the report came about.
    pub origin: &'a Origin,
}

/// A page, and what is on it.
#[derive(Debug, Clone)]
pub struct Report {
    /// The page.
    pub html: String,
    /// Its sections, in order.
    pub sections: Vec<Listed>,
}

/// A section of a page, for scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// The anchor on the page.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// Its figures, by their anchors.
    pub figures: Vec<String>,
}

/// What kind of model it is, as far as its file tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The target's own mixture, with labels carried over.
    Adapted,
    /// A gate of the target's healthy windows, with fault types behind it or without.
    Gate {
        /// Whether there are fault types.
        types: bool,
    },
    /// The source's classes.
    Source,
}

impl Kind {
    fn of(model: &DeployedModel) -> Self {
        let (gate, components, moved) = match model {
            DeployedModel::F32(bytes) => {
                let model = bytes.model();
                let gate = model.gate().map(|gate| gate.components);
                (gate, model.components().len(), model.shift().iter().any(|shift| *shift != 0.0))
            }
            DeployedModel::I16(bytes) => {
                let model = bytes.model();
                let gate = model.gate().map(|gate| gate.part.len());
                (
                    gate,
                    model.component_count(),
                    model.scaling().shift.iter().any(|shift| *shift != 0),
                )
            }
        };
        match gate {
            Some(gate) => Self::Gate { types: components > gate },
            // The source's classes stand in nats, which are not shifted; the others are.
            None if moved => Self::Adapted,
            None => Self::Source,
        }
    }
}

/// What all sections are made from.
struct Page<'a> {
    contents: &'a ReportContents<'a>,
    classes: Classes,
    kind: Kind,
    same_recordings: bool,
    /// Place of each window's label among all that windows can be called.
    labels: Vec<usize>,
}

impl Page<'_> {
    /// Place of a window's label.
    fn label(&self, row: usize) -> usize {
        self.labels[row]
    }

    /// Places of the labels of each recording's windows, then of each snapshot's.
    fn by_recording(&self) -> Vec<Vec<usize>> {
        let contents = self.contents;
        let count = contents.target.recordings.len() + contents.snapshots.len();
        let mut labels = vec![Vec::new(); count];
        for (recording, label) in contents.features.recording.iter().zip(&self.labels) {
            labels[*recording].push(*label);
        }
        labels
    }

    /// Windows with the label at a place.
    fn count(&self, place: usize) -> usize {
        self.labels.iter().filter(|label| **label == place).count()
    }
}

/// A part of the page under a heading.
struct Section {
    id: &'static str,
    title: &'static str,
    /// What the list of sections calls it.
    short: &'static str,
    body: Markup,
    figures: Vec<String>,
}

/// A picture or table with its caption.
struct Figure {
    id: &'static str,
    title: &'static str,
    body: Markup,
    caption: String,
    /// Whether the caption stands beside the picture where there is room.
    beside: bool,
}

impl Figure {
    fn new(id: &'static str, title: &'static str, body: Markup, caption: &str) -> Self {
        Self { id, title, body, caption: caption.into(), beside: false }
    }

    /// The same with its caption beside it where there is room.
    fn beside(self) -> Self {
        Self { beside: true, ..self }
    }
}

impl Section {
    fn new(id: &'static str, short: &'static str, title: &'static str) -> Self {
        Self { id, title, short, body: html! {}, figures: Vec::new() }
    }

    /// The same with text behind what it has.
    fn saying(mut self, text: Markup) -> Self {
        self.body.0.push_str(&text.into_string());
        self
    }

    /// The same with a figure behind what it has.
    fn with(mut self, figure: Figure) -> Self {
        let Figure { id, title, body, caption, beside } = figure;
        self.figures.push(id.into());
        let named = title != self.title;
        self.saying(html! {
            figure id=(format!("figure-{id}")) aria-label=(title) class=[beside.then_some("beside")] {
                @if named { h3 { (title) } }
                div { (body) }
                figcaption { (caption) }
            }
        })
    }
}

/// The report as one HTML page.
pub fn report(contents: &ReportContents<'_>) -> Result<Report> {
    let classes = Classes::new(&contents.source.classes, contents.source.healthy);
    let labels = contents.windows.iter().map(|window| classes.place(window.label)).collect();
    let page = Page {
        contents,
        kind: Kind::of(contents.model),
        same_recordings: contents.same_recordings,
        classes,
        labels,
    };
    let sections = [
        verdict::section(&page),
        timeline::section(&page)?,
        spectra::section(&page)?,
        view::section(&page)?,
        plan::section(&page)?,
        likelihood::section(&page)?,
        confusion::section(&page),
        evidence::section(&page)?,
        cost::section(&page),
        provenance::section(&page),
    ];
    let (from, to) = (&contents.source.domain, &contents.target.name);
    let title = format!("{from} → {to}");
    let html = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) @if let Some(found) = contents.adaptation { ": " (found.verdict) } }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    p class="tool" { "rebearing report" }
                    h1 { (title) }
                    nav aria-label="Sections" {
                        @for section in &sections { a href=(format!("#{}", section.id)) { (section.short) } }
                    }
                }
                main {
                    @for section in &sections {
                        section id=(section.id) { h2 { (section.title) } (section.body) }
                    }
                }
            }
        }
    };
    let listed = |section: Section| Listed {
        id: section.id,
        title: section.title,
        figures: section.figures,
    };
    Ok(Report { html: html.into_string(), sections: sections.into_iter().map(listed).collect() })
}
