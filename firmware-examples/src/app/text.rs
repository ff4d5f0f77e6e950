//! The journal as lines of text, by semihosting: for QEMU.

use core::fmt::Write as _;

use rebearing::decision::Verdict;
use rebearing::drift::{DriftBlock, DriftCause};
use rebearing::slots::{NoModel, Slot};
use rebearing::{Label, Model};

use super::{BoardMonitor, BoardReport, Journal};
use crate::line::Line;
use crate::semihosting::Console;
use crate::verdict;

/// Prints to the host's console; floats as their exact bits.
pub struct TextJournal<'c>(pub &'c Console);

impl Journal for TextJournal<'_> {
    fn started(&mut self, slot: Slot, model: &Model<'_>) {
        let mut line = Line::new(self.0);
        line.text("model slot=").text(match slot {
            Slot::A => "A",
            Slot::B => "B",
        });
        line.text(" bytes=").decimal(model.bytes().len());
        line.text(" monitor_ram=").decimal(BoardMonitor::RAM).end();
    }

    fn no_model(&mut self, reason: &NoModel) {
        let mut line = Line::new(self.0);
        // A line takes whatever is written to it.
        let _ = write!(line, "error: {reason}");
        line.end();
    }

    fn report(&mut self, model: &Model<'_>, report: &BoardReport) {
        let mut line = Line::new(self.0);
        line.text("report ").decimal(report.index as usize);
        match &report.finding {
            Ok(finding) => {
                match finding.label {
                    Label::Class(class) => {
                        line.text(" class=").text(model.class_name(class).unwrap_or("?"))
                    }
                    Label::Unknown => line.text(" unknown"),
                    Label::UnknownFault => line.text(" unknown_fault"),
                };
                line.text(" posterior=");
                for (class, probability) in finding.posterior.iter().enumerate() {
                    line.text(if class == 0 { "" } else { "," }).bits(*probability);
                }
            }
            Err(fault) => {
                line.text(" sensor_fault ").text(fault.name());
            }
        }
        line.end();
    }
    fn changed(&mut self, _: &Model<'_>, verdict: &Verdict) {
        let mut line = Line::new(self.0);
        verdict::print(line.text("now"), verdict);
        line.end();
    }

    fn drifted(&mut self, block: &DriftBlock) {
        let mut line = Line::new(self.0);
        line.text("drift unknown=").decimal(block.unknown as usize);
        line.text(" cause=").text(block.cause.map_or("none", DriftCause::name)).end();
    }
}
