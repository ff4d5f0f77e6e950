//! `rebearing doctor`: checks whether this machine has what the commands need.

use std::fmt::Write as _;

use clap::Args;
use serde_json::json;

use super::Outcome;
use crate::doctor::{Check, Purpose, checks};
use crate::text::colour;

/// Check whether this machine has what the commands need, and say how to get what is missing.
///
/// The exit code is 0 if everything is there for the purposes of --need, else 1. The default
/// purpose is work on the host: fit, adapt, predict, evaluate and so on.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rebearing doctor
  rebearing doctor --need host,emulate,board")]
pub(super) struct DoctorArgs {
    /// Purposes that this machine must be ready for.
    #[arg(
        long,
        value_enum,
        value_name = "PURPOSE,…",
        value_delimiter = ',',
        default_value = "host"
    )]
    need: Vec<Purpose>,
}

/// The mark of what is there.
const OK: &str = "ok";
/// The mark of what is missing and needed.
const MISSING: &str = "MISSING";

pub(super) fn run(args: &DoctorArgs) -> Outcome {
    let checks = checks();
    let ready = |purpose: Purpose| {
        checks.iter().filter(|check| check.purposes.contains(&purpose)).all(|check| check.ok)
    };
    let success = args.need.iter().all(|purpose| ready(*purpose));
    let mut text = String::new();
    for check in &checks {
        text += &line(check, &args.need);
    }
    text.push('\n');
    for purpose in Purpose::ALL {
        let is = if ready(purpose) { "ready" } else { "not ready" };
        let needed = if args.need.contains(&purpose) { " (needed)" } else { "" };
        let _ = writeln!(text, "{:<9} {is}{needed}", purpose.name());
    }
    let json = json!({
        "ok": success,
        "need": args.need,
        "ready": Purpose::ALL
            .into_iter()
            .map(|purpose| (purpose.name().to_owned(), ready(purpose).into()))
            .collect::<serde_json::Map<_, _>>(),
        "checks": checks,
    });
    Outcome { text, json, success }
}

/// Returns the text with its marks at the beginnings of lines in colour.
pub(super) fn painted(text: &str, colour: bool) -> String {
    let mut painted = String::new();
    for line in text.split_inclusive('\n') {
        painted += &match (line.strip_prefix(OK), line.strip_prefix(MISSING)) {
            (Some(rest), _) if rest.starts_with("  ") => colour::good(OK, colour) + rest,
            (_, Some(rest)) => colour::alert(MISSING, colour) + rest,
            _ => line.to_owned(),
        };
    }
    painted
}

fn line(check: &Check, need: &[Purpose]) -> String {
    let needed = check.purposes.iter().any(|purpose| need.contains(purpose));
    let mark = match (check.ok, needed) {
        (true, _) => OK,
        (false, true) => MISSING,
        (false, false) => "missing",
    };
    let found = crate::text::table::shorten(&check.found, 52);
    let mut text = format!("{mark:<7}  {:<16} {found}\n", check.name);
    if let Some(remedy) = &check.remedy {
        for part in crate::text::table::wrapped(remedy, 52) {
            let _ = writeln!(text, "{:<26}{part}", "");
        }
    }
    text
}
