//! Sends a signed model file to a device: begin, pieces, finish, restart, trial.
//!
//! A line that damages bytes gets shorter pieces, and longer ones again when it is better. A device
//! that has received a part of the same file goes on behind it.

use std::time::{Duration, Instant};

use rebearing::bus::files::{ENVELOPE_FILE, FILE_WORDS, MODEL_FILE};
use rebearing::bus::{Command, Register};
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
    let mut file = file.clone();
    if !file.is_signed() {
        file = file.with_counter(number(client, "counter")?.saturating_add(1));
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
    let total = file.bytes().len();
    let resumed_at = received(client)?.min(total);
    let mut sent = Sent { total, resumed_at, pieces: 0, counter: file.envelope().counter };
    write(client, &file, &mut sent, progress)?;
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
        Err(ModbusError::Refused(Refusal::Busy)) => {
            if number(client, "waiting")? == 1 {
                return Err(ModbusError::Waiting);
            }
            if !replace {
                return Err(ModbusError::Refused(Refusal::Busy));
            }
            client.command(Command::Abandon)?;
            envelope(client)?;
            client.command(Command::Begin)
        }
        result => result,
    }
}

fn received<L: Line>(client: &mut Client<L>) -> Result<usize, ModbusError> {
    Ok(number(client, "received")? as usize)
}

/// One number of the map. A bad line seldom lets all registers through at once.
fn number<L: Line>(client: &mut Client<L>, name: &str) -> Result<u32, ModbusError> {
    Register::find(name).map_or(Ok(0), |register| client.register(register))
}

/// The length of the pieces, by how the line behaves.
struct Pace {
    longest: usize,
    good: usize,
    failures: usize,
}

impl Pace {
    fn arrived(&mut self) {
        (self.failures, self.good) = (0, self.good + 1);
        if self.good >= GOOD {
            (self.longest, self.good) = ((2 * self.longest).min(LONGEST), 0);
        }
    }

    /// Returns true if the line is not given up yet.
    fn failed(&mut self) -> bool {
        (self.failures, self.good) = (self.failures + 1, 0);
        self.failures <= MOST_FAILURES
    }
}

/// Writes all bytes from `sent.resumed_at` on.
fn write<L: Line>(
    client: &mut Client<L>,
    file: &SignedFile,
    sent: &mut Sent,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(), ModbusError> {
    let bytes = file.bytes();
    let mut pace = Pace { longest: LONGEST, good: 0, failures: 0 };
    let mut at = sent.resumed_at & !1;
    while at < bytes.len() {
        progress(at, bytes.len());
        sent.pieces += 1;
        // Each piece is tried once at its length; a shorter one follows if it fails.
        let attempts = std::mem::replace(&mut client.patience().attempts, 1);
        let result = write_piece(client, &bytes, at, pace.longest);
        client.patience().attempts = attempts;
        match result {
            Ok(count) => {
                at += count;
                pace.arrived();
            }
            Err(ModbusError::Silent { .. } | ModbusError::Damaged { .. }) if pace.failed() => {
                pace.longest = ((pace.longest / 2) & !1).max(SHORTEST);
            }
            // The device has less than it said: it says where to go on.
            Err(ModbusError::Refused(Refusal::Gap)) if pace.failed() => {
                at = received(client)?.min(at) & !1;
            }
            // The device has restarted.
            Err(ModbusError::Refused(Refusal::NotBegun)) if pace.failed() => {
                begin(client, file, false)?;
                at = received(client)?.min(bytes.len()) & !1;
            }
            Err(error) => return Err(error),
        }
    }
    progress(at, bytes.len());
    Ok(())
}

/// Writes one piece and returns its length.
fn write_piece<L: Line>(
    client: &mut Client<L>,
    bytes: &[u8],
    at: usize,
    longest: usize,
) -> Result<usize, ModbusError> {
    let (file, record) = (at / 2 / FILE_WORDS as usize, at / 2 % FILE_WORDS as usize);
    let room = 2 * (FILE_WORDS as usize - record);
    let piece = bytes.get(at..).unwrap_or_default();
    let piece = piece.get(..longest.min(room)).unwrap_or(piece);
    // Files end at 1.3 GB, and no device takes such a model.
    let file = u16::try_from(usize::from(MODEL_FILE) + file)
        .map_err(|_| ModbusError::Refused(Refusal::TooLong))?;
    client.write_file(file, record as u16, piece)?;
    Ok(piece.len())
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
        let waiting = number(client, "waiting");
        client.patience().attempts = 1;
        if waiting? == 1 {
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
