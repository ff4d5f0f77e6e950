//! A snapshot's record with a seal: proof of the device that sent it, and of the order of records.
//!
//! Features that nobody sent would spoil the next adaptation. A seal follows the record, whose own
//! bytes stay as they are. All numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 0–3 | `RBSM` |
//! | 4–7 | version of the seal, 1 |
//! | 8–23 | device id |
//! | 24–27 | count: each record of a device has a larger one |
//! | 28–59 | tag |
//!
//! The tag covers [`DOMAIN`], the record and bytes 0–27 of the seal, in this order.

use super::SnapshotBytes;

/// Bytes of a seal.
pub const SEAL_LEN: usize = SEAL_HEAD_LEN + TAG_LEN;
/// Bytes of a seal before the tag.
pub const SEAL_HEAD_LEN: usize = 28;
/// Bytes of a tag.
pub const TAG_LEN: usize = 32;
/// First four bytes of a seal.
pub const SEAL_MAGIC: [u8; 4] = *b"RBSM";
/// Version of the seal.
pub const SEAL_VERSION: u32 = 1;
/// Comes before the record, so that no tag made for another purpose fits.
pub const DOMAIN: [u8; 32] = *b"rebearing sealed snapshot record";

/// A message authentication code under a key that only the device and its host have.
///
/// This crate has no cryptography, so that no panic can be reached in it. The package
/// `rebearing-verify` has HMAC-SHA-256.
pub trait Mac {
    /// Takes the next bytes.
    fn absorb(&mut self, bytes: &[u8]);

    /// The tag of all bytes that were taken.
    fn tag(self) -> [u8; TAG_LEN];
}

/// The bytes of a seal before the tag.
pub fn seal_head(device: [u8; 16], count: u32) -> [u8; SEAL_HEAD_LEN] {
    let version = SEAL_VERSION.to_le_bytes();
    let parts = SEAL_MAGIC.into_iter().chain(version).chain(device).chain(count.to_le_bytes());
    let mut head = [0; SEAL_HEAD_LEN];
    for (place, byte) in head.iter_mut().zip(parts) {
        *place = byte;
    }
    head
}

/// An iterator over the bytes of a record and its seal, which makes them on the way.
#[derive(Clone)]
pub struct SealedBytes<'s, M, const DIMS: usize, const WINDOWS: usize> {
    record: SnapshotBytes<'s, DIMS, WINDOWS>,
    /// `None` once the tag is made.
    mac: Option<M>,
    head: [u8; SEAL_HEAD_LEN],
    tag: [u8; TAG_LEN],
    /// Bytes of the seal that are done.
    at: usize,
}

impl<'s, M: Mac, const DIMS: usize, const WINDOWS: usize> SealedBytes<'s, M, DIMS, WINDOWS> {
    pub(super) fn new(
        record: SnapshotBytes<'s, DIMS, WINDOWS>,
        mut mac: M,
        device: [u8; 16],
        count: u32,
    ) -> Self {
        mac.absorb(&DOMAIN);
        let head = seal_head(device, count);
        Self { record, mac: Some(mac), head, tag: [0; TAG_LEN], at: 0 }
    }

    /// Writes the next bytes into `chunk` and returns how many: fewer than it holds at the end, then
    /// zero.
    pub fn fill(&mut self, chunk: &mut [u8]) -> usize {
        let mut filled = 0;
        for (place, byte) in chunk.iter_mut().zip(self) {
            *place = byte;
            filled += 1;
        }
        filled
    }

    /// The next byte of the seal. The tag is made before the first one.
    fn seal_byte(&mut self) -> Option<u8> {
        if let Some(mut mac) = self.mac.take() {
            mac.absorb(&self.head);
            self.tag = mac.tag();
        }
        let byte = self.head.iter().chain(&self.tag).nth(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }
}

impl<M: Mac, const DIMS: usize, const WINDOWS: usize> Iterator
    for SealedBytes<'_, M, DIMS, WINDOWS>
{
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let Some(byte) = self.record.next() else { return self.seal_byte() };
        if let Some(mac) = &mut self.mac {
            mac.absorb(&[byte]);
        }
        Some(byte)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let remaining = self.record.len() + SEAL_LEN.saturating_sub(self.at);
        (remaining, Some(remaining))
    }
}

impl<M: Mac, const DIMS: usize, const WINDOWS: usize> ExactSizeIterator
    for SealedBytes<'_, M, DIMS, WINDOWS>
{
}

/// Shows neither the key in the code nor the device id.
impl<M, const DIMS: usize, const WINDOWS: usize> core::fmt::Debug
    for SealedBytes<'_, M, DIMS, WINDOWS>
{
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SealedBytes").field("record", &self.record).finish_non_exhaustive()
    }
}

#[cfg(feature = "defmt")]
impl<M, const DIMS: usize, const WINDOWS: usize> defmt::Format
    for SealedBytes<'_, M, DIMS, WINDOWS>
{
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "SealedBytes {{ record: {} }}", self.record);
    }
}
