//! `rebearing adapt`: makes a model file from unlabelled recordings of a new machine.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use rebearing::Encoding;
use rebearing_host::adapt::verdict::{AdaptSettings, Pool};
use rebearing_host::build::{BuildSettings, Built, InCounts, build, drift_warning, loss_line};
use rebearing_host::data::bearing::Bearing;
use rebearing_host::data::domain::Resample;
use rebearing_host::evidence::Checked;
use rebearing_host::files::output;
use rebearing_host::report::{self, Report, ReportContents, Window};
use rebearing_host::source::SourceSettings;
use rebearing_host::source::library::Library;
use serde_json::json;

use super::frequencies::parse_bearing;
use super::{Outcome, shown};
use crate::args::alarm::AlarmArgs;
use crate::args::choice::{Choice as _, choice};
use crate::args::false_alarms::FalseAlarmArgs;
use crate::args::resample::{resampled_json, resampled_line};
use crate::args::severity::SeverityArgs;
use crate::args::solver::SolverArgs;
use crate::args::target::{read_snapshots, read_target, unchecked_seals};
use crate::progress::Step;
use crate::text::alarm::{alarm_json, model_lines, severity_json};
use crate::text::command_line::{files, origin};
use crate::text::drift::{reference_json, reference_text};
use crate::text::evidence::{check_labels, contradictions};
use crate::text::flags::all_as_flags;
use crate::text::levels::LevelCheck;
use crate::text::model::{cost_line, unit_text};
use crate::text::printable::printable;
use rebearing_host::words::plural;

/// Adapt the machines you know to unlabelled recordings of a new one and write the model file
///
/// Of a library, the machine whose labels carry best is taken. For a healthy pool, its machines
/// are combined. The verdict is a predicted accuracy: labels are carried over only if it keeps the
/// promise. Otherwise nothing is named.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rebearing adapt --source motor-a.json --manifest machines.csv --domain motor-b --pool-is all --out motor-b.rbm\n  \
    rebearing adapt --source library.json --manifest new.csv --domain pump-7 --pool-is healthy --out pump-7.rbm\n  \
    rebearing adapt --source library.json --from motor-c --manifest new.csv --domain pump-7 --promise 0.95 --out pump-7.rbm\n  \
    rebearing adapt --source motor-a.json --snapshot pump-7.rbs --domain pump-7 --pool-is healthy --out pump-7.rbm\n  \
    rebearing adapt --source motor-a.json --snapshot 1.rbs 2.rbs --snapshot-key pump-7.key --out pump-7.rbm\n  \
    rebearing adapt --source motor-a.json --manifest new.csv --domain pump-7 --average 16 --delay 5 \\\n    \
      --running-rms auto --severity 1.4,2.8,4.5 --unit g --severity-band 20,1000 --out pump-7.rbm")]
pub(super) struct AdaptArgs {
    /// Source or library that `rebearing fit` wrote.
    #[arg(long, value_name = "LIBRARY.json")]
    source: PathBuf,
    /// Machine of the library to carry the labels from [default: the one that fits best].
    #[arg(long, value_name = "NAME")]
    from: Option<String>,
    /// Table of recordings; labels of the domain, if any, are not used.
    #[arg(long, value_name = "CSV", required_unless_present = "snapshot")]
    manifest: Option<PathBuf>,
    /// Domain of the manifest to adapt to; without a manifest, a name for the machine of the
    /// snapshots.
    #[arg(long, value_name = "NAME", required_unless_present = "snapshot")]
    domain: Option<String>,
    /// Snapshots that devices of this machine sent, instead of recordings or in addition to them.
    #[arg(long, value_name = "S.rbs", num_args = 1..)]
    snapshot: Vec<PathBuf>,
    /// Key of the device, made with `rebearing key new --snapshot`. Every snapshot must then have a
    /// seal that holds, and all must come from one device, in the order in which it sent them.
    #[arg(long, value_name = "FILE", requires = "snapshot")]
    snapshot_key: Option<PathBuf>,
    /// Where to write the model file.
    #[arg(long, value_name = "MODEL.rbm")]
    out: PathBuf,
    /// Where to write a report with pictures, one self-contained HTML page.
    #[arg(long, value_name = "R.html")]
    report: Option<PathBuf>,
    /// Geometry of the new machine's bearing, in the form that `rebearing frequencies` takes. The
    /// report and the JSON then say, for each recording, what its envelope spectrum shows at the
    /// frequencies of the bearing's parts. The manifest must have the shaft's rpm.
    #[arg(long, value_name = "BALLS,BALL,PITCH[,ANGLE]", value_parser = parse_bearing)]
    bearing: Option<Bearing>,
    /// What you know about these recordings.
    #[arg(long, value_parser = choice::<Pool>(), default_value = Pool::Unknown.choice_name())]
    pool_is: Pool,
    /// Accuracy from which carried labels are trusted. The verdict is adapt only if the predicted
    /// accuracy is at least this.
    #[arg(long, value_name = "ACCURACY", default_value_t = 0.9)]
    promise: f64,
    #[command(flatten)]
    false_alarms: FalseAlarmArgs,
    /// Name classes although the verdict is to abstain. The model and every report say so.
    #[arg(long)]
    force: bool,
    /// Number format of the model file: f32 for chips with a floating-point unit, i16 for chips
    /// without. An i16 model is compared with the f32 model on these recordings. It is not written
    /// if fewer than 99 % of the windows get the same label.
    #[arg(long, value_parser = choice::<Encoding>(), default_value = Encoding::F32.choice_name())]
    encoding: Encoding,
    /// Value of the largest 16-bit count, in the unit of the recordings: the range of the sensor,
    /// such as 16 for ±16 g [default: the manifest's, or twice the largest sample].
    #[arg(long, value_name = "X")]
    full_scale: Option<f64>,
    /// Label of the healthy machine [default: the source's].
    #[arg(long, value_name = "LABEL")]
    healthy: Option<String>,
    /// Resample recordings to the source's rate, with an anti-alias filter. Use it if the device
    /// will sample at the source's rate. Without it, the model is for the rate of the recordings.
    #[arg(long)]
    resample: bool,
    #[command(flatten)]
    solver: SolverArgs,
    /// Target components per source class.
    #[arg(long, value_name = "N", default_value_t = 2)]
    components: usize,
    /// Starts of the EM; the likeliest fit is kept.
    #[arg(long, value_name = "N", default_value_t = 4)]
    restarts: usize,
    /// Seed of the starts.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    // Last, because their headings also apply to every option after them.
    #[command(flatten)]
    alarm: AlarmArgs,
    #[command(flatten)]
    severity: SeverityArgs,
}

impl AdaptArgs {
    fn settings(&self) -> BuildSettings {
        BuildSettings {
            adapt: AdaptSettings {
                pool_is: self.pool_is,
                promise: self.promise,
                false_alarms: self.false_alarms.settings(),
                force: self.force,
                plan: self.solver.settings(),
                components: self.components,
                em: SourceSettings {
                    restarts: self.restarts,
                    seed: self.seed,
                    ..SourceSettings::default()
                },
            },
            encoding: self.encoding,
            full_scale: self.full_scale,
            alarm: self.alarm.settings(),
            severity: self.severity.settings(),
            parts: None,
        }
    }
}

pub(super) fn run(args: &AdaptArgs) -> Result<Outcome> {
    let settings = args.settings();
    // Before anything is read.
    settings.check()?;
    let mut library = Library::read(&args.source)?;
    if let Some(from) = &args.from {
        library = library.only(from)?;
    }
    if let Some(healthy) = &args.healthy {
        library.set_healthy(healthy)?;
    }
    output::check_writable(&args.out)?;
    if let Some(report) = &args.report {
        output::check_writable(report)?;
        if report == &args.out {
            bail!("{}: `out` and `report` must be two files", report.display());
        }
    }
    let (manifest, name) = (args.manifest.as_deref(), args.domain.as_deref());
    let resample =
        if args.resample { Resample::To(library.first().front_end.rate_hz) } else { Resample::No };
    let snapshots = read_snapshots(&args.snapshot, args.snapshot_key.as_deref())?;
    let unchecked = unchecked_seals(&snapshots, args.snapshot_key.as_deref());
    let target = read_target(manifest, name, snapshots, args.bearing.is_some(), resample)?;
    let mut built = {
        let _step = Step::start(format!("adapting to {}", target.domain.name));
        build(library, target, &settings)?
    };
    all_as_flags(&mut built.adaptation.reasons);
    all_as_flags(&mut built.adaptation.warnings);
    built.adaptation.warnings.extend(unchecked);
    let levels = LevelCheck::of(&built.target.domain, &built.adaptation.source.front_end)?;
    let adapted = Adapted::look(built, args)?;
    let page = adapted.report.as_ref().map(|report| printable(&report.html));
    let mut outputs = vec![(args.out.as_path(), adapted.built.model.bytes())];
    if let (Some(path), Some(page)) = (&args.report, &page) {
        outputs.push((path, page.as_bytes()));
    }
    output::write_all(&outputs)?;
    Ok(levels.added_to(adapted.outcome(args)))
}

/// The model that was built, and its results for the windows.
struct Adapted {
    built: Built,
    /// Warnings of the adaptation, then of the bearing's frequencies.
    warnings: Vec<String>,
    checked: Vec<Checked>,
    report: Option<Report>,
}

impl Adapted {
    /// Labels the windows with the finished model if evidence or a report is wanted, once for both.
    fn look(built: Built, args: &AdaptArgs) -> Result<Self> {
        let warnings = built.adaptation.warnings.clone();
        let mut adapted = Self { built, warnings, checked: Vec::new(), report: None };
        if args.bearing.is_none() && args.report.is_none() {
            return Ok(adapted);
        }
        let Built { target, parts, features, adaptation, model, in_counts, .. } = &adapted.built;
        let source = &adaptation.source;
        let (domain, snapshots) = (&target.domain, &target.snapshots);
        let counts = in_counts.as_ref().map_or(&[][..], |in_counts| &in_counts.counts);
        let windows: Vec<Window> =
            report::windows(model, features, counts, parts, &source.front_end, snapshots)
                .map_err(|fault| anyhow!("domain {}: in counts, {fault}", domain.name))?;
        if let Some(bearing) = &args.bearing {
            adapted.checked = check_labels(model, domain, features, &windows, bearing);
            adapted.warnings.extend(contradictions(&adapted.checked, model));
        }
        if args.report.is_some() {
            // Text and JSON have a line of their own for the drift watch.
            let no_drift = adapted.built.drift.as_ref().err().copied();
            let mut warnings = adapted.warnings.clone();
            warnings.extend(drift_warning(model, no_drift));
            let files = files(model, &args.out, &args.source, args.manifest.as_deref())?;
            adapted.report = Some(report::report(&ReportContents {
                source,
                target: domain,
                snapshots,
                features,
                windows: &windows,
                model,
                adaptation: Some(adaptation),
                reasons: &[],
                same_recordings: true,
                warnings: &warnings,
                checked: &adapted.checked,
                origin: &origin(files),
            })?);
        }
        Ok(adapted)
    }

    fn outcome(&self, args: &AdaptArgs) -> Outcome {
        let Self { built, warnings, checked, report } = self;
        let Built { library, adaptation, model: deployed, in_counts, loss, .. } = built;
        let source = &adaptation.source;
        let (target, windows) = (&built.target.domain, built.features.x.nrows());
        let mut text = String::new();
        for warning in warnings {
            let _ = writeln!(text, "warning: {warning}");
        }
        let _ = writeln!(
            text,
            "{} -> {}: {}{} ({}) -> {}",
            source.domain,
            target.name,
            adaptation.verdict,
            if adaptation.forced { ", FORCED" } else { "" },
            plural(windows, "window", "windows"),
            args.out.display()
        );
        for reason in &adaptation.reasons {
            let _ = writeln!(text, "  {reason}");
        }
        for one in checked {
            let _ = writeln!(text, "  {}", report::evidence_sentence(one));
        }
        if let Some(loss) = loss {
            let _ = writeln!(text, "  {}", loss_line(loss));
        }
        if let Some(in_counts) = in_counts {
            let scale = in_counts.full_scale();
            let _ = writeln!(text, "  samples are 16-bit counts, ±32767 for ±{scale:.4}");
        }
        if let Some(line) = resampled_line(target, &source.front_end) {
            let _ = writeln!(text, "  {line}");
        }
        if let Some(unit) = deployed.unit() {
            let full_scale = unit.full_scale.map(f64::from);
            let _ = writeln!(text, "  samples in {}", unit_text(unit.name, full_scale));
        }
        let watch = match &built.drift {
            Ok(_) => reference_text(deployed.drift()),
            Err(reason) => format!("none: {reason}"),
        };
        let _ = writeln!(text, "  drift watch: {watch}");
        text.push_str(&model_lines(deployed));
        let _ = writeln!(text, "  {}", cost_line(deployed));
        let names: Vec<&str> = source.classes.iter().map(String::as_str).collect();
        let (monitor, ram) = deployed.monitor();
        let json = json!({
            "source": source.domain,
            "target": target.name,
            "library": library.domains(),
            "sources": adaptation.candidates,
            "verdict": adaptation.verdict,
            "forced": adaptation.forced,
            "promise": adaptation.promise,
            "predicted_accuracy": adaptation.prediction.map(|prediction| prediction.accuracy),
            "prediction": adaptation.prediction,
            "plausibility": adaptation.plausibility,
            "warnings": warnings,
            "reasons": adaptation.reasons,
            "pool_is": args.pool_is,
            "solver": args.solver.solver,
            "out": shown(&args.out),
            "report": args.report.as_deref().map(shown),
            "report_sections": report.as_ref().map(|report| &report.sections),
            "windows": windows,
            "snapshots": built.target.snapshots.len(),
            "drift": reference_json(deployed.drift(), &names),
            "classes": source.classes,
            "components": deployed.components(),
            "mw2_squared": adaptation.mw2_squared,
            "log_likelihood_min": adaptation.log_likelihood_min,
            "support": adaptation.support,
            "recordings": checked,
            "encoding": deployed.encoding().name(),
            "resampled": resampled_json(target),
            "unit": target.unit,
            "full_scale": in_counts.as_ref().map(InCounts::full_scale).or(target.full_scale),
            "quantisation": loss,
            "decision": alarm_json(
                &deployed.alarm(),
                deployed.classes(),
                deployed.counts_per_unit(),
            ),
            "severity": severity_json(deployed.severity()),
            "flash": deployed.bytes().len(),
            "ram": ram,
            "monitor": monitor,
            "seconds": adaptation.seconds,
        });
        Outcome::new(text, json)
    }
}
