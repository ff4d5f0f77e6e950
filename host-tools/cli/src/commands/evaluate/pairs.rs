//! The sources and targets to evaluate.

use anyhow::{Result, bail};
use rebearing_host::data::manifest::Manifest;
use rebearing_host::words::listed;

use crate::args::domains::{ALL, domains};

/// Largest number of sources and targets to combine. More would take days.
const MOST: usize = 100_000;

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
    let known = manifest.domains();
    let is = |name: &str, word: &str| name == word && !known.contains(&word);
    let few = |sources: &[&str]| {
        let combined = targets.len().saturating_mul(sources.len());
        if combined > MOST {
            bail!(
                "--source {source} --target {target}: {combined} combinations of machines, at most \
                 {MOST} are evaluated; name fewer"
            );
        }
        Ok(())
    };
    if is(source, ALL) {
        few(&known)?;
        for source in known {
            let target =
                |target: &&'a str| Pair { name: source.to_owned(), sources: vec![source], target };
            pairs.extend(targets.iter().filter(|target| **target != source).map(target));
        }
    } else {
        let library = if is(source, OTHERS) { known } else { domains(manifest, source)? };
        few(&library)?;
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
            listed(&manifest.domains())
        );
    }
    Ok(pairs)
}
