//! `rebearing fit`: fits labelled recordings of known machines.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use rebearing_host::adapt::leave_one_out::fit_library;
use rebearing_host::data::domain::{Domain, Resample};
use rebearing_host::data::manifest::Manifest;
use rebearing_host::files::{hex, output};
use rebearing_host::source::library::{MOST_SOURCES, Shared};
use rebearing_host::source::{LabelledFeatures, Source, SourceSettings};
use rebearing_host::words::plural;
use serde_json::{Value, json};

use super::{Outcome, shown};
use crate::args::comparable::{SameQuantity, front_end, lowest_rate};
use crate::args::domains::domains;
use crate::args::front_end::FrontEndArgs;
use crate::args::resample::{ResampleArgs, resampled_json, resampled_line};
use crate::progress::Step;
use crate::text::levels::LevelCheck;
use crate::text::library::{library_json, library_text};
use crate::text::model::unit_text;

/// Fit labelled recordings of the machines you know: a source of one, a library of several
///
/// Of several machines, each is also tried as the target of the others. That shows how well labels
/// carry among them, and tells `adapt` how far to trust its own labels. Only labels that every
/// machine has are used.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rebearing fit --manifest machines.csv --domain motor-a --out motor-a.json\n  \
    rebearing fit --manifest machines.csv --domain motor-a,motor-c,motor-d --out library.json\n  \
    rebearing fit --manifest machines.csv --domain all --out library.json\n  \
    rebearing fit --manifest machines.csv --domain motor-a --resample 12000 --out motor-a.json\n  \
    rebearing fit --manifest machines.csv --domain motor-a --bands mel:64 --out motor-a.json")]
pub(super) struct FitArgs {
    /// Table of recordings: path, label, domain, `rate_hz`, and optionally rpm, channel, unit and
    /// `full_scale`; `rebearing manifest` makes one.
    #[arg(long, value_name = "CSV")]
    manifest: PathBuf,
    /// Domain of the manifest to fit, several of them as a list, or all. Each of their recordings
    /// needs a label.
    #[arg(long, value_name = "NAME[,…]|all")]
    domain: String,
    /// Where to write the source or library.
    #[arg(long, value_name = "LIBRARY.json")]
    out: PathBuf,
    /// Label of the healthy machine [default: the class called healthy or normal].
    #[arg(long, value_name = "LABEL")]
    healthy: Option<String>,
    #[command(flatten)]
    front_end: FrontEndArgs,
    #[command(flatten)]
    resample: ResampleArgs,
    /// Components per class.
    #[arg(long, value_name = "N", default_value_t = 2)]
    components: usize,
    /// Value to add to every variance of a component, in units of each feature's variance.
    #[arg(long, value_name = "V", default_value_t = 0.01)]
    variance_floor: f64,
    /// Starts of each EM; the likeliest fit is kept.
    #[arg(long, value_name = "N", default_value_t = 4)]
    restarts: usize,
    /// Seed of the starts.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

pub(super) fn run(args: &FitArgs) -> Result<Outcome> {
    let manifest = Manifest::read(&args.manifest)?;
    output::check_writable(&args.out)?;
    let names = domains(&manifest, &args.domain)?;
    let machines = Machines::read(args, &manifest, &names)?;
    let settings = SourceSettings {
        components: args.components,
        variance_floor: args.variance_floor,
        restarts: args.restarts,
        seed: args.seed,
        healthy: args.healthy.clone(),
    };
    let library = {
        let _step = Step::start(format!("fitting {}", plural(names.len(), "machine", "machines")));
        let shared = Shared::new(machines.known, args.healthy.as_deref())?;
        fit_library(&shared, &settings)?
    };
    library.write(&args.out)?;
    let mut text = match library.sources.as_slice() {
        [source] => source_text(source, args),
        _ => format!(
            "library of {}: {}, {} -> {}\n{}",
            plural(library.sources.len(), "machine", "machines"),
            plural(library.first().classes.len(), "class", "classes"),
            plural(library.first().front_end.dims(), "feature", "features"),
            args.out.display(),
            library_text(&library)
        ),
    };
    for line in &machines.resampled_lines {
        let _ = writeln!(text, "  {line}");
    }
    let source = library.first();
    if let Some(unit) = &source.unit {
        let _ = writeln!(text, "  samples in {}", unit_text(&unit.to_string(), source.full_scale));
    }
    let healthy = source.healthy.and_then(|class| source.classes.get(class));
    if healthy.is_none() {
        text.push_str(
            "  no class is called healthy or normal: name the healthy class with --healthy LABEL\n",
        );
    }
    let mut json = library_json(&library);
    let windows: Vec<usize> = (0..source.classes.len())
        .map(|class| library.sources.iter().map(|source| source.windows[class]).sum())
        .collect();
    let components: usize =
        library.sources.iter().map(|source| source.mixture.mixture.components()).sum();
    let own = json!({
        "source": library.domains().join(","),
        "out": shown(&args.out),
        "healthy": healthy,
        "windows": windows,
        "components": components,
        "dims": source.front_end.dims(),
        "rate_hz": source.front_end.rate_hz,
        "axes": source.front_end.axes,
        "resampled": machines.resampled,
        "unit": source.unit,
        "full_scale": source.full_scale,
        "log_likelihood_min": source.log_likelihood_min,
        "hash": hex(&library.hash()?),
    });
    if let (Value::Object(json), Value::Object(own)) = (&mut json, own) {
        json.extend(own);
    }
    Ok(machines.levels.added_to(Outcome::new(text, json)))
}

/// The known machines, as features.
struct Machines {
    known: Vec<LabelledFeatures>,
    levels: LevelCheck,
    /// A line for each machine that was resampled.
    resampled_lines: Vec<String>,
    /// The same for scripts; of the first such machine.
    resampled: Value,
}

impl Machines {
    /// Reads one machine after the other, so that the samples of one at a time are in memory.
    fn read(args: &FitArgs, manifest: &Manifest, names: &[&str]) -> Result<Self> {
        // Before anything is read.
        if names.len() > MOST_SOURCES {
            bail!("{} machines: a library holds at most {MOST_SOURCES}", names.len());
        }
        let lowest = lowest_rate(manifest, names)?;
        let resample = match args.resample.choice() {
            Resample::Lowest if names.len() > 1 => Resample::To(lowest),
            choice => choice,
        };
        let mut machines = Self {
            known: Vec::new(),
            levels: LevelCheck::default(),
            resampled_lines: Vec::new(),
            resampled: Value::Null,
        };
        let mut units = SameQuantity::default();
        for name in names {
            let _step = Step::start(format!("reading the recordings of {name}"));
            let domain = Domain::read_at(manifest, name, resample)?;
            units.check(&domain)?;
            let front_end = front_end(&args.front_end, &args.resample, lowest, &domain)?;
            machines.resampled_lines.extend(resampled_line(&domain, &front_end));
            if machines.resampled.is_null() {
                machines.resampled = resampled_json(&domain);
            }
            machines.levels.add(&domain, &front_end)?;
            machines.known.push(LabelledFeatures::extract(&domain, &front_end)?);
        }
        Ok(machines)
    }
}

fn source_text(source: &Source, args: &FitArgs) -> String {
    let windows: usize = source.windows.iter().sum();
    let mut text = format!(
        "{}: {}, {}, {} of {} -> {}\n",
        source.domain,
        plural(source.classes.len(), "class", "classes"),
        plural(windows, "window", "windows"),
        plural(source.mixture.mixture.components(), "component", "components"),
        plural(source.front_end.dims(), "feature", "features"),
        args.out.display()
    );
    for (class, windows) in source.classes.iter().zip(&source.windows) {
        let _ = writeln!(
            text,
            "  {class:<20} {windows:>6} {}",
            if *windows == 1 { "window" } else { "windows" }
        );
    }
    text
}
