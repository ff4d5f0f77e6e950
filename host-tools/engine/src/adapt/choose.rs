//! Chooses the known machine whose labels carry best to the target.
//!
//! Pooling all machines into one source, or averaging their labels, does worse: each machine that
//! is unlike the target spoils the plan. So every machine carries its labels alone, and the one
//! with the largest quality is taken.

use rayon::prelude::*;
use serde::Serialize;

use super::target::{TargetMixture, unit};
use super::transfer::{Carried, TransferError, TransferSettings, carry};
use crate::features::extract::Features;
use crate::source::Source;
use crate::source::library::Library;

/// How well one machine of a library suits a target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// The machine.
    pub domain: String,
    /// Its share in the labels: one for the chosen machine, or its share in a combination.
    pub weight: f64,
    /// The information that the carried labels give, as in [`Support`](super::transfer::Support).
    pub score: Option<f64>,
    /// The agreement of the plan with a common shift.
    pub consistency: Option<f64>,
    /// Score times consistency: the machine with the largest one is chosen.
    pub quality: Option<f64>,
    /// How far the target is from this machine: the common shift in units of the distance between
    /// classes; for a healthy pool, the healthy shift in units of the distance to a fault.
    pub shift: f64,
}

/// The chosen machine, and how all of them compare.
#[derive(Debug, Clone)]
pub struct Choice {
    /// Index of the chosen machine in the library.
    pub chosen: usize,
    /// Its labels.
    pub carried: Carried,
    /// The target's mixture, in nats.
    pub own: TargetMixture,
    /// Every machine, in the order of the library.
    pub candidates: Vec<Candidate>,
}

/// Carries the labels of every machine to the target and chooses the best.
pub fn choose(
    library: &Library,
    target: &Features,
    settings: &TransferSettings<'_>,
) -> Result<Choice, TransferError> {
    let components = settings.components * library.first().classes.len();
    let own = TargetMixture::fit(&target.x, unit(library), components, settings.em)?;
    let carried: Vec<Carried> = library
        .sources
        .par_iter()
        .map(|source| carry(source.parts(), &target.x, &own, settings.plan))
        .collect::<Result<_, _>>()?;
    // Of equal machines the first is taken.
    let better = |best: usize, other: usize| {
        let quality = |index: usize| carried[index].support.quality;
        if quality(other) > quality(best) { other } else { best }
    };
    let chosen = (0..carried.len()).fold(0, better);
    let candidate = |(index, (source, carried)): (usize, (&Source, &Carried))| Candidate {
        domain: source.domain.clone(),
        weight: if index == chosen { 1.0 } else { 0.0 },
        score: Some(carried.support.score),
        consistency: Some(carried.support.consistency),
        quality: Some(carried.support.quality),
        shift: carried.shift,
    };
    let candidates = library.sources.iter().zip(&carried).enumerate().map(candidate).collect();
    let mut carried = carried;
    Ok(Choice { chosen, carried: carried.swap_remove(chosen), own, candidates })
}
