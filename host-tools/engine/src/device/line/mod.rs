//! Parses the lines of text that a device sends. `docs/report-lines.md` specifies them.
//!
//! A stream holds more than reports: a firmware's greetings, and lines that lost a part on the way.
//! The checksum tells reports from the rest. Text without a valid checksum is never parsed.

mod fields;
mod seen;
mod values;

use anyhow::{Context, Result, bail, ensure};
use rebearing::operation::report_line::checksum;

use fields::Fields;
pub(super) use values::printable;

pub use seen::{
    AlarmSeen, BitsSeen, DriftSeen, EndSeen, FindingSeen, LabelSeen, ModelSeen, MonitorSeen,
    ReportSeen,
};

/// The supported version of the format.
const VERSION: &str = "1";
/// Largest number of digits in a version. More are no mark.
const MOST_DIGITS: usize = 6;
/// The text right before the checksum.
const CHECKSUM: &[u8] = b" crc=";

/// A line of a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// The result of a window.
    Report(Box<ReportSeen>),
    /// The model that makes the reports.
    Model(ModelSeen),
    /// The firmware's monitor.
    Monitor(MonitorSeen),
    /// The end of a run.
    End(EndSeen),
    /// A damaged line of this format, and the reason.
    Damaged(String),
    /// A line of another version of this format.
    OtherVersion(String),
    /// Any other text from the device or from the program that reads it.
    Text(String),
}

impl Line {
    /// Parses a line of any bytes, with or without its end of line.
    pub fn parse(bytes: &[u8]) -> Self {
        let bytes = bytes.trim_ascii_end();
        let Some((version, record)) = find_mark(bytes) else {
            // The end of a line that has lost its beginning.
            return if split_checksum(bytes).is_some() {
                Self::Damaged("its beginning is missing".into())
            } else {
                Self::Text(printable(&String::from_utf8_lossy(bytes)))
            };
        };
        if version != VERSION {
            return Self::OtherVersion(version);
        }
        match read(record) {
            Ok(line) => line,
            Err(reason) => Self::Damaged(format!("{reason:#}")),
        }
    }
}

/// Finds the mark `rb1`, after any text from a logger. Returns the version, and the record from the
/// mark on.
fn find_mark(bytes: &[u8]) -> Option<(String, &[u8])> {
    (0..bytes.len()).find_map(|at| {
        let (before, record) = bytes.split_at(at);
        let apart = before.last().is_none_or(|byte| !byte.is_ascii_alphanumeric());
        let rest = record.strip_prefix(b"rb").filter(|_| apart)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let version = String::from_utf8_lossy(&rest[..digits]).into_owned();
        let digits_fit = (1..=MOST_DIGITS).contains(&digits);
        (digits_fit && rest.get(digits) == Some(&b' ')).then_some((version, record))
    })
}

/// Returns the text that the checksum covers, and the checksum. A logger may add words after it.
fn split_checksum(record: &[u8]) -> Option<(&[u8], u32)> {
    let at = record.windows(CHECKSUM.len()).rposition(|window| window == CHECKSUM)?;
    let (text, rest) = record.split_at(at);
    let (digits, rest) = rest[CHECKSUM.len()..].split_at_checked(8)?;
    let lower_case = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let whole = digits.iter().all(lower_case) && rest.first().is_none_or(|byte| *byte == b' ');
    let sum = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    whole.then_some((text, sum))
}

fn read(record: &[u8]) -> Result<Line> {
    let (text, sum) = split_checksum(record).context("its end is missing")?;
    ensure!(checksum(text) == sum, "the checksum is another");
    let text = std::str::from_utf8(text).context("it is no UTF-8")?;
    let mut words = text.split(' ').skip(1);
    match words.next() {
        Some("report") => {
            let window = words.next().context("no window")?.parse().context("which window?")?;
            let report = fields::report(window, &Fields::of(words)?)?;
            Ok(Line::Report(Box::new(report)))
        }
        Some("model") => fields::model(&Fields::of(words)?).map(Line::Model),
        Some("monitor") => fields::monitor(&Fields::of(words)?).map(Line::Monitor),
        Some("end") => fields::end(&Fields::of(words)?).map(Line::End),
        kind => bail!("a line of kind {:?}, which this version does not know", kind.unwrap_or("")),
    }
}
