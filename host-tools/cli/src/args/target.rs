//! Reads the machine that a model is built for or tested on.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rebearing_host::build::Target;
use rebearing_host::data::domain::Resample;
use rebearing_host::data::manifest::Manifest;
use rebearing_host::features::snapshot::{self, Snapshot};
use rebearing_host::signing::snapshot_key;
use rebearing_host::words::plural;

use crate::progress::Step;

/// Reads the snapshots in the files `sent`. With the file of a key, their seals must hold.
pub(crate) fn read_snapshots(sent: &[PathBuf], key: Option<&Path>) -> Result<Vec<Snapshot>> {
    let key = key.map(snapshot_key::read).transpose()?;
    Ok(snapshot::read_all(sent, key.as_ref())?)
}

/// Returns a warning if snapshots have seals and nobody checked them.
pub(crate) fn unchecked_seals(snapshots: &[Snapshot], key: Option<&Path>) -> Option<String> {
    let sealed = snapshots.iter().filter(|snapshot| snapshot.seal.is_some()).count();
    (sealed > 0 && key.is_none()).then(|| {
        format!(
            "{} without a check of the seal, so anyone may have made them; give --snapshot-key",
            plural(sealed, "sealed snapshot was read", "sealed snapshots were read")
        )
    })
}

/// Reads recordings, snapshots or both. `bearing` is true if recordings are needed.
pub(crate) fn read_target(
    manifest: Option<&Path>,
    name: Option<&str>,
    snapshots: Vec<Snapshot>,
    bearing: bool,
    resample: Resample,
) -> Result<Target> {
    let Some(path) = manifest else {
        if snapshots.is_empty() {
            bail!("give --manifest and --domain, or --snapshot");
        }
        let target = Target::of_snapshots(name, snapshots)?;
        if bearing {
            bail!("--bearing needs recordings, and snapshots hold none: give --manifest too");
        }
        return Ok(target);
    };
    let name = name.context("--manifest needs the --domain to adapt to")?;
    let manifest = Manifest::read(path)?;
    let _step = Step::start(format!("reading the recordings of {name}"));
    Target::read(&manifest, name, snapshots, resample)
}
