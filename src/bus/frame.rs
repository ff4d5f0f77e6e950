//! Bytes from the line to a frame that is whole: unit, request, CRC-16.

use crc::{CRC_16_MODBUS, Crc, Table};

/// Longest frame: unit, function and data, CRC-16.
pub const FRAME_LEN: usize = 256;
/// Shortest frame: unit, function, CRC-16.
pub const SHORTEST: usize = 4;
/// Bytes of the CRC-16.
pub const CRC_LEN: usize = 2;
/// The unit that every device listens to.
pub const BROADCAST: u8 = 0;

/// CRC-16 of Modbus; a frame has its low byte first.
pub fn crc16(bytes: &[u8]) -> u16 {
    const CRC: Crc<u16, Table<1>> = Crc::<u16, Table<1>>::new(&CRC_16_MODBUS);
    CRC.checksum(bytes)
}

/// The unit, and function with data, of a whole frame; `None` if it is too short, too long or
/// damaged.
pub fn open(frame: &[u8]) -> Option<(u8, &[u8])> {
    let (covered, crc) = frame.split_last_chunk::<CRC_LEN>()?;
    let whole = (SHORTEST..=FRAME_LEN).contains(&frame.len());
    let (unit, request) = covered.split_first()?;
    (whole && crc16(covered) == u16::from_le_bytes(*crc)).then_some((*unit, request))
}

/// The bytes since the last silence.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Incoming {
    bytes: [u8; FRAME_LEN],
    len: usize,
    /// A byte was damaged or one too many: everything until the next silence is dropped.
    damaged: bool,
}

impl Incoming {
    pub(super) const EMPTY: Self = Self { bytes: [0; FRAME_LEN], len: 0, damaged: false };

    pub(super) fn push(&mut self, byte: u8) {
        match self.bytes.get_mut(self.len) {
            Some(place) => {
                *place = byte;
                self.len += 1;
            }
            None => self.damaged = true,
        }
    }

    pub(super) fn damaged(&mut self) {
        self.damaged = true;
    }

    /// The unit and the request, if the bytes since the last silence are a whole frame. After this,
    /// the next frame begins.
    pub(super) fn take(&mut self) -> Option<(u8, &[u8])> {
        let (len, damaged) = (self.len, self.damaged);
        (self.len, self.damaged) = (0, false);
        self.bytes.get(..len).filter(|_| !damaged).and_then(open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frame of the specification's example, and a byte too many. A zero there would keep the CRC
    /// right: only the length of the request shows it.
    const FRAME: [u8; 5] = [0x02, 0x07, 0x41, 0x12, 0x55];

    fn pushed(bytes: &[u8]) -> Incoming {
        let mut incoming = Incoming::EMPTY;
        for byte in bytes {
            incoming.push(*byte);
        }
        incoming
    }

    #[test]
    fn the_crc_is_that_of_the_specification() {
        // MODBUS over Serial Line V1.02, appendix B: the frame 02 07 ends with 41 12.
        assert_eq!(crc16(&FRAME[..2]), 0x1241);
        assert_eq!(pushed(&FRAME[..4]).take(), Some((2, &[7][..])));
    }

    #[test]
    fn a_frame_that_is_cut_long_or_damaged_is_dropped_and_the_next_one_is_taken() {
        for bytes in [&FRAME[..0], &FRAME[..1], &FRAME[..3], &FRAME[..5], &[7; 300]] {
            let mut incoming = pushed(bytes);
            assert_eq!(incoming.take(), None, "{bytes:x?}");
            for byte in &FRAME[..4] {
                incoming.push(*byte);
            }
            assert!(incoming.take().is_some(), "after {bytes:x?}");
        }
        let mut incoming = pushed(&FRAME[..4]);
        incoming.damaged();
        assert_eq!(incoming.take(), None);
        assert_eq!(incoming.take(), None, "it is taken once");
    }
}
