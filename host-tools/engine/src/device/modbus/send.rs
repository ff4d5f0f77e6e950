//! Sends a signed model file to a device: begin, pieces, finish, restart, trial.
//!
//! A line that damages bytes gets shorter pieces, and longer ones again when it is better. A device
//! that has received a part of the same file goes on behind it.

use std::time::{Duration, Instant};

use rebearing::bus::Command;
use rebearing::bus::files::{ENVELOPE_FILE, FILE_WORDS, MODEL_FILE};
use rebearing::update::{Outcome, Refusal, Standing};

use super::client::{Client, ModbusError};
use super::line::Line;
use super::signed_file::SignedFile;
use super::status::DeviceStatus;

/// Most bytes of a piece: the frame has 256 bytes.
const LONGEST: usize = 244;
/// Fewest bytes of a piece on a bad line.
const SHORTEST: usize = 16;
/// Pieces in a row that fail before the line is given up.
const MOST_FAILURES: usize = 40;
/// Pieces in a row that arrive before longer ones are tried.
const GOOD: usize = 8;
/// Counters that are tried for a model that nobody signed.
const COUNTERS: u32 = 16;

/// The result of sending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Bytes of the signed file.
    pub total: usize,
    /// Bytes that the device had before.
    pub resumed_at: usize,
    /// Requests for pieces, repeated ones included.
    pub pieces: usize,
    /// Counter of the model.
    pub counter: u32,
}

/// Sends a file, so that the device has verified it and takes it at the next start.
///
/// With `replace`, another model that is being received is abandoned. `progress` gets the bytes that
/// the device has, and all bytes.
pub fn send<L: Line>(
    client: &mut Client<L>,
    file: &SignedFile,
    replace: bool,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Sent, ModbusError> {
    let status = DeviceStatus::registers(client)?;
    let mut file = file.clone();
    if !file.is_signed() {
        file = file.with_counter(status.number("counter").unwrap_or(0).saturating_add(1));
    }
    let mut tried = 1;
    loop {
        match begin(client, &file, replace) {
            Err(ModbusError::Refused(Refusal::OldCounter))
                if !file.is_signed() && tried < COUNTERS =>
            {
                let next = file.envelope().counter.saturating_add(1);
                file = file.with_counter(next);
                tried += 1;
            }
            result => break result?,
        }
    }
    let bytes = file.bytes();
    let mut sent =
        Sent { total: bytes.len(), resumed_at: 0, pieces: 0, counter: file.envelope().counter };
    sent.resumed_at = received(client)?.min(bytes.len());
    write(client, &bytes, &mut sent, progress)?;
    finish(client)?;
    Ok(sent)
}

/// Writes the envelope and begins.
fn begin<L: Line>(
    client: &mut Client<L>,
    file: &SignedFile,
    replace: bool,
) -> Result<(), ModbusError> {
    let envelope = |client: &mut Client<L>| {
        // In pieces, because a bad line seldom lets all 128 bytes through.
        for (at, piece) in file.envelope_bytes().chunks(SHORTEST).enumerate() {
            client.write_file(ENVELOPE_FILE, (at * SHORTEST / 2) as u16, piece)?;
        }
        Ok::<(), ModbusError>(())
    };
    envelope(client)?;
    match client.command(Command::Begin) {
        Err(ModbusError::Refused(Refusal::Busy)) if replace => {
            client.command(Command::Abandon)?;
            envelope(client)?;
            client.command(Command::Begin)
        }
        result => result,
    }
}

fn received<L: Line>(client: &mut Client<L>) -> Result<usize, ModbusError> {
    let status = DeviceStatus::registers(client)?;
    Ok(status.number("received").unwrap_or(0) as usize)
}

/// Writes all bytes from `sent.resumed_at` on.
fn write<L: Line>(
    client: &mut Client<L>,
    bytes: &[u8],
    sent: &mut Sent,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(), ModbusError> {
    // Each piece is tried once at its length; a shorter one follows if it fails.
    let attempts = std::mem::replace(&mut client.patience().attempts, 1);
    let result = write_pieces(client, bytes, attempts, sent, progress);
    client.patience().attempts = attempts;
    result
}

fn write_pieces<L: Line>(
    client: &mut Client<L>,
    bytes: &[u8],
    attempts: usize,
    sent: &mut Sent,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(), ModbusError> {
    let (mut at, mut longest) = (sent.resumed_at & !1, LONGEST);
    let (mut failures, mut good) = (0, 0);
    progress(at, bytes.len());
    while at < bytes.len() {
        let word = at / 2;
        let (file, record) = (word / FILE_WORDS as usize, word % FILE_WORDS as usize);
        let room = 2 * (FILE_WORDS as usize - record);
        let piece = bytes.get(at..).unwrap_or_default();
        let piece = piece.get(..longest.min(room)).unwrap_or(piece);
        let number = u16::try_from(usize::from(MODEL_FILE) + file);
        // 1.3 GB do not fit: no device takes such a model, and its envelope was refused.
        let number = number.map_err(|_| ModbusError::Refused(Refusal::TooLong))?;
        sent.pieces += 1;
        match client.write_file(number, record as u16, piece) {
            Ok(()) => {
                at += piece.len();
                (failures, good) = (0, good + 1);
                if good >= GOOD {
                    (longest, good) = ((2 * longest).min(LONGEST), 0);
                }
                progress(at, bytes.len());
                continue;
            }
            // The device restarted or lost a piece: it says where to go on.
            Err(ModbusError::Refused(Refusal::Gap)) if failures < MOST_FAILURES => {
                client.patience().attempts = attempts;
                let there = received(client);
                client.patience().attempts = 1;
                at = there?.min(at) & !1;
            }
            Err(ModbusError::Silent { .. } | ModbusError::Damaged { .. })
                if failures < MOST_FAILURES =>
            {
                longest = (longest / 2 & !1).max(SHORTEST);
            }
            Err(error) => return Err(error),
        }
        (failures, good) = (failures + 1, 0);
    }
    Ok(())
}

/// Finishes. If an answer is lost, the register says whether the model is verified.
fn finish<L: Line>(client: &mut Client<L>) -> Result<(), ModbusError> {
    let attempts = std::mem::replace(&mut client.patience().attempts, 1);
    let mut result = Ok(());
    for _ in 0..attempts.max(1) {
        result = client.command(Command::Finish);
        let unsure = matches!(
            result,
            Err(ModbusError::Silent { .. }
                | ModbusError::Damaged { .. }
                | ModbusError::Refused(Refusal::NotBegun))
        );
        if !unsure {
            break;
        }
        client.patience().attempts = attempts;
        let waiting = DeviceStatus::registers(client).map(|status| status.number("waiting"));
        client.patience().attempts = 1;
        if waiting? == Some(1) {
            result = Ok(());
            break;
        }
    }
    client.patience().attempts = attempts;
    result
}

/// Restarts the device. It may restart before its answer is out, so a missing answer is none.
pub fn restart<L: Line>(client: &mut Client<L>) -> Result<(), ModbusError> {
    match client.command(Command::Restart) {
        Err(ModbusError::Silent { .. } | ModbusError::Damaged { .. }) => Ok(()),
        result => result,
    }
}

/// How a sent model fares after the restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trial {
    /// It has proved itself.
    Confirmed,
    /// It runs and still has to prove itself.
    OnTrial,
    /// The old model is back, for this reason.
    Reverted(Outcome),
    /// The device has not started it in time.
    NotStarted,
}

impl Trial {
    /// The trial in one word, as text and JSON have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::OnTrial => "on_trial",
            Self::Reverted(_) => "reverted",
            Self::NotStarted => "not_started",
        }
    }
}

/// Asks every `pause` how the model with this counter fares, until its trial has ended or `limit` is
/// over. While it restarts, a device does not answer; only a line that fails is an error.
pub fn wait<L: Line>(
    client: &mut Client<L>,
    counter: u32,
    limit: Duration,
    pause: Duration,
) -> Result<Trial, ModbusError> {
    let end = Instant::now() + limit;
    let mut seen = Trial::NotStarted;
    loop {
        match DeviceStatus::registers(client) {
            Ok(status) => {
                seen = trial(&status, counter, seen);
                if matches!(seen, Trial::Confirmed | Trial::Reverted(_)) {
                    return Ok(seen);
                }
            }
            Err(ModbusError::Silent { .. } | ModbusError::Damaged { .. }) => {}
            Err(error) => return Err(error),
        }
        if Instant::now() >= end {
            return Ok(seen);
        }
        std::thread::sleep(pause);
    }
}

fn trial(status: &DeviceStatus, counter: u32, before: Trial) -> Trial {
    let runs = status.number("counter") == Some(counter);
    let waiting = status.number("waiting") == Some(1);
    match (status.standing(), status.outcome()) {
        (Some(Standing::Confirmed), _) if runs => Trial::Confirmed,
        (Some(Standing::OnTrial), _) if runs => Trial::OnTrial,
        // Another model runs. Before the restart that says nothing.
        (Some(_), Some(outcome)) if !runs && !waiting => match outcome {
            Outcome::None | Outcome::Confirmed | Outcome::ConfirmedRemotely => before,
            ended => Trial::Reverted(ended),
        },
        _ => before,
    }
}
