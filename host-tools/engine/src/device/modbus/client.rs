//! Requests to one device: sent, answered within a time limit, repeated if the line is bad.

use std::io;
use std::time::{Duration, Instant};

use rebearing::bus::command::{KEY, KEY_ADDRESS};
use rebearing::bus::frame::{FRAME_LEN, crc16, open};
use rebearing::bus::map::Register;
use rebearing::bus::server::function;
use rebearing::bus::{Command, identity};
use rebearing::update::Refusal;
use thiserror::Error;

use super::line::Line;
use super::status::{Identification, objects};

/// Set in the function of an answer that refuses.
const REFUSED: u8 = 0x80;
/// The exception whose reason is in a register.
const REFUSED_UPDATE: u8 = 4;
/// Most answers of one identification.
const MOST_IDENTIFICATIONS: usize = identity::OBJECTS;

/// How long the client waits, and how often it tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Time for an ordinary answer, from the end of the request.
    pub answer: Duration,
    /// Time for the answer to a command that erases or verifies flash.
    pub work: Duration,
    /// Silence before a request, so that the device sees where it begins.
    pub silence: Duration,
    /// Number of times that a request is sent.
    pub attempts: usize,
}

impl Patience {
    /// For a line with this silence between frames.
    pub fn with_silence(silence: Duration) -> Self {
        let (answer, work) = (Duration::from_secs(1), Duration::from_secs(15));
        Self { answer, work, silence, attempts: 5 }
    }
}

/// The reason why a request failed.
#[derive(Debug, Error)]
pub enum ModbusError {
    /// The line failed.
    #[error("the line to the device failed: {0}; check the cable and start again")]
    Line(#[from] io::Error),
    /// No answer came.
    #[error(
        "no answer from unit {unit} ({attempts} attempts): check that the device is on, `unit`, \
         `baud` and `parity`, whether the two wires are swapped, and that no other program asks on \
         this bus"
    )]
    Silent {
        /// The unit.
        unit: u8,
        /// Number of times that the request was sent.
        attempts: usize,
    },
    /// Something came, but never a whole answer.
    #[error(
        "unit {unit} answers, but every answer is damaged ({attempts} attempts): check `baud` and \
         `parity`, the termination of the bus, and that no two devices have the same unit"
    )]
    Damaged {
        /// The unit.
        unit: u8,
        /// Number of times that the request was sent.
        attempts: usize,
    },
    /// The device refused a request as such.
    #[error(
        "the device refuses function {function} with exception {code}{}; is it a device of \
         rebearing? docs/modbus.md has its map",
        exception(*.code)
    )]
    Exception {
        /// The function.
        function: u8,
        /// The exception's number.
        code: u8,
    },
    /// The update was refused, with the reason.
    #[error("the device refused: {0}")]
    Refused(Refusal),
    /// The update was refused, with a reason that this version does not know.
    #[error("the device refused, with reason {0}; a newer rebearing may know it")]
    RefusedFor(u16),
    /// A model waits for the next start, so no other can be received.
    #[error("a verified model waits for the next start; restart the device first")]
    Waiting,
    /// The device has another map of registers.
    #[error(
        "the device has version {found} of the register map, this rebearing reads version {known}"
    )]
    OtherMap {
        /// The device's version.
        found: u16,
        /// The version that is read here.
        known: u16,
    },
}

fn exception(code: u8) -> &'static str {
    match code {
        1 => " (no such function)",
        2 => " (no such register or file)",
        3 => " (a wrong value)",
        6 => " (busy)",
        10 | 11 => " (the gateway does not reach it)",
        _ => "",
    }
}

/// The result of one attempt without an answer.
enum Failed {
    Silent,
    Damaged,
}

/// A device on a line.
#[derive(Debug)]
pub struct Client<L> {
    line: L,
    unit: u8,
    patience: Patience,
}

impl<L: Line> Client<L> {
    /// The device `unit` on `line`.
    pub fn new(line: L, unit: u8, patience: Patience) -> Self {
        Self { line, unit, patience }
    }

    /// The unit's number.
    pub fn unit(&self) -> u8 {
        self.unit
    }

    /// The line.
    pub fn line(&mut self) -> &mut L {
        &mut self.line
    }

    /// The client's patience.
    pub fn patience(&mut self) -> &mut Patience {
        &mut self.patience
    }

    /// Reads `count` registers from `address` on, all from one state of the device.
    pub fn read(&mut self, address: u16, count: u16) -> Result<Vec<u16>, ModbusError> {
        let request =
            [&[function::READ_INPUT][..], &address.to_be_bytes(), &count.to_be_bytes()].concat();
        let fits = |answer: &[u8]| answer.get(1) == Some(&((2 * count) as u8));
        let answer = self.ask(&request, self.patience.answer, fits)?;
        let words = answer.get(2..).unwrap_or_default().as_chunks().0;
        Ok(words.iter().map(|word| u16::from_be_bytes(*word)).collect())
    }

    /// Reads one register of the map.
    pub fn register(&mut self, register: &Register) -> Result<u32, ModbusError> {
        let words = self.read(register.address, register.kind.words())?;
        Ok(words.iter().fold(0, |value, word| value << 16 | u32::from(*word)))
    }

    /// Writes a command.
    pub fn command(&mut self, command: Command) -> Result<(), ModbusError> {
        let [k0, k1] = KEY.to_be_bytes();
        let [c0, c1] = command.code().to_be_bytes();
        let [a0, a1] = KEY_ADDRESS.to_be_bytes();
        let request = [function::WRITE_REGISTERS, a0, a1, 0, 2, 4, k0, k1, c0, c1];
        let limit = match command {
            Command::Acknowledge | Command::Restart => self.patience.answer,
            _ => self.patience.work,
        };
        let answer = self.ask(&request, limit, |answer| answer == &request[..5]);
        self.reason(answer).map(drop)
    }

    /// Writes bytes into a file, from word `record` on. `bytes` is filled up to whole words.
    pub fn write_file(&mut self, file: u16, record: u16, bytes: &[u8]) -> Result<(), ModbusError> {
        let words = bytes.len().div_ceil(2);
        let head = [file, record, words as u16].map(u16::to_be_bytes).concat();
        let mut request =
            [&[function::WRITE_FILE, (7 + 2 * words) as u8, 6], &head[..], bytes].concat();
        request.resize(9 + 2 * words, 0);
        // A piece is in flash within milliseconds.
        let answer = self.ask(&request, self.patience.answer, |answer| answer == request);
        self.reason(answer).map(drop)
    }

    /// Sends bytes and returns whether they come back.
    pub fn loopback(&mut self, word: u16) -> Result<(), ModbusError> {
        let [high, low] = word.to_be_bytes();
        let request = [function::DIAGNOSTICS, 0, 0, high, low];
        self.ask(&request, self.patience.answer, |answer| answer == request).map(drop)
    }

    /// Reads the device's names.
    pub fn identify(&mut self) -> Result<Identification, ModbusError> {
        let mut found = Identification::default();
        let mut next = 0;
        // A device that always says that more follows must not keep the host.
        for _ in 0..MOST_IDENTIFICATIONS {
            let request = [function::IDENTIFY, identity::IDENTIFICATION, 2, next];
            let fits = |answer: &[u8]| objects(answer).is_some();
            let answer = self.ask(&request, self.patience.answer, fits)?;
            let Some(objects) = objects(&answer) else { break };
            for (id, text) in objects.texts {
                found.set(id, &text);
            }
            match objects.next {
                Some(after) if after > next => next = after,
                _ => break,
            }
        }
        Ok(found)
    }

    /// Looks up why an update was refused.
    fn reason(&mut self, answer: Result<Vec<u8>, ModbusError>) -> Result<Vec<u8>, ModbusError> {
        let Err(ModbusError::Exception { function, code: REFUSED_UPDATE }) = answer else {
            return answer;
        };
        let unknown = ModbusError::Exception { function, code: REFUSED_UPDATE };
        let register = Register::find("last_refusal").ok_or(unknown)?;
        let code = self.register(register)? as u16;
        let refusal = u8::try_from(code).ok().and_then(Refusal::from_code);
        Err(refusal.map_or(ModbusError::RefusedFor(code), ModbusError::Refused))
    }

    /// Sends function and data until a whole answer comes that `fits`.
    fn ask(
        &mut self,
        request: &[u8],
        limit: Duration,
        fits: impl Fn(&[u8]) -> bool,
    ) -> Result<Vec<u8>, ModbusError> {
        let function = request.first().copied().unwrap_or(0);
        let mut frame = [&[self.unit], request].concat();
        frame.extend(crc16(&frame).to_le_bytes());
        let attempts = self.patience.attempts.max(1);
        let mut damaged = false;
        for _ in 0..attempts {
            self.drain()?;
            self.line.send(&frame)?;
            match self.receive(function, limit, &fits)? {
                Ok(answer) if answer.first() == Some(&(function | REFUSED)) => {
                    let code = answer.get(1).copied().unwrap_or(0);
                    return Err(ModbusError::Exception { function, code });
                }
                Ok(answer) => return Ok(answer),
                Err(Failed::Silent) => {}
                Err(Failed::Damaged) => damaged = true,
            }
        }
        let unit = self.unit;
        Err(if damaged {
            ModbusError::Damaged { unit, attempts }
        } else {
            ModbusError::Silent { unit, attempts }
        })
    }

    /// Reads away what is left of earlier answers, until the line is silent. A line that is never
    /// silent is used as it is.
    fn drain(&mut self) -> io::Result<()> {
        let end = Instant::now() + self.patience.answer;
        let mut buffer = [0; FRAME_LEN];
        while self.line.receive(&mut buffer, self.patience.silence)? > 0 && Instant::now() < end {}
        Ok(())
    }

    /// Collects an answer. The first bytes tell its length.
    fn receive(
        &mut self,
        function: u8,
        limit: Duration,
        fits: &impl Fn(&[u8]) -> bool,
    ) -> io::Result<Result<Vec<u8>, Failed>> {
        let end = Instant::now() + limit;
        let mut bytes = Vec::new();
        let mut buffer = [0; FRAME_LEN];
        loop {
            let left = end.saturating_duration_since(Instant::now());
            // Once an answer has begun, a pause ends it.
            let pause = if bytes.is_empty() { left } else { left.min(self.patience.answer / 4) };
            let count = self.line.receive(&mut buffer, pause)?;
            bytes.extend(buffer.iter().take(count));
            if let Some((unit, answer)) = whole(&bytes, function) {
                let refused = answer.len() == 2 && answer.first() == Some(&(function | REFUSED));
                let ours = answer.first() == Some(&function) && fits(answer);
                if unit == self.unit && (refused || ours) {
                    return Ok(Ok(answer.to_vec()));
                }
                return Ok(Err(Failed::Damaged));
            }
            let over = bytes.len() > FRAME_LEN || Instant::now() >= end;
            if over || (count == 0 && !bytes.is_empty()) {
                return Ok(Err(if bytes.is_empty() { Failed::Silent } else { Failed::Damaged }));
            }
        }
    }
}

/// The answer, if `bytes` begin with a whole one to `function`.
fn whole(bytes: &[u8], function: u8) -> Option<(u8, &[u8])> {
    let len = answer_len(bytes, function)?;
    open(bytes.get(..len)?)
}

/// Bytes of an answer's frame, as far as its first bytes tell.
fn answer_len(bytes: &[u8], function: u8) -> Option<usize> {
    let byte = |at: usize| bytes.get(at).copied().map(usize::from);
    if byte(1)? == usize::from(function | REFUSED) {
        return Some(5);
    }
    match function {
        function::READ_INPUT | function::READ_HOLDING | function::WRITE_FILE => Some(5 + byte(2)?),
        function::IDENTIFY => {
            let mut len = 8;
            for _ in 0..byte(7)? {
                len += 2 + byte(len + 1)?;
            }
            Some(len + 2)
        }
        _ => Some(8),
    }
}
