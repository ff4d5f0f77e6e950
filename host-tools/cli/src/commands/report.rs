//! `rebearing report`: writes the page about an existing model and recordings of its machine.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde_json::json;

use super::frequencies::parse_bearing;
use super::{Outcome, shown};
use crate::args::target::{read_snapshots, read_target, unchecked_seals};
use crate::progress::Step;
use crate::text::command_line::{files, origin};
use crate::text::drift::Watched;
use crate::text::evidence::{check_labels, contradictions};
use crate::text::label::word;
use crate::text::printable::printable;
use crate::text::verdict::verdict_json;
use rebearing_host::build::{Target, drift_warning, fitted_from};
use rebearing_host::data::bearing::Bearing;
use rebearing_host::data::counts::{Counts, counts, rounded};
use rebearing_host::data::domain::{Domain, Resample};
use rebearing_host::features::extract::extract;
use rebearing_host::features::rates;
use rebearing_host::features::snapshot::{Snapshot, with_snapshots};
use rebearing_host::files::output;
use rebearing_host::model::deployed::{ClassNames as _, DeployedModel};
use rebearing_host::report::{self, ReportContents, Window};
use rebearing_host::source::Source;
use rebearing_host::source::library::Library;
use rebearing_host::words::plural;

/// Write a report about a model and recordings of its machine: one self-contained HTML page
///
/// The recordings may be those that the model was adapted to, or later ones.
///
/// The page has the sections of `adapt --report`: what the model does, labels over time, spectra,
/// features before and after, log-likelihood with the thresholds, confusion if the manifest has
/// labels, evidence at the bearing's frequencies, levels of the recordings, cost on the device,
/// settings and provenance.
///
/// A model file does not hold the transport plan and the reasons of the verdict, so the page says
/// why they are missing. Instead of the reasons it shows the drift, and whether the model was made
/// from these recordings.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rebearing report --model motor-b.rbm --source motor-a.json --manifest machines.csv --domain motor-b --out r.html\n  \
    rebearing report --model motor-b.rbm --source motor-a.json --manifest june.csv --domain motor-b \\\n    \
      --bearing 9,7.94,39.04 --out june.html")]
pub(super) struct ReportArgs {
    /// Model file that `rebearing adapt` wrote.
    #[arg(long, value_name = "MODEL.rbm")]
    model: PathBuf,
    /// Source mixture that the model was adapted from.
    #[arg(long, value_name = "SOURCE.json")]
    source: PathBuf,
    /// Table of recordings; if it has labels, they are compared with the model's.
    #[arg(long, value_name = "CSV", required_unless_present = "snapshot")]
    manifest: Option<PathBuf>,
    /// Domain of the manifest; without a manifest, a name for the machine of the snapshots.
    #[arg(long, value_name = "NAME", required_unless_present = "snapshot")]
    domain: Option<String>,
    /// Snapshots that devices of this machine sent, instead of recordings or in addition to them.
    #[arg(long, value_name = "S.rbs", num_args = 1..)]
    snapshot: Vec<PathBuf>,
    /// Key of the device, made with `rebearing key new --snapshot`. Every snapshot must then have a
    /// seal that holds, and all must come from one device, in the order in which it sent them.
    #[arg(long, value_name = "FILE", requires = "snapshot")]
    snapshot_key: Option<PathBuf>,
    /// Where to write the page.
    #[arg(long, value_name = "R.html")]
    out: PathBuf,
    /// Geometry of the machine's bearing, in the form that `rebearing frequencies` takes. The
    /// manifest must have the shaft's rpm.
    #[arg(long, value_name = "BALLS,BALL,PITCH[,ANGLE]", value_parser = parse_bearing)]
    bearing: Option<Bearing>,
}

pub(super) fn run(args: &ReportArgs) -> Result<Outcome> {
    let model = DeployedModel::read(&args.model)?;
    let library = Library::read(&args.source)?;
    let mut source = source_of(&model, &library, args)?;
    // `adapt --healthy` may have named another healthy class than the source's.
    source.healthy = model.healthy();
    output::check_writable(&args.out)?;
    let (manifest, name) = (args.manifest.as_deref(), args.domain.as_deref());
    let snapshots = read_snapshots(&args.snapshot, args.snapshot_key.as_deref())?;
    let unchecked = unchecked_seals(&snapshots, args.snapshot_key.as_deref());
    let Target { mut domain, snapshots, place } =
        read_target(manifest, name, snapshots, args.bearing.is_some(), Resample::No)?;
    check_front_end(&model, &mut source, &domain, &place, args)?;
    for snapshot in &snapshots {
        snapshot.check(&source.front_end)?;
    }
    let samples = in_counts(&model, &mut domain)?;

    let _step = Step::start(format!("labelling {}", domain.name));
    let parts = domain.whole();
    let features = extract(&domain.recordings, &parts, &source.front_end)?;
    let features = with_snapshots(features, domain.recordings.len(), &snapshots);
    let windows =
        report::windows(&model, &features, &samples, &parts, &source.front_end, &snapshots)
            .map_err(|fault| anyhow!("{place}: in counts, {fault}; cut that part out"))?;
    let mut watched = Watched::new(model.drift());
    for recording in &domain.recordings {
        watched.findings(&model.run(recording)?);
    }
    let checked = args.bearing.map_or_else(Vec::new, |bearing| {
        check_labels(&model, &domain, &features, &windows, &bearing)
    });
    let told: Vec<String> = contradictions(&checked, &model).into_iter().chain(unchecked).collect();
    // Text and JSON have a line of their own for the drift watch.
    let warnings: Vec<String> = told.iter().cloned().chain(drift_warning(&model, None)).collect();
    let same_recordings = made_from(&model, &library, &domain, &snapshots)?;
    let reasons = reasons(&model, same_recordings, &watched);
    let origin = origin(files(&model, &args.model, &args.source, manifest)?);
    let page = report::report(&ReportContents {
        source: &source,
        target: &domain,
        snapshots: &snapshots,
        features: &features,
        windows: &windows,
        model: &model,
        adaptation: None,
        reasons: &reasons,
        same_recordings,
        warnings: &warnings,
        checked: &checked,
        origin: &origin,
    })?;
    output::write(&args.out, printable(&page.html).as_bytes())?;

    let mut text = String::new();
    for warning in &told {
        let _ = writeln!(text, "warning: {warning}");
    }
    let _ = writeln!(
        text,
        "{}, adapted from {}, on {} of {} -> {}",
        args.model.display(),
        source.domain,
        plural(windows.len(), "window", "windows"),
        domain.name,
        args.out.display()
    );
    for reason in &reasons {
        let _ = writeln!(text, "  {reason}");
    }
    let counted: serde_json::Map<_, _> = tally(&model, &windows).into_iter().collect();
    for (label, count) in &counted {
        let _ = writeln!(text, "  {label} {count}");
    }
    for one in &checked {
        let _ = writeln!(text, "  {}", report::evidence_sentence(one));
    }
    let json = json!({
        "report": shown(&args.out),
        "model": shown(&args.model),
        "source": source.domain,
        "target": domain.name,
        "encoding": model.encoding().name(),
        "windows": windows.len(),
        "labels": counted,
        "same_recordings": same_recordings,
        "drift": watched.json(),
        "warnings": told,
        "verdict": verdict_json(model.verdict()),
        "recordings": checked,
        "sections": page.sections,
    });
    Ok(Outcome::new(text, json))
}

/// Returns the machine that the model was adapted from. Of a combination it is the first.
///
/// Refuses a library without it, or with other classes.
fn source_of(model: &DeployedModel, library: &Library, args: &ReportArgs) -> Result<Source> {
    let names: Vec<&str> = (0..model.classes()).filter_map(|c| model.class_name(c)).collect();
    let from = match model {
        DeployedModel::F32(bytes) => bytes.model().provenance().source.to_owned(),
        DeployedModel::I16(bytes) => bytes.model().provenance().source.to_owned(),
    };
    let first = from.split('+').next().unwrap_or(&from);
    let source = library.source(&from).or_else(|| library.source(first));
    match source.filter(|source| names == source.classes) {
        Some(source) => Ok(Source { domain: from, ..source.clone() }),
        None => bail!(
            "{}: was adapted from {from} with the classes {}, but {} has {} with the classes {}; give the \
             source that the model was adapted from",
            args.model.display(),
            names.join(", "),
            args.source.display(),
            library.domains().join(", "),
            library.first().classes.join(", ")
        ),
    }
}

/// Brings the source to the rate of the recordings. Refuses recordings and sources that the model
/// cannot run with.
fn check_front_end(
    model: &DeployedModel,
    source: &mut Source,
    domain: &Domain,
    place: &str,
    args: &ReportArgs,
) -> Result<()> {
    let model_hz = f64::from(model.front_end().rate_hz);
    if (domain.rate_hz - model_hz).abs() > 1e-6 * model_hz {
        bail!(
            "{place} is sampled at {} Hz, but the model {} needs {model_hz} Hz; resample the recordings, or adapt a \
             model at this rate",
            domain.rate_hz,
            args.model.display()
        );
    }
    source.front_end = rates::at_rate(&source.front_end, domain.rate_hz)
        .with_context(|| format!("{place}, with the source {}", args.source.display()))?;
    if source.front_end.device() != model.front_end() {
        bail!(
            "{}: its features differ from those of the source {} (FFT, hop, segments or bands); give the source that \
             the model was adapted from",
            args.model.display(),
            args.source.display()
        );
    }
    Ok(())
}

/// Returns the recordings in counts if the model takes counts, else nothing. `domain` then holds
/// the values that the counts stand for.
fn in_counts(model: &DeployedModel, domain: &mut Domain) -> Result<Vec<Counts>> {
    let Some(per_unit) = model.counts_per_unit() else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for recording in &mut domain.recordings {
        let own = counts(recording, per_unit)?;
        *recording = rounded(recording, &own, per_unit);
        all.push(own);
    }
    Ok(all)
}

/// Returns true if the model was made from this source and these recordings.
fn made_from(
    model: &DeployedModel,
    library: &Library,
    domain: &Domain,
    snapshots: &[Snapshot],
) -> Result<bool> {
    let hash = fitted_from(library, domain, snapshots)?;
    Ok(match model {
        DeployedModel::F32(bytes) => *bytes.model().provenance().hash == hash,
        DeployedModel::I16(bytes) => *bytes.model().provenance().hash == hash,
    })
}

/// Returns the sentences that take the place of a verdict's reasons.
fn reasons(model: &DeployedModel, same_recordings: bool, watched: &Watched<'_>) -> Vec<String> {
    let of = if same_recordings {
        "the model was made from these very recordings"
    } else {
        "the model was made from other recordings, or from another source"
    };
    let (target, tool) = match model {
        DeployedModel::F32(bytes) => {
            let provenance = bytes.model().provenance();
            (provenance.target.to_owned(), provenance.tool.to_owned())
        }
        DeployedModel::I16(bytes) => {
            let provenance = bytes.model().provenance();
            (provenance.target.to_owned(), provenance.tool.to_owned())
        }
    };
    vec![
        format!("the model was adapted to {target} by {tool}"),
        of.into(),
        watched.text(),
        "the reasons of the verdict are in the report that `rebearing adapt --report` wrote; a model file does not \
         hold them"
            .into(),
    ]
}

/// Counts the windows with each label.
fn tally(model: &DeployedModel, windows: &[Window]) -> Vec<(String, serde_json::Value)> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for window in windows {
        let name = word(model, window.label);
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.into_iter().map(|(name, count)| (name.to_owned(), json!(count))).collect()
}
