//! The journal as lines of text over semihosting, for QEMU.

use core::cell::Cell;
use core::fmt::{self, Write as _};

use rebearing::model::{AnyModel, Body, Numbers};
use rebearing::operation::{DriftBlock, DriftCause, ModelLine};
use rebearing::update::{Outcome, PassedOver, Slot, Standing};

use super::{Entry, Journal};
use crate::line::Line;
use crate::semihosting::Console;
use crate::soak::mix;

/// Prints to the host's console.
pub struct TextJournal<'c> {
    /// The console.
    pub console: &'c Console,
    /// A hash of all bits of posteriors and log-likelihoods, because the lines are rounded.
    pub bits: &'c Cell<u32>,
}

impl Journal for TextJournal<'_> {
    fn started<B: Body<'static>>(&mut self, slot: Slot, model: &AnyModel<'static, B>, ram: usize) {
        let mut line = Line::new(self.console);
        line.text("model slot=").text(name(slot));
        line.text(" bytes=").decimal(model.bytes().len());
        line.text(" monitor_ram=").decimal(ram).end();
        // Writing to a line cannot fail.
        let _ = ModelLine(model).write_to(&mut line);
        line.end();
    }

    fn no_model(&mut self, reason: &dyn fmt::Display) {
        let mut line = Line::new(self.console);
        let _ = write!(line, "error: {reason}");
        line.end();
    }

    fn passed_over(&mut self, reason: &PassedOver) {
        let mut line = Line::new(self.console);
        let _ = write!(line, "warning: {reason}");
        line.end();
    }

    fn standing(&mut self, standing: Standing, ended: Option<Outcome>) {
        let mut line = Line::new(self.console);
        line.text("standing ").text(standing.name());
        line.text(" ended=").text(ended.unwrap_or_default().name()).end();
    }

    fn trial_ended(&mut self, outcome: Outcome) {
        Line::new(self.console).text("trial ended: ").text(outcome.name()).end();
    }

    fn finding<B: Body<'static>>(&mut self, entry: &Entry<'_, B>) {
        if let Ok(found) = &entry.finding.result {
            let posterior = found.posterior.iter().map(|p| B::Numbers::probability_bits(*p));
            let nats = found.gate_log_likelihood.iter().chain(&found.log_likelihood);
            let nats = nats.map(|nats| B::Numbers::log_likelihood_bits(*nats));
            self.bits.set(posterior.chain(nats).fold(self.bits.get(), mix));
        }
        let mut line = Line::new(self.console);
        let _ = entry.line.write_to(&mut line);
        line.end();
    }

    fn rotten(&mut self, slot: Slot) {
        Line::new(self.console).text("model rotten slot=").text(name(slot)).end();
    }

    fn drifted(&mut self, block: &DriftBlock) {
        let mut line = Line::new(self.console);
        line.text("drift unknown=").decimal(block.unknown as usize);
        line.text(" cause=").text(block.cause.map_or("none", DriftCause::name)).end();
    }
}

fn name(slot: Slot) -> &'static str {
    match slot {
        Slot::A => "A",
        Slot::B => "B",
    }
}
