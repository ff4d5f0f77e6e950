//! Takes a model in pieces, from whatever brings them: the trait between a bus and a store.

use core::fmt;

use super::envelope::ENVELOPE_LEN;
use super::outcome::Outcome;

/// Takes a new model piece by piece, and the word of whoever is responsible for it.
///
/// ```text
///  begin(envelope) ─► write(0, …) ─► write(…) ─► finish ─► restart ─► on trial ─► confirmed
///        ▲                 │                                             │
///        └── same envelope: goes on where it stopped                     └─► the old model returns
/// ```
pub trait Receiver {
    /// Starts to receive the signed model file with this envelope. Returns the number of bytes that
    /// are there already: more than zero if the same envelope began before.
    ///
    /// What can be refused by the envelope alone is refused before anything is erased.
    fn begin(&mut self, envelope: &[u8; ENVELOPE_LEN]) -> Result<u32, Refusal>;

    /// Takes bytes of the signed model file, the envelope at its end included. Returns how many bytes
    /// are there now. Bytes that are there already are compared; a gap is refused.
    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<u32, Refusal>;

    /// Verifies the whole file as flash holds it. After this, the model is for the next start.
    fn finish(&mut self) -> Result<(), Refusal>;

    /// Forgets what was received, so that another model can begin.
    fn abandon(&mut self);

    /// Confirms the model that is on trial, whatever it has shown so far.
    fn confirm(&mut self) -> Result<(), Refusal>;

    /// Rejects the model that is on trial. The old one returns at the next start.
    fn reject(&mut self) -> Result<(), Refusal>;

    /// The state of the update.
    fn status(&self) -> UpdateStatus;
}

/// The state of a device's models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct UpdateStatus {
    /// The standing of the model that runs.
    pub standing: Standing,
    /// Its counter; 0 without a model.
    pub counter: u32,
    /// Nothing below this counter runs.
    pub floor: u32,
    /// Restarts of the model on trial.
    pub restarts: u8,
    /// How the last trial ended.
    pub outcome: Outcome,
    /// Bytes of a new model that were received.
    pub received: u32,
    /// Bytes of the new model's signed file; 0 if none is being received.
    pub total: u32,
    /// A new model is verified and waits for the next start.
    pub waiting: bool,
}

/// The standing of the model that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Standing {
    /// No valid model.
    #[default]
    NoModel,
    /// The model has to prove itself, and the one before it is kept.
    OnTrial,
    /// The model has proved itself.
    Confirmed,
}

impl Standing {
    /// The standing in one word, as command line, JSON and the bus's map have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoModel => "no_model",
            Self::OnTrial => "on_trial",
            Self::Confirmed => "confirmed",
        }
    }
}

/// The reason why an update was refused. The models in flash are as they were.
///
/// It has no counter, key or device id in it: a log may be read by anyone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Refusal {
    /// The bytes are no envelope, or one of another version.
    NotAnEnvelope = 1,
    /// The device does not have the key that signed.
    UnknownKey = 2,
    /// A model of the device's newer key was confirmed, so the older key is no longer good.
    RetiredKey = 3,
    /// The counter is not above the floor and the models that were rejected.
    OldCounter = 4,
    /// The model is for another device.
    OtherDevice = 5,
    /// The model has the other encoding.
    OtherEncoding = 6,
    /// The model's rate, unit or full scale is not this sensor's.
    OtherFrontEnd = 7,
    /// The model is longer than a slot, or has no length.
    TooLong = 8,
    /// Another model is being received.
    Busy = 9,
    /// Nothing has begun.
    NotBegun = 10,
    /// Bytes before this offset are missing, or it lies behind the end.
    Gap = 11,
    /// The bytes differ from those that were received before for this place.
    Differs = 12,
    /// Some bytes are still missing.
    Incomplete = 13,
    /// The signature does not hold for what was received.
    BadSignature = 14,
    /// The envelope at the end of the file is not the one that it began with.
    OtherEnvelope = 15,
    /// The flash driver failed, or flash is worn.
    Flash = 16,
    /// No model is on trial.
    NotOnTrial = 17,
    /// The device takes no models this way.
    NotSupported = 18,
    /// The counter in hardware cannot be read or raised.
    Counter = 19,
    /// A model is on trial, and the one before it must stay until that ends.
    OnTrial = 20,
    /// The model's checksum does not hold.
    Damaged = 21,
}

impl Refusal {
    /// All reasons, in the order of their codes.
    pub const ALL: [Self; 21] = [
        Self::NotAnEnvelope,
        Self::UnknownKey,
        Self::RetiredKey,
        Self::OldCounter,
        Self::OtherDevice,
        Self::OtherEncoding,
        Self::OtherFrontEnd,
        Self::TooLong,
        Self::Busy,
        Self::NotBegun,
        Self::Gap,
        Self::Differs,
        Self::Incomplete,
        Self::BadSignature,
        Self::OtherEnvelope,
        Self::Flash,
        Self::NotOnTrial,
        Self::NotSupported,
        Self::Counter,
        Self::OnTrial,
        Self::Damaged,
    ];

    /// The number that the bus gives it; zero stands for no refusal.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The reason with this number.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.code() == code)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAnEnvelope => "this is no signed model, or one of another version",
            Self::UnknownKey => "the device does not have the key that signed the model",
            Self::RetiredKey => {
                "the key is retired: a model of the newer key was confirmed; sign with that one"
            }
            Self::OldCounter => {
                "the counter is not above that of the confirmed model and of rejected ones; sign with a larger one"
            }
            Self::OtherDevice => "the model was signed for another device",
            Self::OtherEncoding => "the firmware runs models of the other encoding",
            Self::OtherFrontEnd => {
                "the model's rate, unit or full scale is not that of the device's sensor"
            }
            Self::TooLong => "the model is longer than a slot of the device",
            Self::Busy => "another model is being received; abandon it first",
            Self::NotBegun => "no model is being received",
            Self::Gap => "bytes before these are missing",
            Self::Differs => "these bytes differ from the ones received before",
            Self::Incomplete => "some bytes of the model are still missing",
            Self::BadSignature => "the signature does not hold",
            Self::OtherEnvelope => "the file ends with another envelope than it began with",
            Self::Flash => "the flash failed or is worn",
            Self::NotOnTrial => "no model is on trial",
            Self::NotSupported => "the device takes no models this way",
            Self::Counter => "the device's counter in hardware failed",
            Self::OnTrial => "a model is on trial; wait for its end, or confirm or reject it",
            Self::Damaged => "the model was damaged on the way: its checksum does not hold",
        })
    }
}

impl core::error::Error for Refusal {}

/// A device that takes no models over its bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NoReceiver {
    /// The state that the bus shows.
    pub status: UpdateStatus,
}

impl Receiver for NoReceiver {
    fn begin(&mut self, _: &[u8; ENVELOPE_LEN]) -> Result<u32, Refusal> {
        Err(Refusal::NotSupported)
    }

    fn write(&mut self, _: u32, _: &[u8]) -> Result<u32, Refusal> {
        Err(Refusal::NotSupported)
    }

    fn finish(&mut self) -> Result<(), Refusal> {
        Err(Refusal::NotSupported)
    }

    fn abandon(&mut self) {}

    fn confirm(&mut self) -> Result<(), Refusal> {
        Err(Refusal::NotSupported)
    }

    fn reject(&mut self) -> Result<(), Refusal> {
        Err(Refusal::NotSupported)
    }

    fn status(&self) -> UpdateStatus {
        self.status
    }
}
