//! A check of the model in the background: bits in flash may flip while the firmware runs.
//!
//! A model is checked when it is parsed, and a device may run for years after that. [`Scrub`] reads
//! the model's bytes again where they lie, a block at a time, and says at the end of each pass
//! whether their checksum still holds.

use core::hint::black_box;

use crc::{Digest, Table};

use super::format::{self, CRC_OFFSET};
use super::{AnyModel, sections};

/// Checks the bytes of a model again and again, a block at a time.
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1.rbm") } }
/// use rebearing::model::Scrub;
/// use rebearing::{Model, include_model};
///
/// let model = Model::parse(include_model!(path!()))?;
/// let mut scrub = Scrub::new(&model);
/// // Once a window, say. The golden model has 428 bytes.
/// assert_eq!(scrub.step(256), None);
/// assert_eq!(scrub.step(256), Some(true));
/// # Ok::<(), rebearing::ModelError>(())
/// ```
#[derive(Clone)]
pub struct Scrub<'a> {
    bytes: &'a [u8],
    /// The checksum that the model had when it was parsed; in RAM, so that it does not rot with the
    /// model.
    expected: u32,
    digest: Digest<'static, u32, Table<1>>,
    /// Bytes of this pass that are done.
    at: usize,
}

impl<'a> Scrub<'a> {
    /// The check of a model that was parsed.
    pub fn new<B>(model: &AnyModel<'a, B>) -> Self {
        Self::over(model.bytes(), sections::stored_crc(model.bytes()).unwrap_or(0))
    }

    fn over(bytes: &'a [u8], expected: u32) -> Self {
        Self { bytes, expected, digest: format::digest(), at: 0 }
    }

    /// Reads the next `bytes` bytes of the model. At the end of a pass it returns true if every byte
    /// still holds, or false if the model has rotted; the next call begins anew. Before the end it
    /// returns `None`.
    ///
    /// A model of 8 KB takes 32 calls of 256 bytes. `bytes` below one count as one.
    pub fn step(&mut self, bytes: usize) -> Option<bool> {
        // The compiler may not assume that the bytes are those that it has seen before.
        let model = black_box(self.bytes);
        let end = self.at.saturating_add(bytes.max(1)).min(model.len());
        let block = model.get(self.at..end).unwrap_or(&[]);
        for (at, byte) in (self.at..).zip(block) {
            // The checksum's own bytes count as zero.
            let own = (CRC_OFFSET..CRC_OFFSET + 4).contains(&at);
            self.digest.update(&[if own { 0 } else { *byte }]);
        }
        self.at = end;
        if end < model.len() {
            return None;
        }
        let found = core::mem::replace(&mut self.digest, format::digest()).finalize();
        self.at = 0;
        Some(found == self.expected && sections::stored_crc(model) == Some(self.expected))
    }
}

impl core::fmt::Debug for Scrub<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let done = (self.at, self.bytes.len());
        f.debug_struct("Scrub").field("done", &done).finish_non_exhaustive()
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Scrub<'_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Scrub({=usize} of {=usize} bytes)", self.at, self.bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::Scrub;
    use crate::model::sections::stored_crc;
    use crate::{IntegerModel, Model};

    static GOLDEN: &[u8] = crate::include_model!("../../tests/golden/model-v1-gate.rbm");
    static INTEGER: &[u8] = crate::include_model!("../../tests/golden/model-v1-i16.rbm");

    /// The result of the next pass, and the number of steps that it took.
    fn pass(scrub: &mut Scrub<'_>, block: usize) -> (bool, usize) {
        let steps = 1..=scrub.bytes.len();
        steps.into_iter().find_map(|n| scrub.step(block).map(|holds| (holds, n))).unwrap()
    }

    #[test]
    fn a_sound_model_passes_again_and_again_in_blocks_of_any_size() {
        let float = Scrub::new(&Model::parse(GOLDEN).unwrap());
        let integer = Scrub::new(&IntegerModel::parse(INTEGER).unwrap());
        for mut scrub in [float, integer] {
            let length = scrub.bytes.len();
            for block in [1, 3, 13, 256, length - 1, length, usize::MAX] {
                for _ in 0..3 {
                    assert_eq!(pass(&mut scrub, block), (true, length.div_ceil(block)), "{block}");
                }
            }
            assert_eq!(pass(&mut scrub, 0), (true, length));
        }
    }

    #[test]
    fn every_flipped_bit_is_found_wherever_it_is() {
        let mut rotten = GOLDEN.to_vec();
        let expected = stored_crc(GOLDEN).unwrap();
        for bit in 0..8 * rotten.len() {
            rotten[bit / 8] ^= 1 << (bit % 8);
            let mut scrub = Scrub::over(&rotten, expected);
            assert!(!pass(&mut scrub, 100).0, "bit {bit}");
            // It does not heal.
            assert!(!pass(&mut scrub, 100).0, "bit {bit}");
            rotten[bit / 8] ^= 1 << (bit % 8);
        }
        assert!(pass(&mut Scrub::over(&rotten, expected), 100).0);
    }

    #[test]
    fn no_bytes_are_no_model() {
        assert_eq!(Scrub::over(&[], 0).step(256), Some(false));
    }
}
