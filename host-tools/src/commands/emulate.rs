//! `rebearing emulate`: the model on the emulated microcontroller, compared with the host.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;

use super::Outcome;
use super::predict::{report_json, tally};
use super::samples::SampleArgs;
use crate::device;
use crate::emulator::{Emulator, SampleKind};
use crate::model_file::ModelBytes;
use crate::progress::Step;

/// Run a model on the emulated Cortex-M4F and compare every result with the host's, bit by bit.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rebearing emulate --model motor-b.rbm monday.wav")]
pub(super) struct EmulateArgs {
    #[command(flatten)]
    samples: SampleArgs,
    /// How samples are handed to the device.
    #[arg(long, value_enum, default_value_t = SampleKind::F32)]
    samples_as: SampleKind,
    /// Recording: .wav, .mat, .npy, .csv.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(args: &EmulateArgs) -> Result<Outcome> {
    let bytes = ModelBytes::read(&args.samples.model)?;
    let model = bytes.model();
    let recording = args.samples.read(&model, &args.file)?;
    let expected = device::run(model, &recording)?;
    let emulator = Emulator::find()?;
    let run = {
        let _step = Step::start("running the emulated Cortex-M4F");
        emulator.run(bytes.bytes(), &recording, args.samples_as)?
    };

    // RAM as the type says is part of the promise, so a difference is a failure too.
    let ram = run.monitor.ram(args.samples_as.size());
    if run.ram != ram {
        bail!("the firmware's monitor takes {} bytes of RAM where its type gives {ram}", run.ram);
    }
    let differing: Vec<u32> = expected
        .iter()
        .zip(&run.reports)
        .filter(|(host, device)| !host.same_bits(device))
        .map(|(host, _)| host.index)
        .collect();
    let bit_exact = differing.is_empty() && expected.len() == run.reports.len();

    let mut text = format!(
        "{} on the emulated Cortex-M4F: {} windows:",
        args.file.display(),
        run.reports.len()
    );
    for (label, count) in tally(&model, &run.reports) {
        let _ = write!(text, " {label} {count}");
    }
    text.push('\n');
    if bit_exact {
        text.push_str("every posterior and log-likelihood is, bit for bit, the host's\n");
    } else {
        let _ = writeln!(
            text,
            "NOT the host's: {} windows on the host, {} on the device, different: {differing:?}",
            expected.len(),
            run.reports.len()
        );
    }
    let _ = writeln!(
        text,
        "the firmware's {} takes {} bytes of RAM",
        run.monitor.name(args.samples_as.name()),
        run.ram
    );
    let json = json!({
        "model": args.samples.model,
        "file": args.file,
        "windows": run.reports.len(),
        "bit_exact": bit_exact,
        "differing": differing,
        "monitor": run.monitor.name(args.samples_as.name()),
        "ram": run.ram,
        "reports": run.reports.iter().map(|report| report_json(&model, report)).collect::<Vec<_>>(),
    });
    Ok(Outcome { text, json, success: bit_exact })
}
