//! Domains of a manifest, named one by one, as a list, or all.

use anyhow::Result;
use rebearing_host::data::manifest::Manifest;

/// The word for every domain.
pub(crate) const ALL: &str = "all";

/// Returns the domains of a name, a list of names, or `all`. Each comes once.
pub(crate) fn domains<'a>(manifest: &'a Manifest, text: &str) -> Result<Vec<&'a str>> {
    let domains = manifest.domains();
    // A domain may have a comma in its name, or be called all.
    if let Some(whole) = domains.iter().find(|domain| **domain == text) {
        return Ok(vec![whole]);
    }
    if text == ALL {
        return Ok(domains);
    }
    let mut chosen = Vec::new();
    for name in text.split(',').map(str::trim) {
        // Refuses a name that the manifest does not have.
        manifest.rows_of(name)?;
        if let Some(domain) = domains.iter().find(|domain| **domain == name)
            && !chosen.contains(domain)
        {
            chosen.push(*domain);
        }
    }
    Ok(chosen)
}
