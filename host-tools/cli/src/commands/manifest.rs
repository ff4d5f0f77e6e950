//! `rebearing manifest`: makes a manifest of a folder of recordings, and shows it first.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use clap::Args;
use serde_json::{Value, json};

use super::Outcome;
use crate::args::rate::rate;
use crate::progress::Bar;
use crate::text::flags::as_flags;
use crate::{terminal, text};
use rebearing_host::data::folder::{self, Pattern, Understood, Wishes};
use rebearing_host::data::manifest::Manifest;
use rebearing_host::data::units::{FullScale, Measure, Unit};
use rebearing_host::files::output;
use rebearing_host::words::plural;

/// Make a manifest of a folder of recordings, with label and domain from the names of folders and
/// files
///
/// It always shows what it understood. It writes a manifest only with --out.
///
/// A pattern is the path of a recording below the folder. Put {label}, {domain}, {rpm}, {rate} and
/// {channel} where the names have them, * for any part of a name, and ** for any folders.
/// {domain,rpm} is one part of a name with both values. Without --pattern, it guesses a pattern
/// from the names.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rebearing manifest recordings
  rebearing manifest recordings --pattern '{domain}/{label}/*.wav' --out machines.csv
  rebearing manifest uestc --pattern '{label}_{domain,rpm}.mat' --rate 20000 --out uestc.csv
  rebearing manifest cwru --rate 12000 --channel '*_DE_time' --unit g --out cwru.csv")]
pub(super) struct ManifestArgs {
    /// Folder of recordings, with or without folders in it
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// How paths below the folder are read [default: guessed]
    #[arg(long, value_name = "P", value_parser = pattern)]
    pattern: Option<Pattern>,
    /// Domain of files without a domain in their path [default: the folder's name]
    #[arg(long, value_name = "NAME")]
    domain: Option<String>,
    /// Sample rate in Hz of files without a rate in the file or its path
    #[arg(long, value_name = "HZ", value_parser = rate)]
    rate: Option<f64>,
    /// Shaft speed in turns per minute of files without a speed in their path
    #[arg(long, value_name = "N", value_parser = positive)]
    rpm: Option<f64>,
    /// Channel of every file: variable of a .mat, column of a table, index of a WAV channel. Write
    /// several axes as `x;y;z`, and * for a part that differs from file to file, as `*_DE_time`
    #[arg(long, value_name = "C")]
    channel: Option<String>,
    /// Unit of the samples: g, m/s2, counts (of 16 bits), counts24, or another name
    #[arg(long, value_name = "U")]
    unit: Option<Unit>,
    /// The sensor's largest value, with its unit if the samples are counts, as '16 g'
    #[arg(long, value_name = "X")]
    full_scale: Option<FullScale>,
    /// Where to write the manifest; without it nothing is written
    #[arg(long, value_name = "MANIFEST.csv")]
    out: Option<PathBuf>,
    /// Replace a manifest that exists
    #[arg(long, requires = "out")]
    force: bool,
}

fn pattern(text: &str) -> Result<Pattern, String> {
    Pattern::new(text).map_err(|error| as_flags(&error.to_string()))
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if number > 0.0 && f64::is_finite(number) => Ok(number),
        _ => Err("give a number above 0".into()),
    }
}

impl ManifestArgs {
    fn wishes(&self) -> Wishes {
        Wishes {
            pattern: self.pattern.clone(),
            domain: self.domain.clone(),
            rate_hz: self.rate,
            rpm: self.rpm,
            channel: self.channel.clone(),
            unit: self.unit.clone(),
            full_scale: self.full_scale.clone(),
        }
    }
}

pub(super) fn run(args: &ManifestArgs) -> Result<Outcome> {
    Measure::new(args.unit.as_ref(), args.full_scale.as_ref())
        .map_err(|reason| anyhow!("--unit, --full-scale: {reason}"))?;
    if let Some(domain) = args.domain.as_ref().filter(|name| name.trim().is_empty()) {
        bail!("--domain {domain:?}: a domain needs a name");
    }
    if let Some(out) = &args.out {
        if !args.force && out.symlink_metadata().is_ok() {
            bail!("{}: exists; choose another --out, or replace it with --force", out.display());
        }
        output::check_writable(out)?;
    }
    let wishes = args.wishes();
    let understood = {
        let bar = Bar::start("looking into files");
        folder::understand(&args.folder, &wishes, &|done, total| bar.at(done, total))?
    };
    let mut text = text::folder::text(&understood);
    match &args.out {
        None => text.push_str("nothing written: give --out MANIFEST.csv to write the manifest\n"),
        Some(out) => {
            let rows = understood.rows(folder_of(out), &wishes).inspect_err(|_| {
                // Shows what was understood even if it is not enough for a manifest.
                terminal::say(&text);
            })?;
            output::write(out, Manifest::to_csv(&rows).as_bytes())?;
            let _ = writeln!(text, "{} -> {}", plural(rows.len(), "row", "rows"), out.display());
        }
    }
    Ok(Outcome::new(text, to_json(args, &understood)))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn to_json(args: &ManifestArgs, understood: &Understood) -> Value {
    let mut domains: Vec<&str> =
        understood.entries.iter().map(|entry| entry.domain.as_str()).collect();
    domains.sort_unstable();
    domains.dedup();
    json!({
        // As text, because JSON cannot hold a path that is not UTF-8.
        "folder": args.folder.display().to_string(),
        "pattern": understood.pattern.text(),
        "guessed": understood.guessed,
        "out": args.out.as_ref().map(|out| out.display().to_string()),
        "domains": domains,
        "healthy": understood.healthy(),
        "unit": args.unit,
        "full_scale": args.full_scale.as_ref().map(ToString::to_string),
        "recordings": understood.entries,
        "passed_over": understood.passed_over,
    })
}
