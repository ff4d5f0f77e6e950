//! The choice at a start: which of the two models runs, if one may.

use core::fmt;

use embedded_storage::nor_flash::NorFlash;

use super::envelope::{DOMAIN, Envelope};
use super::ledger::{Kept, Placed};
use super::model_store::{ModelStore, Running};
use super::outcome::Outcome;
use super::receiver::{Refusal, Standing};
use super::slots::Slot;
use super::verifier::{FloorCounter, SignatureCheck, Verifier};
use crate::model::{AnyModel, Body, ModelError};

/// A model to run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Started<T> {
    /// Its slot.
    pub slot: Slot,
    /// The result of `accept`.
    pub model: T,
    /// Whether it has to prove itself.
    pub standing: Standing,
    /// A trial that ended with this start, and why.
    pub ended: Option<Outcome>,
    /// Why the model in the other slot cannot be used, if it can't.
    pub other: Option<Unusable>,
}

/// The reason why the model in a slot cannot be used.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Unusable {
    /// There is no model, or it is damaged, or the firmware cannot run it.
    Model(ModelError),
    /// Its envelope or signature.
    Refused(Refusal),
    /// It was on trial and was given up.
    GivenUp,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(error) => error.fmt(f),
            Self::Refused(refusal) => refusal.fmt(f),
            Self::GivenUp => f.write_str("the model failed its trial"),
        }
    }
}

/// Neither slot holds a model that may run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NoValidModel {
    /// Why not the one in slot A.
    pub a: Unusable,
    /// Why not the one in slot B.
    pub b: Unusable,
}

impl fmt::Display for NoValidModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no valid model; slot A: {}; slot B: {}", self.a, self.b)
    }
}

impl core::error::Error for NoValidModel {}

/// A model in a slot that holds up.
struct Sound<T> {
    placed: Placed,
    key_id: u32,
    model: T,
}

impl<F: NorFlash, V: Verifier, C: FloorCounter> ModelStore<F, V, C> {
    /// Chooses the model to run from `region`, the slots as the processor sees them.
    ///
    /// `accept` is asked for both slots. Let it check that the model fits, and return the model.
    /// A model on trial is counted as started before it is returned, so that one that hangs the
    /// device comes to its end.
    pub fn start<'a, B: Body<'a>, T>(
        &mut self,
        region: &'a [u8],
        mut accept: impl FnMut(AnyModel<'a, B>) -> Result<T, ModelError>,
    ) -> Result<Started<T>, NoValidModel> {
        self.running = None;
        let Some(floor) = self.floor() else {
            let refused = Unusable::Refused(Refusal::Counter);
            return Err(NoValidModel { a: refused, b: refused });
        };
        // Completes a confirmation that was interrupted; if it fails, the ledger's floor counts.
        self.counter.raise(self.kept.floor);
        let (a, b) = region.split_at_checked(region.len() / 2).unwrap_or((region, &[]));
        let a = self.examine(Slot::A, a, floor, &mut accept);
        let b = self.examine(Slot::B, b, floor, &mut accept);
        let ended = self.end_broken_trial(&a, &b);
        let errors = [a.as_ref().err().copied(), b.as_ref().err().copied()];
        let (confirmed, fresh) = self.choose(a.ok(), b.ok());
        let ended = match fresh {
            Some(fresh) => match self.start_trial(&fresh, confirmed.is_some()) {
                Ok(()) => {
                    let fallback = confirmed.is_some();
                    return Ok(self.run(fresh, Standing::OnTrial, fallback, ended, errors));
                }
                Err(outcome) => outcome.or(ended),
            },
            None => ended,
        };
        let Some(confirmed) = confirmed else {
            let [a, b] = errors.map(|error| error.unwrap_or(Unusable::GivenUp));
            return Err(NoValidModel { a, b });
        };
        Ok(self.run(confirmed, Standing::Confirmed, false, ended, errors))
    }

    /// The model in a slot, if it may run at all.
    fn examine<'a, B: Body<'a>, T>(
        &self,
        slot: Slot,
        bytes: &'a [u8],
        floor: u32,
        accept: &mut impl FnMut(AnyModel<'a, B>) -> Result<T, ModelError>,
    ) -> Result<Sound<T>, Unusable> {
        let refused = |refusal| Err(Unusable::Refused(refusal));
        let Some((file, envelope)) = Envelope::split(bytes) else {
            // The parser knows why.
            let error = AnyModel::<B>::from_region(bytes).err();
            return Err(Unusable::Model(error.unwrap_or(ModelError::WrongMagic)));
        };
        let Some((envelope, signature)) = envelope.and_then(Envelope::from_bytes) else {
            return refused(Refusal::NotAnEnvelope);
        };
        self.check_origin(&envelope).map_err(Unusable::Refused)?;
        if envelope.counter < floor {
            return refused(Refusal::OldCounter);
        }
        let Some(mut check) = self.verifier.start(envelope.key_id, signature) else {
            return refused(Refusal::BadSignature);
        };
        check.absorb(&DOMAIN);
        check.absorb(&envelope.head());
        check.absorb(file);
        if !check.holds() {
            return refused(Refusal::BadSignature);
        }
        let model = AnyModel::parse(file).map_err(Unusable::Model)?;
        let Envelope { key_id, counter, device, .. } = envelope;
        if Envelope::of_model(&model, key_id, counter, device).head() != envelope.head() {
            return refused(Refusal::OtherFrontEnd);
        }
        let model = accept(model).map_err(Unusable::Model)?;
        Ok(Sound { placed: Placed { slot, counter }, key_id, model })
    }

    /// Ends a trial whose model no longer holds up.
    fn end_broken_trial<T>(
        &mut self,
        a: &Result<Sound<T>, Unusable>,
        b: &Result<Sound<T>, Unusable>,
    ) -> Option<Outcome> {
        let trial = self.kept.trial?;
        let found = match trial.slot {
            Slot::A => a,
            Slot::B => b,
        };
        let outcome = match found {
            Ok(_) => return None,
            Err(
                Unusable::Model(
                    ModelError::TooShort { .. }
                    | ModelError::WrongMagic
                    | ModelError::BadCrc { .. },
                )
                | Unusable::Refused(_)
                | Unusable::GivenUp,
            ) => Outcome::Damaged,
            // It is as it was signed.
            Err(Unusable::Model(_)) => Outcome::DoesNotFit,
        };
        self.give_up(trial, outcome)
    }

    /// Parts the models into the confirmed one and one that may start a trial.
    fn choose<T>(
        &self,
        a: Option<Sound<T>>,
        b: Option<Sound<T>>,
    ) -> (Option<Sound<T>>, Option<Sound<T>>) {
        let Kept { floor, rejected, confirmed, .. } = self.kept;
        let is_confirmed = |sound: &Sound<T>| {
            Some(sound.placed.slot) == confirmed && sound.placed.counter == floor
        };
        let (confirmed, a, b) = match (a, b) {
            (Some(a), b) if is_confirmed(&a) => (Some(a), None, b),
            (a, Some(b)) if is_confirmed(&b) => (Some(b), a, None),
            (a, b) => (None, a, b),
        };
        let alone = confirmed.is_none();
        let may = |sound: &Sound<T>| {
            let counter = sound.placed.counter;
            counter > rejected && (counter > floor || (alone && counter == floor))
        };
        let (a, b) = (a.filter(may), b.filter(may));
        let fresh = match (a, b) {
            (Some(a), Some(b)) if b.placed.counter > a.placed.counter => Some(b),
            (a, b) => a.or(b),
        };
        (confirmed, fresh)
    }

    /// Counts a start of the model on trial. `Err` if the model before it has to run: with the
    /// outcome, if the trial ended now.
    fn start_trial<T>(&mut self, fresh: &Sound<T>, fallback: bool) -> Result<(), Option<Outcome>> {
        let known = self.kept.trial == Some(fresh.placed);
        let starts = if known { self.kept.starts } else { 0 };
        if fallback && starts >= self.trial.rules().starts {
            return Err(self.give_up(fresh.placed, Outcome::Restarts));
        }
        let starts = starts.saturating_add(1);
        let kept = self.keep(Kept { trial: Some(fresh.placed), starts, ..self.kept });
        // A start that could not be counted is none, unless there is nothing else to run.
        if kept.is_ok() || !fallback { Ok(()) } else { Err(None) }
    }

    fn give_up(&mut self, trial: Placed, outcome: Outcome) -> Option<Outcome> {
        let rejected = self.kept.rejected.max(trial.counter);
        let kept = Kept { trial: None, starts: 0, rejected, outcome, ..self.kept };
        self.keep(kept).ok().map(|()| outcome)
    }

    fn run<T>(
        &mut self,
        sound: Sound<T>,
        standing: Standing,
        fallback: bool,
        ended: Option<Outcome>,
        [a, b]: [Option<Unusable>; 2],
    ) -> Started<T> {
        let Sound { placed, key_id, model } = sound;
        self.running = Some(Running { placed, key_id, standing, fallback });
        let other = match placed.slot {
            Slot::A => b,
            Slot::B => a,
        };
        Started { slot: placed.slot, model, standing, ended, other }
    }
}
