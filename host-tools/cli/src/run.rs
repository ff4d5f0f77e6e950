//! The whole command: parse -> run -> exit code.

use std::ffi::OsString;
use std::io;

use clap::Parser;
use rebearing_host::words::with_causes;

use crate::commands::{Cli, Outcome};
use crate::text::flags;
use crate::text::printable::one_line;
use crate::{progress, terminal};

/// Exit code if everything went well.
const SUCCESS: u8 = 0;
/// Exit code if a check of the command does not hold.
const FAILED: u8 = 1;
/// Exit code for bad input. The message names the input and the remedy.
const BAD_INPUT: u8 = 2;

/// Runs the command with these words and returns its exit code. The first word is the name of the
/// program.
///
/// It prints to standard output and standard error. The Python package calls it too, so it never
/// ends the process.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match parse(&words.into_iter().collect::<Vec<_>>()) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    progress::show();
    match cli.run() {
        Ok(outcome) => match print(&outcome, &cli) {
            // The reader of standard output may stop reading. That is not a failure.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                terminal::say(&format!("error: cannot write to standard output: {error}"));
                BAD_INPUT
            }
            _ if outcome.success => SUCCESS,
            _ => FAILED,
        },
        Err(error) => {
            terminal::say_error(&flags::as_flags(&with_causes(error.as_ref())));
            BAD_INPUT
        }
    }
}

/// Parses the command line. On an error, or if help is wanted, it prints clap's message and returns
/// the exit code.
fn parse(words: &[OsString]) -> Result<Cli, u8> {
    // A line feed in a name could forge a line of the output.
    if let Some(word) = words.iter().map(|word| word.to_string_lossy()).find(|w| w.contains('\n')) {
        let word = one_line(&word);
        terminal::say_error(&format!("{word}: an argument with a line break; rename the file"));
        return Err(BAD_INPUT);
    }
    let error = match Cli::try_parse_from(words) {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    // clap's messages repeat the words as they are, so it gets harmless ones to repeat.
    let harmless = words.iter().map(|word| one_line(&word.to_string_lossy()).into_owned());
    if let Err(error) = Cli::try_parse_from(harmless) {
        // The reader may have gone away. That is not a failure.
        let _ = error.print();
        return Err(if error.use_stderr() { BAD_INPUT } else { SUCCESS });
    }
    terminal::say(&error.render().to_string());
    Err(BAD_INPUT)
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
