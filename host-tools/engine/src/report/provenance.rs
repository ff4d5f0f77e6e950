//! Settings and provenance: all that it takes to repeat the work.

use maud::html;
use rebearing::model::format;

use super::timeline::file_name;
use super::{Page, Section};
use crate::files::hex;
use crate::model::deployed::DeployedModel;
use crate::words::plural;

/// How a report came about.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// The command with all its options.
    pub command: String,
    /// Each option, its value, and whether that is the default.
    pub options: Vec<Setting>,
    /// Files that were read or written, and their SHA-256.
    pub files: Vec<FileHash>,
    /// How the reader gets more.
    pub hints: Hints,
}

/// How the reader of a page gets more, in the words of the application that writes it.
#[derive(Debug, Clone, Copy)]
pub struct Hints {
    /// Gives the bearing's geometry.
    pub bearing: &'static str,
    /// Writes a report that has the plan.
    pub plan: &'static str,
    /// Says that the machine was healthy throughout.
    pub pool_healthy: &'static str,
    /// Says that every condition is in the recordings.
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
    /// As on the command line.
    pub name: String,
    /// Its value; empty for a switch.
    pub value: String,
    /// Whether nobody gave it.
    pub default: bool,
}

/// A file and what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHash {
    /// What it is.
    pub what: &'static str,
    /// Its path, as it was given.
    pub path: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
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
                "{} Hz, {}, {}-point FFT every {}, {} a decision, {} bands, blocks {}",
                front_end.rate_hz,
                plural(front_end.axes, "axis", "axes"),
                front_end.fft_len,
                plural(front_end.hop, "sample", "samples"),
                plural(front_end.segments, "segment", "segments"),
                front_end.bands(),
                front_end.blocks()
            ),
        ),
    ];
    let windows: Vec<usize> = page.by_recording().iter().map(Vec::len).collect();
    let recordings = target.recordings.iter().zip(&target.labels).enumerate();
    let snapshots = contents.snapshots.iter().enumerate();
    Section::new("provenance", "Settings", "Settings and provenance").saying(html! {
        p { "This command repeats it:" }
        pre { (origin.command) }
        table class="facts" {
            @for (name, value) in &facts { tr { th scope="row" { (name) } td { (value) } } }
            @for file in &origin.files {
                tr {
                    th scope="row" { (file.what) " (SHA-256)" }
                    td { (file.path) br; code { (file.sha256) } }
                }
            }
        }
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
