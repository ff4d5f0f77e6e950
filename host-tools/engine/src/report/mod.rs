//! One self-contained HTML page about a model and the recordings of its machine: the verdict, its
//! reasons, and the pictures to judge them by.
//!
//! ```text
//! recordings ─► windows ─┐
//! source, model ─────────┼─► verdict, timeline, spectra, view, plan, likelihood,
//! adaptation, if any ────┘   confusion, evidence, recordings, cost, provenance ─► page
//! ```
//!
//! Each section has its own file. Every section is on every page; a section with nothing to show
//! says why. The page loads nothing, and its own policy forbids loading. The same input gives the
//! same bytes.

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
mod recordings;
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
/// Content policy: the page may use its own styles and nothing else.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The contents of the report.
#[derive(Debug, Clone, Copy)]
pub struct ReportContents<'a> {
    /// The source, with its front end at the target's rate.
    pub source: &'a Source,
    /// The target's recordings.
    pub target: &'a Domain,
    /// The snapshots that the target's devices sent.
    pub snapshots: &'a [Snapshot],
    /// Features of the target's windows, not standardised.
    pub features: &'a Features,
    /// The label and log-likelihoods that the model gives each window.
    pub windows: &'a [Window],
    /// The model.
    pub model: &'a DeployedModel,
    /// The result of the adaptation; `None` if the model existed before.
    pub adaptation: Option<&'a Adaptation>,
    /// The reasons to give if there is no adaptation.
    pub reasons: &'a [String],
    /// Whether the model was made from these recordings.
    pub same_recordings: bool,
    /// Evidence from the envelope spectra for the labels, if the bearing is known.
    pub checked: &'a [Checked],
    /// How the report was made.
    pub origin: &'a Origin,
}

/// A page, and the list of its sections.
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

/// The kind of a model, as far as its file shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The target's own mixture, with labels carried over.
    Adapted,
    /// A gate of the target's healthy windows, with or without fault types behind it.
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
            // The source's classes are in nats, which are not shifted. The other models are
            // shifted.
            None if moved => Self::Adapted,
            None => Self::Source,
        }
    }
}

/// The data that all sections share.
struct Page<'a> {
    contents: &'a ReportContents<'a>,
    classes: Classes,
    kind: Kind,
    same_recordings: bool,
    /// Place of each window's label among all labels.
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

    /// Number of windows with the label at a place.
    fn count(&self, place: usize) -> usize {
        self.labels.iter().filter(|label| **label == place).count()
    }
}

/// A part of the page under a heading.
struct Section {
    id: &'static str,
    title: &'static str,
    /// Its name in the list of sections.
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
    /// Whether the caption is placed at the side of the picture if there is room.
    beside: bool,
}

impl Figure {
    fn new(id: &'static str, title: &'static str, body: Markup, caption: &str) -> Self {
        Self { id, title, body, caption: caption.into(), beside: false }
    }

    /// Returns the figure with its caption at the side if there is room.
    fn beside(self) -> Self {
        Self { beside: true, ..self }
    }
}

impl Section {
    fn new(id: &'static str, short: &'static str, title: &'static str) -> Self {
        Self { id, title, short, body: html! {}, figures: Vec::new() }
    }

    /// Returns the section with text appended.
    fn saying(mut self, text: Markup) -> Self {
        self.body.0.push_str(&text.into_string());
        self
    }

    /// Returns the section with a figure appended.
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

/// Returns the report as one HTML page.
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
        recordings::section(&page)?,
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
