//! A receiver in memory that finishes one model only: the genuine one.
#![allow(dead_code, unreachable_pub, reason = "several test crates share it, each a part of it")]

use rebearing::Model;
use rebearing::update::envelope::ENVELOPE_LEN;
use rebearing::update::{DeviceId, Envelope, Receiver, Refusal, Standing, UpdateStatus};

/// A signed model file: `model` and an envelope with a made-up signature.
pub fn signed(model: &[u8], counter: u32) -> Vec<u8> {
    let parsed = Model::parse(model).expect("a valid model");
    let envelope = Envelope::of_model(&parsed, 0x1234_5678, counter, DeviceId::ANY);
    [model, &envelope.to_bytes(&[7; 64])].concat()
}

/// Takes models as a store does. Only `genuine` has a signature that holds.
pub struct TestReceiver {
    /// The file whose signature holds.
    pub genuine: Vec<u8>,
    /// Bytes that were received.
    pub stored: Vec<u8>,
    /// The envelope that it began with.
    pub envelope: Option<[u8; ENVELOPE_LEN]>,
    /// The state that it tells.
    pub status: UpdateStatus,
    /// Largest counter of a model that was rejected.
    pub rejected: u32,
    /// Number of models that were finished.
    pub finished: usize,
    /// Number of times that it was asked to finish.
    pub asked: usize,
}

impl TestReceiver {
    pub fn new(genuine: Vec<u8>) -> Self {
        let status =
            UpdateStatus { standing: Standing::Confirmed, counter: 3, ..UpdateStatus::default() };
        Self {
            genuine,
            stored: Vec::new(),
            envelope: None,
            status,
            rejected: 0,
            finished: 0,
            asked: 0,
        }
    }
}

impl TestReceiver {
    /// Forgets a model on the way, as a restart does.
    pub fn abandon_all(&mut self) {
        self.abandon();
    }
}

impl Receiver for TestReceiver {
    fn begin(&mut self, bytes: &[u8; ENVELOPE_LEN]) -> Result<u32, Refusal> {
        let (envelope, _) = Envelope::from_bytes(bytes).ok_or(Refusal::NotAnEnvelope)?;
        if envelope.counter <= self.status.counter.max(self.rejected) {
            return Err(Refusal::OldCounter);
        }
        match &self.envelope {
            Some(begun) if begun != bytes => return Err(Refusal::Busy),
            Some(_) => {}
            None => {
                let total = envelope.model_len.saturating_add(ENVELOPE_LEN as u32);
                if total > 1 << 16 {
                    return Err(Refusal::TooLong);
                }
                self.envelope = Some(*bytes);
                self.stored.clear();
                (self.status.total, self.status.received) = (total, 0);
                self.status.waiting = false;
            }
        }
        Ok(self.status.received)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<u32, Refusal> {
        if self.envelope.is_none() {
            return Err(Refusal::NotBegun);
        }
        let start = offset as usize;
        let end = start + bytes.len();
        if start > self.stored.len() || end > self.status.total as usize {
            return Err(Refusal::Gap);
        }
        let known = end.min(self.stored.len());
        let (old, new) = bytes.split_at(known - start);
        if self.stored[start..known] != *old {
            return Err(Refusal::Differs);
        }
        self.stored.extend(new);
        self.status.received = self.stored.len() as u32;
        Ok(self.status.received)
    }

    fn finish(&mut self) -> Result<(), Refusal> {
        self.asked += 1;
        let envelope = self.envelope.ok_or(Refusal::NotBegun)?;
        if self.status.received < self.status.total {
            return Err(Refusal::Incomplete);
        }
        if !self.stored.ends_with(&envelope) {
            return Err(Refusal::OtherEnvelope);
        }
        if self.stored != self.genuine {
            self.abandon();
            return Err(Refusal::BadSignature);
        }
        self.abandon();
        self.finished += 1;
        self.status.waiting = true;
        Ok(())
    }

    fn abandon(&mut self) {
        self.envelope = None;
        self.stored.clear();
        (self.status.received, self.status.total) = (0, 0);
    }

    fn confirm(&mut self) -> Result<(), Refusal> {
        if self.status.standing != Standing::OnTrial {
            return Err(Refusal::NotOnTrial);
        }
        self.status.standing = Standing::Confirmed;
        Ok(())
    }

    fn reject(&mut self) -> Result<(), Refusal> {
        Err(Refusal::NotOnTrial)
    }

    fn status(&self) -> UpdateStatus {
        self.status
    }
}
