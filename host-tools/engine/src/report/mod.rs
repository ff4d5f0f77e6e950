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

mod badge;
mod chart;
mod classes;
mod components;
mod confusion;
mod cost;
mod document;
mod evaluation;
mod evidence;
mod kind;
mod known;
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

pub use document::{Listed, Report};
pub use evaluation::{EvaluationContents, NotEvaluated, evaluation};
pub use evidence::evidence_sentence;
pub use provenance::{FileHash, Hints, Origin, Setting};
pub use windows::{Window, windows};

use self::classes::Classes;
use self::document::{Figure, Section, document};
use self::kind::Kind;
use crate::adapt::verdict::Adaptation;
use crate::data::domain::Domain;
use crate::evidence::Checked;
use crate::features::extract::Features;
use crate::features::snapshot::Snapshot;
use crate::model::deployed::DeployedModel;
use crate::source::Source;

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
    /// Contradictions and blind spots that the reader must know first.
    pub warnings: &'a [String],
    /// Evidence from the envelope spectra for the labels, if the bearing is known.
    pub checked: &'a [Checked],
    /// How the report was made.
    pub origin: &'a Origin,
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
    let head = match contents.model.verdict() {
        Some(found) => format!("{title}: {}", found.verdict.name()),
        None => title.clone(),
    };
    Ok(document("rebearing report", &head, &title, sections.into()))
}
