//! `rebearing predict`: a label for each window, by the device's own code.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use rebearing::Statistics;
use serde_json::{Value, json};

use super::{Outcome, shown};
use crate::args::samples::SampleArgs;
use crate::progress::Step;
use crate::text::alarm::{found_severity_json, verdict_json, verdict_text};
use crate::text::drift::Watched;
use crate::text::label::word;
use crate::text::table::shorten;
use rebearing_host::device::{DeviceClassification, DeviceFinding, DeviceSeverity};
use rebearing_host::files::output;
use rebearing_host::model::deployed::{ClassNames, DeployedModel};
use rebearing_host::words::plural;

/// Label recordings with a model, window by window, by the code that runs on the device, and say
/// what it decides after each: idle, settling, filling (fewer windows than are averaged), running
/// or `sensor_fault`, the mean probability that the machine is not healthy, and the alarm.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rebearing predict --model motor-b.rbm monday.wav tuesday.wav\n  \
    rebearing predict --model motor-b.rbm --channel DE_time --rate 12000 run.mat\n  \
    rebearing predict --model motor-b.rbm --snapshot-out monday.rbs monday.wav")]
pub(super) struct PredictArgs {
    #[command(flatten)]
    samples: SampleArgs,
    /// Where to write the snapshot that a device would send of these windows, for `rebearing adapt
    /// --snapshot`.
    #[arg(long, value_name = "S.rbs")]
    snapshot_out: Option<PathBuf>,
    /// Recordings: .wav, .mat, .npy, .npz, .csv, .tsv, .txt, .parquet.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// The word for a report's result: a class name, `unknown`, `unknown_fault` (a fault of unknown
/// type) or `sensor_fault`.
pub(super) fn label_name<'m>(model: &'m impl ClassNames, report: &DeviceFinding) -> &'m str {
    match &report.result {
        Ok(finding) => word(model, finding.label),
        Err(_) => "sensor_fault",
    }
}

/// How many windows got each label, most first.
pub(super) fn tally<'m>(
    model: &'m impl ClassNames,
    reports: &[DeviceFinding],
) -> Vec<(&'m str, usize)> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for report in reports {
        let name = label_name(model, report);
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// What stands above a table of windows; a finding is as wide as 80 columns.
const HEADING: &str = "  win. label         %    log-l.      rms kurt. crest decision\n";

/// A finding as a row, and a row for each further axis and for severity.
fn rows(window: u32, label: &str, finding: &DeviceClassification, decided: &str) -> String {
    let sure = 100.0 * finding.posterior.iter().copied().fold(0.0, f32::max);
    // Behind a gate what called the window healthy is what explains it.
    let nats = finding.log_likelihood.or(finding.gate_log_likelihood);
    let nats = nats.map_or("-".into(), |nats| number(nats, 2));
    let mut text = format!("{window:>6} {:<12} {sure:>3.0} {nats:>9}", shorten(label, 12));
    for (axis, statistics) in finding.statistics.iter().enumerate() {
        let Statistics { rms, kurtosis, crest, .. } = statistics;
        let [rms, kurtosis, crest] = [number(*rms, 4), number(*kurtosis, 1), number(*crest, 1)];
        if axis > 0 {
            let _ = write!(text, "\n{:>33}", "");
        }
        let _ = write!(text, " {rms:>8} {kurtosis:>5} {crest:>5}");
        if axis == 0 {
            let _ = write!(text, " {decided}");
        }
    }
    if let Some(DeviceSeverity { velocity, zone }) = &finding.severity {
        let velocity: Vec<String> = velocity.iter().map(|axis| format!("{axis:.2}")).collect();
        let _ = write!(text, "\n{:>33} {} mm/s zone {}", "", velocity.join(" "), zone.name());
    }
    text + "\n"
}

/// A number with so many digits behind the point, and fewer where it has many before it.
fn number(number: f32, places: usize) -> String {
    let before = (number.abs().max(1.0).log10() as usize).saturating_sub(1);
    format!("{number:.*}", places.saturating_sub(before))
}

/// A report as JSON, with the class names of the model.
pub(super) fn report_json(model: &impl ClassNames, report: &DeviceFinding) -> Value {
    let decision = report.alarm.as_ref().map(|verdict| verdict_json(model, verdict));
    match &report.result {
        Ok(finding) => {
            let posterior: serde_json::Map<String, Value> = finding
                .posterior
                .iter()
                .enumerate()
                .map(|(class, p)| (model.class_name(class).unwrap_or("?").to_owned(), json!(p)))
                .collect();
            let statistics: Vec<Value> = finding
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
                "window": report.index,
                "label": label_name(model, report),
                "gate_log_likelihood": finding.gate_log_likelihood,
                "log_likelihood": finding.log_likelihood,
                "posterior": posterior,
                "statistics": statistics,
                "severity": found_severity_json(finding.severity.as_ref()),
                "decision": decision,
            })
        }
        Err(fault) => json!({
            "window": report.index,
            "label": "sensor_fault",
            "sensor_fault": fault.name(),
            "decision": decision,
        }),
    }
}

pub(super) fn run(args: &PredictArgs) -> Result<Outcome> {
    let model = DeployedModel::read(&args.samples.model)?;
    if let Some(path) = &args.snapshot_out {
        output::check_writable(path)?;
    }
    let mut text = String::new();
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
        let reports = model.run_sending(&recording, &mut sent)?;
        watched.reports(&reports);
        let counts = tally(&model, &reports);
        let _ = write!(text, "{}: {}:", path.display(), plural(reports.len(), "window", "windows"));
        for (label, count) in &counts {
            let _ = write!(text, " {label} {count}");
        }
        text.push('\n');
        text.push_str(HEADING);
        for report in &reports {
            let verdict = report.alarm.as_ref();
            let decided = verdict.map_or_else(String::new, |verdict| verdict_text(&model, verdict));
            let index = report.index;
            let _ = match &report.result {
                Ok(finding) => {
                    write!(text, "{}", rows(index, label_name(&model, report), finding, &decided))
                }
                Err(fault) => writeln!(text, "{index:>6} {decided}; sensor fault: {fault}"),
            };
        }
        files.push(json!({
            "file": shown(path),
            "windows": reports.len(),
            "labels": counts.iter().map(|(l, c)| ((*l).to_owned(), json!(c))).collect::<serde_json::Map<_, _>>(),
            "reports": reports.iter().map(|report| report_json(&model, report)).collect::<Vec<_>>(),
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
            bail!(
                "no window of these recordings is without a sensor fault: no snapshot was written"
            );
        }
        output::write(path, &sent)?;
        let _ = writeln!(text, "snapshot: {} bytes -> {}", sent.len(), path.display());
    }
    let json = json!({
        "model": shown(&args.samples.model),
        "encoding": model.encoding().name(),
        "files": files,
        "resample": args.samples.resample,
        "resample_note": note,
        "drift": watched.json(),
        "snapshot": args.snapshot_out.as_deref().map(shown),
    });
    Ok(Outcome::new(text, json))
}
