//! Settings and provenance: everything that is needed to repeat the work.

use maud::{Markup, html};
use rebearing::model::format;

use super::timeline::file_name;
use super::{Page, Section};
use crate::features::bands;
use crate::files::hex;
use crate::model::deployed::DeployedModel;
use crate::words::plural;

/// How a report was made.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// The command with all its options.
    pub command: String,
    /// Each option, its value, and whether that is the default.
    pub options: Vec<Setting>,
    /// Files that were read or written, and their SHA-256.
    pub files: Vec<FileHash>,
    /// Hints for the reader on how to get more.
    pub hints: Hints,
}

/// Hints for the reader of a page on how to get more, in the words of the application that writes
/// it.
#[derive(Debug, Clone, Copy)]
pub struct Hints {
    /// How to give the bearing's geometry.
    pub bearing: &'static str,
    /// How to write a report with the plan.
    pub plan: &'static str,
    /// How to say that the machine was healthy throughout.
    pub pool_healthy: &'static str,
    /// How to say that every condition is in the recordings.
    pub pool_all: &'static str,
}

impl Default for Hints {
    fn default() -> Self {
        Self {
            bearing: "Bearing",
            plan: "an adaptation",
            pool_healthy: "Pool::Healthy",
            pool_all: "Pool::All",
        }
    }
}

/// An option of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its name, as on the command line.
    pub name: String,
    /// Its value; empty for a switch.
    pub value: String,
    /// Whether it is the default, because nobody gave it.
    pub default: bool,
}

/// A file and its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHash {
    /// The kind of file.
    pub what: &'static str,
    /// Its path, as it was given.
    pub path: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

/// Returns the command that makes the page again.
pub(super) fn command(origin: &Origin) -> Markup {
    html! {
        p { "This command makes the report again:" }
        pre { (origin.command) }
    }
}

/// Returns every option of the command, folded.
pub(super) fn options(origin: &Origin) -> Markup {
    html! {
        details {
            summary { "Every option of the command" }
            table class="facts" {
                @for setting in &origin.options {
                    tr {
                        th scope="row" { code { (setting.name) } }
                        td { (setting.value) @if setting.default { span class="note" { " default" } } }
                    }
                }
            }
        }
    }
}

pub(super) fn section(page: &Page<'_>) -> Section {
    let contents = page.contents;
    let (source, target, origin) = (contents.source, contents.target, contents.origin);
    let fitted_from = match contents.model {
        DeployedModel::F32(bytes) => hex(bytes.model().provenance().hash),
        DeployedModel::I16(bytes) => hex(bytes.model().provenance().hash),
    };
    let front_end = &source.front_end;
    let facts = [
        ("Written by", concat!("rebearing ", env!("CARGO_PKG_VERSION")).to_owned()),
        ("Model format", format!("version {}", format::VERSION)),
        (
            "Source",
            format!(
                "{}, by {}, {}",
                source.domain,
                source.tool,
                plural(source.windows.iter().sum::<usize>(), "window", "windows")
            ),
        ),
        ("Source fitted from (SHA-256)", source.hash.clone()),
        ("Model fitted from (SHA-256)", fitted_from),
        (
            "Features",
            format!(
                "{} Hz, {}, {}-point FFT every {}, {} a window, {}, blocks {}",
                front_end.rate_hz,
                plural(front_end.axes, "axis", "axes"),
                front_end.fft_len,
                plural(front_end.hop, "sample", "samples"),
                plural(front_end.segments, "segment", "segments"),
                bands::in_words(&front_end.device()),
                front_end.blocks()
            ),
        ),
    ];
    let windows: Vec<usize> = page.by_recording().iter().map(Vec::len).collect();
    let recordings = target.recordings.iter().zip(&target.labels).enumerate();
    let snapshots = contents.snapshots.iter().enumerate();
    Section::new("provenance", "Settings", "Settings and provenance").saying(html! {
        (command(origin))
        table class="facts" {
            @for (name, value) in &facts { tr { th scope="row" { (name) } td { (value) } } }
            @for file in &origin.files {
                tr {
                    th scope="row" { (file.what) " (SHA-256)" }
                    td { (file.path) br; code { (file.sha256) } }
                }
            }
        }
        (options(origin))
        details {
            summary { (target.recordings.len() + contents.snapshots.len()) " recordings and snapshots" }
            div class="wide" {
                table {
                    thead {
                        tr {
                            th scope="col" { "file" }
                            th scope="col" { "label in the manifest" }
                            th scope="col" { "rpm" }
                            th scope="col" { "seconds" }
                            th scope="col" { "windows" }
                        }
                    }
                    tbody {
                        @for (index, (recording, label)) in recordings {
                            tr {
                                th scope="row" { (file_name(&recording.path)) }
                                td { (label.as_deref().unwrap_or("none")) }
                                td { (recording.rpm.map_or("not given".to_owned(), |rpm| rpm.to_string())) }
                                td { (format!("{:.2}", recording.frames() as f64 / target.rate_hz)) }
                                td { (windows[index]) }
                            }
                        }
                        @for (index, snapshot) in snapshots {
                            tr {
                                th scope="row" { (file_name(&snapshot.path)) ", record " (snapshot.record) }
                                td { "none" }
                                td { "not given" }
                                td { "not given" }
                                td { (windows[target.recordings.len() + index]) }
                            }
                        }
                    }
                }
            }
        }
    })
}
