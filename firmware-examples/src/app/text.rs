//! The journal as lines of text, by semihosting: for QEMU.

use core::fmt::Write as _;

use rebearing::Model;
use rebearing::drift::{DriftBlock, DriftCause};
use rebearing::report_line::ModelLine;
use rebearing::slots::{NoModel, Slot};

use super::{BoardLine, BoardMonitor, Journal};
use crate::line::Line;
use crate::semihosting::Console;

/// Prints to the host's console.
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
        // A line takes whatever is written to it.
        let _ = ModelLine(model).write_to(&mut line);
        line.end();
    }

    fn no_model(&mut self, reason: &NoModel) {
        let mut line = Line::new(self.0);
        let _ = write!(line, "error: {reason}");
        line.end();
    }

    fn report(&mut self, report: &BoardLine<'_>) {
        let mut line = Line::new(self.0);
        let _ = report.write_to(&mut line);
        line.end();
    }

    fn drifted(&mut self, block: &DriftBlock) {
        let mut line = Line::new(self.0);
        line.text("drift unknown=").decimal(block.unknown as usize);
        line.text(" cause=").text(block.cause.map_or("none", DriftCause::name)).end();
    }
}
