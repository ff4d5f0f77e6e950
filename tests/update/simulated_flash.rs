//! A simulated NOR flash whose power fails on demand.

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash, check_erase, check_read, check_write,
};
use rebearing::Model;
use rebearing::update::{self, Slot, Slots};
use zerocopy::IntoBytes;

/// Bytes of one erase.
pub(crate) const SECTOR: usize = 1024;
/// Bytes of the flash.
pub(crate) const CAPACITY: usize = 6 * SECTOR;
/// The MODEL region, one sector into the flash.
pub(crate) const REGION: std::ops::Range<usize> = SECTOR..3 * SECTOR;
/// The ledger, behind the MODEL region.
pub(crate) const LEDGER: std::ops::Range<usize> = 3 * SECTOR..5 * SECTOR;

/// A flash in which a word of `WRITE` bytes can be written once after each erase.
///
/// `power` counts the bytes that can still be erased or written. The word or sector in progress
/// when it runs out is undefined, as the trait says; `noise` decides its contents.
#[derive(Clone)]
pub(crate) struct SimulatedFlash<const WRITE: usize, const ERASE: usize = SECTOR> {
    pub(crate) words: Vec<u32>,
    pub(crate) written: Vec<bool>,
    /// Words that were being written when power failed. Such a word may look erased, and refuses to
    /// be written.
    pub(crate) torn: Vec<bool>,
    /// Whether reading fails.
    pub(crate) deaf: bool,
    pub(crate) power: Option<usize>,
    pub(crate) noise: u32,
}

impl<const WRITE: usize, const ERASE: usize> SimulatedFlash<WRITE, ERASE> {
    pub(crate) fn erased() -> Self {
        Self {
            words: vec![u32::MAX; CAPACITY / 4],
            written: vec![false; CAPACITY],
            torn: vec![false; CAPACITY],
            deaf: false,
            power: None,
            noise: 1,
        }
    }

    pub(crate) fn region(&self) -> &[u8] {
        &self.words.as_bytes()[REGION]
    }

    /// Returns a copy of the MODEL region on a 4-byte boundary.
    pub(crate) fn region_words(&self) -> Vec<u32> {
        self.words[REGION.start / 4..REGION.end / 4].to_vec()
    }

    /// Damages the slot that holds this model.
    pub(crate) fn spoil_slot_of(&mut self, model: &[u8]) {
        let slots = [REGION.start, REGION.start + REGION.len() / 2];
        for slot in slots {
            let bytes = &mut self.words.as_mut_bytes()[slot..][..model.len()];
            if bytes == model {
                bytes[100] ^= 1;
            }
        }
    }

    /// Returns the flash as a debug probe leaves it: the model at the start, no record.
    pub(crate) fn probed(model: &[u8]) -> Self {
        let mut flash = Self::erased();
        flash.words.as_mut_bytes()[REGION][..model.len()].copy_from_slice(model);
        flash.written[REGION][..model.len()].fill(true);
        flash
    }

    fn random(&mut self) -> u8 {
        self.noise = self.noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.noise >> 24) as u8
    }

    /// Returns true if there is power for one more byte.
    fn works(&mut self) -> bool {
        match &mut self.power {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None => true,
        }
    }

    pub(crate) fn slots(&mut self) -> Slots<&mut Self> {
        Slots::new(self, REGION.start as u32..REGION.end as u32).expect("a region of two sectors")
    }

    /// Returns the model that a firmware would use after a start, and its slot.
    pub(crate) fn newest(&self) -> Option<(Slot, Vec<u8>)> {
        let found = update::newest(self.region(), |model: Model<'_>| Ok(model.bytes().to_vec()));
        found.ok().map(|newest| (newest.slot, newest.model))
    }
}

impl<const WRITE: usize, const ERASE: usize> ErrorType for SimulatedFlash<WRITE, ERASE> {
    type Error = NorFlashErrorKind;
}

impl<const WRITE: usize, const ERASE: usize> ReadNorFlash for SimulatedFlash<WRITE, ERASE> {
    const READ_SIZE: usize = 4;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        check_read(self, offset, bytes.len())?;
        if self.deaf {
            return Err(NorFlashErrorKind::Other);
        }
        bytes.copy_from_slice(&self.words.as_bytes()[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        CAPACITY
    }
}

impl<const WRITE: usize, const ERASE: usize> NorFlash for SimulatedFlash<WRITE, ERASE> {
    const WRITE_SIZE: usize = WRITE;
    const ERASE_SIZE: usize = ERASE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        check_erase(self, from, to)?;
        for sector in (from as usize..to as usize).step_by(ERASE) {
            // The erase runs from either end, or all at once with some cells slower than others.
            let order = self.noise % 3;
            for i in 0..ERASE {
                let at = sector + if order == 1 { ERASE - 1 - i } else { i };
                if !self.works() {
                    if order == 2 {
                        for at in sector..sector + ERASE {
                            let slow = self.random();
                            self.words.as_mut_bytes()[at] |= slow;
                        }
                    }
                    return Err(NorFlashErrorKind::Other);
                }
                if order != 2 {
                    self.words.as_mut_bytes()[at] = 0xff;
                }
            }
            self.words.as_mut_bytes()[sector..][..ERASE].fill(0xff);
            self.written[sector..][..ERASE].fill(false);
            self.torn[sector..][..ERASE].fill(false);
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        check_write(self, offset, bytes.len())?;
        for (word, place) in bytes.chunks(WRITE).zip((offset as usize..).step_by(WRITE)) {
            if self.torn[place..][..WRITE].contains(&true) {
                return Err(NorFlashErrorKind::Other);
            }
            assert!(!self.written[place..][..WRITE].contains(&true), "word {place:#x} twice");
            self.written[place..][..WRITE].fill(true);
            for (byte, at) in word.iter().zip(place..) {
                if !self.works() {
                    self.torn[place..][..WRITE].fill(true);
                    for at in at..place + WRITE {
                        let strays = self.random();
                        self.words.as_mut_bytes()[at] &= strays;
                    }
                    return Err(NorFlashErrorKind::Other);
                }
                self.words.as_mut_bytes()[at] &= byte;
            }
        }
        Ok(())
    }
}
