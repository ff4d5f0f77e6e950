//! One self-contained HTML page about an adaptation: the verdict, its reasons, and the
//! pictures by which to judge them. It needs no network and prints well.

mod plots;

use std::fmt::Write as _;

use anyhow::Result;
use ndarray::Array2;
use rebearing::diagnosis::Diagnosis;

use crate::adapt::verdict::Adaptation;
use crate::device::MonitorType;
use crate::diagnoses::{Diagnoses, diagnoses};
use crate::evidence::{Checked, Part};
use crate::model_file::ModelBytes;
use crate::source::{Source, hex};

/// What the report is about.
#[derive(Debug, Clone, Copy)]
pub struct ReportContents<'a> {
    /// The source.
    pub source: &'a Source,
    /// Name of the target domain.
    pub target: &'a str,
    /// Features of the target's windows, not standardised.
    pub features: &'a Array2<f32>,
    /// What adaptation found.
    pub adaptation: &'a Adaptation,
    /// The model file.
    pub model: &'a ModelBytes,
    /// What the recordings' envelope spectra say about their labels, where the bearing is known.
    pub checked: &'a [Checked],
}

/// The report as one HTML page.
pub fn html(contents: &ReportContents<'_>) -> Result<String> {
    let ReportContents { source, target, features, adaptation, model, checked } = contents;
    let view = model.model();
    let monitor = MonitorType::of(&view);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{from} to {to}</title><style>{STYLE}</style></head><body>\n\
         <h1>{from} → {to}: {verdict}</h1>\n<ul>\n",
        from = escaped(&source.domain),
        to = escaped(target),
        verdict = adaptation.verdict,
    );
    for reason in &adaptation.reasons {
        let _ = writeln!(page, "<li>{}</li>", escaped(reason));
    }
    page.push_str("</ul>\n");

    let Diagnoses { rows: diagnoses, posterior } = diagnoses(&view, features);
    let mut figure = |title: &str, caption: &str, svg: String| {
        let _ = writeln!(
            page,
            "<figure><h2>{title}</h2>{svg}<figcaption>{caption}</figcaption></figure>"
        );
    };
    if let (Some(plan), Some(mixture)) = (&adaptation.plan, &adaptation.mixture) {
        figure(
            "Transport plan",
            "Mass from each source component (row, with its class) to each target component \
             (column, with the class it was given). Dark is much. A sound plan has one dark class per column.",
            plots::plan(source, plan, &mixture.labels)?,
        );
    }
    figure(
        "Mean features by class",
        "Log band energy without its level, from 0 to half the sample rate. Solid: the source. \
         Dashed: the target's windows by the label that the model gives them.",
        plots::class_means(source, features, &posterior)?,
    );
    // Behind a gate it is the gate that was fitted to these windows.
    let (title, caption, threshold) = match &adaptation.gate {
        Some(gate) => (
            "Log-likelihood of the target's windows under the gate",
            "Windows left of the line are called faults. The gate was made from the others.",
            Some(gate.log_likelihood_min),
        ),
        None => (
            "Log-likelihood of the target's windows",
            "Windows left of the line are called unknown. These are the windows that the model was made from.",
            adaptation.log_likelihood_min,
        ),
    };
    let under_gate = |d: &Diagnosis| d.gate_log_likelihood.or(d.log_likelihood).map(f64::from);
    let log_likelihoods: Vec<f64> = diagnoses.iter().filter_map(under_gate).collect();
    figure(title, caption, plots::histogram(&log_likelihoods, threshold)?);

    if !checked.is_empty() {
        page.push_str(&evidence_table(checked));
    }
    let provenance = view.provenance();
    let rows = [
        ("classes", source.classes.join(", ")),
        ("windows of the target", features.nrows().to_string()),
        ("flash", format!("{} bytes", view.bytes().len())),
        ("RAM", format!("{} bytes as {}", monitor.ram(4), monitor.name("f32"))),
        ("RAM with 16-bit samples", format!("{} bytes as {}", monitor.ram(2), monitor.name("i16"))),
        ("made by", provenance.tool.into()),
        ("fitted from (SHA-256)", hex(provenance.hash)),
    ];
    page.push_str("<h2>The model</h2><table>\n");
    for (name, value) in rows {
        let _ = writeln!(page, "<tr><th>{name}</th><td>{}</td></tr>", escaped(&value));
    }
    page.push_str("</table></body></html>\n");
    Ok(page)
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:auto;padding:1rem}\
    h1{font-size:1.5rem}h2{font-size:1.15rem;margin:0}figure{margin:2rem 0;break-inside:avoid}\
    svg{max-width:100%;height:auto}figcaption{color:#555}th{text-align:left;padding-right:1rem;\
    vertical-align:top}td{overflow-wrap:anywhere}";

/// The recordings, their labels, and the evidence for each part of the bearing.
fn evidence_table(checked: &[Checked]) -> String {
    let mut table = String::from(
        "<figure><h2>Evidence at the bearing's frequencies</h2><table>\n\
         <tr><th>recording</th><th>label</th>",
    );
    for part in Part::ALL {
        let _ = write!(table, "<th>{}</th>", part.abbreviation());
    }
    table.push_str("</tr>\n");
    for one in checked {
        let name = one.path.file_name().unwrap_or_default().to_string_lossy();
        let _ = write!(
            table,
            "<tr><td>{}</td><td>{} ({:.0} %)</td>",
            escaped(&name),
            escaped(&one.label),
            100.0 * one.share
        );
        if let Some(problem) = &one.problem {
            let _ = write!(table, "<td colspan=\"4\">{}</td>", escaped(problem));
        }
        for evidence in &one.evidence {
            let tag = if Some(evidence.part) == one.part { "b" } else { "span" };
            let _ = write!(
                table,
                "<td><{tag}>{:.1} dB at {:.1} Hz</{tag}></td>",
                evidence.level_db, evidence.frequency_hz
            );
        }
        table.push_str("</tr>\n");
    }
    table.push_str(
        "</table><figcaption>How far the spectrum of the envelope stands above its floor at the frequency that \
         the geometry gives for each part, mean over three harmonics. Bold: the part that the label names. Noise \
         alone gives some 5 dB; a part that is struck at every turn stands out by 15 dB and more, but early and \
         ball faults may not.</figcaption></figure>\n",
    );
    table
}

/// The evidence for a recording's label, in a sentence.
pub fn evidence_sentence(checked: &Checked) -> String {
    let name = checked.path.file_name().unwrap_or_default().to_string_lossy();
    let label =
        format!("{name}: {} in {:.0} % of its windows", checked.label, 100.0 * checked.share);
    match (checked.for_label(), &checked.problem) {
        (Some(evidence), _) => format!(
            "{label}; the envelope spectrum stands {:.1} dB above its floor at {} ({:.1} Hz)",
            evidence.level_db,
            evidence.part.abbreviation(),
            evidence.frequency_hz
        ),
        (None, Some(problem)) => format!("{label}; no evidence: {problem}"),
        (None, None) => format!("{label}, which names no part of the bearing"),
    }
}

/// Text inside HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
