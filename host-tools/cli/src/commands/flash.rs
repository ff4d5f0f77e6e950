//! `rebearing flash`: writes a model into the MODEL region of a board, and nothing else.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;

use super::{Outcome, shown};
use crate::progress::Step;
use crate::text::sampling::sampling_json;
use rebearing_host::device::firmware::Firmware;
use rebearing_host::device::flash::{Probe, command_line, image, sampling_warning};
use rebearing_host::device::setup::checkout;
use rebearing_host::model::on_disk::ModelFile;

/// Write a model into the MODEL region of a board through probe-rs, and nothing else.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rebearing flash --model motor-b.rbm --chip STM32F405RG \
                        --firmware target/thumbv7em-none-eabihf/release/sensor")]
pub(super) struct FlashArgs {
    /// Model file that `rebearing adapt` or `rebearing sign` wrote. A firmware with a public key
    /// needs a signed one.
    #[arg(long, value_name = "MODEL.rbm")]
    model: PathBuf,
    /// The chip, as probe-rs names it.
    #[arg(long, value_name = "NAME")]
    chip: String,
    /// ELF file of the firmware on the board. It says where the model goes and which models fit
    /// [default: the firmware for this chip that was built in the project's checkout].
    #[arg(long, value_name = "ELF")]
    firmware: Option<PathBuf>,
    /// Which probe, if several are connected: VID:PID or VID:PID:SERIAL.
    #[arg(long, value_name = "PROBE")]
    probe: Option<String>,
    /// Check everything and print what would be written where, without a board.
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &FlashArgs) -> Result<Outcome> {
    let file = ModelFile::read(&args.model)?;
    let firmware = match &args.firmware {
        Some(path) => Firmware::read(path)?,
        None => checkout()
            .and_then(|checkout| Firmware::built_for(&args.chip, &checkout))
            .with_context(|| {
                format!(
                    "which firmware runs on {}? its ELF file says where the model goes: give it \
                     with --firmware",
                    args.chip
                )
            })?,
    };
    let image = image(&file, &firmware, &args.chip)?;
    let probe = Probe { chip: &args.chip, probe: args.probe.as_deref() };

    let end = image.address as usize + image.bytes.len();
    let what = format!(
        "{} ({} bytes{}) at {:#010x} to {end:#010x} of {}, inside the MODEL region {:#010x} to {:#010x} of {}",
        args.model.display(),
        file.model.bytes().len(),
        if file.envelope().is_some() { " and its envelope" } else { "" },
        image.address,
        args.chip,
        firmware.model_region.start,
        firmware.model_region.end,
        firmware.path.display(),
    );
    let (text, differs_at) = if args.dry_run {
        let commands = [
            probe.download(&image, Path::new("MODEL.bin")),
            probe.read(&image, Path::new("READ-BACK.bin")),
            probe.reset(),
        ];
        let commands = commands.map(|words| format!("  {}\n", command_line(words))).concat();
        (format!("would write {what}\n{commands}"), None)
    } else {
        Probe::check_version()?;
        let _step = Step::start("writing the model and reading it back");
        match probe.flash(&image)? {
            None => (format!("wrote {what}\nread it back: all bytes are the same\n"), None),
            Some(at) => (
                format!(
                    "wrote {what}\nread it back: NOT the same from {at:#010x} on; try again, with a \
                     lower speed or another probe (the firmware refuses a damaged model)\n"
                ),
                Some(at),
            ),
        }
    };
    let warning = sampling_warning(&file.model, &firmware);
    let text = match &warning {
        Some(warning) => format!("warning: {warning}\n{text}"),
        None => text,
    };
    let success = differs_at.is_none();
    let json = json!({
        "model": shown(&args.model),
        "chip": args.chip,
        "firmware": shown(&firmware.path),
        "address": image.address,
        "bytes": image.bytes.len(),
        "model_bytes": file.model.bytes().len(),
        "signed": file.envelope().is_some(),
        "slots": firmware.descriptor.slots,
        "sampling": sampling_json(firmware.descriptor.sampling),
        "warnings": warning.iter().collect::<Vec<_>>(),
        "region": [firmware.model_region.start, firmware.model_region.end],
        "dry_run": args.dry_run,
        "verified": success && !args.dry_run,
        "differs_at": differs_at,
    });
    Ok(Outcome { text, json, success })
}
