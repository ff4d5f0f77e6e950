//! The `rebearing` command: parse -> run -> exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use rebearing_cli::commands::{Cli, Outcome};
use rebearing_cli::progress;
use rebearing_cli::text::{colour, flags, table};
use rebearing_host::words::with_causes;

/// What the command checks does not hold.
const FAILED: u8 = 1;
/// Bad input; the message says which and what to do.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let cli = Cli::parse();
    progress::show();
    match cli.run() {
        Ok(outcome) => match print(&outcome, &cli) {
            // Whoever reads standard output may stop reading: not our failure.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                eprintln!("error: cannot write to standard output: {error}");
                ExitCode::from(BAD_INPUT)
            }
            _ if outcome.success => ExitCode::SUCCESS,
            _ => ExitCode::from(FAILED),
        },
        Err(error) => {
            let text = flags::as_flags(&with_causes(error.as_ref()));
            eprintln!("{} {text}", colour::alert("error:", colour::on_stderr()));
            ExitCode::from(BAD_INPUT)
        }
    }
}

fn print(outcome: &Outcome, cli: &Cli) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if cli.json {
        return writeln!(out, "{}", outcome.json);
    }
    let text = outcome.text.trim_end();
    match table::columns().filter(|_| !cli.verbatim()) {
        Some(columns) => write!(out, "{}", table::fitted(text, columns)),
        None => writeln!(out, "{text}"),
    }
}
