//! Makes several domains comparable: bands at the same frequencies, samples of one quantity.

use anyhow::{Context, Result};
use rebearing_host::data::domain::Domain;
use rebearing_host::data::manifest::Manifest;
use rebearing_host::data::units::Unit;
use rebearing_host::features::front_end::FrontEndSettings;
use rebearing_host::features::rates;

use super::front_end::FrontEndArgs;
use super::resample::ResampleArgs;

/// Refuses domains that were measured in different quantities.
#[derive(Debug, Default)]
pub(crate) struct SameQuantity {
    /// The first domain with a unit, and that unit.
    first: Option<(String, Unit)>,
}

impl SameQuantity {
    /// Compares the unit of a domain with the first one that was seen.
    pub(crate) fn check(&mut self, domain: &Domain) -> Result<()> {
        let Some(own) = &domain.unit else { return Ok(()) };
        let name = &domain.name;
        let (first, unit) = self.first.get_or_insert_with(|| (name.clone(), own.clone()));
        own.factor_to(unit).map(drop).with_context(|| format!("domains {first} and {name}"))
    }
}

/// The lowest sample rate of the domains.
pub(crate) fn lowest_rate(manifest: &Manifest, names: &[&str]) -> Result<f64> {
    let mut lowest = f64::INFINITY;
    for name in names {
        lowest = manifest.rows_of(name)?.iter().map(|row| row.rate_hz).fold(lowest, f64::min);
    }
    Ok(lowest)
}

/// Returns the front end of a domain. Its bands end where the lowest rate ends.
pub(crate) fn front_end(
    args: &FrontEndArgs,
    resample: &ResampleArgs,
    lowest: f64,
    domain: &Domain,
) -> Result<FrontEndSettings> {
    let front_end = args.settings(lowest.min(domain.rate_hz), domain.axes)?;
    let front_end = resample.front_end(front_end)?;
    rates::at_rate(&front_end, domain.rate_hz).with_context(|| format!("domain {}", domain.name))
}
