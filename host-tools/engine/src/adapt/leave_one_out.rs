//! How well labels carry among the known machines: each is taken as the target of every other one.
//!
//! The labels of all of them are known, so this gives the true accuracy at each quality. The
//! library's own curve is fitted to it.

use anyhow::Result;
use rayon::prelude::*;

use super::plan::PlanSettings;
use super::target::{TargetMixture, unit};
use super::transfer::{TransferError, TransferSettings, carry, map_classes};
use crate::progress;
use crate::source::library::{KnownTransfer, Library, Shared};
use crate::source::{LabelledFeatures, SourceSettings};

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
    let machines: Vec<usize> = (0..library.sources.len()).collect();
    let _stage = progress::stage("trying the known machines on one another", machines.len());
    let to = |target: &usize| {
        let transfers = to_one(library, *target, &known[*target], settings);
        progress::done(1);
        transfers
    };
    let all = machines.par_iter().map(to).collect::<Result<Vec<_>>>()?;
    Ok(all.into_iter().flatten().collect())
}

/// Carries labels from every other machine to the one with this index.
fn to_one(
    library: &Library,
    index: usize,
    target: &LabelledFeatures,
    settings: &TransferSettings<'_>,
) -> Result<Vec<KnownTransfer>> {
    let components = settings.components * target.classes.len();
    let own = match TargetMixture::fit(&target.features.x, unit(library), components, settings.em) {
        Err(TransferError::TooFew { .. }) => return Ok(Vec::new()),
        own => own?,
    };
    let mut transfers = Vec::new();
    for (_, source) in library.sources.iter().enumerate().filter(|(other, _)| *other != index) {
        let carried = carry(source.parts(), &target.features.x, &own, settings.plan)?;
        let called = map_classes(source, &carried.mixture, &target.features.x)?;
        let pairs = called.iter().zip(&target.labels);
        let right = pairs.filter(|(called, truth)| called == truth).count();
        transfers.push(KnownTransfer {
            source: source.domain.clone(),
            target: target.domain.clone(),
            quality: carried.support.quality,
            accuracy: right as f64 / called.len().max(1) as f64,
        });
    }
    Ok(transfers)
}
