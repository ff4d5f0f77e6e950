//! Formats a line of the stream as a line for people, for output that is not a terminal.

use std::fmt::Write as _;

use rebearing_host::device::line::{Line, ReportSeen};
use rebearing_host::device::watch::state::state_text;

/// Returns the line for people, or `None` for an empty line.
pub fn text(line: &Line) -> Option<String> {
    match line {
        Line::Report(report) => Some(report_text(report)),
        Line::Model(model) => Some(format!(
            "model of {} bytes, {} Hz, classes {}",
            model.bytes,
            model.rate_hz,
            model.classes.join(", ")
        )),
        Line::Monitor(monitor) => Some(monitor.to_string()),
        Line::End(end) => Some(end.to_string()),
        Line::Damaged(reason) => Some(format!("damaged line: {reason}")),
        Line::OtherVersion(version) => Some(format!("a line of version {version}, not shown")),
        Line::Text(text) if text.trim().is_empty() => None,
        Line::Text(text) => Some(format!("| {text}")),
    }
}

fn report_text(report: &ReportSeen) -> String {
    let mut text = match &report.finding {
        Ok(finding) => {
            let sure =
                finding.confidence().map_or("   -".into(), |p| format!("{:3.0}%", 100.0 * p));
            let trend = finding.trend().map_or("-".into(), |(value, _)| format!("{value:.2}"));
            format!("{:>7}  {:<14} {sure} {trend:>9}", report.window, finding.label.word())
        }
        Err(fault) => format!("{:>7}  sensor fault: {fault}", report.window),
    };
    if let (Ok(_), Some(state)) = (&report.finding, report.state) {
        let _ = write!(text, "  {}", state_text(state));
    }
    if let Some(alarm) = &report.alarm {
        let is = if alarm.active { "ALARM" } else { "latched" };
        let _ = write!(text, "  {is} {}", alarm.label.word());
    }
    if report.drift == Some(true) {
        text += "  drifted";
    }
    text
}
