//! The `rebearing` command: parse -> run -> exit code.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use clap::Parser;
use rebearing_cli::commands::{Cli, Outcome};
use rebearing_cli::text::flags;
use rebearing_cli::text::printable::one_line;
use rebearing_cli::{progress, terminal};
use rebearing_host::words::with_causes;

/// Exit code if a check of the command does not hold.
const FAILED: u8 = 1;
/// Exit code for bad input. The message names the input and the remedy.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    progress::show();
    match cli.run() {
        Ok(outcome) => match print(&outcome, &cli) {
            // The reader of standard output may stop reading. That is not a failure.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                terminal::say(&format!("error: cannot write to standard output: {error}"));
                ExitCode::from(BAD_INPUT)
            }
            _ if outcome.success => ExitCode::SUCCESS,
            _ => ExitCode::from(FAILED),
        },
        Err(error) => {
            terminal::say_error(&flags::as_flags(&with_causes(error.as_ref())));
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// Parses the command line. On an error, clap prints its message and the process ends, unless the
/// exit code comes back.
fn parse() -> Result<Cli, ExitCode> {
    let words: Vec<OsString> = std::env::args_os().collect();
    // A line feed in a name could forge a line of the output.
    if let Some(word) = words.iter().map(|word| word.to_string_lossy()).find(|w| w.contains('\n')) {
        let word = one_line(&word);
        terminal::say_error(&format!("{word}: an argument with a line break; rename the file"));
        return Err(ExitCode::from(BAD_INPUT));
    }
    let error = match Cli::try_parse_from(&words) {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    // clap's messages repeat the words as they are, so it gets harmless ones to repeat.
    let harmless = words.iter().map(|word| one_line(&word.to_string_lossy()).into_owned());
    if let Err(error) = Cli::try_parse_from(harmless) {
        error.exit();
    }
    terminal::say(&error.render().to_string());
    Err(ExitCode::from(BAD_INPUT))
}

fn print(outcome: &Outcome, cli: &Cli) -> io::Result<()> {
    if cli.json {
        terminal::print_json(&outcome.json.to_string())
    } else if cli.verbatim() {
        terminal::print_verbatim(&outcome.text)
    } else {
        terminal::print_result(&outcome.text, |text| cli.painted(text))
    }
}
