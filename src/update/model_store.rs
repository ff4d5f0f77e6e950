//! The models of a device that takes new ones in the field: verified, on trial, never going back.
//!
//! ```text
//!  slots  ┬ slot A: model file │ envelope … unused ┬ slot B: model file │ envelope … unused ┐
//!  ledger ┬ half 1: floor, retired key, trial, …   ┬ half 2                                 ┐
//! ```
//!
//! | the model in a slot | at a start |
//! |---|---|
//! | is confirmed, and its counter is the floor | runs, if nothing is on trial |
//! | has a counter above the floor and above every rejected one | runs on trial |
//! | has a counter below the floor, a retired or unknown key, a bad signature | never runs |
//!
//! A trial ends in three ways. The model shows enough windows without a sensor fault or a drift, or
//! someone confirms it: the floor rises to its counter. It drifts, has sensor faults, restarts too
//! often, or someone rejects it: the old model returns. Or there is no old model to return to: then
//! it stays on trial until it has shown enough.
//!
//! Signatures are verified at every start, from flash.

use core::ops::Range;

use embedded_storage::nor_flash::NorFlash;

use super::envelope::{DeviceId, ENVELOPE_LEN, Envelope};
use super::io::Io;
use super::ledger::{Kept, Ledger, Placed};
use super::outcome::Outcome;
use super::receiver::{Receiver, Refusal, Standing, UpdateStatus};
use super::slots::Slot;
use super::store::{LayoutError, halves};
use super::transfer::Transfer;
use super::trial::{Trial, TrialRules};
use super::verifier::{FloorCounter, Verifier};
use crate::model::{Encoding, Numbers};
use crate::monitor::{AnyFinding, Sampling};
use crate::operation::DriftWatch;

/// Where models and ledger lie, counted from the start of the flash.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Layout {
    /// The MODEL region: two slots.
    pub slots: Range<u32>,
    /// Two erase units of their own for the ledger.
    pub ledger: Range<u32>,
}

/// The device, encoding and samples that a model must have been signed for.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SignedFor {
    /// The number of this device.
    pub device: DeviceId,
    /// The encoding of its models.
    pub encoding: Encoding,
    /// How it samples.
    pub sampling: Sampling,
}

/// The model that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Running {
    pub(super) placed: Placed,
    pub(super) key_id: u32,
    pub(super) standing: Standing,
    /// There is a confirmed model to return to.
    pub(super) fallback: bool,
}

/// The models of a device, in two slots and a ledger of one flash.
///
/// `V` verifies signatures; `C` is a counter in hardware, or [`FlashOnly`](super::FlashOnly).
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ModelStore<F, V, C> {
    pub(super) io: Io<F>,
    pub(super) verifier: V,
    pub(super) counter: C,
    pub(super) signed_for: SignedFor,
    /// Start of slot A, and bytes of a slot.
    slots: (u32, u32),
    ledger: Ledger,
    pub(super) kept: Kept,
    pub(super) running: Option<Running>,
    pub(super) trial: Trial,
    transfer: Option<Transfer>,
    waiting: bool,
}

impl<F: NorFlash, V: Verifier, C: FloorCounter> ModelStore<F, V, C> {
    /// Opens the store in `flash`, and reads what the device remembers.
    pub fn new(
        flash: F,
        layout: &Layout,
        verifier: V,
        counter: C,
        signed_for: SignedFor,
    ) -> Result<Self, LayoutError> {
        let () = Io::<F>::CHECK;
        let (slot_len, ledger_len) =
            (halves(&flash, &layout.slots)?, halves(&flash, &layout.ledger)?);
        if layout.slots.start < layout.ledger.end && layout.ledger.start < layout.slots.end {
            return Err(LayoutError::Overlap);
        }
        let mut io = Io(flash);
        let (ledger, kept) = Ledger::open(&mut io, layout.ledger.start, ledger_len)
            .map_err(|_| LayoutError::Unreadable)?;
        let slots = (layout.slots.start, slot_len);
        let trial = Trial::new(TrialRules::default());
        let (running, transfer, waiting) = (None, None, false);
        Ok(Self {
            io,
            verifier,
            counter,
            signed_for,
            slots,
            ledger,
            kept,
            running,
            trial,
            transfer,
            waiting,
        })
    }

    /// Sets what a model on trial must show.
    pub fn set_trial_rules(&mut self, rules: TrialRules) {
        self.trial = Trial::new(rules);
    }

    /// Takes a finding of the model that runs. Returns how its trial ended, if it did now: after
    /// anything but [`Outcome::Confirmed`], restart the device, and the old model returns.
    ///
    /// Does nothing for a confirmed model, and for one whose trial has ended. A ledger that cannot be
    /// written ends no trial.
    pub fn observe<N: Numbers, const AXES: usize, const CLASSES: usize>(
        &mut self,
        finding: &AnyFinding<N, AXES, CLASSES>,
        watch: Option<&DriftWatch<'_>>,
    ) -> Option<Outcome> {
        let running = self.on_trial().ok()?;
        let outcome = self.trial.window(finding, watch)?;
        if outcome != Outcome::Confirmed && !running.fallback {
            self.trial = Trial::new(*self.trial.rules());
            return None;
        }
        self.end_trial(running, outcome).ok().map(|()| outcome)
    }

    /// The alarm that was kept, as [`keep_alarm`](Self::keep_alarm) got it; 0 if none was.
    pub fn kept_alarm(&self) -> u32 {
        self.kept.alarm
    }

    /// Keeps the alarm over a restart. Writes to flash only if it has changed.
    pub fn keep_alarm(&mut self, alarm: u32) -> Result<(), Refusal> {
        if alarm == self.kept.alarm {
            return Ok(());
        }
        self.keep(Kept { alarm, ..self.kept })
    }

    /// Longest signed model file that a slot holds.
    pub fn capacity(&self) -> usize {
        self.slots.1 as usize
    }

    /// The flash driver.
    pub fn into_flash(self) -> F {
        self.io.0
    }

    /// Makes `kept` what the device remembers.
    pub(super) fn keep(&mut self, kept: Kept) -> Result<(), Refusal> {
        match self.ledger.append(&mut self.io, kept) {
            Ok(()) => {
                self.kept = kept;
                Ok(())
            }
            Err((_, found)) => {
                self.kept = found.unwrap_or(self.kept);
                Err(Refusal::Flash)
            }
        }
    }

    /// Nothing below this counter runs. `None` if the counter in hardware cannot be read.
    pub(super) fn floor(&mut self) -> Option<u32> {
        Some(self.kept.floor.max(self.counter.floor()?))
    }

    /// Ends the trial of the running model. Floor, retired key and trial change in one record.
    fn end_trial(&mut self, running: Running, outcome: Outcome) -> Result<(), Refusal> {
        let Placed { slot, counter } = running.placed;
        let ended = Kept { trial: None, starts: 0, outcome, ..self.kept };
        if !outcome.is_confirmed() {
            return self.keep(Kept { rejected: self.kept.rejected.max(counter), ..ended });
        }
        let retired = self.verifier.retires(running.key_id).unwrap_or(self.kept.retired);
        self.keep(Kept { floor: counter, retired, confirmed: Some(slot), ..ended })?;
        self.running = Some(Running { standing: Standing::Confirmed, ..running });
        // If this is interrupted, the next start does it.
        if self.counter.raise(counter) { Ok(()) } else { Err(Refusal::Counter) }
    }

    /// The running model, if it is on trial.
    fn on_trial(&self) -> Result<Running, Refusal> {
        let trial = self.running.filter(|running| running.standing == Standing::OnTrial);
        // A trial that has ended waits for the restart.
        trial.filter(|trial| self.kept.trial == Some(trial.placed)).ok_or(Refusal::NotOnTrial)
    }

    /// Everything that can be refused by the envelope alone.
    fn check_envelope(&mut self, envelope: &Envelope) -> Result<(), Refusal> {
        self.check_origin(envelope)?;
        let floor = self.floor().ok_or(Refusal::Counter)?;
        let running = self.running.map_or(0, |running| running.placed.counter);
        if envelope.counter <= floor.max(self.kept.rejected).max(running) {
            return Err(Refusal::OldCounter);
        }
        Ok(())
    }

    /// Checks key, device, encoding and front end.
    pub(super) fn check_origin(&self, envelope: &Envelope) -> Result<(), Refusal> {
        let fits = self.signed_for.sampling.takes_rate(envelope.front_end.rate_hz);
        for (holds, refusal) in [
            (self.verifier.knows(envelope.key_id), Refusal::UnknownKey),
            (self.kept.retired != envelope.key_id || envelope.key_id == 0, Refusal::RetiredKey),
            (
                [DeviceId::ANY, self.signed_for.device].contains(&envelope.device),
                Refusal::OtherDevice,
            ),
            (envelope.encoding == self.signed_for.encoding, Refusal::OtherEncoding),
            (fits, Refusal::OtherFrontEnd),
        ] {
            if !holds {
                return Err(refusal);
            }
        }
        Ok(())
    }

    /// Erases the slot that is free, and starts to receive into it.
    fn start_transfer(&mut self, bytes: &[u8; ENVELOPE_LEN], total: u32) -> Result<(), Refusal> {
        let slot = self.running.map_or(Slot::A, |running| running.placed.slot.other());
        if self.kept.trial.is_some_and(|trial| trial.slot == slot) {
            // It waited for the next start, and is given up for this one.
            self.keep(Kept { trial: None, starts: 0, ..self.kept })?;
        }
        self.waiting = false;
        let (first, len) = self.slots;
        let start = match slot {
            Slot::A => first,
            Slot::B => first.saturating_add(len),
        };
        self.io.erase(start, start.saturating_add(len)).map_err(|_| Refusal::Flash)?;
        self.transfer = Some(Transfer::new(*bytes, slot, start, total));
        Ok(())
    }
}

impl<F: NorFlash, V: Verifier, C: FloorCounter> Receiver for ModelStore<F, V, C> {
    fn begin(&mut self, bytes: &[u8; ENVELOPE_LEN]) -> Result<u32, Refusal> {
        if let Some(transfer) = &self.transfer {
            let same = transfer.envelope == *bytes;
            return if same { Ok(transfer.received) } else { Err(Refusal::Busy) };
        }
        let (envelope, _) = Envelope::from_bytes(bytes).ok_or(Refusal::NotAnEnvelope)?;
        self.check_envelope(&envelope)?;
        let total = envelope.model_len.checked_add(ENVELOPE_LEN as u32);
        let total = total.filter(|total| *total <= self.slots.1 && envelope.model_len > 0);
        let total = total.ok_or(Refusal::TooLong)?;
        if self.on_trial().is_ok_and(|trial| trial.fallback) {
            return Err(Refusal::OnTrial);
        }
        self.start_transfer(bytes, total)?;
        Ok(0)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<u32, Refusal> {
        let transfer = self.transfer.as_mut().ok_or(Refusal::NotBegun)?;
        let received = transfer.write(&mut self.io, offset, bytes);
        if received == Err(Refusal::Flash) {
            // What is in the slot is not known any more.
            self.transfer = None;
        }
        received
    }

    fn finish(&mut self) -> Result<(), Refusal> {
        let transfer = self.transfer.as_ref().ok_or(Refusal::NotBegun)?;
        if self.waiting {
            return Ok(());
        }
        let verified = transfer.verify(&mut self.io, &self.verifier);
        let (slot, envelope) = (transfer.slot, transfer.envelope);
        match verified {
            Ok(()) => {}
            Err(Refusal::Incomplete) => return Err(Refusal::Incomplete),
            Err(refusal) => {
                // It has to be sent again from the start.
                self.transfer = None;
                return Err(refusal);
            }
        }
        let counter = Envelope::from_bytes(&envelope).map_or(0, |(envelope, _)| envelope.counter);
        self.keep(Kept { trial: Some(Placed { slot, counter }), starts: 0, ..self.kept })?;
        self.waiting = true;
        Ok(())
    }

    fn abandon(&mut self) {
        // A model that is verified already waits for the next start.
        if !self.waiting {
            self.transfer = None;
        }
    }

    fn confirm(&mut self) -> Result<(), Refusal> {
        let running = self.on_trial()?;
        self.end_trial(running, Outcome::ConfirmedRemotely)
    }

    fn reject(&mut self) -> Result<(), Refusal> {
        let running = self.on_trial()?;
        self.end_trial(running, Outcome::Rejected)
    }

    fn status(&self) -> UpdateStatus {
        let running = self.running;
        let transfer = self.transfer.as_ref();
        UpdateStatus {
            standing: running.map_or(Standing::NoModel, |running| running.standing),
            counter: running.map_or(0, |running| running.placed.counter),
            floor: self.kept.floor,
            restarts: self.kept.starts.saturating_sub(1),
            outcome: self.kept.outcome,
            received: transfer.map_or(0, |transfer| transfer.received),
            total: transfer.map_or(0, |transfer| transfer.total),
            waiting: self.waiting,
        }
    }
}
