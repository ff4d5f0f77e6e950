//! Decides between adapt, keep and abstain, and gives the reasons.
//!
//! Transport hands out every class of the source. So it is right if the pool holds every class and
//! wrong if it does not. Nothing separates the two cases for certain. So the user says what is
//! known about the pool, and if nothing is known the careful answer wins.

use anyhow::{Context, Result};
use ndarray::{Array1, Axis};
use serde::Serialize;

pub use super::adaptation::{Adaptation, Seconds, Verdict};
use super::cautious::Cautious;
use super::gate::{Gate, GateError};
use super::healthy;
use super::keep::FaultTypes;
use super::plan::PlanSettings;
use super::reference::{HealthyReference, Reference};
use super::transfer::{Support, Transfer, TransferError, transfer};
use crate::features::extract::Features;
use crate::mixture::Mixture;
use crate::mixture::held_out::HeldOut;
use crate::source::{Source, SourceSettings, calibration};
use crate::words::plural;

/// Largest distance of a target from the source, in units of the typical distance between the
/// source's classes. Beyond it, the names of faults are guesses. Other speeds and loads of one
/// machine reached at most 0.66, other machines 0.9 and more.
pub const MAX_SHIFT: f64 = 0.8;
/// Smallest agreement of the plan with the source itself, if the pool is unknown.
pub const MIN_AGREEMENT: f64 = 0.9;

/// The user's knowledge about the target's recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// The recordings hold every class of the source.
    All,
    /// The machine was healthy throughout.
    Healthy,
    /// Nothing is known.
    Unknown,
}

/// Settings of an adaptation.
#[derive(Debug, Clone)]
pub struct AdaptSettings {
    /// The user's knowledge about the target's recordings.
    pub pool_is: Pool,
    /// Settings of the plan.
    pub plan: PlanSettings,
    /// Target components per source class.
    pub components: usize,
    /// Variance floor, restarts and seed of the target's EM.
    pub em: SourceSettings,
}

impl Default for AdaptSettings {
    fn default() -> Self {
        Self {
            pool_is: Pool::Unknown,
            plan: PlanSettings::default(),
            components: 2,
            em: SourceSettings::default(),
        }
    }
}

/// Adapts `source` to the target's features (not standardised).
///
/// The crate's documentation shows it in use, from recordings to labels.
pub fn adapt(source: &Source, target: &Features, settings: &AdaptSettings) -> Result<Adaptation> {
    let reference = Reference::new(source)?;
    let cautious = Cautious::new(&reference);
    let known = Known { source, reference: &reference, cautious: &cautious };
    match settings.pool_is {
        Pool::All => known.complete(target, settings),
        Pool::Healthy => known.healthy(target, settings),
        Pool::Unknown => known.unknown(target, settings),
    }
}

/// Everything known before any window of the target is seen.
struct Known<'a> {
    source: &'a Source,
    reference: &'a Reference,
    cautious: &'a Cautious,
}

impl Known<'_> {
    /// If every class is in the pool, labels go along the plan.
    fn complete(&self, target: &Features, settings: &AdaptSettings) -> Result<Adaptation> {
        let transfer = self.transfer(target, settings)?;
        let mut reasons = vec!["the pool was declared to hold every class".into()];
        reasons.extend(self.support(&transfer, target)?);
        Ok(self.adapted(transfer, reasons))
    }

    /// If the machine was healthy, the gate is its own and the fault types are the source's.
    fn healthy(&self, target: &Features, settings: &AdaptSettings) -> Result<Adaptation> {
        let healthy = self.reference.healthy.as_ref().context(
            "the pool is declared healthy, but the source has no healthy class; name it with `healthy` LABEL",
        )?;
        let gate = self.gate(target, healthy, settings)?;
        let declared =
            "the pool was declared healthy, so no fault label can be carried over from it";
        let shift = healthy.shift(&gate.mean);
        let reasons = vec![declared.into(), shift_reason(shift), gate_reason(&gate, target)];
        if shift > MAX_SHIFT {
            let model = gated(Verdict::Abstain, gate, None);
            let abstained = "healthy or fault is told by the machine's own windows; the type of a fault is not \
                             named, as the source is too unlike this machine";
            return Ok(model.because(reasons).and(abstained));
        }
        let types = FaultTypes::new(self.reference, healthy, &gate.mean);
        Ok(gated(Verdict::Keep, gate, Some(types)).because(reasons))
    }

    /// If nothing is known about the pool, labels go along the plan only if the source itself sees
    /// every class and agrees with the plan.
    fn unknown(&self, target: &Features, settings: &AdaptSettings) -> Result<Adaptation> {
        let mut reasons = Vec::new();
        let (mut seconds, mut support) = (Seconds::default(), None);
        match self.transfer(target, settings) {
            Ok(transfer) => {
                reasons = self.support(&transfer, target)?;
                seconds = transfer.seconds();
                let complete = transfer.support.classes_found == self.source.classes.len();
                if complete && transfer.support.agreement >= MIN_AGREEMENT {
                    return Ok(self.adapted(transfer, reasons));
                }
                support = Some(transfer.support);
            }
            Err(error @ TransferError::TooFew { .. }) => {
                reasons.push(format!("no labels were carried over: {error}"));
            }
            Err(error) => return Err(error.into()),
        }
        let mut adaptation = if let Some(healthy) = &self.reference.healthy {
            self.with_healthy_found(target, healthy, settings, reasons)?
        } else {
            reasons.push("the source has no healthy class, so there is no gate".into());
            self.unadapted(target, reasons)?
        };
        (adaptation.seconds, adaptation.support) = (seconds, support);
        Ok(adaptation)
    }

    /// Keep, if the source recognises a healthy state in the pool. Otherwise the source's classes.
    fn with_healthy_found(
        &self,
        target: &Features,
        healthy: &HealthyReference,
        settings: &AdaptSettings,
        mut reasons: Vec<String>,
    ) -> Result<Adaptation> {
        let rows = healthy::find(target, self.cautious, healthy)?;
        let found = Features {
            x: target.x.select(Axis(0), &rows),
            recording: rows.iter().map(|row| target.recording[*row]).collect(),
        };
        reasons.push(format!("{} of {} windows look healthy", rows.len(), target.x.nrows()));
        let gate = match self.gate(&found, healthy, settings) {
            Ok(gate) => gate.of_rows(&rows),
            Err(error @ GateError::TooFew { .. }) => {
                reasons.push(format!("{error}"));
                return self.unadapted(target, reasons);
            }
            Err(error) => return Err(error.into()),
        };
        let shift = healthy.shift(&gate.mean);
        reasons.push(shift_reason(shift));
        if shift > MAX_SHIFT {
            // This far away, they may just as well be windows of a fault.
            return self.unadapted(target, reasons);
        }
        reasons.push(gate_reason(&gate, target));
        let types = FaultTypes::new(self.reference, healthy, &gate.mean);
        Ok(gated(Verdict::Keep, gate, Some(types)).because(reasons))
    }

    fn transfer(
        &self,
        target: &Features,
        settings: &AdaptSettings,
    ) -> Result<Transfer, TransferError> {
        let AdaptSettings { components, em, plan, .. } = settings;
        transfer(self.source, self.cautious, target, *components, em, plan)
    }

    fn gate(
        &self,
        windows: &Features,
        healthy: &HealthyReference,
        settings: &AdaptSettings,
    ) -> Result<Gate, GateError> {
        let calibration = calibration(windows, &self.source.front_end);
        Gate::fit(windows, healthy, &calibration, &settings.em)
    }

    /// The evidence for and against a transfer, in words.
    fn support(&self, transfer: &Transfer, target: &Features) -> Result<Vec<String>> {
        let Support { agreement, certainty, classes_found, .. } = transfer.support;
        let far = self.cautious.unknown_share(target)?;
        let mut reasons = vec![
            format!(
                "plan agreement {agreement:.2} with the source's own labels (trusted without knowing the pool from \
                 {MIN_AGREEMENT:.2}); certainty of the labels {certainty:.2}"
            ),
            format!("{classes_found} of {} classes found in the pool", self.source.classes.len()),
            format!(
                "{:.0} % of the windows lie farther from every class than {MAX_SHIFT} of the class distance",
                100.0 * far
            ),
            format!(
                "{} from {}",
                plural(transfer.mixture.labels.nrows(), "target component", "target components"),
                plural(target.x.nrows(), "window", "windows")
            ),
        ];
        if transfer.plan.fell_back {
            reasons.push("the entropic plan did not converge: the exact one was taken".into());
        }
        Ok(reasons)
    }

    fn adapted(&self, transfer: Transfer, reasons: Vec<String>) -> Adaptation {
        let seconds = transfer.seconds();
        Adaptation {
            verdict: Verdict::Adapt,
            reasons,
            shift: self.source.shift.clone(),
            scale: self.source.scale.clone(),
            gate: None,
            mixture: Some(transfer.mixture),
            log_likelihood_min: transfer.log_likelihood_min,
            held_out: transfer.held_out,
            mw2_squared: Some(transfer.plan.mw2_squared),
            plan: Some(transfer.plan.plan),
            support: Some(transfer.support),
            seconds,
        }
    }

    /// The source's classes. The verdict is keep if most of the pool is near them.
    fn unadapted(&self, target: &Features, mut reasons: Vec<String>) -> Result<Adaptation> {
        let far = self.cautious.unknown_share(target)?;
        let verdict = if far > 0.5 { Verdict::Abstain } else { Verdict::Keep };
        reasons.push(format!(
            "windows get the source's nearest class; those farther from every class than {MAX_SHIFT} of the class \
             distance, {:.0} % of these, are unknown (say `pool_is` all if every class was recorded, `pool_is` \
             healthy if only the healthy machine was)",
            100.0 * far
        ));
        let cautious = self.cautious;
        // The mixture was fitted without any window of the target, so all of them count as held
        // out.
        let scores = cautious.mixture.mixture.log_likelihoods(target.x.view())?;
        let held_out =
            HeldOut { rows: (0..target.x.nrows()).collect(), log_likelihoods: scores.to_vec() };
        Ok(Adaptation {
            held_out,
            mixture: Some(cautious.mixture.clone()),
            log_likelihood_min: Some(cautious.log_likelihood_min),
            ..without_plan(verdict, vec![0.0; self.source.shift.len()])
        }
        .because(reasons))
    }
}

/// A model with a gate. Without fault types it does not name faults.
fn gated(verdict: Verdict, gate: Gate, types: Option<FaultTypes>) -> Adaptation {
    let (centre, mixture) = match types {
        Some(types) => (types.centre, Some(types.mixture)),
        None => (gate.mean.clone(), None),
    };
    let gate = Gate { mixture: moved(&gate.mixture, &centre), ..gate };
    Adaptation {
        held_out: gate.held_out.clone(),
        gate: Some(gate),
        mixture,
        ..without_plan(verdict, centre.iter().map(|x| *x as f32).collect())
    }
}

/// A model over features in nats, without gate, mixture or plan.
fn without_plan(verdict: Verdict, shift: Vec<f32>) -> Adaptation {
    Adaptation {
        verdict,
        reasons: Vec::new(),
        scale: vec![1.0; shift.len()],
        shift,
        gate: None,
        mixture: None,
        log_likelihood_min: None,
        held_out: HeldOut::default(),
        plan: None,
        mw2_squared: None,
        support: None,
        seconds: Seconds::default(),
    }
}

impl Transfer {
    fn seconds(&self) -> Seconds {
        Seconds { fit_target: self.fit_seconds, transport: self.transport_seconds }
    }
}

/// The mixture over features minus `centre`.
fn moved(mixture: &Mixture, centre: &Array1<f64>) -> Mixture {
    // The device subtracts a centre in single precision, so the same rounded centre is subtracted
    // here.
    let means = &mixture.means - &centre.mapv(|x| f64::from(x as f32));
    Mixture { means, ..mixture.clone() }
}

fn shift_reason(shift: f64) -> String {
    format!(
        "healthy shift {shift:.2} of the typical fault distance (types are named up to {MAX_SHIFT})"
    )
}

fn gate_reason(gate: &Gate, target: &Features) -> String {
    let (windows, all) = (gate.windows, target.x.nrows());
    format!("the gate was fitted to {windows} of {all} windows")
}
