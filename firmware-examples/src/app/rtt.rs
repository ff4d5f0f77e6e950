//! The journal by `defmt`: over RTT, whatever logger the board's binary links.

use heapless::String;
use rebearing::Model;
use rebearing::drift::DriftBlock;
use rebearing::report_line::ModelLine;
use rebearing::slots::{NoModel, Slot};

use super::{BoardLine, BoardMonitor, Journal};

/// A line of the boards' models: 32 bands, 8 classes, and room for their names.
const LONGEST: usize = 640;

/// Logs what happens; probe-rs prints it, and `rebearing watch` shows it.
pub struct RttJournal;

impl Journal for RttJournal {
    fn started(&mut self, slot: Slot, model: &Model<'_>) {
        let (bytes, ram) = (model.bytes().len(), BoardMonitor::RAM);
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

    fn no_model(&mut self, reason: &NoModel) {
        defmt::error!("no model to use, please run `rebearing flash`: {}", reason);
    }

    fn report(&mut self, report: &BoardLine<'_>) {
        // Composed here and not on the host, because the checksum is of the text.
        let mut line = String::<LONGEST>::new();
        let fits = report.write_to(&mut line).is_ok();
        let alarm = report.verdict.and_then(|verdict| verdict.alarm);
        let quiet = report.report.finding.is_ok() && alarm.is_none_or(|alarm| !alarm.active);
        match (fits, quiet) {
            (true, true) => defmt::info!("{=str}", line.as_str()),
            (true, false) => defmt::warn!("{=str}", line.as_str()),
            (false, _) => {
                defmt::warn!("report {=u32} is too long for a line", report.report.index);
            }
        }
    }

    fn drifted(&mut self, block: &DriftBlock) {
        defmt::warn!("please re-adapt: {}", block);
    }
}
