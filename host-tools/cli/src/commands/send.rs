//! `rebearing send`: a new model to a device on a bus.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Args;
use rebearing::update::DeviceId;
use rebearing_host::device::modbus::SignedFile;
use rebearing_host::device::modbus::send::{Trial, restart, send, wait};
use serde_json::json;

use super::{Outcome, shown};
use crate::args::bus::{BusArgs, seconds};
use crate::progress::{Bar, Step};

/// Time between two questions how a trial goes.
const PAUSE: Duration = Duration::from_secs(1);

/// Send a new model to a device on a plant's bus, and let it start on trial.
///
/// Speaks Modbus RTU over a serial port, or over TCP through a gateway (docs/modbus.md). The device
/// verifies the model before it uses it, and returns to the old one if the new one does not prove
/// itself. If the line breaks, send again: the device goes on where it stopped. A model that nobody
/// signed is taken only by a device without keys.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rebearing send --port /dev/ttyUSB0 motor-b.signed.rbm
  rebearing send --port tcp://gateway:4001 --unit 17 --wait motor-b.signed.rbm")]
pub(super) struct SendArgs {
    /// Model file, signed by `rebearing sign` or plain.
    #[arg(value_name = "MODEL.rbm")]
    model: PathBuf,
    #[command(flatten)]
    bus: BusArgs,
    /// Abandon another model that the device is receiving.
    #[arg(long)]
    replace: bool,
    /// Do not restart the device: the model waits for its next start.
    #[arg(long, conflicts_with = "wait")]
    no_restart: bool,
    /// Wait for the end of the trial, at most this long. A trial may take hours.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "300",
          require_equals = true, value_parser = seconds)]
    wait: Option<f64>,
}

pub(super) fn run(args: &SendArgs) -> Result<Outcome> {
    let file = SignedFile::read(&args.model)?;
    let port = || args.bus.port().to_owned();
    let mut text = about(args, &file);
    let mut client = args.bus.connect()?;
    let sent = {
        let bar = Bar::start("sending the model");
        let sent = send(&mut client, &file, args.replace, &mut |done, total| bar.at(done, total));
        sent.with_context(|| {
            if file.is_signed() {
                port()
            } else {
                format!("{}: {} is not signed", port(), args.model.display())
            }
        })?
    };
    if sent.resumed_at > 0 {
        let _ = writeln!(text, "the device had {} bytes of it already", sent.resumed_at);
    }
    let _ = writeln!(text, "sent {} bytes; the device has verified them", sent.total);
    let mut trial = None;
    if args.no_restart {
        text.push_str("the model waits for the device's next start\n");
    } else {
        restart(&mut client).with_context(port)?;
        text.push_str("the device restarts with it on trial\n");
    }
    if let Some(limit) = args.wait {
        let _step = Step::start("waiting for the end of the trial");
        let limit = Duration::from_secs_f64(limit);
        let seen = wait(&mut client, sent.counter, limit, PAUSE).with_context(port)?;
        text.push_str(&told(seen));
        trial = Some(seen);
    }
    let reverted = match trial {
        Some(Trial::Reverted(outcome)) => Some(outcome.name()),
        _ => None,
    };
    let json = json!({
        "model": shown(&args.model),
        "port": args.bus.port(),
        "unit": args.bus.unit(),
        "signed": file.is_signed(),
        "bytes": sent.total,
        "resumed_at": sent.resumed_at,
        "pieces": sent.pieces,
        "restarted": !args.no_restart,
        "trial": trial.map(Trial::name),
        "outcome": reverted,
    });
    let success = !matches!(trial, Some(Trial::Reverted(_) | Trial::NotStarted));
    Ok(Outcome { text, json, success })
}

/// Describes the file that is about to be sent. No key, counter or device id: texts end up in logs.
fn about(args: &SendArgs, file: &SignedFile) -> String {
    let signed = match (file.is_signed(), file.envelope().device == DeviceId::ANY) {
        (false, _) => "NOT signed: only a device without keys takes it",
        (true, true) => "signed, for any device",
        (true, false) => "signed, for one device",
    };
    let encoding = file.model().encoding().name();
    format!(
        "{}: {} bytes, {encoding}, {signed}\n",
        args.model.display(),
        file.model().bytes().len()
    )
}

fn told(trial: Trial) -> String {
    match trial {
        Trial::Confirmed => "the model is confirmed\n".into(),
        Trial::OnTrial => {
            "the model runs and is still on trial; `rebearing status` shows how it ends\n".into()
        }
        Trial::Reverted(outcome) => format!(
            "the device returned to its old model, because of: {}\n",
            outcome.name().replace('_', " ")
        ),
        Trial::NotStarted => {
            "the device did not start the model in time; ask it with `rebearing status`\n".into()
        }
    }
}
