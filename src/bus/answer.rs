//! The answer to a request: bytes that cannot be too many.

use super::frame::{CRC_LEN, FRAME_LEN, crc16};

/// Most bytes of function and data.
pub(super) const PDU_LEN: usize = FRAME_LEN - CRC_LEN - 1;
/// Set in the function of an answer that refuses.
pub(super) const REFUSED: u8 = 0x80;

/// The reason for a refusal, as Modbus numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub(super) enum Exception {
    /// The device does not have this function.
    Function = 1,
    /// There is no such register or file.
    Address = 2,
    /// A number in the request is wrong, or its length.
    Value = 3,
    /// The update was refused; the register `last_refusal` has the reason.
    Refused = 4,
}

/// The answer, as it is built.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Answer {
    bytes: [u8; FRAME_LEN],
    len: usize,
}

impl Answer {
    pub(super) const EMPTY: Self = Self { bytes: [0; FRAME_LEN], len: 0 };

    /// Begins the answer of `unit`.
    pub(super) fn begin(&mut self, unit: u8, function: u8) {
        self.len = 0;
        self.push(unit);
        self.push(function);
    }

    /// Adds a byte, if there is room for it and the CRC.
    pub(super) fn push(&mut self, byte: u8) {
        if self.len < FRAME_LEN - CRC_LEN
            && let Some(place) = self.bytes.get_mut(self.len)
        {
            *place = byte;
            self.len += 1;
        }
    }

    pub(super) fn extend(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.push(*byte);
        }
    }

    pub(super) fn word(&mut self, word: u16) {
        self.extend(&word.to_be_bytes());
    }

    /// Replaces a byte of the data, counted from the function.
    pub(super) fn set(&mut self, at: usize, byte: u8) {
        if let Some(place) = self.bytes.get_mut(1..self.len).and_then(|pdu| pdu.get_mut(at)) {
            *place = byte;
        }
    }

    /// Bytes of function and data that can still be added.
    pub(super) fn room(&self) -> usize {
        (1 + PDU_LEN).saturating_sub(self.len)
    }

    /// Makes it a refusal instead.
    pub(super) fn refuse(&mut self, unit: u8, function: u8, exception: Exception) {
        self.begin(unit, function | REFUSED);
        self.push(exception as u8);
    }

    /// The frame with its CRC.
    pub(super) fn finish(&mut self) -> &[u8] {
        let crc = crc16(self.bytes.get(..self.len).unwrap_or_default()).to_le_bytes();
        for byte in crc {
            if let Some(place) = self.bytes.get_mut(self.len) {
                *place = byte;
                self.len += 1;
            }
        }
        self.bytes.get(..self.len).unwrap_or_default()
    }
}
