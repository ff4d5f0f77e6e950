//! The server: a frame in, an answer out.

use super::answer::{Answer, Exception, PDU_LEN};
use super::command::{Command, KEY, KEY_ADDRESS, Request};
use super::files::EnvelopeFile;
use super::frame::{BROADCAST, Incoming};
use super::map::{View, word};
use super::registers::Registers;
use crate::update::{Receiver, Refusal};

/// Functions of the protocol.
pub mod function {
    /// Read holding registers; the same as the input registers.
    pub const READ_HOLDING: u8 = 3;
    /// Read input registers.
    pub const READ_INPUT: u8 = 4;
    /// Diagnostics; only the loopback.
    pub const DIAGNOSTICS: u8 = 8;
    /// Write registers; only key and command.
    pub const WRITE_REGISTERS: u8 = 16;
    /// Write file records.
    pub const WRITE_FILE: u8 = 21;
    /// Read the identification.
    pub const IDENTIFY: u8 = 43;
}

/// Most registers of a request.
pub const MOST_REGISTERS: u16 = 125;

/// A Modbus RTU server in fixed memory.
///
/// ```
/// use rebearing::bus::{Identity, Registers, Request, Server, frame::crc16};
/// use rebearing::update::NoReceiver;
///
/// let mut server = Server::new(1);
/// let registers = Registers::new(Identity { vendor: "rebearing", ..Identity::default() });
/// // The interrupt of the UART pushes what arrives: unit 1, read input registers, 1 from 0 …
/// for byte in [1, 4, 0, 0, 0, 1, 0x31, 0xca] {
///     server.push(byte);
/// }
/// // … and when the line was silent for 3.5 characters:
/// let answer = server.silence(&registers, &mut NoReceiver::default());
/// assert_eq!(answer, Some(&[1, 4, 2, 0, 1, 0x78, 0xf0][..]));
/// // After the answer was sent:
/// match server.take_request() {
///     Some(Request::Acknowledge) => { /* alarm.acknowledge() */ }
///     Some(Request::Restart) => { /* reset the chip */ }
///     None => {}
/// }
/// ```
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Server {
    unit: u8,
    incoming: Incoming,
    answer: Answer,
    state: ServerState,
}

#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
struct ServerState {
    envelope: EnvelopeFile,
    refusal: Option<Refusal>,
    acknowledge: bool,
    restart: bool,
}

impl Server {
    /// A server for the unit with this number, 1 to 247. With 0 it never answers.
    pub const fn new(unit: u8) -> Self {
        let state = ServerState {
            envelope: EnvelopeFile::EMPTY,
            refusal: None,
            acknowledge: false,
            restart: false,
        };
        Self { unit, incoming: Incoming::EMPTY, answer: Answer::EMPTY, state }
    }

    /// Takes a byte from the line.
    pub fn push(&mut self, byte: u8) {
        self.incoming.push(byte);
    }

    /// Says that a byte had a wrong parity or frame, or was lost. Everything until the next silence
    /// is dropped.
    pub fn damaged(&mut self) {
        self.incoming.damaged();
    }

    /// Says that the line was silent for 3.5 characters; returns the answer to send.
    ///
    /// `None` if there was no frame, it was damaged, or it was for another unit. A broadcast gets no
    /// answer and changes nothing.
    pub fn silence(
        &mut self,
        registers: &Registers<'_>,
        receiver: &mut impl Receiver,
    ) -> Option<&[u8]> {
        let (unit, request) = self.incoming.take()?;
        if unit != self.unit || unit == BROADCAST {
            return None;
        }
        let (function, data) = request.split_first()?;
        let answer = &mut self.answer;
        answer.begin(unit, *function);
        if let Err(exception) = self.state.answer(*function, data, registers, receiver, answer) {
            answer.refuse(unit, *function, exception);
        }
        Some(answer.finish())
    }

    /// The next thing that the bus asks of the application. Call it after the answer was sent.
    pub fn take_request(&mut self) -> Option<Request> {
        if core::mem::take(&mut self.state.acknowledge) {
            return Some(Request::Acknowledge);
        }
        core::mem::take(&mut self.state.restart).then_some(Request::Restart)
    }
}

impl ServerState {
    fn answer(
        &mut self,
        function: u8,
        data: &[u8],
        registers: &Registers<'_>,
        receiver: &mut impl Receiver,
        answer: &mut Answer,
    ) -> Result<(), Exception> {
        match function {
            function::READ_HOLDING | function::READ_INPUT => {
                let view = View { registers, update: receiver.status(), refusal: self.refusal };
                read(&view, data, answer)
            }
            function::DIAGNOSTICS => match data {
                [0, 0, ..] if data.len() >= 4 && data.len().is_multiple_of(2) => {
                    answer.extend(data);
                    Ok(())
                }
                [0, 0, ..] => Err(Exception::Value),
                _ => Err(Exception::Function),
            },
            function::WRITE_REGISTERS => {
                let command = command(data)?;
                self.obey(command, receiver)?;
                answer.extend(data.get(..4).unwrap_or_default());
                Ok(())
            }
            function::WRITE_FILE => {
                self.envelope.request(data, receiver, &mut self.refusal)?;
                answer.extend(data);
                Ok(())
            }
            function::IDENTIFY => registers.identity.answer(data, answer),
            _ => Err(Exception::Function),
        }
    }

    fn obey(&mut self, command: Command, receiver: &mut impl Receiver) -> Result<(), Exception> {
        let result = match command {
            Command::Begin => match self.envelope.whole() {
                Some(envelope) => receiver.begin(envelope).map(drop),
                None => Err(Refusal::NotAnEnvelope),
            },
            Command::Finish => receiver.finish(),
            Command::Abandon => {
                receiver.abandon();
                self.envelope = EnvelopeFile::EMPTY;
                Ok(())
            }
            Command::Confirm => receiver.confirm(),
            Command::Reject => receiver.reject(),
            Command::Acknowledge => {
                self.acknowledge = true;
                Ok(())
            }
            Command::Restart => {
                self.restart = true;
                Ok(())
            }
        };
        self.refusal = result.err();
        result.map_err(|_| Exception::Refused)
    }
}

/// Reads registers, all of them from one state.
fn read(view: &View<'_>, data: &[u8], answer: &mut Answer) -> Result<(), Exception> {
    let &[a0, a1, n0, n1] = data else { return Err(Exception::Value) };
    let [address, count] = [[a0, a1], [n0, n1]].map(u16::from_be_bytes);
    if !(1..=MOST_REGISTERS).contains(&count) {
        return Err(Exception::Value);
    }
    const { assert!(2 + 2 * MOST_REGISTERS as usize <= PDU_LEN) }
    answer.push((2 * count) as u8);
    for at in 0..count {
        let address = address.checked_add(at).ok_or(Exception::Address)?;
        answer.word(word(view, address).ok_or(Exception::Address)?);
    }
    Ok(())
}

/// The command of a request that writes key and command together.
fn command(data: &[u8]) -> Result<Command, Exception> {
    let (&[a0, a1, n0, n1, len], words) = data.split_first_chunk::<5>().ok_or(Exception::Value)?;
    let [address, count] = [[a0, a1], [n0, n1]].map(u16::from_be_bytes);
    if count == 0 || usize::from(len) != words.len() || words.len() != 2 * usize::from(count) {
        return Err(Exception::Value);
    }
    let (KEY_ADDRESS, &[k0, k1, c0, c1]) = (address, words) else {
        return Err(Exception::Address);
    };
    let [key, code] = [[k0, k1], [c0, c1]].map(u16::from_be_bytes);
    if key != KEY {
        return Err(Exception::Value);
    }
    Command::from_code(code).ok_or(Exception::Value)
}
