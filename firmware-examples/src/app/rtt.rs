//! The journal by `defmt`: over RTT, whatever logger the board's binary links.

use rebearing::decision::Verdict;
use rebearing::drift::DriftBlock;
use rebearing::slots::{NoModel, Slot};
use rebearing::{Label, Model};

use super::{BoardMonitor, BoardReport, Journal};

/// Logs what happens; probe-rs prints it.
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
    }

    fn no_model(&mut self, reason: &NoModel) {
        defmt::error!("no model to use, please run `rebearing flash`: {}", reason);
    }

    fn report(&mut self, model: &Model<'_>, report: &BoardReport) {
        match &report.finding {
            Ok(finding) => {
                let name = match finding.label {
                    Label::Class(class) => model.class_name(class).unwrap_or("?"),
                    Label::Unknown => "unknown",
                    Label::UnknownFault => "unknown fault",
                };
                let rms = finding.statistics.map(|statistics| statistics.rms);
                defmt::info!(
                    "report {=u32}: {=str}, log-likelihood {}, rms {}",
                    report.index,
                    name,
                    finding.log_likelihood,
                    rms
                );
            }
            Err(fault) => defmt::warn!("report {=u32}: sensor fault: {}", report.index, fault),
        }
    }
    fn changed(&mut self, model: &Model<'_>, verdict: &Verdict) {
        let Some(alarm) = verdict.alarm else {
            defmt::info!("{}, no alarm", verdict.state);
            return;
        };
        let name = match alarm.label {
            Label::Class(class) => model.class_name(class).unwrap_or("?"),
            Label::Unknown => "unknown",
            Label::UnknownFault => "unknown fault",
        };
        let is = if alarm.active { "on" } else { "latched" };
        defmt::warn!("{}, alarm of {=str} is {=str}", verdict.state, name, is);
    }

    fn drifted(&mut self, block: &DriftBlock) {
        defmt::warn!("please re-adapt: {}", block);
    }
}
