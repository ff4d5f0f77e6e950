//! The bytes of a snapshot's record, made one by one.

use crc::{Digest, Table};

use super::{CRC, CRC_LEN, HEADER_LEN, Snapshot, WINDOW_LEN, put};

/// The next part of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Header,
    Window,
    Crc([u8; CRC_LEN]),
}

/// An iterator over the bytes of a record, which makes them on the way.
#[derive(Clone)]
pub struct SnapshotBytes<'s, const DIMS: usize, const WINDOWS: usize> {
    snapshot: &'s Snapshot<DIMS, WINDOWS>,
    header: [u8; HEADER_LEN],
    digest: Digest<'static, u32, Table<1>>,
    part: Part,
    /// Bytes of the part that are done.
    at: usize,
    row: usize,
    rows: usize,
    remaining: usize,
}

impl<'s, const DIMS: usize, const WINDOWS: usize> SnapshotBytes<'s, DIMS, WINDOWS> {
    pub(super) fn new(snapshot: &'s Snapshot<DIMS, WINDOWS>) -> Self {
        let length = HEADER_LEN + snapshot.count * (WINDOW_LEN + 2 * snapshot.dims) + CRC_LEN;
        let mut header = snapshot.header;
        put(&mut header, 8, (length as u32).to_le_bytes());
        put(&mut header, 32, (snapshot.count as u32).to_le_bytes());
        Self {
            snapshot,
            header,
            digest: CRC.digest(),
            part: Part::Header,
            at: 0,
            row: if snapshot.count < WINDOWS { 0 } else { snapshot.next },
            rows: snapshot.count,
            remaining: length,
        }
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

    /// Byte `at` of the window in the ring's row `row`.
    fn window_byte(&self) -> u8 {
        let snapshot = self.snapshot;
        let byte = |bytes: &[u8], at: usize| bytes.get(at).copied().unwrap_or(0);
        let index = snapshot.indices.get(self.row).copied().unwrap_or(0);
        let flags = snapshot.flags.get(self.row).copied().unwrap_or(0);
        match self.at {
            at @ 0..4 => byte(&index.to_le_bytes(), at),
            at @ 4..WINDOW_LEN => byte(&flags.to_le_bytes(), at - 4),
            at => {
                let at = at - WINDOW_LEN;
                let row = snapshot.features.get(self.row);
                let feature = row.and_then(|row| row.get(at / 2)).copied().unwrap_or(0);
                byte(&feature.to_le_bytes(), at % 2)
            }
        }
    }

    /// Moves on to the next window, or to the CRC behind the last.
    fn next_window(&mut self, row: usize) {
        self.at = 0;
        if self.rows == 0 {
            self.part = Part::Crc(self.digest.clone().finalize().to_le_bytes());
            return;
        }
        self.part = Part::Window;
        self.rows -= 1;
        self.row = row;
    }
}

impl<const DIMS: usize, const WINDOWS: usize> Iterator for SnapshotBytes<'_, DIMS, WINDOWS> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        self.remaining = self.remaining.checked_sub(1)?;
        match self.part {
            Part::Header => {
                let byte = self.header.get(self.at).copied().unwrap_or(0);
                self.digest.update(&[byte]);
                self.at += 1;
                if self.at >= HEADER_LEN {
                    self.next_window(self.row);
                }
                Some(byte)
            }
            Part::Window => {
                let byte = self.window_byte();
                self.digest.update(&[byte]);
                self.at += 1;
                if self.at >= WINDOW_LEN + 2 * self.snapshot.dims {
                    self.next_window(if self.row + 1 < WINDOWS { self.row + 1 } else { 0 });
                }
                Some(byte)
            }
            Part::Crc(crc) => {
                let byte = crc.get(self.at).copied();
                self.at += 1;
                byte
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining, Some(self.remaining))
    }
}

impl<const DIMS: usize, const WINDOWS: usize> ExactSizeIterator
    for SnapshotBytes<'_, DIMS, WINDOWS>
{
}

impl<const DIMS: usize, const WINDOWS: usize> core::fmt::Debug
    for SnapshotBytes<'_, DIMS, WINDOWS>
{
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SnapshotBytes").field("remaining", &self.remaining).finish_non_exhaustive()
    }
}

#[cfg(feature = "defmt")]
impl<const DIMS: usize, const WINDOWS: usize> defmt::Format for SnapshotBytes<'_, DIMS, WINDOWS> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "SnapshotBytes {{ remaining: {=usize} }}", self.remaining);
    }
}
