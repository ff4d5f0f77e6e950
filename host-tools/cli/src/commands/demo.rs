//! `rebearing demo`: all steps on simulated machines.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use rebearing::Label;
use serde_json::{Value, json};

use super::{Outcome, shown};
use crate::progress::{Bar, Step};
use crate::terminal;
use crate::text::flags::all_as_flags;
use crate::text::model::cost_line;
use rebearing_host::adapt::verdict::{AdaptSettings, Pool};
use rebearing_host::build::{BuildSettings, Built, Target, build};
use rebearing_host::data::domain::{Domain, Resample};
use rebearing_host::data::manifest::Manifest;
use rebearing_host::data::recording::Recording;
use rebearing_host::data::split::{self, Part};
use rebearing_host::device::emulator::{Emulator, SampleKind};
use rebearing_host::device::setup::Setup;
use rebearing_host::features::front_end::{EqualBands, FrontEndSettings};
use rebearing_host::files::{output, temporary_folder};
use rebearing_host::model::deployed::DeployedModel;
use rebearing_host::simulate::{SimulateSettings, simulate};
use rebearing_host::source::{Source, SourceSettings};
use rebearing_host::words::{plural, with_causes};

/// The first part of the new machine's recordings, in time, is for adapting. The rest is the test.
const SPLIT: f64 = 0.6;
const SOURCE: &str = "motor-a";
const TARGET: &str = "motor-b";

/// Run all steps on simulated machines: simulate, fit, adapt, label, run on the emulated device.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rebearing demo --out demo")]
pub(super) struct DemoArgs {
    /// Folder in which to keep the recordings, source and model [default: a temporary one].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Seed of the simulated machines.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(args: &DemoArgs) -> Result<Outcome> {
    let temporary = temporary_folder()?;
    let out = args.out.as_deref().unwrap_or(temporary.path());
    let started = Instant::now();

    say("1/6 simulating two motors of one family: seven conditions each");
    let settings = SimulateSettings { seed: args.seed, seconds: 20.0, ..Default::default() };
    let simulated = {
        let bar = Bar::start("simulating");
        simulate(&settings, out, &|done, total| bar.at(done, total))?
    };
    let manifest = Manifest::read(&simulated.manifest)?;

    say(&format!("2/6 fitting {SOURCE}, the machine with known labels"));
    let step = Step::start(format!("fitting {SOURCE}"));
    let known = Domain::read(&manifest, SOURCE)?;
    let front_end = FrontEndSettings::equal_bands(EqualBands::usual(known.rate_hz, known.axes))?;
    let source = Source::fit(&known, &front_end, &SourceSettings::default())?;
    drop(step);

    say(&format!(
        "3/6 adapting to {TARGET} without its labels: the first {:.0} % in time",
        100.0 * SPLIT
    ));
    let step = Step::start(format!("adapting to {TARGET}"));
    let target = Target::read(&manifest, TARGET, Vec::new(), Resample::No)?;
    let parts = split::in_time(&target.domain.frames(), SPLIT)?;
    let settings = BuildSettings {
        adapt: AdaptSettings { pool_is: Pool::All, ..AdaptSettings::default() },
        parts: Some(parts.first),
        ..BuildSettings::default()
    };
    let mut built = build(source.into(), target, &settings)?;
    all_as_flags(&mut built.adaptation.reasons);
    drop(step);
    if args.out.is_some() {
        built.library.write(&out.join("source.json"))?;
        output::write(&out.join("model.rbm"), built.model.bytes())?;
    }

    say("4/6 labelling the rest of the recordings with the device's code");
    let test = cut(&built.target.domain, &parts.last);
    let step = Step::start("labelling");
    let source_only = score(
        &DeployedModel::F32(built.adaptation.source.model(false)?),
        &built.adaptation.source.classes,
        &test,
    )?;
    let adapted = score(&built.model, &built.adaptation.source.classes, &test)?;
    drop(step);

    say("5/6 building the firmware and starting the emulated Cortex-M4F");
    let device = match Emulator::find(Setup::Install) {
        Ok(emulator) => {
            say("6/6 running the same model file and samples on it");
            Ok(emulate(&emulator, &built.model, &test)?)
        }
        Err(missing) => Err(with_causes(missing.as_ref())),
    };
    let story = Story { built: &built, source_only, adapted, device };
    Ok(story.outcome(args.out.as_deref(), started.elapsed().as_secs_f64()))
}

/// Prints a line of progress. The demo prints it on any standard error, not only on a terminal.
fn say(line: &str) {
    terminal::say(line);
}

/// Returns the test part of each recording with its true label.
fn cut(domain: &Domain, parts: &[Part]) -> Vec<(Recording, String)> {
    domain
        .recordings
        .iter()
        .zip(&domain.labels)
        .enumerate()
        .map(|(index, (recording, label))| {
            let own = parts.iter().filter(|part| part.recording == index);
            let cut = recording.cut(own.map(|part| (part.stretch, part.frames())));
            (cut, label.clone().unwrap_or_default())
        })
        .collect()
}

/// The number of test windows that a model labels correctly. Unknown and sensor faults count as
/// wrong.
#[derive(Debug, Clone, Copy)]
struct Score {
    right: usize,
    windows: usize,
}

impl Score {
    fn accuracy(self) -> f64 {
        self.right as f64 / self.windows.max(1) as f64
    }
}

fn score(model: &DeployedModel, classes: &[String], test: &[(Recording, String)]) -> Result<Score> {
    let mut score = Score { right: 0, windows: 0 };
    for (recording, truth) in test {
        let truth = classes.iter().position(|class| class == truth).map(Label::Class);
        for finding in model.run(recording)? {
            score.windows += 1;
            score.right += usize::from(finding.result.ok().map(|found| found.label) == truth);
        }
    }
    Ok(score)
}

/// The emulated device's agreement with the host.
#[derive(Debug, Clone, Copy, Default)]
struct Agreement {
    windows: usize,
    same: usize,
    firmware_ram: usize,
}

fn emulate(
    emulator: &Emulator,
    model: &DeployedModel,
    test: &[(Recording, String)],
) -> Result<Agreement> {
    let mut agreement = Agreement::default();
    for (recording, label) in test {
        let run = emulator.run(model.bytes(), recording, SampleKind::F32)?;
        let expected = model.run(recording)?;
        let pairs = expected.iter().zip(&run.findings);
        agreement.same += pairs.filter(|(host, device)| host.same_bits(device)).count();
        agreement.windows += expected.len().max(run.findings.len());
        agreement.firmware_ram = run.ram;
        say(&format!("    {label}: {}", plural(run.findings.len(), "window", "windows")));
    }
    Ok(agreement)
}

/// The results of the demo.
struct Story<'a> {
    built: &'a Built,
    source_only: Score,
    adapted: Score,
    /// The agreement, or the reason why it was not measured.
    device: Result<Agreement, String>,
}

impl Story<'_> {
    fn outcome(&self, out: Option<&Path>, seconds: f64) -> Outcome {
        let Built { adaptation, model, .. } = self.built;
        let source = &adaptation.source;
        let mut text = format!(
            "\nLabels were known for {SOURCE} only; {TARGET} runs at another speed, on another mount.\n\
             {} classes: {}\n\n",
            source.classes.len(),
            source.classes.join(", ")
        );
        let percent = |score: Score| {
            format!("{:5.1} % of {} windows right", 100.0 * score.accuracy(), score.windows)
        };
        let _ =
            writeln!(text, "{SOURCE}'s model on {TARGET}, as it is  {}", percent(self.source_only));
        let _ =
            writeln!(text, "adapted without a label from {TARGET}  {}\n", percent(self.adapted));
        let _ = writeln!(text, "verdict: {}", adaptation.verdict);
        for reason in &adaptation.reasons {
            let _ = writeln!(text, "  {reason}");
        }
        let _ = writeln!(text, "\n{}", cost_line(model));
        let _ = match &self.device {
            Ok(agreement) => writeln!(
                text,
                "emulated Cortex-M4F: {} of {} windows agree with the host in every bit",
                agreement.same, agreement.windows
            ),
            Err(missing) => writeln!(text, "emulated Cortex-M4F: skipped: {missing}"),
        };
        if let Some(out) = out {
            let _ =
                writeln!(text, "recordings, source.json and model.rbm are in {}", out.display());
        }
        let _ = writeln!(text, "{seconds:.1} s");

        let (monitor, ram) = model.monitor();
        let emulated = match &self.device {
            Ok(agreement) => json!({
                "windows": agreement.windows,
                "bit_exact": agreement.same == agreement.windows,
                "firmware_ram": agreement.firmware_ram,
            }),
            Err(_) => Value::Null,
        };
        let json = json!({
            "source": SOURCE,
            "target": TARGET,
            "classes": source.classes,
            "accuracy_source_only": self.source_only.accuracy(),
            "accuracy": self.adapted.accuracy(),
            "n_test": self.adapted.windows,
            "verdict": adaptation.verdict,
            "reasons": adaptation.reasons,
            "flash": model.bytes().len(),
            "ram": ram,
            "monitor": monitor,
            "emulated": emulated,
            "skipped": self.device.as_ref().err(),
            "out": out.map(shown),
            "seconds": { "total": seconds },
        });
        let success = self.device.as_ref().map_or(true, |a| a.same == a.windows);
        Outcome { text, json, success }
    }
}
