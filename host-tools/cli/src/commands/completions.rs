//! `rebearing completions`: prints a completion script for a shell.

use anyhow::{Context, Result};
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use serde_json::json;

use super::{Cli, Outcome};

/// Print a completion script for a shell.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rebearing completions bash > ~/.local/share/bash-completion/completions/rebearing
  rebearing completions zsh > ~/.zfunc/_rebearing
  rebearing completions fish > ~/.config/fish/completions/rebearing.fish")]
pub(super) struct CompletionsArgs {
    /// The shell to complete for.
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rebearing", &mut script);
    let script = String::from_utf8(script).context("the script is not UTF-8")?;
    let json = json!({ "shell": args.shell.to_string(), "script": script });
    Ok(Outcome::new(script, json))
}
