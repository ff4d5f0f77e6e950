//! Frames of a bus: whatever arrives, the server answers within its frame, or not at all.

use rebearing::bus::{Identity, Registers, Server, frame};
use rebearing::update::envelope::ENVELOPE_LEN;
use rebearing::update::{Envelope, Receiver, Refusal, UpdateStatus};

/// The unit that the server has.
pub const UNIT: u8 = 17;

/// A receiver that takes everything in order and verifies nothing, so that mutations get far.
#[derive(Default)]
struct Trusting {
    status: UpdateStatus,
}

impl Receiver for Trusting {
    fn begin(&mut self, envelope: &[u8; ENVELOPE_LEN]) -> Result<u32, Refusal> {
        let (envelope, _) = Envelope::from_bytes(envelope).ok_or(Refusal::NotAnEnvelope)?;
        self.status.total = envelope.model_len;
        Ok(self.status.received)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<u32, Refusal> {
        assert!(!bytes.is_empty() && bytes.len() <= frame::FRAME_LEN);
        if offset != self.status.received {
            return Err(Refusal::Gap);
        }
        self.status.received = offset.checked_add(bytes.len() as u32).ok_or(Refusal::TooLong)?;
        Ok(self.status.received)
    }

    fn finish(&mut self) -> Result<(), Refusal> {
        self.status.waiting = true;
        Ok(())
    }

    fn abandon(&mut self) {
        self.status = UpdateStatus::default();
    }

    fn confirm(&mut self) -> Result<(), Refusal> {
        Err(Refusal::NotOnTrial)
    }

    fn reject(&mut self) -> Result<(), Refusal> {
        Err(Refusal::NotOnTrial)
    }

    fn status(&self) -> UpdateStatus {
        self.status
    }
}

/// Sends `bytes` as frames to one server: a byte with the length of a frame, a byte that is odd if
/// the frame gets a right CRC, then the frame. Returns the number of answers that refuse nothing.
///
/// # Panics
/// If an answer is no whole frame of the unit, or a frame without a right CRC is answered.
#[must_use]
pub fn bus(bytes: &[u8]) -> usize {
    let mut server = Server::new(UNIT);
    let identity = Identity { vendor: "v", product: "a product", ..Identity::default() };
    let registers = Registers::new(identity);
    let mut receiver = Trusting::default();
    let (mut rest, mut taken) = (bytes, 0);
    while let Some((&[len, mended], after)) = rest.split_first_chunk() {
        let (request, after) = after.split_at(after.len().min(usize::from(len)));
        rest = after;
        let mut sent = request.to_vec();
        if mended % 2 == 1 {
            sent.extend(frame::crc16(request).to_le_bytes());
        }
        for byte in &sent {
            server.push(*byte);
        }
        let answer = server.silence(&registers, &mut receiver);
        assert!(answer.is_none() || frame::open(&sent).is_some(), "a damaged frame was taken");
        if let Some(answer) = answer {
            let (unit, pdu) = frame::open(answer).expect("the answer is a whole frame");
            assert_eq!((unit, pdu[0] & 0x7f), (UNIT, request[1] & 0x7f));
            taken += usize::from(pdu[0] & 0x80 == 0);
        }
        while server.take_request().is_some() {}
    }
    taken
}
