//! The library: known machines with the same classes, axes and bands, and how well labels carry
//! among them.

use anyhow::{Result, bail};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{LabelledFeatures, Source, SourceSettings};
use crate::data::domain::healthy_class;
use crate::features::front_end::FrontEndSettings;
use crate::features::rates::{self, RateError, same_bands};
use crate::progress;
use crate::words::plural;

/// Most machines in a library.
pub const MOST_SOURCES: usize = 1000;

/// Known machines to choose from.
#[derive(Debug, Clone, PartialEq)]
pub struct Library {
    /// The machines; at least one. All have the same classes, axes and bands.
    pub sources: Vec<Source>,
    /// Every machine taken as the target of every other one.
    pub transfers: Vec<KnownTransfer>,
    /// Labels and machines that were given, but are not in the library.
    pub left_out: LeftOut,
}

/// The labels of one known machine, carried to another one whose labels are known too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnownTransfer {
    /// The machine that the labels come from.
    pub source: String,
    /// The machine that took the place of a new one.
    pub target: String,
    /// The quality of the carried labels, found without the target's own labels.
    pub quality: f64,
    /// The share of the target's windows that got the right label.
    pub accuracy: f64,
}

/// Labels and machines that a library cannot use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Labels that not every machine has.
    pub classes: Vec<String>,
    /// Machines without a healthy recording, if others have one.
    pub domains: Vec<String>,
}

impl From<Source> for Library {
    /// The library of one machine.
    fn from(source: Source) -> Self {
        Self { sources: vec![source], transfers: Vec::new(), left_out: LeftOut::default() }
    }
}

/// Known machines that were made comparable: the same classes, axes and bands.
#[derive(Debug, Clone)]
pub struct Shared {
    /// The labelled features of each machine.
    pub known: Vec<LabelledFeatures>,
    /// Labels and machines that were left out for that.
    pub left_out: LeftOut,
}

impl Shared {
    /// Restricts machines to the classes that all of them have.
    ///
    /// The healthy class is never given up, because the gate needs it: machines without it are left
    /// out if another machine has it. Machines with other axes or bands are refused.
    pub fn new(known: Vec<LabelledFeatures>, healthy: Option<&str>) -> Result<Self> {
        let Some(first) = known.first() else { bail!("a library needs at least one machine") };
        if known.len() > MOST_SOURCES {
            bail!("{} machines: a library holds at most {MOST_SOURCES}", known.len());
        }
        for other in &known {
            let (one, two) = (&first.front_end, &other.front_end);
            if one.axes != two.axes {
                bail!(
                    "domain {} has {} and domain {} has {}; a library needs the same channels in all, so name the same \
                     channels in the manifest or make two libraries",
                    first.domain,
                    plural(one.axes, "axis", "axes"),
                    other.domain,
                    two.axes
                );
            }
            if !same_bands(one, two) {
                bail!(
                    "the bands of domains {} and {} are not the same frequencies; fit them with the same settings",
                    first.domain,
                    other.domain
                );
            }
        }
        let all = distinct(known.iter().flat_map(|known| &known.classes));
        let healthy = healthy_class(&all, healthy)?.map(|class| all[class].clone());
        let has_healthy = |known: &LabelledFeatures| {
            healthy.as_ref().is_none_or(|healthy| known.classes.contains(healthy))
        };
        let (kept, without): (Vec<_>, Vec<_>) = known.into_iter().partition(has_healthy);
        let shared: Vec<String> = all
            .iter()
            .filter(|class| kept.iter().all(|known| known.classes.contains(class)))
            .cloned()
            .collect();
        if shared.len() < 2 && kept.len() > 1 {
            let has = |known: &LabelledFeatures| {
                format!("{} has {}", known.domain, known.classes.join(", "))
            };
            bail!(
                "the machines have {} in common, and a library needs two: {}; use the same labels in all, or leave \
                 machines out",
                shared.first().map_or("no label".into(), |class| format!("only the label {class}")),
                kept.iter().map(has).collect::<Vec<_>>().join("; ")
            );
        }
        let left_out = LeftOut {
            classes: all
                .iter()
                .filter(|class| kept.iter().any(|known| known.classes.contains(class)))
                .filter(|class| !shared.contains(class))
                .cloned()
                .collect(),
            domains: without.into_iter().map(|known| known.domain).collect(),
        };
        // One order of the classes for all: that of the first machine.
        let known = kept.iter().map(|known| known.of_classes(&shared)).collect();
        Ok(Self { known, left_out })
    }
}

impl Library {
    /// Fits a source to each machine. How well labels carry among them is not known yet.
    pub fn fit(shared: &Shared, settings: &SourceSettings) -> Result<Self> {
        let _stage = progress::stage("fitting the known machines", shared.known.len());
        let fit = |known: &LabelledFeatures| {
            let source = Source::fit_features(known, settings);
            progress::done(1);
            source
        };
        let sources = shared.known.par_iter().map(fit).collect::<Result<_>>()?;
        Ok(Self { sources, transfers: Vec::new(), left_out: shared.left_out.clone() })
    }

    /// The first machine. Classes, axes and bands of all others are the same.
    pub fn first(&self) -> &Source {
        &self.sources[0]
    }

    /// The names of the machines.
    pub fn domains(&self) -> Vec<&str> {
        self.sources.iter().map(|source| source.domain.as_str()).collect()
    }

    /// The machine with this name.
    pub fn source(&self, domain: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.domain == domain)
    }

    /// The library of one of its machines alone.
    pub fn only(&self, domain: &str) -> Result<Self> {
        let Some(source) = self.source(domain) else {
            bail!(
                "`from` {domain}: the library has no such machine; it has {}",
                self.domains().join(", ")
            );
        };
        Ok(source.clone().into())
    }

    /// Names the healthy class of every machine.
    pub fn set_healthy(&mut self, name: &str) -> Result<()> {
        let healthy = healthy_class(&self.first().classes, Some(name))?;
        for source in &mut self.sources {
            source.healthy = healthy;
        }
        Ok(())
    }

    /// The library for samples at `rate_hz`: the same bands in hertz.
    pub fn at_rate(mut self, rate_hz: f64) -> Result<Self, RateError> {
        // One front end for all: edges that were rounded at different rates differ by a bin.
        let front_end: FrontEndSettings = rates::at_rate(&self.first().front_end, rate_hz)?;
        for source in &mut self.sources {
            source.front_end = front_end.clone();
        }
        Ok(self)
    }

    /// The hash of everything that the library was fitted from. For one machine it is its own.
    pub fn hash(&self) -> Result<[u8; 32]> {
        if let [source] = self.sources.as_slice() {
            return source.hash_bytes();
        }
        let mut hash = Sha256::new();
        for source in &self.sources {
            hash.update(source.hash_bytes()?);
        }
        Ok(hash.finalize().into())
    }

    /// For each known machine, the transfer from the other machine whose labels carried best by
    /// quality. This is what [`adapt`](crate::adapt) would have chosen.
    pub fn best_transfers(&self) -> Vec<&KnownTransfer> {
        let best = |target: &Source| {
            let to = self.transfers.iter().filter(|transfer| transfer.target == target.domain);
            to.max_by(|a, b| a.quality.total_cmp(&b.quality))
        };
        self.sources.iter().filter_map(best).collect()
    }
}

/// A machine that fits no other one of its library.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OddOneOut {
    /// The machine.
    pub domain: String,
    /// The largest share of labels that were right when they were carried to it.
    pub to: f64,
    /// The largest share of labels that were right when they were carried from it.
    pub from: f64,
}

/// A machine is an odd one out if labels are never carried to or from it with this accuracy.
const FITS: f64 = 0.9;

impl Library {
    /// The machines to and from which no other machine carries labels well. They may be wrongly
    /// labelled or of another build.
    pub fn odd_ones_out(&self) -> Vec<OddOneOut> {
        let best = |wanted: &dyn Fn(&&KnownTransfer) -> bool| {
            let transfers = self.transfers.iter().filter(wanted);
            transfers.map(|transfer| transfer.accuracy).reduce(f64::max)
        };
        let odd = |source: &Source| {
            let domain = source.domain.clone();
            let to = best(&|transfer| transfer.target == domain)?;
            let from = best(&|transfer| transfer.source == domain)?;
            (to.max(from) < FITS).then_some(OddOneOut { domain, to, from })
        };
        self.sources.iter().filter_map(odd).collect()
    }
}

/// The distinct labels in order of first appearance.
pub(crate) fn distinct<'a>(labels: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for label in labels {
        if !distinct.contains(label) {
            distinct.push(label.clone());
        }
    }
    distinct
}
