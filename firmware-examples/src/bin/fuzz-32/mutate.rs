//! Mutations of a model file in fixed memory.

use rebearing::model::{Aligned, Section};

use crate::seeds::{EDGES, LONGEST, Seed, seal};

/// Room for a seed, and for sections that are there twice.
const ROOM: usize = 2 * LONGEST;

/// Xorshift, with 32 bits of state.
pub(crate) struct Random(u32);

impl Random {
    pub(crate) fn new(seed: u32) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9) | 1)
    }

    pub(crate) fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        // The low bits of the state are poor.
        self.0.wrapping_mul(0x85eb_ca6b) >> 3 ^ self.0
    }

    /// A number below `end`; zero if `end` is.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() as usize).checked_rem(end).unwrap_or(0)
    }

    pub(crate) fn choice<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// A model file that changes.
pub(crate) struct File {
    bytes: Aligned<[u8; ROOM]>,
    length: usize,
}

impl File {
    pub(crate) const EMPTY: Self = Self { bytes: Aligned([0; ROOM]), length: 0 };

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes.0[..self.length]
    }

    pub(crate) fn start(&mut self, seed: &Seed) {
        self.length = seed.write(&mut self.bytes.0);
    }

    /// Replaces a word, and corrects the header unless the word is in it.
    pub(crate) fn set(&mut self, word: usize, value: u32) {
        self.bytes.0[4 * word..][..4].copy_from_slice(&value.to_le_bytes());
        if word >= 4 {
            seal(&mut self.bytes.0[..self.length]);
        }
    }

    /// The first word of a section's payload; `None` if the file has no such section.
    pub(crate) fn payload(&self, section: Section) -> Option<usize> {
        let mut words = self.bytes().as_chunks::<4>().0.iter();
        words.position(|word| *word == section.tag()).map(|tag| tag + 2)
    }

    /// Makes one to four mutations and corrects the header.
    pub(crate) fn mutate(&mut self, random: &mut Random) {
        for _ in 0..=random.below(4) {
            self.mutate_once(random);
        }
        if random.below(32) > 0 {
            seal(&mut self.bytes.0[..self.length]);
        }
    }

    fn mutate_once(&mut self, random: &mut Random) {
        let words = self.length / 4;
        // Counts, front end and the first sections are as likely as all the rest.
        let near = if random.below(2) == 0 { words } else { words.min(40) };
        let at = 4 * random.below(near);
        let word = self.bytes.0[at..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
        let word = match random.below(10) {
            0 | 1 => word ^ 1 << random.below(32),
            2..=5 => *random.choice(&EDGES),
            6 => word.wrapping_add(1),
            7 => word.wrapping_sub(1),
            8 => random.next(),
            _ => return self.move_sections(random),
        };
        if let Some(place) = self.bytes.0[at..self.length].first_chunk_mut() {
            *place = word.to_le_bytes();
        }
    }

    /// Cuts the file, or takes a run of words out, or doubles it.
    fn move_sections(&mut self, random: &mut Random) {
        let at = 4 * random.below(self.length / 4);
        let end = at + 4 * random.below((self.length - at) / 4);
        match random.below(3) {
            0 => self.length = at,
            1 => {
                self.bytes.0.copy_within(end..self.length, at);
                self.length -= end - at;
            }
            _ => {
                let double = self.length + (end - at);
                if double <= ROOM {
                    self.bytes.0.copy_within(at..end, self.length);
                    self.length = double;
                }
            }
        }
    }
}
