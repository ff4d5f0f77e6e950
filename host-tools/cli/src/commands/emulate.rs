//! `rebearing emulate`: runs the model on the emulated microcontroller and compares with the host.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;

use super::predict::{report_json, tally};
use super::{Outcome, shown};
use crate::args::choice::{Choice as _, choice};
use crate::args::samples::SampleArgs;
use crate::progress::Step;
use rebearing_host::data::counts::counts;
use rebearing_host::device::emulator::{Core, Emulator, SampleKind};
use rebearing_host::device::firmware::Firmware;
use rebearing_host::device::flash::check;
use rebearing_host::device::setup::Setup;
use rebearing_host::device::type_name;
use rebearing_host::model::deployed::DeployedModel;
use rebearing_host::progress;
use rebearing_host::words::plural;

/// Run a model on an emulated microcontroller (f32 models and large i16 models on a Cortex-M4F, small
/// i16 models on a Cortex-M0) and compare every result with the host's, bit by bit.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rebearing emulate --model motor-b.rbm monday.wav")]
pub(super) struct EmulateArgs {
    #[command(flatten)]
    samples: SampleArgs,
    /// How samples are handed to the device of an f32 model.
    #[arg(long, value_parser = choice::<SampleKind>(), default_value = SampleKind::F32.choice_name())]
    samples_as: SampleKind,
    /// Install QEMU and the firmware's toolchain without a question, where they are missing.
    #[arg(long)]
    yes: bool,
    /// ELF file of a board's firmware. A model that this board would refuse is refused here too.
    #[arg(long, value_name = "ELF")]
    firmware: Option<PathBuf>,
    /// Recording: .wav, .mat, .npy, .npz, .csv, .tsv, .txt, .parquet.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(args: &EmulateArgs) -> Result<Outcome> {
    let model = DeployedModel::read(&args.samples.model)?;
    if let Some(path) = &args.firmware {
        check(&model, &Firmware::read(path)?)?;
    }
    let recording = args.samples.read(&model.front_end(), &args.file)?;
    let expected = {
        let _step = Step::start(format!("labelling {}", args.file.display()));
        model.run(&recording)?
    };
    let emulator = Emulator::find(if args.yes { Setup::Install } else { Setup::Ask })?;
    let core = match &model {
        DeployedModel::F32(_) => Core::CortexM4F,
        DeployedModel::I16(bytes) => Core::of_integer_model(&bytes.model()),
    };
    let core = core.name();
    let run = {
        let _step = Step::start(format!("running the emulated {core}"));
        progress::expect(expected.len());
        match &model {
            DeployedModel::F32(bytes) => {
                emulator.run(bytes.bytes(), &recording, args.samples_as)?
            }
            DeployedModel::I16(bytes) => {
                let counts = counts(&recording, bytes.model().counts_per_unit())?;
                emulator.run_integer(bytes, &counts)?
            }
        }
    };

    // The type promises the RAM, so a different size is a failure too.
    let (name, ram) = (type_name(&run.monitor), run.monitor.device_ram());
    if run.ram != ram {
        bail!("the firmware's monitor takes {} bytes of RAM where its type gives {ram}", run.ram);
    }
    let differing: Vec<u32> = expected
        .iter()
        .zip(&run.findings)
        .filter(|(host, device)| !host.same_bits(device))
        .map(|(host, _)| host.index)
        .collect();
    let bit_exact = differing.is_empty() && expected.len() == run.findings.len();

    let mut text = format!(
        "{} on the emulated {core}: {}:",
        args.file.display(),
        plural(run.findings.len(), "window", "windows")
    );
    for (label, count) in tally(&model, &run.findings) {
        let _ = write!(text, " {label} {count}");
    }
    text.push('\n');
    let unrated: &[&Path] = if recording.rate_hz.is_none() { &[&args.file] } else { &[] };
    if let Some(note) = args.samples.rate_note(&model.front_end(), unrated) {
        let _ = writeln!(text, "{note}");
    }
    if bit_exact {
        text.push_str("every posterior and log-likelihood is, bit for bit, the host's\n");
    } else {
        let _ = writeln!(
            text,
            "NOT the host's: {} on the host, {} on the device, different: {differing:?}",
            plural(expected.len(), "window", "windows"),
            run.findings.len()
        );
    }
    let _ = writeln!(text, "the firmware's {name} takes {} bytes of RAM", run.ram);
    let json = json!({
        "model": shown(&args.samples.model),
        "file": shown(&args.file),
        "windows": run.findings.len(),
        "bit_exact": bit_exact,
        "differing": differing,
        "encoding": model.encoding().name(),
        "monitor": name,
        "ram": run.ram,
        "reports": run.findings.iter().map(|report| report_json(&model, report)).collect::<Vec<_>>(),
    });
    Ok(Outcome { text, json, success: bit_exact })
}
