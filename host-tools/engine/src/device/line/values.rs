//! Parses the values of a line's fields.

use anyhow::{Context, Result, bail, ensure};
use rebearing::operation::alarm::State;
use rebearing::operation::report_line::DECIBELS_OFFSET;
use rebearing::{SensorFault, Zone};

use super::seen::{AlarmSeen, BitsSeen, LabelSeen};

pub(super) fn text_to<T: std::str::FromStr>(text: &str) -> Result<T> {
    // Only digits: Rust would also accept a sign.
    ensure!(text.bytes().all(|byte| byte.is_ascii_digit()), "no number");
    text.parse().ok().context("no number")
}

pub(super) fn number(text: &str) -> Result<f32> {
    if text == "nan" {
        return Ok(f32::NAN);
    }
    // Rust would also accept `inf`, `1e5` and the like, but no device sends them.
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    ensure!(plain, "no number");
    text.parse().context("no number")
}

pub(super) fn flag(text: &str) -> Result<bool> {
    match text {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => bail!("neither 0 nor 1"),
    }
}

pub(super) fn list<T>(text: &str, item: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
    text.split_terminator(',').map(item).collect()
}

pub(super) fn label(text: &str) -> Result<LabelSeen> {
    Ok(match text.split_once(':') {
        Some((index, text)) => LabelSeen::Class { index: text_to(index)?, name: name(text)? },
        None if text == "unknown" => LabelSeen::Unknown,
        None if text == "unknown_fault" => LabelSeen::UnknownFault,
        None => bail!("which label?"),
    })
}

pub(super) fn alarm(text: &str) -> Result<AlarmSeen> {
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

/// Decodes a class name: `%` and two hexadecimal digits stand for a byte.
pub(super) fn name(text: &str) -> Result<String> {
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

pub(super) fn bands(text: &str) -> Result<Vec<Vec<f32>>> {
    list(text, |axis| {
        ensure!(axis.is_ascii() && axis.len().is_multiple_of(2), "a band has two digits");
        let byte = |at: usize| u8::from_str_radix(&axis[at..at + 2], 16).context("no byte");
        let decibels = |at| Ok(f32::from(byte(at)?) - f32::from(DECIBELS_OFFSET));
        (0..axis.len()).step_by(2).map(decibels).collect()
    })
}

/// Parses the exact bits: five parts separated by slashes, with dashes for absent values.
pub(super) fn bits(text: &str) -> Result<BitsSeen> {
    let parts: Vec<&str> = text.split('/').collect();
    let [likelihoods, posterior, statistics, velocity, level] = parts[..] else {
        bail!("the bits have five parts")
    };
    let (gate, log_likelihood) = match likelihoods.split_once(',') {
        Some((gate, others)) => (optional(gate)?, optional(others)?),
        None if likelihoods == "-" => (None, None),
        None => bail!("two log-likelihoods"),
    };
    let statistics = words(statistics)?;
    let (statistics, rest) = statistics.as_chunks();
    ensure!(rest.is_empty(), "an axis has four statistics");
    Ok(BitsSeen {
        gate,
        log_likelihood,
        posterior: words(posterior)?,
        statistics: statistics.to_vec(),
        velocity: words(velocity)?,
        level: optional(level)?.map(u16::try_from).transpose()?,
    })
}

fn words(text: &str) -> Result<Vec<u32>> {
    if text == "-" { Ok(Vec::new()) } else { list(text, word) }
}

fn optional(text: &str) -> Result<Option<u32>> {
    if text == "-" { Ok(None) } else { word(text).map(Some) }
}

fn word(text: &str) -> Result<u32> {
    let lower_case = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    ensure!(text.len() == 8 && text.bytes().all(lower_case), "eight digits make a word");
    Ok(u32::from_str_radix(text, 16)?)
}

/// Finds a fault by its name.
pub(super) fn fault(name: &str) -> Result<SensorFault> {
    SensorFault::ALL.into_iter().find(|fault| fault.name() == name).context("which fault?")
}

/// Finds a zone by its letter.
pub(super) fn zone(letter: &str) -> Result<Zone> {
    let zones = [Zone::A, Zone::B, Zone::C, Zone::D];
    zones.into_iter().find(|zone| zone.name() == letter).context("which zone?")
}

/// Finds a state by its name. The name of a sensor fault follows after a colon.
pub(super) fn state(text: &str) -> Result<State> {
    let states = [State::Idle, State::Settling, State::Filling, State::Running];
    match text.strip_prefix("sensor_fault:") {
        Some(fault) => Ok(State::SensorFault(self::fault(fault)?)),
        None => states.into_iter().find(|state| state.name() == text).context("which state?"),
    }
}

/// Removes characters that could move a terminal's cursor or change its colours.
pub(in crate::device) fn printable(text: &str) -> String {
    let mut characters = text.chars().peekable();
    let mut kept = String::new();
    while let Some(character) = characters.next() {
        match character {
            // A colour code of a logger: ESC [ … and a letter.
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
