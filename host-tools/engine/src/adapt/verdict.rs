//! Decides between adapt, keep and abstain, and gives the reasons.
//!
//! Transport hands out every class of the source. So it is right if the pool holds every class of a
//! machine like a known one, and wrong otherwise. The predicted accuracy tells the two apart: labels
//! are carried over only if it keeps the promise. The healthy machine alone needs less. Where
//! neither holds, nothing is named.

use anyhow::{Context, Result};
use ndarray::Array1;

pub use super::adaptation::{Adaptation, Seconds, Verdict};
use super::choose::{Candidate, Choice, choose};
use super::combine::Combination;
use super::curve::Prediction;
use super::gate::{Gate, GateError, GateSettings};
use super::healthy::{self, FoundHealthy};
use super::judgement::Judgement;
use super::keep::FaultTypes;
use super::nothing::{self, UNREACHABLE};
use super::plausible;
use super::reasons;
use super::reference::{HealthyReference, Reference, column_means};
pub use super::settings::{AdaptSettings, Pool};
use super::states::TwoStates;
use super::target::{TargetMixture, unit};
use super::transfer::{CarriedLabels, Transfer, TransferError};
use crate::features::extract::Features;
use crate::mixture::Mixture;
use crate::mixture::held_out::HeldOut;
use crate::source::library::Library;
use crate::words::plural;

/// Largest healthy shift from a single source, in units of the distance to a typical fault. Beyond
/// it, the names of faults are guesses. Other speeds and loads of one machine reached at most 0.66,
/// other machines 0.9 and more.
pub const MAX_SHIFT: f64 = 0.8;
/// Largest healthy shift from a combination of machines. Machines in the library's range reached at
/// most 0.53, other machines and loads 0.58 and more.
pub const MAX_COMBINED_SHIFT: f64 = 0.5;
/// Largest healthy shift if nobody said that the pool is healthy: half of the way to a typical
/// fault. Gates of other machines that took a fault for healthy began at 0.6.
pub const MAX_FOUND_SHIFT: f64 = 0.5;

/// Adapts a library to the target's features (not standardised).
///
/// The crate's documentation shows it in use, from recordings to labels.
pub fn adapt(library: &Library, target: &Features, settings: &AdaptSettings) -> Result<Adaptation> {
    settings.check()?;
    let references = library.sources.iter().map(Reference::new).collect::<Result<Vec<_>, _>>()?;
    let known = Known { library, references: &references, target, settings };
    match settings.pool_is {
        Pool::All => known.complete(),
        Pool::Healthy => known.healthy(),
        Pool::Unknown => known.unknown(),
    }
}

/// Everything that a verdict is made from.
struct Known<'a> {
    library: &'a Library,
    references: &'a [Reference],
    target: &'a Features,
    settings: &'a AdaptSettings,
}

impl Known<'_> {
    /// If every class is in the pool, labels go along the plan, as far as the promise holds.
    fn complete(&self) -> Result<Adaptation> {
        let carried = self.carried()?;
        let mut adaptation = if carried.kept() || self.settings.force {
            self.adapted(carried)?
        } else {
            self.nothing_named(carried.reasons.clone()).with(carried, self.library)
        };
        adaptation.reasons.insert(0, "the pool was declared to hold every class".into());
        Ok(adaptation)
    }

    /// If the machine was healthy, the gate is its own and the fault types are the library's.
    fn healthy(&self) -> Result<Adaptation> {
        let combination = self.combination(&column_means(&self.target.x))?.context(
            "the pool is declared healthy, but the source has no healthy class; name it with `healthy` LABEL",
        )?;
        let gate = self.gate(self.target, &combination)?;
        let declared =
            "the pool was declared healthy, so no fault label can be carried over from it";
        let limit = if self.library.sources.len() > 1 { MAX_COMBINED_SHIFT } else { MAX_SHIFT };
        let known = combination.reference.healthy.as_ref();
        let find = |known| TwoStates::find(&gate.mixture, self.target, known);
        let states = known.map(find).transpose()?.flatten();
        let mut adaptation = self.gated(gate, combination, limit, vec![declared.into()]);
        adaptation.warnings.extend(states.map(|states| states.to_string()));
        Ok(adaptation)
    }

    /// If nothing is known about the pool, labels go along the plan only if the promise holds.
    /// Otherwise a healthy state is looked for in it.
    fn unknown(&self) -> Result<Adaptation> {
        let carried = match self.carried() {
            Ok(carried) if carried.kept() => return self.adapted(carried),
            Ok(carried) => Ok(carried),
            Err(error @ TransferError::TooFew { .. }) => {
                Err(format!("no labels were carried over: {error}"))
            }
            Err(error) => return Err(error.into()),
        };
        let AdaptSettings { components, em, .. } = self.settings;
        let most = components * self.library.first().classes.len();
        let (mut reasons, found) = match &carried {
            Ok(carried) => (carried.reasons.clone(), self.find_healthy(&carried.choice.own)?),
            Err(reason) => {
                let own = TargetMixture::fit_at_most(&self.target.x, unit(self.library), most, em)?;
                (vec![reason.clone()], self.find_healthy(&own)?)
            }
        };
        match found {
            Ok((gate, found)) => {
                let (own, all) = (found.rows.len(), self.target.x.nrows());
                reasons.push(format!("{own} of {all} windows look healthy"));
                let gated = self.gated(gate, found.combination, MAX_FOUND_SHIFT, reasons);
                Ok(carried.map_or(gated.clone(), |carried| gated.with(carried, self.library)))
            }
            Err(reason) => {
                reasons.push(reason);
                match carried {
                    Ok(carried) if self.settings.force => self.adapted(carried),
                    Ok(carried) => Ok(self.nothing_named(reasons).with(carried, self.library)),
                    Err(_) => Ok(self.nothing_named(reasons)),
                }
            }
        }
    }

    /// The healthy state in the pool with its gate, or why there is none.
    fn find_healthy(&self, own: &TargetMixture) -> Result<Result<(Gate, FoundHealthy), String>> {
        let found = healthy::find(self.target, own, self.library, self.references)?;
        let found = match found {
            Ok(found) => found,
            Err(reason) => return Ok(Err(reason)),
        };
        match self.gate(&self.target.select(&found.rows), &found.combination) {
            Ok(gate) => Ok(Ok((gate.of_rows(&found.rows), found))),
            Err(error @ GateError::TooFew { .. }) => Ok(Err(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    /// The labels of the machine that suits the target best, and their predicted accuracy.
    fn carried(&self) -> Result<Carried, TransferError> {
        let choice = choose(self.library, self.target, &self.settings.transfer())?;
        let support = &choice.carried.support;
        let plausibility = plausible::judge(
            self.references,
            &self.references[choice.chosen],
            &choice.own.mixture,
            &choice.carried.mixture.labels,
        );
        let judgement = Judgement::new(
            Prediction::new(self.library, support.quality),
            plausibility,
            self.settings.pool_is,
            self.settings.promise,
        );
        let mut reasons = vec![judgement.predicted()];
        reasons.extend(reasons::ranking(&choice.candidates));
        reasons.extend(judgement.contradictions());
        reasons.push(reasons::agreement(support));
        reasons.push(format!(
            "{} from {}",
            plural(choice.carried.mixture.labels.nrows(), "target component", "target components"),
            plural(self.target.x.nrows(), "window", "windows")
        ));
        if choice.carried.plan.fell_back {
            reasons.push("the entropic plan did not converge: the exact one was taken".into());
        }
        Ok(Carried { choice, judgement, reasons })
    }

    /// The target's own mixture with the carried labels.
    fn adapted(&self, carried: Carried) -> Result<Adaptation> {
        let kept = carried.kept();
        let Carried { choice, judgement, mut reasons } = carried;
        let warnings = judgement.warnings();
        let Choice { chosen, carried, candidates, .. } = choice;
        let source = &self.library.sources[chosen];
        let em = &self.settings.em;
        let transfer = Transfer::new(carried, self.library, source, self.target, em)?;
        let Transfer { carried, log_likelihood_min, held_out } = transfer;
        if !kept {
            reasons.push(
                "FORCED: classes are named although the promise is not kept; expect wrong names"
                    .into(),
            );
        }
        Ok(Adaptation {
            verdict: if kept { Verdict::Adapt } else { Verdict::Abstain },
            forced: !kept,
            reasons,
            warnings,
            candidates,
            prediction: Some(judgement.prediction),
            plausibility: Some(judgement.plausibility),
            promise: self.settings.promise,
            shift: source.shift.clone(),
            scale: source.scale.clone(),
            source: source.clone(),
            gate: None,
            seconds: Seconds {
                fit_target: carried.fit_seconds,
                transport: carried.transport_seconds,
            },
            carried: Some(CarriedLabels {
                source: source.clone(),
                mixture: carried.mixture.clone(),
            }),
            mixture: Some(carried.mixture),
            log_likelihood_min,
            held_out,
            mw2_squared: Some(carried.plan.mw2_squared),
            plan: Some(carried.plan.plan),
            support: Some(carried.support),
        })
    }

    /// A model with a gate. Beyond the limit of the shift it does not name faults.
    fn gated(
        &self,
        gate: Gate,
        combination: Combination,
        limit: f64,
        mut reasons: Vec<String>,
    ) -> Adaptation {
        let Combination { shares, source, reference, shift } = combination;
        let candidates = self.healthy_candidates(&shares, &gate.mean);
        reasons.extend(reasons::combination(&candidates));
        reasons.push(reasons::shift(shift, limit));
        reasons.push(reasons::gate(&gate, self.target.x.nrows(), &self.settings.false_alarms));
        let like = shift <= limit;
        let forced = !like && self.settings.force;
        if !like {
            reasons.push(
                "healthy or fault is told by the machine's own windows; the type of a fault is not named, as the \
                 source is too unlike this machine"
                    .into(),
            );
        }
        if forced {
            reasons.push("FORCED: fault types are named all the same; expect wrong names".into());
        }
        let types = reference
            .healthy
            .as_ref()
            .filter(|_| like || forced)
            .map(|healthy| FaultTypes::new(&reference, healthy, &gate.mean));
        let (centre, mixture) = match types {
            Some(types) => (types.centre, Some(types.mixture)),
            None => (gate.mean.clone(), None),
        };
        let gate = Gate { mixture: moved(&gate.mixture, &centre), ..gate };
        Adaptation {
            verdict: if like { Verdict::Keep } else { Verdict::Abstain },
            forced,
            reasons,
            warnings: reasons::few_windows(&gate, &self.library.first().front_end)
                .into_iter()
                .collect(),
            candidates,
            held_out: gate.held_out.clone(),
            gate: Some(gate),
            mixture,
            shift: centre.iter().map(|x| *x as f32).collect(),
            log_likelihood_min: None,
            source,
            ..self.nothing_named(Vec::new())
        }
    }

    /// A model that calls every window unknown.
    fn nothing_named(&self, mut reasons: Vec<String>) -> Adaptation {
        let source = self.library.first();
        let dims = source.shift.len();
        reasons.push(
            "nothing is named: the model calls every window unknown (say `pool_is` healthy if only the healthy \
             machine was recorded; record more classes, or add machines like this one to the library)"
                .into(),
        );
        Adaptation {
            verdict: Verdict::Abstain,
            forced: false,
            reasons,
            warnings: Vec::new(),
            source: source.clone(),
            candidates: Vec::new(),
            prediction: None,
            plausibility: None,
            promise: self.settings.promise,
            shift: vec![0.0; dims],
            scale: vec![1.0; dims],
            gate: None,
            mixture: Some(nothing::nameless(column_means(&self.target.x), source.classes.len())),
            log_likelihood_min: Some(UNREACHABLE),
            held_out: HeldOut::default(),
            plan: None,
            mw2_squared: None,
            carried: None,
            support: None,
            seconds: Seconds::default(),
        }
    }

    fn combination(&self, healthy_mean: &Array1<f64>) -> Result<Option<Combination>> {
        Combination::new(self.library, self.references, healthy_mean)
    }

    fn gate(&self, windows: &Features, combination: &Combination) -> Result<Gate, GateError> {
        let AdaptSettings { false_alarms, em, .. } = self.settings;
        let front_end = &self.library.first().front_end;
        // A combination without a healthy class is never made.
        let Some(healthy) = &combination.reference.healthy else {
            return Err(GateError::too_few(0.0, front_end));
        };
        Gate::fit(windows, healthy, &GateSettings { front_end, false_alarms, em })
    }

    /// Every machine, with its share and its own healthy shift.
    fn healthy_candidates(&self, shares: &[f64], mean: &Array1<f64>) -> Vec<Candidate> {
        let shift = |reference: &Reference| {
            reference
                .healthy
                .as_ref()
                .map_or(f64::INFINITY, |known: &HealthyReference| known.shift(mean))
        };
        let machines = self.library.sources.iter().zip(self.references).zip(shares);
        machines
            .map(|((source, reference), weight)| Candidate {
                domain: source.domain.clone(),
                weight: *weight,
                score: None,
                consistency: None,
                quality: None,
                shift: shift(reference),
            })
            .collect()
    }
}

/// Labels that could be used, and their predicted accuracy.
struct Carried {
    choice: Choice,
    judgement: Judgement,
    reasons: Vec<String>,
}

impl Carried {
    /// Whether the predicted accuracy keeps the promise, and nothing contradicts the labels.
    fn kept(&self) -> bool {
        self.judgement.kept()
    }
}

impl Adaptation {
    /// The same adaptation, with the evidence for labels that were carried but not used.
    fn with(mut self, carried: Carried, library: &Library) -> Self {
        let Carried { choice, judgement, .. } = carried;
        let Choice { chosen, carried, candidates, .. } = choice;
        let source = &library.sources[chosen];
        self.prediction = Some(judgement.prediction);
        self.plausibility = Some(judgement.plausibility);
        self.seconds =
            Seconds { fit_target: carried.fit_seconds, transport: carried.transport_seconds };
        self.support = Some(carried.support);
        self.carried = Some(CarriedLabels { source: source.clone(), mixture: carried.mixture });
        if self.gate.is_none() {
            self.source = source.clone();
            self.candidates = candidates;
        }
        self
    }
}

/// The mixture over features minus `centre`.
fn moved(mixture: &Mixture, centre: &Array1<f64>) -> Mixture {
    // The device subtracts a centre in single precision, so the same rounded centre is subtracted
    // here.
    let means = &mixture.means - &centre.mapv(|x| f64::from(x as f32));
    Mixture { means, ..mixture.clone() }
}
