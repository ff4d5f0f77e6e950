//! The sources and targets to evaluate.

use anyhow::{Result, bail};
use rebearing_host::data::manifest::Manifest;

use crate::args::domains::{ALL, domains};

/// The word for every domain but the target.
const OTHERS: &str = "others";

/// Known machines, and a machine to carry their labels to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair<'a> {
    /// The sources, as they were requested.
    pub(super) name: String,
    /// The known machines: one, or several as a library.
    pub(super) sources: Vec<&'a str>,
    /// The new machine.
    pub(super) target: &'a str,
}

/// Returns every combination of sources and target. A domain is never its own source.
pub(super) fn pairs<'a>(
    manifest: &'a Manifest,
    source: &str,
    target: &str,
) -> Result<Vec<Pair<'a>>> {
    let targets = domains(manifest, target)?;
    let mut pairs = Vec::new();
    let is = |name: &str, word: &str| name == word && !manifest.domains().contains(&word);
    if is(source, ALL) {
        for source in manifest.domains() {
            let target =
                |target: &&'a str| Pair { name: source.to_owned(), sources: vec![source], target };
            pairs.extend(targets.iter().filter(|target| **target != source).map(target));
        }
    } else {
        let library =
            if is(source, OTHERS) { manifest.domains() } else { domains(manifest, source)? };
        for target in targets {
            let mut sources = library.clone();
            sources.retain(|source| *source != target);
            if !sources.is_empty() {
                pairs.push(Pair { name: source.to_owned(), sources, target });
            }
        }
    }
    if pairs.is_empty() {
        bail!(
            "--source {source} --target {target}: the two must differ; the domains are {}",
            manifest.domains().join(", ")
        );
    }
    Ok(pairs)
}
