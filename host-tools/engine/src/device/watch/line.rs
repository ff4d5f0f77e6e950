//! A device's line of text to what it says; `docs/report-lines.md` specifies it.
//!
//! A stream holds more than reports: a firmware's greetings, and lines that lost a part on their
//! way. The checksum tells them apart. What it does not vouch for is never read.

use anyhow::{Context, Result, bail, ensure};
use rebearing::operation::alarm::State;
use rebearing::operation::report_line::{DECIBELS_OFFSET, checksum};
use rebearing::{SensorFault, Zone};

use crate::device::verdict_line::{parse_fault, parse_state, parse_zone};

/// The version of the format that is read.
const VERSION: &str = "1";
/// What stands before the checksum.
const CHECKSUM: &[u8] = b" crc=";

/// A line of a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// The result of a window.
    Report(Box<ReportSeen>),
    /// What the reports are of.
    Model(ModelSeen),
    /// A line of this format that is not as it was sent, and why.
    Damaged(String),
    /// A line of another version of this format.
    OtherVersion(String),
    /// Something else that the device, or what reads it, has to say.
    Text(String),
}

/// A report as its line gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportSeen {
    /// The number of the window.
    pub window: u32,
    /// What was found, or why nothing was.
    pub finding: Result<FindingSeen, SensorFault>,
    /// What machine and sensor are doing.
    pub state: Option<State>,
    /// Mean probability that the machine is not healthy.
    pub level: Option<f32>,
    /// The alarm, if there is one.
    pub alarm: Option<AlarmSeen>,
    /// Whether the device asks for a new adaptation; `None` if it does not watch for drift.
    pub drift: Option<bool>,
    /// Mean square of each band in decibels, axis by axis; empty where it was not sent.
    pub bands: Vec<Vec<f32>>,
}

/// What was found in a window.
#[derive(Debug, Clone, PartialEq)]
pub struct FindingSeen {
    /// The label.
    pub label: LabelSeen,
    /// Probability of each class.
    pub posterior: Vec<f32>,
    /// Log-likelihood under the gate, and the least that is healthy.
    pub gate: Option<(f32, f32)>,
    /// Log-likelihood under the other components, and the least that is known.
    pub log_likelihood: Option<(f32, f32)>,
    /// Root mean square of each axis.
    pub rms: Vec<f32>,
    /// Velocity of each axis in mm/s, and its zone.
    pub severity: Option<(Zone, Vec<f32>)>,
}

impl FindingSeen {
    /// How sure the label is: the probability of its class; `None` for what is unknown.
    pub fn confidence(&self) -> Option<f32> {
        match self.label {
            LabelSeen::Class { index, .. } => self.posterior.get(index).copied(),
            LabelSeen::Unknown | LabelSeen::UnknownFault => None,
        }
    }

    /// The log-likelihood that every window has, and its threshold: the gate's where there is one.
    pub fn trend(&self) -> Option<(f32, f32)> {
        self.gate.or(self.log_likelihood)
    }
}

/// A label with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelSeen {
    /// A class.
    Class {
        /// Its place among the classes.
        index: usize,
        /// Its name.
        name: String,
    },
    /// Like nothing that was recorded.
    Unknown,
    /// Not healthy, and like no fault that is known.
    UnknownFault,
}

impl LabelSeen {
    /// The word for it, as every command has it.
    pub fn word(&self) -> &str {
        match self {
            Self::Class { name, .. } => name,
            Self::Unknown => "unknown",
            Self::UnknownFault => "unknown_fault",
        }
    }
}

/// An alarm with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlarmSeen {
    /// What the machine has.
    pub label: LabelSeen,
    /// Whether it is on; if not, it has cleared and is latched.
    pub active: bool,
    /// Whether it was acknowledged.
    pub acknowledged: bool,
}

/// What the reports are of.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSeen {
    /// Bytes of the model.
    pub bytes: usize,
    /// Sample rate in Hz.
    pub rate_hz: f32,
    /// Points of the FFT.
    pub fft: usize,
    /// Axes.
    pub axes: usize,
    /// The classes' names.
    pub classes: Vec<String>,
    /// The bins at which bands begin and end.
    pub edges: Vec<u32>,
}

impl ModelSeen {
    /// The frequency at which the lowest band begins and the highest ends.
    pub fn span_hz(&self) -> Option<(f32, f32)> {
        let hz = |bin: u32| bin as f32 * self.rate_hz / self.fft as f32;
        let nyquist = self.rate_hz / 2.0;
        // The last bin is that of the Nyquist frequency, and ends beyond it.
        Some((hz(*self.edges.first()?), hz(*self.edges.last()?).min(nyquist)))
    }
}

impl Line {
    /// Reads a line, whatever its bytes are. Its end of line may be there or not.
    pub fn parse(bytes: &[u8]) -> Self {
        let bytes = bytes.trim_ascii_end();
        let Some((version, record)) = find_mark(bytes) else {
            // The end of a line whose beginning was lost.
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

/// The version and all that follows `rb1`, behind whatever a logger put before it.
fn find_mark(bytes: &[u8]) -> Option<(String, &[u8])> {
    (0..bytes.len()).find_map(|at| {
        let (before, record) = bytes.split_at(at);
        let apart = before.last().is_none_or(|byte| !byte.is_ascii_alphanumeric());
        let rest = record.strip_prefix(b"rb").filter(|_| apart)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let version = String::from_utf8_lossy(&rest[..digits]).into_owned();
        (digits > 0 && rest.get(digits) == Some(&b' ')).then_some((version, record))
    })
}

/// What the checksum is of, and the checksum. Behind it a logger may have added words.
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
            report(window, &Fields::of(words)?).map(|report| Line::Report(Box::new(report)))
        }
        Some("model") => model(&Fields::of(words)?).map(Line::Model),
        kind => bail!("a line of kind {:?}, which this version does not know", kind.unwrap_or("")),
    }
}

/// The words `name=value` of a line. Names that nobody asks for are of a later version.
struct Fields<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Fields<'a> {
    fn of(words: impl Iterator<Item = &'a str>) -> Result<Self> {
        let mut fields: Vec<(&str, &str)> = Vec::new();
        for word in words {
            let (name, value) = word.split_once('=').with_context(|| format!("{word:?}?"))?;
            ensure!(fields.iter().all(|(known, _)| *known != name), "{name} is there twice");
            fields.push((name, value));
        }
        Ok(Self(fields))
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// A field read by `read`; an error of it names the field.
    fn read<T>(&self, name: &str, read: impl FnOnce(&'a str) -> Result<T>) -> Result<Option<T>> {
        let value = self.get(name).map(read).transpose();
        value.with_context(|| format!("{name}={}", self.get(name).unwrap_or_default()))
    }

    fn need<T>(&self, name: &str, read: impl FnOnce(&'a str) -> Result<T>) -> Result<T> {
        self.read(name, read)?.with_context(|| format!("no {name}"))
    }
}

fn report(window: u32, fields: &Fields<'_>) -> Result<ReportSeen> {
    let finding = match fields.read("fault", parse_fault)? {
        Some(fault) => {
            ensure!(fields.get("label").is_none(), "both a label and a fault");
            Err(fault)
        }
        None => Ok(finding(fields)?),
    };
    Ok(ReportSeen {
        window,
        finding,
        state: fields.read("state", parse_state)?,
        level: fields.read("level", number)?,
        alarm: fields.read("alarm", alarm)?,
        drift: fields.read("drift", flag)?,
        bands: fields.read("bands", bands)?.unwrap_or_default(),
    })
}

fn finding(fields: &Fields<'_>) -> Result<FindingSeen> {
    let share = |text: &str| Ok(f32::from(text_to::<u16>(text)?) / 1000.0);
    let pair = |text| match list(text, number)?.as_slice() {
        [value, least] => Ok((*value, *least)),
        _ => bail!("a number and its threshold are two"),
    };
    let velocity = fields.read("velocity", |text| list(text, number))?;
    Ok(FindingSeen {
        label: fields.need("label", label)?,
        posterior: fields.need("p", |text| list(text, share))?,
        gate: fields.read("gate", pair)?,
        log_likelihood: fields.read("ll", pair)?,
        rms: fields.need("rms", |text| list(text, number))?,
        severity: fields.read("zone", parse_zone)?.zip(velocity),
    })
}

fn model(fields: &Fields<'_>) -> Result<ModelSeen> {
    let model = ModelSeen {
        bytes: fields.need("bytes", text_to)?,
        rate_hz: fields.need("rate", number)?,
        fft: fields.need("fft", text_to)?,
        axes: fields.need("axes", text_to)?,
        classes: fields.need("classes", |text| list(text, name))?,
        edges: fields.need("edges", |text| list(text, text_to))?,
    };
    ensure!(model.rate_hz > 0.0 && model.fft > 0, "a rate or an FFT of nothing");
    Ok(model)
}

fn text_to<T: std::str::FromStr>(text: &str) -> Result<T> {
    // Digits alone: Rust would take a sign too.
    ensure!(text.bytes().all(|byte| byte.is_ascii_digit()), "no number");
    text.parse().ok().context("no number")
}

fn number(text: &str) -> Result<f32> {
    if text == "nan" {
        return Ok(f32::NAN);
    }
    // Rust would also take `inf`, `1e5` and the like, which no device sends.
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    ensure!(plain, "no number");
    text.parse().context("no number")
}

fn flag(text: &str) -> Result<bool> {
    match text {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => bail!("neither 0 nor 1"),
    }
}

fn list<T>(text: &str, item: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
    text.split_terminator(',').map(item).collect()
}

fn label(text: &str) -> Result<LabelSeen> {
    Ok(match text.split_once(':') {
        Some((index, text)) => LabelSeen::Class { index: text_to(index)?, name: name(text)? },
        None if text == "unknown" => LabelSeen::Unknown,
        None if text == "unknown_fault" => LabelSeen::UnknownFault,
        None => bail!("which label?"),
    })
}

fn alarm(text: &str) -> Result<AlarmSeen> {
    let parts: Vec<&str> = text.split(',').collect();
    let [of, active, acknowledged] = parts[..] else { bail!("an alarm has three parts") };
    let active = match active {
        "on" => true,
        "latched" => false,
        _ => bail!("neither on nor latched"),
    };
    let acknowledged = match acknowledged {
        "acknowledged" => true,
        "new" => false,
        _ => bail!("neither new nor acknowledged"),
    };
    Ok(AlarmSeen { label: label(of)?, active, acknowledged })
}

/// A class name, its `%` and two digits undone.
fn name(text: &str) -> Result<String> {
    let mut bytes = Vec::new();
    let mut parts = text.split('%');
    bytes.extend(parts.next().unwrap_or_default().bytes());
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).context("a % without its two digits")?;
        bytes.push(u8::from_str_radix(digits, 16).context("a % without its two digits")?);
        bytes.extend(rest.bytes());
    }
    Ok(printable(&String::from_utf8(bytes).context("a name is no UTF-8")?))
}

fn bands(text: &str) -> Result<Vec<Vec<f32>>> {
    list(text, |axis| {
        ensure!(axis.is_ascii() && axis.len().is_multiple_of(2), "a band has two digits");
        let byte = |at: usize| u8::from_str_radix(&axis[at..at + 2], 16).context("no byte");
        let decibels = |at| Ok(f32::from(byte(at)?) - f32::from(DECIBELS_OFFSET));
        (0..axis.len()).step_by(2).map(decibels).collect()
    })
}

/// Without what could move a terminal's cursor or change its colours.
fn printable(text: &str) -> String {
    let mut characters = text.chars().peekable();
    let mut kept = String::new();
    while let Some(character) = characters.next() {
        match character {
            // A colour as loggers set it: ESC [ … and a letter.
            '\x1b' if characters.peek() == Some(&'[') => {
                for skipped in characters.by_ref().skip(1) {
                    if skipped.is_ascii_alphabetic() {
                        break;
                    }
                }
            }
            '\t' => kept.push(' '),
            _ if character.is_control() => kept.push('\u{fffd}'),
            _ => kept.push(character),
        }
    }
    kept
}
