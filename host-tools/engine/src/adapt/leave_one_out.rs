//! How well labels carry among the known machines: each is taken as the target of every other one.
//!
//! The labels of all of them are known, so this gives the true accuracy at each quality. The
//! library's own curve is fitted to it.

use anyhow::Result;
use rayon::prelude::*;

use super::plan::PlanSettings;
use super::transfer::{TransferError, TransferSettings, carry, map_classes};
use crate::progress;
use crate::source::library::{KnownTransfer, Library, Shared};
use crate::source::{LabelledFeatures, Source, SourceSettings};

/// Fits a library to known machines and measures how well labels carry among them.
pub fn fit_library(shared: &Shared, settings: &SourceSettings) -> Result<Library> {
    let mut library = Library::fit(shared, settings)?;
    let plan = PlanSettings::default();
    let transfer = TransferSettings { components: settings.components, em: settings, plan: &plan };
    library.transfers = transfers(&library, &shared.known, &transfer)?;
    Ok(library)
}

/// Carries labels from every machine of `library` to every other one. `known` holds their labelled
/// windows, in the same order. The labels of the target only count what was right.
///
/// A machine with too few windows to be a target gives no transfer.
pub fn transfers(
    library: &Library,
    known: &[LabelledFeatures],
    settings: &TransferSettings<'_>,
) -> Result<Vec<KnownTransfer>> {
    let machines = library.sources.len();
    let pairs: Vec<(usize, usize)> = (0..machines)
        .flat_map(|target| (0..machines).map(move |source| (source, target)))
        .filter(|(source, target)| source != target)
        .collect();
    let _stage = progress::stage("trying the known machines on one another", pairs.len());
    let results = pairs.into_par_iter().map(|(source, target)| {
        let one = one(&library.sources[source], &known[target], settings);
        progress::done(1);
        one
    });
    Ok(results.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

fn one(
    source: &Source,
    target: &LabelledFeatures,
    settings: &TransferSettings<'_>,
) -> Result<Option<KnownTransfer>> {
    let carried = match carry(source, &target.features, settings) {
        Err(TransferError::TooFew { .. }) => return Ok(None),
        carried => carried?,
    };
    let called = map_classes(source, &carried.mixture, &target.features.x)?;
    let right = called.iter().zip(&target.labels).filter(|(called, truth)| called == truth).count();
    Ok(Some(KnownTransfer {
        source: source.domain.clone(),
        target: target.domain.clone(),
        quality: carried.support.quality,
        accuracy: right as f64 / called.len().max(1) as f64,
    }))
}
