//! The features of each domain, extracted once for any number of pairs.

use std::time::Instant;

use anyhow::{Context, Result};

use super::noise::{self, Noise};
use crate::data::domain::Domain;
use crate::data::split;
use crate::features::dense::{extract_dense, stride_for};
use crate::features::extract::{Features, extract};
use crate::features::front_end::FrontEndSettings;

/// A domain as the known machine: features of its whole recordings.
#[derive(Debug, Clone)]
pub struct SourceDomain {
    /// Its name.
    pub name: String,
    /// Settings that turned its samples into features.
    pub front_end: FrontEndSettings,
    /// Label of each recording.
    pub labels: Vec<String>,
    /// Features of all windows.
    pub features: Features,
    /// SHA-256 of its recordings and labels.
    pub hash: [u8; 32],
    /// Seconds spent on the features.
    pub seconds: f64,
}

impl SourceDomain {
    /// Extracts the features of every recording of `domain`. Each recording needs a label.
    pub fn extract(domain: &Domain, front_end: &FrontEndSettings) -> Result<Self> {
        let labels = labels(domain)?;
        let start = Instant::now();
        let features = extract(&domain.recordings, &domain.whole(), front_end)?;
        Ok(Self {
            name: domain.name.clone(),
            front_end: front_end.clone(),
            labels,
            features,
            seconds: start.elapsed().as_secs_f64(),
            hash: domain.hash(true)?,
        })
    }
}

/// The sources of a run: one known machine, or a library of several.
#[derive(Debug, Clone)]
pub struct Sources<'a> {
    /// The sources, as they were requested.
    pub name: String,
    /// The known machines; at least one.
    pub domains: Vec<&'a SourceDomain>,
}

impl<'a> Sources<'a> {
    /// A single source.
    pub fn one(domain: &'a SourceDomain) -> Self {
        Self { name: domain.name.clone(), domains: vec![domain] }
    }
}

/// A domain as the new machine: features before and after a cut in time.
#[derive(Debug, Clone)]
pub struct TargetDomain {
    /// Its name.
    pub name: String,
    /// Settings that turned its samples into features.
    pub front_end: FrontEndSettings,
    /// Label of each recording. It only selects the pool and scores the test.
    pub labels: Vec<String>,
    /// Windows before the cut, to adapt on. Those of short recordings lie closer than a hop.
    pub first: Features,
    /// Windows after the cut, to test on.
    pub last: Features,
    /// Seconds spent on the features.
    pub seconds: f64,
}

impl TargetDomain {
    /// Extracts the features of every recording of `domain`, cut in time at the fraction `split`.
    pub fn extract(
        domain: &Domain,
        front_end: &FrontEndSettings,
        split: f64,
        noise: Option<Noise>,
    ) -> Result<Self> {
        let labels = labels(domain)?;
        let noisy = noise.map(|noise| noise::add(domain, noise)).transpose()?;
        let recordings = noisy.as_deref().unwrap_or(&domain.recordings);
        let start = Instant::now();
        let parts = split::in_time(&domain.frames(), split)?;
        let side = |which: &str, parts, stride| {
            extract_dense(recordings, parts, front_end, stride)
                .with_context(|| format!("{which} part of a split at {split}"))
        };
        Ok(Self {
            name: domain.name.clone(),
            front_end: front_end.clone(),
            labels,
            first: side("first", &parts.first, stride_for(&parts.first, front_end))?,
            last: side("last", &parts.last, front_end.hop)?,
            seconds: start.elapsed().as_secs_f64(),
        })
    }
}

/// The label of every recording.
fn labels(domain: &Domain) -> Result<Vec<String>> {
    domain
        .labels
        .iter()
        .zip(&domain.recordings)
        .map(|(label, recording)| {
            label.clone().with_context(|| {
                format!(
                    "domain {}: {} has no label; an evaluation needs the label of every recording \
                     (fill the manifest's label column, or leave the row out)",
                    domain.name,
                    recording.path.display()
                )
            })
        })
        .collect()
}
