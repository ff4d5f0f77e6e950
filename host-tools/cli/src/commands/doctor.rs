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

fn line(check: &Check, need: &[Purpose]) -> String {
    let colour = colour::on_stdout();
    let needed = check.purposes.iter().any(|purpose| need.contains(purpose));
    let mark = match (check.ok, needed) {
        (true, _) => colour::good("ok", colour) + "     ",
        (false, true) => colour::alert("MISSING", colour),
        (false, false) => "missing".into(),
    };
    let found = crate::text::table::shorten(&check.found, 52);
    let mut text = format!("{mark}  {:<16} {found}\n", check.name);
    if let Some(remedy) = &check.remedy {
        for part in crate::text::table::wrapped(remedy, 52) {
            let _ = writeln!(text, "{:<26}{part}", "");
        }
    }
    text
}
