//! The `rebearing` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    rebearing_cli::run(std::env::args_os()).into()
}
