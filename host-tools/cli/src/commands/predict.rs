//! `rebearing predict`: labels each window with the device's own code.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use rebearing::Statistics;
use serde_json::{Value, json};

use super::{Outcome, shown};
use crate::args::samples::SampleArgs;
use crate::progress::Step;
use crate::text::alarm::{found_severity_json, state_json, state_text};
use crate::text::drift::Watched;
use crate::text::label::word;
use crate::text::table::shorten;
use crate::text::verdict::verdict_json;
use rebearing_host::device::{DeviceClassification, DeviceFinding, DeviceSeverity};
use rebearing_host::files::output;
use rebearing_host::model::deployed::{ClassNames, DeployedModel};
use rebearing_host::model::verdict::verdict_text;
use rebearing_host::words::plural;

/// Label recordings with a model, window by window, with the code that runs on the device
///
/// After each window it shows the state of the alarm: idle, settling, filling (fewer windows than
/// are averaged), running or `sensor_fault`. Then follow the mean probability that the machine is
/// not healthy, and the alarm.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rebearing predict --model motor-b.rbm monday.wav tuesday.wav\n  \
    rebearing predict --model motor-b.rbm --channel DE_time --rate 12000 run.mat\n  \
    rebearing predict --model motor-b.rbm --snapshot-out monday.rbs monday.wav")]
pub(super) struct PredictArgs {
    #[command(flatten)]
    samples: SampleArgs,
    /// Where to write the snapshot that a device would send for these windows. `rebearing adapt
    /// --snapshot` reads it.
    #[arg(long, value_name = "S.rbs")]
    snapshot_out: Option<PathBuf>,
    /// Recordings: .wav, .mat, .npy, .npz, .csv, .tsv, .txt, .parquet.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// The word for a finding: a class name, `unknown`, `unknown_fault` (a fault of unknown type) or
/// `sensor_fault`.
pub(super) fn label_name<'m>(model: &'m impl ClassNames, finding: &DeviceFinding) -> &'m str {
    match &finding.result {
        Ok(classified) => word(model, classified.label),
        Err(_) => "sensor_fault",
    }
}

/// Counts the windows with each label, most frequent first.
pub(super) fn tally<'m>(
    model: &'m impl ClassNames,
    findings: &[DeviceFinding],
) -> Vec<(&'m str, usize)> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for finding in findings {
        let name = label_name(model, finding);
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// The heading of a table of windows. A row fits into 80 columns.
const HEADING: &str = "  win. label         %    log-l.      rms kurt. crest alarm\n";

/// Returns a finding as a row, and a row for each further axis and for severity.
fn rows(window: u32, label: &str, found: &DeviceClassification, alarm: &str) -> String {
    let sure = 100.0 * found.posterior.iter().copied().fold(0.0, f32::max);
    // If the gate called the window healthy, only the gate has a log-likelihood.
    let nats = found.log_likelihood.or(found.gate_log_likelihood);
    let nats = nats.map_or("-".into(), |nats| number(nats, 2));
    let mut text = format!("{window:>6} {:<12} {sure:>3.0} {nats:>9}", shorten(label, 12));
    for (axis, statistics) in found.statistics.iter().enumerate() {
        let Statistics { rms, kurtosis, crest, .. } = statistics;
        let [rms, kurtosis, crest] = [number(*rms, 4), number(*kurtosis, 1), number(*crest, 1)];
        if axis > 0 {
            let _ = write!(text, "\n{:>33}", "");
        }
        let _ = write!(text, " {rms:>8} {kurtosis:>5} {crest:>5}");
        if axis == 0 {
            let _ = write!(text, " {alarm}");
        }
    }
    if let Some(DeviceSeverity { velocity, zone }) = &found.severity {
        let velocity: Vec<String> = velocity.iter().map(|axis| format!("{axis:.2}")).collect();
        let _ = write!(text, "\n{:>33} {} mm/s zone {}", "", velocity.join(" "), zone.name());
    }
    text + "\n"
}

/// Formats a number with `places` digits after the point, and fewer if it has many before it.
fn number(number: f32, places: usize) -> String {
    let before = (number.abs().max(1.0).log10() as usize).saturating_sub(1);
    format!("{number:.*}", places.saturating_sub(before))
}

/// Returns a finding as JSON, with the class names of the model.
pub(super) fn report_json(model: &impl ClassNames, finding: &DeviceFinding) -> Value {
    let alarm = finding.alarm.as_ref().map(|state| state_json(model, state));
    match &finding.result {
        Ok(found) => {
            let posterior: serde_json::Map<String, Value> = found
                .posterior
                .iter()
                .enumerate()
                .map(|(class, p)| (model.class_name(class).unwrap_or("?").to_owned(), json!(p)))
                .collect();
            let statistics: Vec<Value> = found
                .statistics
                .iter()
                .map(|axis| {
                    json!({
                        "level": axis.level,
                        "rms": axis.rms,
                        "kurtosis": axis.kurtosis,
                        "crest": axis.crest,
                    })
                })
                .collect();
            json!({
                "window": finding.index,
                "label": label_name(model, finding),
                "gate_log_likelihood": found.gate_log_likelihood,
                "log_likelihood": found.log_likelihood,
                "posterior": posterior,
                "statistics": statistics,
                "severity": found_severity_json(found.severity.as_ref()),
                "decision": alarm,
            })
        }
        Err(fault) => json!({
            "window": finding.index,
            "label": "sensor_fault",
            "sensor_fault": fault.name(),
            "decision": alarm,
        }),
    }
}

pub(super) fn run(args: &PredictArgs) -> Result<Outcome> {
    let model = DeployedModel::read(&args.samples.model)?;
    if let Some(path) = &args.snapshot_out {
        output::check_writable(path)?;
    }
    let mut text = String::new();
    if let Some(verdict) = model.verdict().filter(|verdict| verdict.forced) {
        let _ = writeln!(text, "verdict: {}", verdict_text(&verdict));
    }
    let mut files = Vec::new();
    let mut watched = Watched::new(model.drift());
    let mut sent = Vec::new();
    let mut unrated: Vec<&Path> = Vec::new();
    for path in &args.files {
        let _step = Step::start(format!("labelling {}", path.display()));
        let recording = args.samples.read(&model.front_end(), path)?;
        if recording.rate_hz.is_none() {
            unrated.push(path);
        }
        let findings = model.run_sending(&recording, &mut sent)?;
        watched.findings(&findings);
        let counts = tally(&model, &findings);
        let _ =
            write!(text, "{}: {}:", path.display(), plural(findings.len(), "window", "windows"));
        for (label, count) in &counts {
            let _ = write!(text, " {label} {count}");
        }
        text.push('\n');
        text.push_str(HEADING);
        for finding in &findings {
            let state = finding.alarm.as_ref();
            let alarm = state.map_or_else(String::new, |state| state_text(&model, state));
            let index = finding.index;
            let _ = match &finding.result {
                Ok(found) => {
                    write!(text, "{}", rows(index, label_name(&model, finding), found, &alarm))
                }
                Err(fault) => writeln!(text, "{index:>6} {alarm}; sensor fault: {fault}"),
            };
        }
        files.push(json!({
            "file": shown(path),
            "windows": findings.len(),
            "labels": counts.iter().map(|(l, c)| ((*l).to_owned(), json!(c))).collect::<serde_json::Map<_, _>>(),
            "reports": findings.iter().map(|finding| report_json(&model, finding)).collect::<Vec<_>>(),
        }));
    }
    if let Some(note) = args.samples.rate_note(&model.front_end(), &unrated) {
        let _ = writeln!(text, "{note}");
    }
    let note = args.samples.resample_note(&model.front_end());
    if let Some(note) = &note {
        let _ = writeln!(text, "--resample: {note}");
    }
    let _ = writeln!(text, "{}", watched.text());
    if let Some(path) = &args.snapshot_out {
        if sent.is_empty() {
            bail!("every window of these recordings has a sensor fault: no snapshot was written");
        }
        output::write(path, &sent)?;
        let _ = writeln!(text, "snapshot: {} bytes -> {}", sent.len(), path.display());
    }
    let json = json!({
        "model": shown(&args.samples.model),
        "encoding": model.encoding().name(),
        "verdict": verdict_json(model.verdict()),
        "files": files,
        "resample": args.samples.resample,
        "resample_note": note,
        "drift": watched.json(),
        "snapshot": args.snapshot_out.as_deref().map(shown),
    });
    Ok(Outcome::new(text, json))
}
