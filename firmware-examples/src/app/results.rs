//! The stages after the monitor: alarm, drift watch, journal, registers, trial, watchdog.

use rebearing::SensorFault;
use rebearing::bus::{Registers, Request};
use rebearing::model::{AnyModel, Body, Numbers, Scrub};
use rebearing::operation::alarm::{AlarmState, KeptAlarm, State};
use rebearing::operation::{DriftWatch, Feeding};
use rebearing::update::{Outcome, Slot};

use super::bus::Bus;
use super::port::Port;
use super::{BoardAlarm, BoardFinding, BoardLine, Entry, Journal, Models, SCRUB, Watchdog};

type Feature<B> = <<B as Body<'static>>::Numbers as Numbers>::Feature;

/// Takes the findings of a board's monitor.
pub(super) struct Results<'r, B: Body<'static>, J, W, S> {
    /// The model's slot, and its check in the background.
    slot: Slot,
    scrub: Scrub<'static>,
    /// The model is used no more, and the board is about to restart.
    over: bool,
    models: S,
    registers: Registers<'static>,
    alarm: &'r mut BoardAlarm,
    watch: Option<DriftWatch<'static>>,
    /// The newest finding and the alarm's state after it. The journal does not have them yet.
    last: Option<(BoardFinding<B>, AlarmState)>,
    journal: J,
    watchdog: W,
    feeding: Feeding,
    /// The sensor fault of the last finding, if it had one.
    fault: Option<SensorFault>,
}

impl<'r, B: Body<'static>, J: Journal, W: Watchdog, S: Models> Results<'r, B, J, W, S> {
    pub(super) fn new(
        (slot, scrub): (Slot, Scrub<'static>),
        alarm: &'r mut BoardAlarm,
        watch: Option<DriftWatch<'static>>,
        journal: J,
        watchdog: W,
        (models, registers): (S, Registers<'static>),
    ) -> Self {
        let (last, feeding, fault, over) = (None, Feeding::new(), None, false);
        Self {
            slot,
            scrub,
            over,
            models,
            registers,
            alarm,
            watch,
            last,
            journal,
            watchdog,
            feeding,
            fault,
        }
    }

    pub(super) fn must_restart(&self) -> bool {
        self.over
    }

    /// Answers what has arrived on the bus, and does what it asks.
    pub(super) fn serve(&mut self, bus: &mut Bus<impl Port>) {
        match bus.poll(&self.registers, self.models.receiver()) {
            Some(Request::Acknowledge) => {
                self.alarm.acknowledge();
                if let Some(state) = &mut self.registers.alarm {
                    state.alarm = self.alarm.kept().raised();
                }
                self.keep_alarm();
            }
            Some(Request::Restart) => self.over = true,
            None => {}
        }
    }

    /// Takes every finding of every board.
    pub(super) fn take(&mut self, model: &AnyModel<'static, B>, finding: BoardFinding<B>) {
        // Two findings in one batch: the monitor now has the features of the second one.
        self.hand_on(model, None);
        self.fault = finding.result.as_ref().err().copied();
        let state = self.alarm.update(&finding);
        // A machine that is at rest or starting is unlike the one that was recorded.
        let runs = matches!(state.state, State::Filling | State::Running);
        let watch = self.watch.as_mut().filter(|_| runs);
        let block = watch.and_then(|watch| watch.update(&finding));
        if let Some(block) = block.filter(|block| block.cause.is_some()) {
            self.journal.drifted(&block);
        }
        self.registers.update(&finding, state, *self.alarm.counters());
        self.registers.drift = self.watch.as_ref().map(DriftWatch::raised);
        self.keep_alarm();
        // A machine at rest says nothing for or against a model on trial.
        if runs || finding.result.is_err() {
            self.try_model(&finding);
        }
        self.last = Some((finding, state));
    }

    /// Keeps the alarm over a restart, if it waits for a person. One that does not comes back by
    /// itself.
    fn keep_alarm(&mut self) {
        let waits = self.alarm.parameters().hold;
        self.models.keep_alarm(if waits { self.alarm.kept() } else { KeptAlarm::NONE });
    }

    /// Shows a finding to the trial.
    fn try_model(&mut self, finding: &BoardFinding<B>) {
        let Some(outcome) = self.models.observe::<B>(finding, self.watch.as_ref()) else { return };
        self.journal.trial_ended(outcome);
        self.over |= outcome != Outcome::Confirmed;
    }

    /// Puts the last finding into the journal.
    fn hand_on(&mut self, model: &AnyModel<'static, B>, features: Option<&[Feature<B>]>) {
        let Some((finding, alarm)) = self.last.take() else { return };
        let drift = self.watch.as_ref().map(DriftWatch::raised);
        let line = BoardLine::new(model, &finding).alarm(&alarm).drift(drift);
        let line = match features {
            Some(features) => line.features(features),
            None => line,
        };
        self.journal.finding(&Entry { line, finding: &finding, alarm: &alarm });
        self.feeding.handed_on(&finding);
        if !self.over && self.scrub.step(SCRUB) == Some(false) {
            self.over = true;
            self.journal.rotten(self.slot);
        }
    }

    /// Returns the result of `step` after a batch of `count` samples.
    pub(super) fn finish(
        &mut self,
        count: usize,
        model: &AnyModel<'static, B>,
        features: &[Feature<B>],
    ) -> Result<usize, SensorFault> {
        self.hand_on(model, Some(features));
        self.feeding.arrived(count);
        if self.feeding.due() && !self.over {
            self.watchdog.feed();
        }
        match self.fault.take() {
            // No sample moved, and the finding says why.
            Some(fault) if count == 0 => Err(fault),
            _ => Ok(count),
        }
    }
}
