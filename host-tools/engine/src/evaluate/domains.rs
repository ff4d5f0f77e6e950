//! The features of each domain, extracted once for any number of pairs.

use std::time::Instant;

use anyhow::{Context, Result};

use super::noise::{self, Noise};
use crate::data::domain::Domain;
use crate::data::split;
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

/// A domain as the new machine: features before and after a cut in time.
#[derive(Debug, Clone)]
pub struct TargetDomain {
    /// Its name.
    pub name: String,
    /// Settings that turned its samples into features.
    pub front_end: FrontEndSettings,
    /// Label of each recording. It only selects the pool and scores the test.
    pub labels: Vec<String>,
    /// Windows before the cut, to adapt on.
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
        let side = |which: &str, parts| {
            extract(recordings, parts, front_end)
                .with_context(|| format!("{which} part of a split at {split}"))
        };
        Ok(Self {
            name: domain.name.clone(),
            front_end: front_end.clone(),
            labels,
            first: side("first", &parts.first)?,
            last: side("last", &parts.last)?,
            seconds: start.elapsed().as_secs_f64(),
        })
    }
}

/// Whether two front ends use the same bands: the same number, with the same edge frequencies to
/// within one bin of the coarser spectrum.
pub fn same_bands(one: &FrontEndSettings, other: &FrontEndSettings) -> bool {
    let tolerance = one.bin_hz().max(other.bin_hz());
    let edges = one.band_edges.iter().zip(&other.band_edges);
    one.axes == other.axes
        && one.band_edges.len() == other.band_edges.len()
        && edges.into_iter().all(|(a, b)| {
            (f64::from(*a) * one.bin_hz() - f64::from(*b) * other.bin_hz()).abs() <= tolerance
        })
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
