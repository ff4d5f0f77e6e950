//! The machine that a model is built for: its recordings, its snapshots, or both.

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::data::domain::{Domain, Resample};
use crate::data::manifest::Manifest;
use crate::features::snapshot::Snapshot;
use crate::source::library::Library;

/// The machine to adapt to.
#[derive(Debug, Clone)]
pub struct Target {
    /// The machine, with its recordings if it has any.
    pub domain: Domain,
    /// The snapshots that its devices sent.
    pub snapshots: Vec<Snapshot>,
    /// The place that gives its sample rate, for errors.
    pub place: String,
}

impl Target {
    /// Reads the recordings of a domain, for a target that has these snapshots too.
    pub fn read(
        manifest: &Manifest,
        name: &str,
        snapshots: Vec<Snapshot>,
        resample: Resample,
    ) -> Result<Self> {
        let domain = Domain::read_at(manifest, name, resample)?;
        let place = format!("{}: domain {name}", manifest.path.display());
        Ok(Self { domain, snapshots, place })
    }

    /// A machine without recordings, from its snapshots. `name` is the name to give the machine.
    pub fn of_snapshots(name: Option<&str>, snapshots: Vec<Snapshot>) -> Result<Self> {
        let first = snapshots.first().context("a target needs recordings or a snapshot")?;
        let domain = Domain {
            name: name.unwrap_or("snapshot").into(),
            rate_hz: f64::from(first.rate_hz),
            axes: first.axes,
            ..Domain::default()
        };
        let place = format!("{}: the device", first.path.display());
        Ok(Self { domain, snapshots, place })
    }

    /// Refuses a target that was measured in another quantity than a machine of the library.
    pub(super) fn check_units(&self, library: &Library) -> Result<()> {
        for source in &library.sources {
            let (Some(known), Some(unit)) = (&source.unit, &self.domain.unit) else { continue };
            // Features have no level, so units that can be converted need not be converted. The
            // model stays in the unit of its own machine.
            unit.factor_to(known).map(drop).with_context(|| {
                let Self { place, .. } = self;
                format!("{place} is recorded in {unit}, the source {} in {known}", source.domain)
            })?;
        }
        Ok(())
    }
}

/// Returns the SHA-256 over everything that a model of this target is fitted from.
pub fn fitted_from(library: &Library, target: &Domain, snapshots: &[Snapshot]) -> Result<[u8; 32]> {
    let mut hash = Sha256::new();
    hash.update(library.hash()?);
    hash.update(target.hash(false)?);
    for snapshot in snapshots {
        snapshot.features.iter().for_each(|feature| hash.update(feature.to_le_bytes()));
    }
    Ok(hash.finalize().into())
}
