//! Reads the machine that a model is built for or tested on.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rebearing_host::build::Target;
use rebearing_host::data::domain::Resample;
use rebearing_host::data::manifest::Manifest;

use crate::progress::Step;

/// Reads recordings, snapshots or both. `bearing` is true if recordings are needed.
pub(crate) fn read_target(
    manifest: Option<&Path>,
    name: Option<&str>,
    sent: &[PathBuf],
    bearing: bool,
    resample: Resample,
) -> Result<Target> {
    let Some(path) = manifest else {
        if sent.is_empty() {
            bail!("give --manifest and --domain, or --snapshot");
        }
        let target = Target::of_snapshots(name, sent)?;
        if bearing {
            bail!("--bearing needs recordings, and snapshots hold none: give --manifest too");
        }
        return Ok(target);
    };
    let name = name.context("--manifest needs the --domain to adapt to")?;
    let manifest = Manifest::read(path)?;
    let _step = Step::start(format!("reading the recordings of {name}"));
    Target::read(&manifest, name, sent, resample)
}
