//! `rebearing fit`: fits a source mixture to labelled recordings.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::{Outcome, shown};
use crate::args::front_end::FrontEndArgs;
use crate::args::resample::{ResampleArgs, resampled_json, resampled_line};
use crate::progress::Step;
use crate::text::model::unit_text;
use rebearing_host::data::domain::Domain;
use rebearing_host::data::manifest::Manifest;
use rebearing_host::files::output;
use rebearing_host::source::{Source, SourceSettings};
use rebearing_host::words::plural;

/// Fit a source mixture to labelled recordings of a machine you know.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rebearing fit --manifest machines.csv --domain motor-a --out motor-a.json\n  \
    rebearing fit --manifest machines.csv --domain motor-a --resample 12000 --out motor-a.json\n  \
    rebearing fit --manifest machines.csv --domain motor-a --bands mel:64 --out motor-a.json")]
pub(super) struct FitArgs {
    /// Table of recordings: path, label, domain, `rate_hz`, and optionally rpm, channel, unit and
    /// `full_scale`; `rebearing manifest` makes one.
    #[arg(long, value_name = "CSV")]
    manifest: PathBuf,
    /// Domain of the manifest to fit; each of its recordings needs a label.
    #[arg(long, value_name = "NAME")]
    domain: String,
    /// Where to write the source mixture.
    #[arg(long, value_name = "SOURCE.json")]
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
    let resample = args.resample.choice();
    output::check_writable(&args.out)?;
    let domain = {
        let _step = Step::start(format!("reading the recordings of {}", args.domain));
        Domain::read_at(&manifest, &args.domain, resample)?
    };
    let front_end = args.front_end.settings(domain.rate_hz, domain.axes)?;
    let front_end = args.resample.front_end(front_end)?;
    let settings = SourceSettings {
        components: args.components,
        variance_floor: args.variance_floor,
        restarts: args.restarts,
        seed: args.seed,
        healthy: args.healthy.clone(),
    };
    let source = {
        let _step = Step::start(format!("fitting {}", args.domain));
        Source::fit(&domain, front_end, &settings)?
    };
    source.write(&args.out)?;

    let windows: usize = source.windows.iter().sum();
    let components = source.mixture.mixture.weights.len();
    let mut text = format!(
        "{}: {}, {}, {} of {} -> {}\n",
        source.domain,
        plural(source.classes.len(), "class", "classes"),
        plural(windows, "window", "windows"),
        plural(components, "component", "components"),
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
    if let Some(line) = resampled_line(&domain, &source.front_end) {
        let _ = writeln!(text, "  {line}");
    }
    if let Some(unit) = &source.unit {
        let _ = writeln!(text, "  samples in {}", unit_text(&unit.to_string(), source.full_scale));
    }
    let healthy = source.healthy.and_then(|class| source.classes.get(class));
    if healthy.is_none() {
        text.push_str(
            "  no class is called healthy or normal: name the healthy class with --healthy LABEL\n",
        );
    }
    let json = json!({
        "source": source.domain,
        "out": shown(&args.out),
        "classes": source.classes,
        "healthy": healthy,
        "windows": source.windows,
        "components": components,
        "dims": source.front_end.dims(),
        "rate_hz": source.front_end.rate_hz,
        "axes": source.front_end.axes,
        "resampled": resampled_json(&domain),
        "unit": source.unit,
        "full_scale": source.full_scale,
        "log_likelihood_min": source.log_likelihood_min,
        "hash": source.hash,
    });
    Ok(Outcome::new(text, json))
}
