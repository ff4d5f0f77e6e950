//! `rebearing adapt`: unlabelled recordings of a new machine to a model file.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::Outcome;
use super::frequencies::parse_bearing;
use super::inspect::cost_line;
use super::predict::word;
use crate::adapt::plan::{PlanSettings, Solver};
use crate::adapt::verdict::{self, AdaptSettings, Adaptation, Pool};
use crate::bearing::Bearing;
use crate::device::MonitorType;
use crate::diagnoses::diagnoses;
use crate::domain::{Domain, healthy_class};
use crate::evidence::Checked;
use crate::extract::{Features, extract};
use crate::manifest::Manifest;
use crate::model_file::ModelBytes;
use crate::output;
use crate::progress::Step;
use crate::rates;
use crate::report::{self, ReportContents};
use crate::source::{Source, SourceSettings};

/// Adapt a source to unlabelled recordings of a new machine and write the model file.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rebearing adapt --source motor-a.json --manifest machines.csv --domain motor-b --pool-is all --out motor-b.rbm\n  \
    rebearing adapt --source motor-a.json --manifest new.csv --domain pump-7 --pool-is healthy --out pump-7.rbm")]
pub(super) struct AdaptArgs {
    /// Source mixture that `rebearing fit` wrote.
    #[arg(long, value_name = "SOURCE.json")]
    source: PathBuf,
    /// Table of recordings; labels of the domain, if any, are not used.
    #[arg(long, value_name = "CSV")]
    manifest: PathBuf,
    /// Domain of the manifest to adapt to.
    #[arg(long, value_name = "NAME")]
    domain: String,
    /// Where to write the model file.
    #[arg(long, value_name = "MODEL.rbm")]
    out: PathBuf,
    /// Where to write a report with its pictures, one self-contained HTML page.
    #[arg(long, value_name = "R.html")]
    report: Option<PathBuf>,
    /// Geometry of the new machine's bearing, as `rebearing frequencies` takes it: the report
    /// and the JSON then say what each recording's envelope spectrum shows at the frequencies
    /// of its parts, beside the label. The manifest must have the shaft's rpm.
    #[arg(long, value_name = "BALLS,BALL,PITCH[,ANGLE]", value_parser = parse_bearing)]
    bearing: Option<Bearing>,
    /// What you know of these recordings: every class is in them, the machine was healthy
    /// throughout, or nothing.
    #[arg(long, value_enum, default_value_t = Pool::Unknown)]
    pool_is: Pool,
    /// Label of the healthy machine [default: the source's].
    #[arg(long, value_name = "LABEL")]
    healthy: Option<String>,
    #[command(flatten)]
    solver: SolverArgs,
    /// Target components per source class.
    #[arg(long, value_name = "N", default_value_t = 2)]
    components: usize,
    /// Starts of the EM; the likeliest is kept.
    #[arg(long, value_name = "N", default_value_t = 4)]
    restarts: usize,
    /// Seed of the starts.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// How the plan between mixtures is found.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct SolverArgs {
    /// How the transport plan is found.
    #[arg(long, value_enum, default_value_t = PlanSettings::default().solver)]
    solver: Solver,
    /// Entropy of an entropic plan, relative to the largest cost.
    #[arg(long, value_name = "E", default_value_t = PlanSettings::default().epsilon)]
    epsilon: f64,
    /// How strongly the relaxed solver holds the source's class shares, relative to the largest
    /// cost.
    #[arg(long, value_name = "T", default_value_t = PlanSettings::default().tau)]
    tau: f64,
}

impl SolverArgs {
    pub(super) fn settings(self) -> PlanSettings {
        PlanSettings { solver: self.solver, epsilon: self.epsilon, tau: self.tau }
    }
}

pub(super) fn run(args: &AdaptArgs) -> Result<Outcome> {
    let mut source = Source::read(&args.source)?;
    if args.healthy.is_some() {
        source.healthy = healthy_class(&source.classes, args.healthy.as_deref())?;
    }
    let manifest = Manifest::read(&args.manifest)?;
    output::check_writable(&args.out)?;
    if let Some(report) = &args.report {
        output::check_writable(report)?;
    }
    let target = {
        let _step = Step::start(format!("reading the recordings of {}", args.domain));
        Domain::read(&manifest, &args.domain)?
    };
    let fitted_hz = source.front_end.rate_hz;
    source.front_end = rates::at_rate(&source.front_end, target.rate_hz).with_context(|| {
        format!(
            "{}: domain {} is sampled at {} Hz, the source {} at {fitted_hz} Hz",
            manifest.path.display(),
            target.name,
            target.rate_hz,
            args.source.display()
        )
    })?;
    let settings = AdaptSettings {
        pool: args.pool_is,
        plan: args.solver.settings(),
        components: args.components,
        em: SourceSettings {
            restarts: args.restarts,
            seed: args.seed,
            ..SourceSettings::default()
        },
    };
    let (adaptation, features) = {
        let _step = Step::start(format!("adapting to {}", args.domain));
        let features = extract(&target.recordings, &target.whole(), &source.front_end)?;
        (verdict::adapt(&source, &features, &settings)?, features)
    };
    let windows = features.x.nrows();
    let model = encode(&source, &target, &adaptation)?;
    let checked = match &args.bearing {
        Some(bearing) => check_labels(&model, &target, &features, bearing),
        None => Vec::new(),
    };
    if let Some(path) = &args.report {
        let page = report::html(&ReportContents {
            source: &source,
            target: &target.name,
            features: &features.x,
            adaptation: &adaptation,
            model: &model,
            checked: &checked,
        })?;
        output::write(path, page.as_bytes())?;
    }
    output::write(&args.out, model.bytes())?;

    let mut text = format!(
        "{} -> {}: {} ({windows} windows) -> {}\n",
        source.domain,
        target.name,
        adaptation.verdict,
        args.out.display()
    );
    for reason in &adaptation.reasons {
        let _ = writeln!(text, "  {reason}");
    }
    for one in &checked {
        let _ = writeln!(text, "  {}", report::evidence_sentence(one));
    }
    let _ = writeln!(text, "  {}", cost_line(&model.model()));
    let monitor = MonitorType::of(&model.model());
    let json = json!({
        "source": source.domain,
        "target": target.name,
        "verdict": adaptation.verdict,
        "reasons": adaptation.reasons,
        "pool_is": args.pool_is,
        "solver": args.solver.solver,
        "out": args.out,
        "report": args.report,
        "windows": windows,
        "classes": source.classes,
        "components": monitor.components,
        "mw2_squared": adaptation.mw2_squared,
        "log_likelihood_min": adaptation.log_likelihood_min,
        "support": adaptation.support,
        "recordings": checked,
        "flash": model.bytes().len(),
        "ram": monitor.ram(4),
        "monitor": monitor.name("f32"),
        "seconds": adaptation.seconds,
    });
    Ok(Outcome::new(text, json))
}

/// What the envelope spectra say about the labels that the model gives the recordings.
fn check_labels(
    model: &ModelBytes,
    target: &Domain,
    features: &Features,
    bearing: &Bearing,
) -> Vec<Checked> {
    let _step = Step::start("looking for the bearing's frequencies".to_owned());
    let model = model.model();
    let rows = diagnoses(&model, &features.x).rows;
    target
        .recordings
        .iter()
        .enumerate()
        .map(|(index, recording)| {
            let own = rows.iter().zip(&features.recording).filter(|(_, of)| **of == index);
            let labels: Vec<String> =
                own.map(|(row, _)| word(&model, row.label).to_owned()).collect();
            Checked::new(recording, &labels, target.rate_hz, bearing)
        })
        .collect()
}

/// The model file of an adaptation.
pub(super) fn encode(
    source: &Source,
    target: &Domain,
    adaptation: &Adaptation,
) -> Result<ModelBytes> {
    let mut hash = Sha256::new();
    hash.update(source.hash_bytes()?);
    hash.update(target.hash(false));
    Ok(adaptation.model(source, &target.name, hash.finalize().into())?)
}
