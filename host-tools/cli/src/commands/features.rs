//! `rebearing features`: writes the features of recordings as a table.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use rebearing_host::data::domain::{Domain, Resample};
use rebearing_host::data::manifest::Manifest;
use rebearing_host::features::front_end::FrontEndSettings;
use rebearing_host::features::table::FeatureTable;
use rebearing_host::files::matrix::{check_extension, rows_file};
use rebearing_host::files::output;
use rebearing_host::words::plural;
use serde_json::{Value, json};

use super::{Outcome, shown};
use crate::args::comparable::{SameQuantity, front_end, lowest_rate};
use crate::args::domains::{ALL, domains};
use crate::args::front_end::FrontEndArgs;
use crate::args::resample::{ResampleArgs, resampled_json, resampled_line};
use crate::progress::Step;
use crate::text::levels::LevelCheck;

/// Write the features of recordings as a table, for other programs
///
/// A row is a window, a column a feature: the log power in a band, in nats, exactly as the device
/// computes it and `fit` sees it, not standardised. Label, domain, recording and time (seconds from
/// the start of the recording) stand before the features. A .npy file has no room for them: they go
/// to X.rows.csv beside X.npy.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rebearing features --manifest machines.csv --out x.parquet\n  \
    rebearing features --manifest machines.csv --domain motor-a,motor-b --out x.csv\n  \
    rebearing features --manifest machines.csv --domain motor-a --bands mel:64 --out x.npy")]
pub(super) struct FeaturesArgs {
    /// Table of recordings: path, label, domain, `rate_hz`, and optionally rpm, channel, unit and
    /// `full_scale`; `rebearing manifest` makes one. Labels may be empty.
    #[arg(long, value_name = "CSV")]
    manifest: PathBuf,
    /// Domain of the manifest, several of them as a list, or all.
    #[arg(long, value_name = "NAME[,…]|all", default_value = ALL)]
    domain: String,
    /// Where to write the table; the extension gives the format.
    #[arg(long, value_name = "X.npy|.csv|.parquet")]
    out: PathBuf,
    #[command(flatten)]
    front_end: FrontEndArgs,
    #[command(flatten)]
    resample: ResampleArgs,
}

pub(super) fn run(args: &FeaturesArgs) -> Result<Outcome> {
    check_extension(&args.out)?;
    let manifest = Manifest::read(&args.manifest)?;
    output::check_writable(&args.out)?;
    let beside = rows_file(&args.out);
    beside.as_deref().map(output::check_writable).transpose()?;
    let names = domains(&manifest, &args.domain)?;
    let read = Machines::read(args, &manifest, &names)?;
    let table = &read.table;
    {
        let _step = Step::start(format!("writing {}", args.out.display()));
        table.write(&args.out)?;
    }
    let mut text = format!(
        "{} × {} of {} -> {}\n",
        plural(table.rows(), "window", "windows"),
        plural(table.columns().len(), "feature", "features"),
        plural(names.len(), "machine", "machines"),
        args.out.display()
    );
    if let Some(beside) = &beside {
        let _ = writeln!(text, "  label, domain, recording and time -> {}", beside.display());
    }
    for (label, rows) in table.classes() {
        let rows = plural(rows, "window", "windows");
        let _ = writeln!(text, "  {:<20} {rows}", label.unwrap_or("(no label)"));
    }
    for line in &read.resampled_lines {
        let _ = writeln!(text, "  {line}");
    }
    let classes = table.classes();
    let labelled = || classes.iter().filter_map(|(label, rows)| Some(((*label)?, *rows)));
    let unlabelled = classes.iter().find(|(label, _)| label.is_none()).map_or(0, |(_, rows)| *rows);
    let json = json!({
        "out": shown(&args.out),
        "rows_out": beside.as_deref().map(shown),
        "rows": table.rows(),
        "features": table.columns().len(),
        "domains": table.domains().iter().map(|(domain, _)| *domain).collect::<Vec<_>>(),
        "domain_rows": table.domains().iter().map(|(_, rows)| *rows).collect::<Vec<_>>(),
        "classes": labelled().map(|(label, _)| label).collect::<Vec<_>>(),
        "class_rows": labelled().map(|(_, rows)| rows).collect::<Vec<_>>(),
        "unlabelled": unlabelled,
        "columns": table.columns(),
        "rate_hz": read.front_end.rate_hz,
        "axes": read.front_end.axes,
        "window_seconds": read.front_end.window_len() as f64 / read.front_end.rate_hz,
        "stride_seconds": read.front_end.hop as f64 / read.front_end.rate_hz,
        "resampled": read.resampled,
    });
    Ok(read.levels.added_to(Outcome::new(text, json)))
}

/// The machines, as features.
struct Machines {
    table: FeatureTable,
    /// The front end of the first machine.
    front_end: FrontEndSettings,
    levels: LevelCheck,
    /// A line for each machine that was resampled.
    resampled_lines: Vec<String>,
    /// The same for scripts; of the first machine.
    resampled: Value,
}

impl Machines {
    /// Reads one machine after the other, so that the samples of one at a time are in memory.
    fn read(args: &FeaturesArgs, manifest: &Manifest, names: &[&str]) -> Result<Self> {
        let lowest = lowest_rate(manifest, names)?;
        let resample = match args.resample.choice() {
            Resample::Lowest if names.len() > 1 => Resample::To(lowest),
            choice => choice,
        };
        let mut read: Option<Self> = None;
        let mut units = SameQuantity::default();
        for name in names {
            let _step = Step::start(format!("reading the recordings of {name}"));
            let domain = Domain::read_at(manifest, name, resample)?;
            units.check(&domain)?;
            let front_end = front_end(&args.front_end, &args.resample, lowest, &domain)?;
            let read = read.get_or_insert_with(|| Self {
                table: FeatureTable::new(&front_end),
                front_end: front_end.clone(),
                levels: LevelCheck::default(),
                resampled_lines: Vec::new(),
                resampled: resampled_json(&domain),
            });
            read.resampled_lines.extend(resampled_line(&domain, &front_end));
            read.levels.add(&domain, &front_end)?;
            read.table.add(manifest, &domain, &front_end)?;
        }
        read.ok_or_else(|| anyhow::anyhow!("{}: no domain in it", manifest.path.display()))
    }
}
