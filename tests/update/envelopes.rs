//! Envelopes: their layout, and every damage to them.

use crate::keys::{DEVICE, GATE, GOLDEN, OLDER, commissioned, restart, send, signed};
use crate::simulated_flash::{REGION, SimulatedFlash};
use proptest::prelude::*;
use rebearing::update::envelope::{ENVELOPE_LEN, HEAD_LEN};
use rebearing::update::{DeviceId, Envelope, Outcome, Receiver, Refusal};
use rebearing::{Encoding, Model};
use zerocopy::IntoBytes;

#[test]
fn the_layout_is_as_documented() {
    let file = signed(GOLDEN, 0x0102_0304, 9, DEVICE);
    let (model, envelope) = Envelope::split(&file).expect("a model");
    let envelope = envelope.expect("an envelope");
    assert_eq!(model, GOLDEN);
    assert_eq!(envelope[..16], *b"RBEN\x01\0\0\0\x04\x03\x02\x01\x09\0\0\0");
    assert_eq!(envelope[16..32], DEVICE.0);
    assert_eq!(envelope[36..40], 20_000_f32.to_le_bytes());
    assert_eq!(envelope[48..52], [0; 4]);
    assert_eq!(envelope[52..56], (GOLDEN.len() as u32).to_le_bytes());
    assert_eq!(envelope[56..64], [0; 8]);
    let (read, signature) = Envelope::from_bytes(envelope).expect("an envelope");
    assert_eq!(read.to_bytes(signature), *envelope);
    let parsed = Model::parse(GOLDEN).unwrap();
    assert_eq!(read, Envelope::of_model(&parsed, 0x0102_0304, 9, DEVICE));
    assert_eq!(read.encoding, Encoding::F32);
    // A plain model has none, and bytes that are no model have neither.
    assert_eq!(Envelope::split(GOLDEN), Some((GOLDEN, None)));
    assert_eq!(Envelope::split(&GOLDEN[..8]), None);
    assert_eq!(Envelope::split(&[0; 600]), None);
}

#[test]
fn ids_are_not_printed() {
    let envelope = Envelope::of_model(&Model::parse(GOLDEN).unwrap(), 1, 1, DEVICE);
    let text = format!("{envelope:?}");
    assert!(text.contains("one device") && !text.contains("112"), "{text}");
    for refusal in Refusal::ALL {
        assert_eq!(Refusal::from_code(refusal.code()), Some(refusal));
        assert!(!refusal.to_string().contains(|c: char| c.is_ascii_digit()), "{refusal}");
    }
    assert_eq!((Refusal::from_code(0), Refusal::from_code(22)), (None, None));
    for code in 0..=8 {
        assert_eq!(Outcome::from_code(code).map(Outcome::code), Some(code));
    }
    assert_eq!(Outcome::from_code(9), None);
}

/// Offers a file over the bus and by probe; returns true if either way brings it to run.
fn gets_in(commissioned: &SimulatedFlash<4>, file: &[u8]) -> bool {
    let mut flash = commissioned.clone();
    let (_, mut store) = restart(&mut flash);
    let over_bus = send(&mut store, file, 200).is_ok();
    let mut flash = commissioned.clone();
    let slot_b = REGION.start + REGION.len() / 2;
    flash.words.as_mut_bytes()[slot_b..][..file.len()].copy_from_slice(file);
    let (run, _) = restart(&mut flash);
    over_bus || run.expect("the confirmed model").model != GOLDEN
}

#[test]
fn every_single_bit_flip_of_envelope_and_model_is_refused() {
    let flash = commissioned::<4>(GOLDEN, 3);
    let file = signed(GATE, OLDER, 7, DEVICE);
    assert!(gets_in(&flash, &file));
    for bit in 0..8 * file.len() {
        let mut flipped = file.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(!gets_in(&flash, &flipped), "bit {bit} of {}", 8 * file.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn mutated_envelopes_are_refused(
        edits in proptest::collection::vec((0..ENVELOPE_LEN, any::<u8>()), 1..6),
        words in proptest::collection::vec((0..HEAD_LEN / 4, any::<u32>()), 0..3),
    ) {
        // 50 variations of each, 100,000 in all.
        let flash = commissioned::<4>(GOLDEN, 3);
        let original = signed(GATE, OLDER, 7, DEVICE);
        for turn in 0..50_u8 {
            let mut file = original.clone();
            let envelope = &mut file[GATE.len()..];
            for (at, byte) in &edits {
                envelope[(at + usize::from(turn)) % ENVELOPE_LEN] ^= byte.wrapping_add(turn);
            }
            for (at, word) in &words {
                envelope[4 * at..][..4].copy_from_slice(&word.to_le_bytes());
            }
            if file != original {
                let mut flash = flash.clone();
                let (_, mut store) = restart(&mut flash);
                prop_assert!(send(&mut store, &file, 512).is_err());
                prop_assert!(!store.status().waiting);
            }
        }
    }
}

#[test]
fn a_device_id_of_zero_means_any_device() {
    let flash = commissioned::<4>(GOLDEN, 3);
    assert!(gets_in(&flash, &signed(GATE, OLDER, 7, DeviceId::ANY)));
    assert!(!gets_in(&flash, &signed(GATE, OLDER, 7, DeviceId([1; 16]))));
}
