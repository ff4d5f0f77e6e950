//! The journal through `defmt`: over RTT, or any other logger that the board's binary links.

use core::fmt;

use heapless::String;
use rebearing::model::{AnyModel, Body};
use rebearing::operation::{DriftBlock, ModelLine};
use rebearing::update::{Outcome, PassedOver, Slot, Standing};

use super::{Entry, Journal};

/// Longest line of the boards' models: 32 bands, 8 classes, and room for their names.
const LONGEST: usize = 640;

/// Logs events; probe-rs prints them, and `rebearing watch` shows them.
pub struct RttJournal;

impl Journal for RttJournal {
    fn started<B: Body<'static>>(&mut self, slot: Slot, model: &AnyModel<'static, B>, ram: usize) {
        let bytes = model.bytes().len();
        defmt::info!(
            "model of {=usize} bytes in slot {}, monitor of {=usize} bytes",
            bytes,
            slot,
            ram
        );
        let mut line = String::<LONGEST>::new();
        if ModelLine(model).write_to(&mut line).is_ok() {
            defmt::info!("{=str}", line.as_str());
        } else {
            defmt::warn!("the class names are too long for a line");
        }
    }

    fn no_model(&mut self, reason: &dyn fmt::Display) {
        let reason = defmt::Display2Format(reason);
        defmt::error!("no model to use, please run `rebearing flash`: {}", reason);
    }

    fn passed_over(&mut self, reason: &PassedOver) {
        defmt::warn!("an older model runs: {}", defmt::Display2Format(reason));
    }

    fn standing(&mut self, standing: Standing, ended: Option<Outcome>) {
        defmt::info!("the model is {=str}", standing.name());
        if let Some(outcome) = ended {
            defmt::warn!("the trial of a new model has ended: {=str}", outcome.name());
        }
    }

    fn trial_ended(&mut self, outcome: Outcome) {
        defmt::warn!("the trial has ended: {=str}", outcome.name());
    }

    fn finding<B: Body<'static>>(&mut self, entry: &Entry<'_, B>) {
        // Composed here and not on the host, because the checksum covers the text.
        let mut line = String::<LONGEST>::new();
        let fits = entry.line.write_to(&mut line).is_ok();
        let raised = entry.alarm.alarm.is_some_and(|alarm| alarm.active);
        let quiet = entry.finding.result.is_ok() && !raised;
        match (fits, quiet) {
            (true, true) => defmt::info!("{=str}", line.as_str()),
            (true, false) => defmt::warn!("{=str}", line.as_str()),
            (false, _) => {
                defmt::warn!("report {=u32} is too long for a line", entry.finding.index);
            }
        }
    }

    fn rotten(&mut self, slot: Slot) {
        defmt::error!("the model in slot {} has rotted in flash: restarting", slot);
    }

    fn drifted(&mut self, block: &DriftBlock) {
        defmt::warn!("please re-adapt: {}", block);
    }
}
