//! The features of every domain in use, extracted once.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use rebearing_host::data::domain::{Domain, Resample};
use rebearing_host::data::manifest::Manifest;
use rebearing_host::evaluate::noise::Noise;
use rebearing_host::evaluate::{SourceDomain, TargetDomain};

use super::EvaluateArgs;
use super::pairs::Pair;
use crate::args::comparable::{SameQuantity, front_end, lowest_rate};
use crate::progress::Step;
use crate::text::levels::LevelCheck;

/// The features of every domain in use, as source, as target, or both.
pub(super) struct Extracted<'a> {
    pub(super) sources: HashMap<&'a str, SourceDomain>,
    pub(super) targets: HashMap<&'a str, TargetDomain>,
    pub(super) levels: LevelCheck,
}

impl<'a> Extracted<'a> {
    pub(super) fn read(
        args: &EvaluateArgs,
        manifest: &'a Manifest,
        pairs: &[Pair<'a>],
    ) -> Result<Self> {
        let noise = args.noise.map(|snr_db| Noise { snr_db, seed: args.seed });
        let (sources, targets) = (HashMap::new(), HashMap::new());
        let mut extracted = Self { sources, targets, levels: LevelCheck::default() };
        let names = manifest.domains();
        let known: HashSet<&str> = pairs.iter().flat_map(|pair| pair.sources.clone()).collect();
        let new: HashSet<&str> = pairs.iter().map(|pair| pair.target).collect();
        let used = |name: &&str| known.contains(name) || new.contains(name);
        let used: Vec<&str> = names.into_iter().filter(used).collect();
        let lowest = lowest_rate(manifest, &used)?;
        let resample = match args.resample.choice() {
            Resample::Lowest => Resample::To(lowest),
            choice => choice,
        };
        let mut units = SameQuantity::default();
        for name in used {
            let (as_source, as_target) = (known.contains(name), new.contains(name));
            let _step = Step::start(format!("reading the recordings of {name}"));
            // One domain's samples at a time are in memory; its features stay.
            let mut domain = Domain::read_at(manifest, name, resample)?;
            units.check(&domain)?;
            if let Some(share) = args.first {
                domain.keep_first(share)?;
            }
            let front_end = front_end(&args.front_end, &args.resample, lowest, &domain)?;
            extracted.levels.add(&domain, &front_end)?;
            if as_source {
                extracted.sources.insert(name, SourceDomain::extract(&domain, &front_end)?);
            }
            if as_target {
                let target = TargetDomain::extract(&domain, &front_end, args.split, noise)?;
                extracted.targets.insert(name, target);
            }
        }
        Ok(extracted)
    }

    /// Every label, in alphabetical order.
    pub(super) fn labels(&self) -> Vec<String> {
        let sources = self.sources.values().flat_map(|domain| &domain.labels);
        let targets = self.targets.values().flat_map(|domain| &domain.labels);
        let mut labels: Vec<String> = sources.chain(targets).cloned().collect();
        labels.sort();
        labels.dedup();
        labels
    }
}
