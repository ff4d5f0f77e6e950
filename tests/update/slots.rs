//! The model slots on a simulated NOR flash. Its power fails at every byte in turn.

use crate::simulated_flash::{CAPACITY, REGION, SECTOR, SimulatedFlash};
use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};
use proptest::prelude::*;
use rebearing::update::{self, LayoutError, PassedOver, RECORD_LEN, Slot, Slots, StoreError};
use rebearing::{Model, ModelError, include_model};
use zerocopy::IntoBytes;

static GOLDEN: &[u8] = include_model!("../golden/model-v1.rbm");
static GATE: &[u8] = include_model!("../golden/model-v1-gate.rbm");
static ORDERS: &[u8] = include_model!("../golden/model-v1-orders.rbm");
static MODELS: [&[u8]; 3] = [GOLDEN, GATE, ORDERS];

fn parsed(bytes: &[u8]) -> Model<'_> {
    Model::parse(bytes).expect("a model")
}

/// Returns the number of bytes that a complete store erases and writes.
fn store_cost<const WRITE: usize>(model: &[u8]) -> usize {
    SECTOR + model.len().next_multiple_of(WRITE) + RECORD_LEN.max(WRITE)
}

/// Cuts the power at every byte while a model is stored over `before`.
fn cut_everywhere<const WRITE: usize>(before: &SimulatedFlash<WRITE>, new: &[u8]) {
    let (in_use, old) = before.newest().expect("a model before");
    let cost = store_cost::<WRITE>(new);
    let mut found_new = 0;
    for power in 0..=cost {
        for noise in 0..3 {
            let mut flash = SimulatedFlash { power: Some(power), noise, ..before.clone() };
            let stored = flash.slots().store(Some(in_use), &parsed(new));
            assert_eq!(stored.is_ok(), power == cost, "power for {power} of {cost} bytes");

            let (slot, found) = flash.newest().expect("a model, whatever the cut");
            assert!(found == old || found == new, "cut at {power}: neither old nor new");
            assert_eq!(slot, if found == old { in_use } else { in_use.other() });
            assert!(found == new || stored.is_err(), "stored, yet the old one is used");
            found_new += usize::from(found == new);

            // The next attempt succeeds, whatever the first one left behind.
            flash.power = None;
            assert_eq!(flash.slots().store(Some(slot), &parsed(new)), Ok(slot.other()));
            assert_eq!(flash.newest(), Some((slot.other(), new.to_vec())));
        }
    }
    assert!(found_new >= 3, "the whole store is one of the cuts");
}

fn cut_everywhere_with_words_of<const WRITE: usize>() {
    let [first, second, third] = MODELS;
    // First a model from a debug probe, then a stored model in each of the slots.
    let mut flash = SimulatedFlash::<WRITE>::probed(first);
    cut_everywhere(&flash, second);
    assert_eq!(flash.slots().store(Some(Slot::A), &parsed(second)), Ok(Slot::B));
    cut_everywhere(&flash, third);
    assert_eq!(flash.slots().store(Some(Slot::B), &parsed(third)), Ok(Slot::A));
    cut_everywhere(&flash, first);
}

#[test]
fn a_cut_at_every_byte_leaves_the_old_model_or_the_new_one() {
    cut_everywhere_with_words_of::<1>();
    cut_everywhere_with_words_of::<4>();
    cut_everywhere_with_words_of::<8>();
    cut_everywhere_with_words_of::<32>();
    cut_everywhere_with_words_of::<256>();
}

#[test]
fn the_first_model_on_an_empty_flash_goes_to_slot_a() {
    let mut flash = SimulatedFlash::<4>::erased();
    let none = update::newest(flash.region(), Ok::<Model<'_>, _>).expect_err("erased flash");
    assert_eq!((none.a, none.b), (ModelError::WrongMagic, ModelError::WrongMagic));
    assert_eq!(flash.slots().store(None, &parsed(MODELS[0])), Ok(Slot::A));
    assert_eq!(flash.newest(), Some((Slot::A, MODELS[0].to_vec())));
}

#[test]
fn a_refused_newest_model_falls_back_to_the_other_slot() {
    let mut flash = SimulatedFlash::<4>::probed(MODELS[0]);
    flash.slots().store(Some(Slot::A), &parsed(MODELS[1])).expect("a store");
    // Like a monitor that is too small for the new model.
    let refuse = ModelError::DoesNotFit { what: "components", needs: 4, holds: 3 };
    let fits = |components| {
        update::newest(flash.region(), |model: Model<'_>| {
            if model.components().len() <= components { Ok(()) } else { Err(refuse) }
        })
    };
    let used = |components| fits(components).map(|newest| (newest.slot, newest.passed_over));
    assert_eq!(used(4), Ok((Slot::B, None)));
    assert_eq!(used(3), Ok((Slot::A, Some(PassedOver::Model(refuse)))));
    let none = fits(0).expect_err("no model is that small");
    assert!(none.to_string().contains("slot B: the model needs 4 components"), "{none}");
}

#[test]
fn a_rotten_bit_of_the_record_is_mended_and_two_are_told() {
    let mut flash = SimulatedFlash::<4>::probed(MODELS[0]);
    flash.slots().store(Some(Slot::A), &parsed(MODELS[1])).expect("a store");
    let newest = |flash: &SimulatedFlash<4>| {
        let found = update::newest(flash.region(), Ok::<Model<'_>, _>).expect("a model");
        (found.slot, found.passed_over)
    };
    assert_eq!(newest(&flash), (Slot::B, None));
    let flip = |flash: &mut SimulatedFlash<4>, bit: usize| {
        flash.words.as_mut_bytes()[REGION.end - RECORD_LEN + bit / 8] ^= 1 << (bit % 8);
    };
    for bit in 0..8 * RECORD_LEN {
        let mut flash = flash.clone();
        flip(&mut flash, bit);
        assert_eq!(newest(&flash), (Slot::B, None), "bit {bit}");
        // The next model is newer than the one with the mended record.
        let mut next = flash.clone();
        next.slots().store(Some(Slot::B), &parsed(MODELS[1])).expect("a store");
        assert_eq!(newest(&next), (Slot::A, None), "bit {bit}");
        let second = (bit + 37) % (8 * RECORD_LEN);
        flip(&mut flash, second);
        assert_eq!(newest(&flash), (Slot::A, Some(PassedOver::Record)), "bits {bit}, {second}");
    }
}

#[test]
fn a_read_that_fails_after_the_record_leaves_the_old_model_or_says_that_nobody_knows() {
    /// Reading or erasing fails from the moment on that the record was written.
    struct Failing {
        flash: SimulatedFlash<4>,
        erase_fails: bool,
        record_written: bool,
    }
    impl ErrorType for Failing {
        type Error = NorFlashErrorKind;
    }
    impl ReadNorFlash for Failing {
        const READ_SIZE: usize = 4;
        fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
            self.flash.deaf = self.record_written;
            self.flash.read(offset, bytes)
        }
        fn capacity(&self) -> usize {
            self.flash.capacity()
        }
    }
    impl NorFlash for Failing {
        const WRITE_SIZE: usize = 4;
        const ERASE_SIZE: usize = SECTOR;
        fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
            if self.record_written && self.erase_fails {
                return Err(NorFlashErrorKind::Other);
            }
            self.flash.erase(from, to)
        }
        fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
            self.record_written |= offset as usize + bytes.len() == REGION.end;
            self.flash.write(offset, bytes)
        }
    }
    let region = REGION.start as u32..REGION.end as u32;
    for (erase_fails, error, used) in [
        (false, StoreError::Flash(NorFlashErrorKind::Other), Slot::A),
        (true, StoreError::Unclear, Slot::B),
    ] {
        let flash = SimulatedFlash::probed(MODELS[0]);
        let failing = Failing { flash, erase_fails, record_written: false };
        let mut slots = Slots::new(failing, region.clone()).expect("slots");
        assert_eq!(slots.store(Some(Slot::A), &parsed(MODELS[1])), Err(error));
        let found = slots.into_flash().flash.newest().expect("a model");
        assert_eq!(found.0, used, "after {error}");
    }
}

#[test]
fn a_model_written_by_hand_over_an_old_record_has_no_sequence_number() {
    let mut flash = SimulatedFlash::<4>::erased();
    assert_eq!(flash.slots().store(None, &parsed(MODELS[0])), Ok(Slot::A));
    assert_eq!(flash.slots().store(Some(Slot::A), &parsed(MODELS[1])), Ok(Slot::B));
    assert_eq!(flash.slots().store(Some(Slot::B), &parsed(MODELS[2])), Ok(Slot::A));
    let by_hand = MODELS[0];
    flash.words.as_mut_bytes()[REGION][..by_hand.len()].copy_from_slice(by_hand);
    assert_eq!(flash.newest(), Some((Slot::B, MODELS[1].to_vec())));
}

#[test]
fn what_cannot_be_stored_is_refused_before_anything_is_erased() {
    let mut damaged = GATE.to_vec();
    damaged[200] ^= 1;
    // Copied to a 4-byte boundary, as a received model is.
    let mut words = vec![0_u32; damaged.len() / 4];
    words.as_mut_bytes().copy_from_slice(&damaged);
    // A damaged model does not parse, so it cannot be handed to the slots.
    let refused = Model::parse(words.as_bytes());
    assert!(matches!(refused, Err(ModelError::BadCrc { .. })), "{refused:?}");

    let mut small = SimulatedFlash::<4, 256>::erased();
    let mut slots = Slots::new(&mut small, 0..512).expect("two sectors");
    let (needs, holds) = (GOLDEN.len(), 256 - RECORD_LEN);
    assert_eq!(slots.capacity(), holds);
    assert_eq!(slots.store(None, &parsed(GOLDEN)), Err(StoreError::TooLong { needs, holds }));
    assert!(!small.written.contains(&true));
}

#[test]
fn worn_flash_is_noticed_and_the_old_model_stays() {
    // A worn cell stays zero after an erase: the simulation ANDs each write with it.
    struct Worn(SimulatedFlash<4>);
    impl ErrorType for Worn {
        type Error = NorFlashErrorKind;
    }
    impl ReadNorFlash for Worn {
        const READ_SIZE: usize = 4;
        fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
            self.0.read(offset, bytes)
        }
        fn capacity(&self) -> usize {
            self.0.capacity()
        }
    }
    impl NorFlash for Worn {
        const WRITE_SIZE: usize = 4;
        const ERASE_SIZE: usize = SECTOR;
        fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
            self.0.erase(from, to)?;
            self.0.words.as_mut_bytes()[2 * SECTOR + 1] = 0;
            Ok(())
        }
        fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
            self.0.write(offset, bytes)
        }
    }
    let flash = SimulatedFlash::probed(MODELS[0]);
    let mut slots = Slots::new(Worn(flash), REGION.start as u32..REGION.end as u32).expect("slots");
    let offset = 2 * SECTOR as u32;
    assert_eq!(slots.store(Some(Slot::A), &parsed(MODELS[1])), Err(StoreError::Differs { offset }));
    assert_eq!(slots.into_flash().0.newest(), Some((Slot::A, MODELS[0].to_vec())));
}

#[test]
fn a_region_that_cannot_be_erased_in_halves_is_refused() {
    let layout = |region| Slots::new(SimulatedFlash::<4>::erased(), region).map(drop);
    let sector = SECTOR as u32;
    let (capacity, erase_size) = (CAPACITY, SECTOR);
    assert_eq!(layout(0..4 * sector), Ok(()));
    for region in [0..0, 4 * sector..8 * sector, 3 * sector..sector] {
        assert_eq!(layout(region), Err(LayoutError::OutOfBounds { capacity }));
    }
    for region in [0..sector, 512..sector + 512, 0..3 * sector] {
        assert_eq!(layout(region), Err(LayoutError::NotErasable { erase_size }));
    }
}

/// A sequence of stores, each of some model and each with or without a power cut.
fn stores() -> impl Strategy<Value = Vec<(usize, Option<usize>, u32)>> {
    let longest = store_cost::<8>(ORDERS) + 100;
    let power = proptest::option::of(0..longest);
    proptest::collection::vec((0..MODELS.len(), power, any::<u32>()), 1..30)
}

proptest! {
    #[test]
    fn any_sequence_of_stores_and_cuts_keeps_a_model(stores in stores(), start in 0..MODELS.len()) {
        let mut flash = SimulatedFlash::<8>::probed(MODELS[start]);
        let mut old = (Slot::A, MODELS[start].to_vec());
        for (model, power, noise) in stores {
            flash = SimulatedFlash { power, noise, ..flash };
            let stored = flash.slots().store(Some(old.0), &parsed(MODELS[model]));
            let new = (old.0.other(), MODELS[model].to_vec());
            let found = flash.newest().expect("a model");
            if stored.is_ok() {
                prop_assert_eq!(&found, &new);
            } else {
                prop_assert!(found == old || found == new);
            }
            old = found;
        }
    }

    #[test]
    fn damage_to_one_slot_leaves_the_other(
        in_b: bool,
        damage in proptest::collection::vec((0..SECTOR, any::<u8>()), 1..50),
    ) {
        let mut flash = SimulatedFlash::<4>::probed(MODELS[0]);
        flash.slots().store(Some(Slot::A), &parsed(MODELS[1])).expect("a store");
        let slot = REGION.start + if in_b { SECTOR } else { 0 };
        for (at, byte) in damage {
            flash.words.as_mut_bytes()[slot + at] = byte;
        }
        // The damaged model may still be used if the damage lies behind its end.
        let (_, found) = flash.newest().expect("a model");
        prop_assert!(MODELS[..2].contains(&&found[..]));
        let intact = usize::from(!in_b);
        let damaged = flash.region()[if in_b { SECTOR } else { 0 }..][..MODELS[1 - intact].len()].to_vec();
        if damaged != MODELS[1 - intact] {
            prop_assert_eq!(&found[..], MODELS[intact]);
        }
    }

    #[test]
    fn arbitrary_regions_never_panic(bytes in proptest::collection::vec(any::<u32>(), 0..64)) {
        let region = bytes.as_bytes();
        prop_assert!(update::newest(region, Ok::<Model<'_>, _>).is_err());
    }
}
