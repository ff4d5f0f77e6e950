//! `rebearing adapt`: unlabelled recordings of a new machine to a model file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::fit::unit_text;
use super::frequencies::parse_bearing;
use super::inspect::cost_line;
use super::report::{check_labels, files};
use super::{Outcome, shown};
use crate::args::alarm::{DecisionArgs, SeverityArgs, sections};
use crate::args::choice::{Choice as _, choice};
use crate::args::resample::{resampled_json, resampled_line};
use crate::progress::Step;
use crate::text::alarm::{decision_json, model_lines, severity_json};
use crate::text::command_line::origin;
use crate::text::drift::{reference_json, reference_text};
use rebearing_host::adapt::plan::{PlanSettings, Solver};
use rebearing_host::adapt::verdict::{self, AdaptSettings, Adaptation, Pool};
use rebearing_host::data::bearing::Bearing;
use rebearing_host::data::counts::{self, Counts, FULL_SCALE_COUNTS};
use rebearing_host::data::domain::{Domain, Resample, healthy_class};
use rebearing_host::data::manifest::Manifest;
use rebearing_host::evidence::Checked;
use rebearing_host::features::extract::{Features, extract};
use rebearing_host::features::rates;
use rebearing_host::features::snapshot::{self, Snapshot, with_snapshots};
use rebearing_host::files::output;
use rebearing_host::model::deployed::DeployedModel;
use rebearing_host::model::drift;
use rebearing_host::model::file::ModelBytes;
use rebearing_host::model::integer_file::{IntegerModelBytes, encode_integer};
use rebearing_host::model::loss::{self, AGREEMENT_MIN, Loss};
use rebearing_host::model::quantise::quantise;
use rebearing_host::model::sections::{drift_section, unit_section};
use rebearing_host::report::{self, Report, ReportContents, Window};
use rebearing_host::source::{Source, SourceSettings};

/// Adapt a source to unlabelled recordings of a new machine and write the model file.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rebearing adapt --source motor-a.json --manifest machines.csv --domain motor-b --pool-is all --out motor-b.rbm\n  \
    rebearing adapt --source motor-a.json --manifest new.csv --domain pump-7 --pool-is healthy --out pump-7.rbm\n  \
    rebearing adapt --source motor-a.json --snapshot pump-7.rbs --domain pump-7 --pool-is healthy --out pump-7.rbm\n  \
    rebearing adapt --source motor-a.json --manifest new.csv --domain pump-7 --average 16 --delay 5 \\\n    \
      --running-rms auto --severity 1.4,2.8,4.5 --unit g --severity-band 20,1000 --out pump-7.rbm")]
pub(super) struct AdaptArgs {
    /// Source mixture that `rebearing fit` wrote.
    #[arg(long, value_name = "SOURCE.json")]
    source: PathBuf,
    /// Table of recordings; labels of the domain, if any, are not used.
    #[arg(long, value_name = "CSV", required_unless_present = "snapshot")]
    manifest: Option<PathBuf>,
    /// Domain of the manifest to adapt to; with snapshots alone, what to call their machine.
    #[arg(long, value_name = "NAME", required_unless_present = "snapshot")]
    domain: Option<String>,
    /// Snapshots that devices of this machine sent, in place of recordings or beside them.
    #[arg(long, value_name = "S.rbs", num_args = 1..)]
    snapshot: Vec<PathBuf>,
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
    #[arg(long, value_parser = choice::<Pool>(), default_value = Pool::Unknown.choice_name())]
    pool_is: Pool,
    /// How the model file writes its numbers: f32 for chips with a floating-point unit, i16
    /// for those without. An i16 model is tried on these recordings beside the f32 one, and not
    /// written if fewer than 99 % of the windows get the same label.
    #[arg(long, value_enum, default_value_t = ModelEncoding::F32)]
    encoding: ModelEncoding,
    /// What the largest 16-bit count stands for, in the unit of the recordings: the range of
    /// the sensor, such as 16 for ±16 g [default: the manifest's, or twice the largest sample].
    #[arg(long, value_name = "X")]
    full_scale: Option<f64>,
    /// Label of the healthy machine [default: the source's].
    #[arg(long, value_name = "LABEL")]
    healthy: Option<String>,
    /// Brings recordings of another rate to the source's, with an anti-alias filter: for a device
    /// that will sample at the source's rate. Without it, the model is for the recordings' own.
    #[arg(long)]
    resample: bool,
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
    // Last, as their headings go on for whatever stands behind them.
    #[command(flatten)]
    decision: DecisionArgs,
    #[command(flatten)]
    severity: SeverityArgs,
}

/// How a model file writes its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ModelEncoding {
    /// 32-bit floats.
    F32,
    /// 16-bit integers.
    I16,
}

/// How the plan between mixtures is found.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct SolverArgs {
    /// How the transport plan is found.
    #[arg(long, value_parser = choice::<Solver>(), default_value = PlanSettings::default().solver.choice_name())]
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
    if args.full_scale.is_some() && args.encoding == ModelEncoding::F32 {
        bail!("--full-scale is for 16-bit counts: give --encoding i16 too, or leave it out");
    }
    if args.severity.asked() && args.encoding == ModelEncoding::I16 {
        bail!("--severity needs floats on the device: leave it out, or take --encoding f32");
    }
    // Before the long work; what needs the model comes after it.
    args.decision.parameters()?;
    let mut source = Source::read(&args.source)?;
    if args.healthy.is_some() {
        source.healthy = healthy_class(&source.classes, args.healthy.as_deref())?;
    }
    output::check_writable(&args.out)?;
    if let Some(report) = &args.report {
        output::check_writable(report)?;
    }
    let (manifest, name) = (args.manifest.as_deref(), args.domain.as_deref());
    let resample =
        if args.resample { Resample::To(source.front_end.rate_hz) } else { Resample::No };
    let Target { mut domain, snapshots, place } =
        Target::read(manifest, name, &args.snapshot, args.bearing.is_some(), resample)?;
    check_units(&source, &domain, &place)?;
    // An i16 model is fitted to what its device will see: the recordings in counts.
    let samples = match args.encoding {
        ModelEncoding::F32 => None,
        ModelEncoding::I16 => Some(Samples::new(&mut domain, args.full_scale)?),
    };
    let fitted_hz = source.front_end.rate_hz;
    source.front_end = rates::at_rate(&source.front_end, domain.rate_hz).with_context(|| {
        format!(
            "{place} is sampled at {} Hz, the source {} at {fitted_hz} Hz",
            domain.rate_hz,
            args.source.display()
        )
    })?;
    for snapshot in &snapshots {
        snapshot.check(&source.front_end)?;
    }
    let severity = args.severity.parameters(&source.front_end, domain.unit.as_ref())?;
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
        let _step = Step::start(format!("adapting to {}", domain.name));
        let features = extract(&domain.recordings, &domain.whole(), &source.front_end)?;
        let features = with_snapshots(features, domain.recordings.len(), &snapshots);
        (verdict::adapt(&source, &features, &settings)?, features)
    };
    let windows = features.x.nrows();
    let model = encode(&source, &domain, &snapshots, &adaptation)?;
    let drift = {
        let recordings = domain.recordings.len();
        drift::reference(&model.model(), &adaptation.held_out, &features, recordings)
    };
    let (deployed, loss) = match &samples {
        None => (DeployedModel::F32(model), None),
        Some(samples) => {
            let _step = Step::start("trying the model in integers");
            let (integer, loss) =
                samples.quantise(&model, &source, &domain, &snapshots, &features)?;
            (DeployedModel::I16(integer), Some(loss))
        }
    };
    let decision = args.decision.for_model(&deployed, &domain.recordings)?;
    let mut sections = sections(&decision, severity.as_ref());
    sections.extend(drift.as_ref().map(drift_section));
    sections.extend(domain.unit.as_ref().map(|unit| unit_section(unit, domain.full_scale)));
    let deployed = deployed.with_sections(&sections)?;
    let mut result = Adapted {
        source,
        target: domain,
        snapshots,
        adaptation,
        checked: Vec::new(),
        deployed,
        samples,
        loss,
        windows,
        report: None,
    };
    result.look(args, &features)?;
    output::write(&args.out, result.deployed.bytes())?;
    if let (Some(path), Some(report)) = (&args.report, &result.report) {
        output::write(path, report.html.as_bytes())?;
    }
    Ok(result.outcome(args))
}

/// Refuses a machine that was measured in another quantity than the source.
fn check_units(source: &Source, target: &Domain, place: &str) -> Result<()> {
    let (Some(known), Some(unit)) = (&source.unit, &target.unit) else { return Ok(()) };
    // The features have no level: what can be converted need not be, and the model stays in the
    // unit of its own machine.
    unit.factor_to(known).map(drop).with_context(|| {
        format!("{place} is recorded in {unit}, the source {} in {known}", source.domain)
    })
}

/// What is adapted to.
pub(super) struct Target {
    /// The machine, with its recordings, if any.
    pub(super) domain: Domain,
    /// What its devices sent.
    pub(super) snapshots: Vec<Snapshot>,
    /// Where its sample rate stands, for errors.
    pub(super) place: String,
}

impl Target {
    /// Reads recordings, snapshots or both; `bearing` where recordings are asked for.
    pub(super) fn read(
        manifest: Option<&Path>,
        name: Option<&str>,
        sent: &[PathBuf],
        bearing: bool,
        resample: Resample,
    ) -> Result<Self> {
        let mut snapshots = Vec::new();
        for path in sent {
            snapshots.extend(snapshot::read(path)?);
        }
        let Some(path) = manifest else {
            let first = snapshots.first().context("give --manifest and --domain, or --snapshot")?;
            if bearing {
                bail!(
                    "--bearing looks at recordings, and snapshots hold none: give --manifest too"
                );
            }
            let domain = Domain {
                name: name.unwrap_or("snapshot").into(),
                rate_hz: f64::from(first.rate_hz),
                axes: first.axes,
                ..Domain::default()
            };
            let place = format!("{}: the device", first.path.display());
            return Ok(Self { domain, snapshots, place });
        };
        let name = name.context("--manifest needs the --domain to adapt to")?;
        let manifest = Manifest::read(path)?;
        let _step = Step::start(format!("reading the recordings of {name}"));
        let domain = Domain::read_at(&manifest, name, resample)?;
        let place = format!("{}: domain {name}", manifest.path.display());
        Ok(Self { domain, snapshots, place })
    }
}

/// What was done, and what came of it.
struct Adapted {
    source: Source,
    target: Domain,
    snapshots: Vec<Snapshot>,
    adaptation: Adaptation,
    checked: Vec<Checked>,
    deployed: DeployedModel,
    samples: Option<Samples>,
    loss: Option<Loss>,
    windows: usize,
    report: Option<Report>,
}

impl Adapted {
    /// Looks at what the finished model says of the windows, where evidence or a report is asked
    /// for: once for both.
    fn look(&mut self, args: &AdaptArgs, features: &Features) -> Result<()> {
        if args.bearing.is_none() && args.report.is_none() {
            return Ok(());
        }
        let counts = self.samples.as_ref().map_or(&[][..], |samples| &samples.counts);
        let (parts, front_end) = (self.target.whole(), &self.source.front_end);
        let found: Vec<Window> =
            report::windows(&self.deployed, features, counts, &parts, front_end, &self.snapshots)
                .map_err(|fault| anyhow!("domain {}: in counts, {fault}", self.target.name))?;
        if let Some(bearing) = &args.bearing {
            self.checked = check_labels(&self.deployed, &self.target, features, &found, bearing);
        }
        if args.report.is_some() {
            let manifest = args.manifest.as_deref();
            let files = files(&self.deployed, &args.out, &args.source, manifest)?;
            self.report = Some(report::report(&ReportContents {
                source: &self.source,
                target: &self.target,
                snapshots: &self.snapshots,
                features,
                windows: &found,
                model: &self.deployed,
                adaptation: Some(&self.adaptation),
                reasons: &[],
                same_recordings: true,
                checked: &self.checked,
                origin: &origin(files),
            })?);
        }
        Ok(())
    }

    fn outcome(&self, args: &AdaptArgs) -> Outcome {
        let Self { source, target, adaptation, checked, deployed, samples, loss, windows, .. } =
            self;
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
        for one in checked {
            let _ = writeln!(text, "  {}", report::evidence_sentence(one));
        }
        if let Some(loss) = loss {
            let _ = writeln!(text, "  {}", loss_line(loss));
        }
        if let Some(samples) = samples {
            let scale = samples.full_scale();
            let _ = writeln!(text, "  samples are 16-bit counts, ±32767 for ±{scale:.4}");
        }
        if let Some(line) = resampled_line(target, &source.front_end) {
            let _ = writeln!(text, "  {line}");
        }
        if let Some(unit) = deployed.unit() {
            let full_scale = unit.full_scale.map(f64::from);
            let _ = writeln!(text, "  samples in {}", unit_text(unit.name, full_scale));
        }
        let _ = writeln!(text, "  drift watch: {}", reference_text(deployed.drift()));
        text.push_str(&model_lines(deployed));
        let _ = writeln!(text, "  {}", cost_line(deployed));
        let names: Vec<&str> = source.classes.iter().map(String::as_str).collect();
        let (monitor, ram) = deployed.monitor();
        let json = json!({
            "source": source.domain,
            "target": target.name,
            "verdict": adaptation.verdict,
            "reasons": adaptation.reasons,
            "pool_is": args.pool_is,
            "solver": args.solver.solver,
            "out": shown(&args.out),
            "report": args.report.as_deref().map(shown),
            "report_sections": self.report.as_ref().map(|report| &report.sections),
            "windows": windows,
            "snapshots": self.snapshots.len(),
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
            "full_scale": samples.as_ref().map(Samples::full_scale).or(target.full_scale),
            "quantisation": loss,
            "decision": decision_json(
                &deployed.decision(),
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

/// The target's recordings in counts.
struct Samples {
    counts: Vec<Counts>,
    counts_per_unit: f32,
}

impl Samples {
    /// Rounds the recordings of `target` to counts, and leaves it with what these stand for.
    fn new(target: &mut Domain, full_scale: Option<f64>) -> Result<Self> {
        if target.recordings.is_empty() && full_scale.is_none() {
            bail!(
                "snapshots hold no samples to choose a full scale from: give --full-scale, the \
                 one that `rebearing inspect` prints for the model on the device"
            );
        }
        let full_scale = match full_scale.or(target.full_scale) {
            Some(full_scale) => Some(full_scale),
            None => counts::full_scale(&target.recordings)?,
        };
        let full_scale =
            full_scale.with_context(|| format!("domain {}: every sample is zero", target.name))?;
        let counts_per_unit = (FULL_SCALE_COUNTS / full_scale) as f32;
        if !(full_scale > 0.0 && counts_per_unit.is_normal()) {
            bail!("--full-scale {full_scale}: give a positive number, in the recordings' unit");
        }
        let counts = target
            .recordings
            .iter()
            .map(|recording| counts::counts(recording, counts_per_unit))
            .collect::<Result<Vec<_>, _>>()?;
        for (recording, counts) in target.recordings.iter_mut().zip(&counts) {
            *recording = counts::rounded(recording, counts, counts_per_unit);
        }
        Ok(Self { counts, counts_per_unit })
    }

    /// The i16 form of a model, and what it loses on the recordings that it was fitted from.
    fn quantise(
        &self,
        model: &ModelBytes,
        source: &Source,
        target: &Domain,
        snapshots: &[Snapshot],
        features: &Features,
    ) -> Result<(IntegerModelBytes, Loss)> {
        let model = model.model();
        let integer = encode_integer(&model, &quantise(&model, self.counts_per_unit)?)?;
        let (view, parts) = (integer.model(), target.whole());
        let (counts, front_end) = (&self.counts, &source.front_end);
        let loss = loss::loss(&model, &view, features, counts, &parts, front_end, snapshots)
            .map_err(|fault| {
                anyhow!("domain {}: in counts, {fault}; give a smaller --full-scale", target.name)
            })?;
        if loss.label_agreement < AGREEMENT_MIN {
            bail!(
                "{}; under {:.0} % it is no longer the same model, so none was written: fit with \
                 a larger --variance-floor, or keep --encoding f32",
                loss_line(&loss),
                100.0 * AGREEMENT_MIN
            );
        }
        Ok((integer, loss))
    }

    fn full_scale(&self) -> f64 {
        FULL_SCALE_COUNTS / f64::from(self.counts_per_unit)
    }
}

/// What the integers cost, in words.
fn loss_line(loss: &Loss) -> String {
    format!(
        "i16: the label of f32 in {:.2} % of {} windows, log-likelihoods off by {:.3} nats rms, \
         {:.3} at most",
        100.0 * loss.label_agreement,
        loss.windows,
        loss.score_error_rms,
        loss.score_error_max
    )
}

/// The model file of an adaptation.
pub(super) fn encode(
    source: &Source,
    target: &Domain,
    snapshots: &[Snapshot],
    adaptation: &Adaptation,
) -> Result<ModelBytes> {
    let hash = fitted_from(source, target, snapshots)?;
    Ok(adaptation.model(source, &target.name, hash)?)
}

/// SHA-256 over all that a model of this target is fitted from.
pub(super) fn fitted_from(
    source: &Source,
    target: &Domain,
    snapshots: &[Snapshot],
) -> Result<[u8; 32]> {
    let mut hash = Sha256::new();
    hash.update(source.hash_bytes()?);
    hash.update(target.hash(false)?);
    for snapshot in snapshots {
        snapshot.features.iter().for_each(|feature| hash.update(feature.to_le_bytes()));
    }
    Ok(hash.finalize().into())
}
