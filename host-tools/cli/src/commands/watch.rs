//! `rebearing watch`: shows the reports of a device live.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use clap::Args;

use super::Outcome;
use crate::terminal;
use crate::text::colour;
use crate::text::table;
use crate::watch::plain;
use crate::watch::screen::{End, listen, show};
use crate::watch::view::Look;
use rebearing_host::device::firmware::Firmware;
use rebearing_host::device::line::Line;
use rebearing_host::device::setup::checkout;
use rebearing_host::device::watch::source::Source;
use rebearing_host::device::watch::state::Watch;
use rebearing_host::words::plural;

/// Watch a device live: label and probability, spectrum, log-likelihood, alarms and faults.
///
/// Reads the report lines that the boards' firmware prints (docs/report-lines.md): over RTT through
/// an installed probe-rs, from a serial port, or from a file or pipe. On a terminal it draws a
/// dashboard. Elsewhere, or with --plain, it prints a line for each report. It counts damaged lines
/// and does not use them. It stops at q, Esc, Ctrl-C, or the end of the stream.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rebearing watch --rtt --chip STM32F405RG --firmware target/thumbv7em-none-eabihf/release/sensor
  rebearing watch --serial /dev/ttyACM0 --baud 115200
  rebearing watch --plain monday.log
  rebearing watch --stay -")]
pub(super) struct WatchArgs {
    /// File of report lines, or - for standard input.
    #[arg(value_name = "FILE", required_unless_present_any = ["rtt", "serial"])]
    file: Option<PathBuf>,
    /// Read over RTT, through an installed probe-rs; this neither resets nor writes to the device.
    #[arg(long, requires = "chip", conflicts_with_all = ["file", "serial"])]
    rtt: bool,
    /// The chip, as probe-rs names it.
    #[arg(long, value_name = "NAME", requires = "rtt")]
    chip: Option<String>,
    /// ELF file of the firmware on the board. It says how to decode the log [default: the firmware
    /// for this chip that was built in the project's checkout].
    #[arg(long, alias = "elf", value_name = "ELF", requires = "rtt")]
    firmware: Option<PathBuf>,
    /// Which probe, if several are connected: VID:PID or VID:PID:SERIAL.
    #[arg(long, value_name = "PROBE", requires = "rtt")]
    probe: Option<String>,
    /// Read from a serial port, such as /dev/ttyACM0 or COM3.
    #[arg(long, value_name = "PORT", conflicts_with = "file")]
    serial: Option<String>,
    /// Bits per second of the serial port, with eight data bits, no parity and one stop bit.
    #[arg(long, value_name = "N", requires = "serial", default_value_t = 115_200,
          value_parser = clap::value_parser!(u32).range(1..))]
    baud: u32,
    /// Print a line for each report, also on a terminal.
    #[arg(long)]
    plain: bool,
    /// Keep the dashboard after the end of the stream, until you quit.
    #[arg(long, conflicts_with = "plain")]
    stay: bool,
}

impl WatchArgs {
    fn source(&self) -> Result<Source> {
        if let Some(port) = &self.serial {
            return Ok(Source::Serial { port: port.clone(), baud: self.baud });
        }
        if let (true, Some(chip)) = (self.rtt, &self.chip) {
            let firmware = match &self.firmware {
                // Reading checks that the file is a firmware of the project.
                Some(path) => Firmware::read(path)?.path,
                None => checkout()
                    .and_then(|checkout| Firmware::logging_for(chip, &checkout))
                    .with_context(|| {
                        format!(
                            "which firmware runs on {chip}? its ELF file says how to decode the \
                             log: give it with --firmware"
                        )
                    })?
                    .path,
            };
            return Ok(Source::Rtt { chip: chip.clone(), firmware, probe: self.probe.clone() });
        }
        let file = self.file.as_deref().context("no input: give a file, --serial or --rtt")?;
        Ok(if file.as_os_str() == "-" { Source::Stdin } else { Source::File(file.into()) })
    }
}

pub(super) fn run(args: &WatchArgs, json: bool) -> Result<Outcome> {
    let source = args.source()?;
    // Before anything is read, so that a signal ends the watch in order from the start.
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    ctrlc::set_handler(move || stopped.store(true, Ordering::Relaxed))
        .context("cannot listen for signals")?;
    let stream = source.open()?;
    let mut watch = Watch::default();
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let end = if json || args.plain || dumb || !io::stdout().is_terminal() {
        let columns = table::columns();
        listen(&stream, &mut watch, &stop, |line| print(line, json, columns))?
    } else {
        let title = source.name();
        let look = Look { title: &title, colour: colour::on_stdout(), ended: false };
        show(&stream, &mut watch, look, args.stay, &stop)?
    };
    if end == End::Stream {
        stream.finish()?;
    }
    Ok(outcome(&source, &watch, end))
}

/// Prints a line: to standard error with `json`, because standard output is for the JSON object.
fn print(line: &Line, json: bool, columns: Option<usize>) -> io::Result<()> {
    let Some(text) = plain::text(line) else { return Ok(()) };
    terminal::print_line(&text, json, columns)
}

fn outcome(source: &Source, watch: &Watch, end: End) -> Outcome {
    let counts = &watch.counts;
    let mut text = format!("{}: {}", source.name(), plural(counts.reports, "report", "reports"));
    for (label, count) in &counts.labels {
        let _ = write!(text, "\n  {label:<20} {count:>8}");
    }
    let _ = write!(
        text,
        "\nalarms {}, missing windows {}, restarts {}, damaged lines {}, other lines {}",
        counts.alarms, counts.missing, counts.restarts, counts.damaged, counts.text
    );
    if counts.other_version > 0 {
        let _ = write!(
            text,
            "\n{} in another version of the format: use the version of rebearing that the \
             firmware was built with",
            plural(counts.other_version, "line", "lines")
        );
    }
    // A user who quits before the first report knows that there was none.
    let success = counts.reports > 0 || end == End::Quit;
    if !success {
        text.push_str(
            "\nnot one report: give the complete output of a firmware of the project \
             (docs/report-lines.md)",
        );
    }
    let mut json = watch.json();
    json["source"] = source.name().into();
    json["ended"] = end.name().into();
    Outcome { text, json, success }
}
