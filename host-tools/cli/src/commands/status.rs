//! `rebearing status`: everything that a device on a bus says of itself.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Args;
use rebearing::bus::Command;
use rebearing_host::device::modbus::{Client, DeviceStatus, Line, ModbusError};

use super::Outcome;
use crate::args::bus::{BusArgs, seconds};
use crate::text::device_status;

/// Time between two looks at a signal to stop.
const TICK: Duration = Duration::from_millis(50);

/// Read everything that a device on a plant's bus says: label, alarm, severity, counts, update.
///
/// Speaks Modbus RTU over a serial port, or over TCP through a gateway (docs/modbus.md). It can also
/// acknowledge the alarm, confirm or reject the model that is on trial, abandon an update, and restart
/// the device.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rebearing status --port /dev/ttyUSB0
  rebearing status --port COM3 --unit 17 --baud 9600 --parity none --json
  rebearing status --port tcp://gateway:4001 --watch
  rebearing status --port /dev/ttyUSB0 --acknowledge
  rebearing status --port /dev/ttyUSB0 --confirm")]
pub(super) struct StatusArgs {
    #[command(flatten)]
    bus: BusArgs,
    /// Print a line for each new window, until Ctrl-C.
    #[arg(long)]
    watch: bool,
    /// Seconds between two questions.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, requires = "watch", value_parser = seconds)]
    every: f64,
    #[command(flatten)]
    order: Orders,
}

/// An order to the device, before its state is read.
#[derive(Debug, Args)]
#[group(multiple = false)]
#[command(next_help_heading = "Orders to the device")]
#[expect(clippy::struct_excessive_bools, reason = "one flag an order, and at most one of them")]
struct Orders {
    /// Acknowledge the alarm.
    #[arg(long, conflicts_with = "watch")]
    acknowledge: bool,
    /// Confirm the model that is on trial.
    #[arg(long, conflicts_with = "watch")]
    confirm: bool,
    /// Reject the model that is on trial; the old one returns at the next start.
    #[arg(long, conflicts_with = "watch")]
    reject: bool,
    /// Forget what was received of a new model.
    #[arg(long, conflicts_with = "watch")]
    abandon: bool,
    /// Restart the device.
    #[arg(long, conflicts_with = "watch")]
    restart: bool,
}

impl Orders {
    fn command(&self) -> Option<Command> {
        let orders = [
            (self.acknowledge, Command::Acknowledge),
            (self.confirm, Command::Confirm),
            (self.reject, Command::Reject),
            (self.abandon, Command::Abandon),
            (self.restart, Command::Restart),
        ];
        orders.into_iter().find_map(|(given, command)| given.then_some(command))
    }
}

pub(super) fn run(args: &StatusArgs, json: bool) -> Result<Outcome> {
    let mut client = args.bus.connect()?;
    let order = args.order.command();
    if let Some(command) = order {
        client.command(command).context(args.bus.port().to_owned())?;
    }
    let mut status = DeviceStatus::read(&mut client).context(args.bus.port().to_owned())?;
    if args.watch {
        watch(args, &mut client, &mut status, json)?;
    }
    let mut object = status.json();
    object["port"] = args.bus.port().into();
    object["unit"] = args.bus.unit().into();
    object["order"] = order.map(Command::name).into();
    let mut text = String::new();
    if let Some(command) = order {
        text = format!("the device took the order: {}\n\n", command.name());
    }
    text.push_str(&device_status::text(&status));
    Ok(Outcome::new(text, object))
}

/// Prints a line for each new window until a signal; to standard error with `json`.
fn watch<L: Line>(
    args: &StatusArgs,
    client: &mut Client<L>,
    status: &mut DeviceStatus,
    json: bool,
) -> Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    ctrlc::set_handler(move || stopped.store(true, Ordering::Relaxed))
        .context("cannot listen for signals")?;
    let mut last = None;
    while !stop.load(Ordering::Relaxed) {
        let line = match DeviceStatus::registers(client) {
            Ok(newer) => {
                status.update(newer);
                Some(device_status::line(status))
            }
            // A device that restarts is back soon.
            Err(error @ (ModbusError::Silent { .. } | ModbusError::Damaged { .. })) => {
                let text = error.to_string();
                Some(text.split(':').next().unwrap_or_default().to_owned())
            }
            Err(error) => return Err(error.into()),
        };
        if line != last {
            if let Some(line) = &line {
                print(line, json)?;
            }
            last = line;
        }
        let next = Instant::now() + Duration::from_secs_f64(args.every);
        while Instant::now() < next && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(TICK);
        }
    }
    Ok(())
}

fn print(line: &str, json: bool) -> io::Result<()> {
    if json { writeln!(io::stderr(), "{line}") } else { writeln!(io::stdout(), "{line}") }
}
