//! The envelope of a model: who signed it, for which device, and which model it is among others.
//!
//! ```text
//!  signed model file, and the start of a slot:   model file (docs/model-format.md) │ envelope
//! ```
//!
//! An envelope has 128 bytes and follows the model file, whose own bytes stay as they are. A reader
//! of plain models ignores it. All numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 0–3 | `RBEN` |
//! | 4–7 | version of the envelope, 1 |
//! | 8–11 | key id: the first four bytes of the public key; 0 if the model is not signed |
//! | 12–15 | counter: a later model has a larger one, at least 1 |
//! | 16–31 | device id; all zero for any device |
//! | 32–35 | front-end id: CRC-32 of rate, axes, FFT, hop, segments, bands and orders |
//! | 36–39 | sample rate in Hz, f32 |
//! | 40–43 | full scale of the samples in their unit, f32; 0 if unknown |
//! | 44–47 | CRC-32 of the unit's name; 0 if unknown |
//! | 48–51 | encoding: 0 f32, 1 i16 |
//! | 52–55 | bytes of the model file |
//! | 56–63 | zero |
//! | 64–127 | signature |
//!
//! The signature covers [`DOMAIN`], bytes 0–63 of the envelope and the model file, in this order.

use crate::model::{AnyModel, Body, Encoding, Numbers, split_file};
use crate::operation::snapshot;

/// Bytes of an envelope.
pub const ENVELOPE_LEN: usize = 128;
/// Bytes of an envelope before the signature.
pub const HEAD_LEN: usize = ENVELOPE_LEN - SIGNATURE_LEN;
/// Bytes of a signature.
pub const SIGNATURE_LEN: usize = 64;
/// First four bytes of an envelope.
pub const MAGIC: [u8; 4] = *b"RBEN";
/// Version of the envelope.
pub const VERSION: u32 = 1;
/// Signed before everything else, so that no signature made for another purpose fits.
pub const DOMAIN: [u8; 32] = *b"rebearing signed model envelope\0";
/// Key id of a model that nobody signed.
pub const UNSIGNED: u32 = 0;

/// Number of a device, for example the one its chip was made with.
///
/// It is not printed: what a log has, anyone may read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DeviceId(pub [u8; 16]);

impl DeviceId {
    /// Any device.
    pub const ANY: Self = Self([0; 16]);
}

impl core::fmt::Debug for DeviceId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(if *self == Self::ANY { "any device" } else { "one device" })
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for DeviceId {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "{=str}", if *self == Self::ANY { "any device" } else { "one device" });
    }
}

/// The front end of an envelope's model.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FrontEndId {
    /// CRC-32 of the numbers of the front end.
    pub id: u32,
    /// Sample rate in Hz.
    pub rate_hz: f32,
    /// Largest value of a sample in its unit; 0 if unknown.
    pub full_scale: f32,
    /// CRC-32 of the name of the samples' unit; 0 if unknown.
    pub unit: u32,
}

/// Everything in an envelope but the signature.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Envelope {
    /// The key that signed: the first four bytes of the public key.
    pub key_id: u32,
    /// A later model has a larger counter.
    pub counter: u32,
    /// The device that may run the model.
    pub device: DeviceId,
    /// The model's front end.
    pub front_end: FrontEndId,
    /// The model's encoding.
    pub encoding: Encoding,
    /// Bytes of the model file.
    pub model_len: u32,
}

impl Envelope {
    /// The envelope of `model`.
    pub fn of_model<'m, B: Body<'m>>(
        model: &AnyModel<'m, B>,
        key_id: u32,
        counter: u32,
        device: DeviceId,
    ) -> Self {
        let unit = model.unit();
        let front_end = FrontEndId {
            id: snapshot::front_end_id(model.front_end()),
            rate_hz: model.front_end().rate_hz,
            full_scale: unit.and_then(|unit| unit.full_scale).unwrap_or(0.0),
            unit: unit.map_or(0, |unit| snapshot::crc32(unit.name.as_bytes())),
        };
        let encoding = B::Numbers::ENCODING;
        Self { key_id, counter, device, front_end, encoding, model_len: model.bytes().len() as u32 }
    }

    /// The bytes that are signed before the model file, without [`DOMAIN`].
    pub fn head(&self) -> [u8; HEAD_LEN] {
        let FrontEndId { id, rate_hz, full_scale, unit } = self.front_end;
        let encoding: u32 = match self.encoding {
            Encoding::F32 => 0,
            Encoding::I16 => 1,
        };
        let first = [u32::from_le_bytes(MAGIC), VERSION, self.key_id, self.counter];
        let (rate, scale) = (rate_hz.to_bits(), full_scale.to_bits());
        let last = [id, rate, scale, unit, encoding, self.model_len];
        let (device, _) = self.device.0.as_chunks::<4>();
        let words = first.map(u32::to_le_bytes).into_iter().chain(device.iter().copied());
        let words = words.chain(last.map(u32::to_le_bytes));
        let mut head = [0; HEAD_LEN];
        for (place, byte) in head.iter_mut().zip(words.flatten()) {
            *place = byte;
        }
        head
    }

    /// The bytes of the whole envelope.
    pub fn to_bytes(&self, signature: &[u8; SIGNATURE_LEN]) -> [u8; ENVELOPE_LEN] {
        let mut bytes = [0; ENVELOPE_LEN];
        let parts = self.head().into_iter().chain(*signature);
        for (place, byte) in bytes.iter_mut().zip(parts) {
            *place = byte;
        }
        bytes
    }

    /// The envelope and the signature that `bytes` hold; `None` for anything else, another version
    /// and a counter of zero included.
    pub fn from_bytes(bytes: &[u8; ENVELOPE_LEN]) -> Option<(Self, &[u8; SIGNATURE_LEN])> {
        let (head, signature) = bytes.split_first_chunk::<HEAD_LEN>()?;
        let (words, _) = head.as_chunks::<4>();
        let words: [[u8; 4]; 16] = words.try_into().ok()?;
        let [_, _, key, counter, d0, d1, d2, d3, id, rate, scale, unit, encoding, len, _, _] =
            words;
        let [key_id, counter, id, rate, scale, unit, encoding, model_len] =
            [key, counter, id, rate, scale, unit, encoding, len].map(u32::from_le_bytes);
        let mut device = DeviceId::ANY;
        for (place, byte) in device.0.iter_mut().zip([d0, d1, d2, d3].as_flattened()) {
            *place = *byte;
        }
        let encoding = match encoding {
            0 => Encoding::F32,
            1 => Encoding::I16,
            _ => return None,
        };
        let (rate_hz, full_scale) = (f32::from_bits(rate), f32::from_bits(scale));
        let front_end = FrontEndId { id, rate_hz, full_scale, unit };
        let envelope = Self { key_id, counter, device, front_end, encoding, model_len };
        // One way to write an envelope, so no bit of it can differ unseen.
        let sound = envelope.head() == *head && counter > 0;
        Some((envelope, signature.try_into().ok()?)).filter(|_| sound)
    }

    /// Splits a signed model file, or a slot that starts with one. The model file comes first; the
    /// rest is its envelope, if there is one.
    ///
    /// Nothing is checked here but the model's length. `None` if `bytes` do not start with a model.
    pub fn split(bytes: &[u8]) -> Option<(&[u8], Option<&[u8; ENVELOPE_LEN]>)> {
        let (model, rest) = split_file(bytes).ok()?;
        let envelope = rest
            .first_chunk()
            .filter(|bytes: &&[u8; ENVELOPE_LEN]| bytes.first_chunk() == Some(&MAGIC));
        Some((model, envelope))
    }
}
