//! The verdict section of the model file: its values are kept in both encodings, and it is refused
//! if it is damaged or contradicts itself.

use crate::common;
use proptest::prelude::*;
use rebearing::model::{AccuracyCurve, ModelVerdict, Section, Verdict};
use rebearing::{IntegerModel, Model, ModelError, Monitor};
use rebearing_host::model::bytes::Payload;
use rebearing_host::model::deployed::DeployedModel;
use rebearing_host::model::encoded::ModelBytes;
use rebearing_host::model::file::seal;
use rebearing_host::model::sections::verdict_section;
use rebearing_host::model::verdict::VerdictContents;

const ADAPT: VerdictContents = VerdictContents {
    verdict: Verdict::Adapt,
    forced: false,
    predicted_accuracy: Some(0.9375),
    promise: 0.875,
    transfers: 11,
    curve: Some(AccuracyCurve::Library),
};

const KEEP: VerdictContents =
    VerdictContents { verdict: Verdict::Keep, predicted_accuracy: None, curve: None, ..ADAPT };

const FORCED: VerdictContents = VerdictContents {
    verdict: Verdict::Abstain,
    forced: true,
    predicted_accuracy: Some(0.25),
    transfers: 0,
    curve: Some(AccuracyCurve::Fixed),
    ..ADAPT
};

/// A model of each encoding, without a verdict.
fn plain() -> [DeployedModel; 2] {
    let (floats, integers) = (common::golden_contents(), common::golden_i16_contents());
    [DeployedModel::F32(floats), DeployedModel::I16(integers)]
}

/// The verdict that the reader must return.
fn read(contents: &VerdictContents) -> ModelVerdict {
    ModelVerdict {
        verdict: contents.verdict,
        forced: contents.forced,
        predicted_accuracy: contents.predicted_accuracy.map(|accuracy| accuracy as f32),
        promise: contents.promise as f32,
        transfers: contents.transfers as u32,
        curve: contents.curve,
    }
}

/// A section of these words.
fn section(words: &[u32]) -> Payload {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    Payload { section: Section::Verdict, bytes }
}

#[test]
fn the_section_reads_as_it_was_written_and_none_is_none() {
    let abstain = VerdictContents { forced: false, ..FORCED };
    for model in plain() {
        assert_eq!(model.verdict(), None);
        for contents in [ADAPT, KEEP, abstain, FORCED] {
            let with = model.with_sections(&[verdict_section(&contents)]).unwrap();
            assert_eq!(with.verdict(), Some(read(&contents)));
            // A second section is refused.
            let twice = with.with_sections(&[verdict_section(&contents)]).map(drop);
            assert_eq!(twice, Err(ModelError::RepeatedSection { tag: *b"vdct" }));
        }
    }
    for golden in [common::GOLDEN, common::GOLDEN_GATE, common::GOLDEN_ORDERS, common::GOLDEN_ALARM]
    {
        assert_eq!(Model::parse(golden).unwrap().verdict(), None);
    }
    assert_eq!(IntegerModel::parse(common::GOLDEN_I16).unwrap().verdict(), None);
}

#[test]
fn the_golden_file_has_the_words_of_the_specification() {
    let model = Model::parse(common::GOLDEN_VERDICT).unwrap();
    let verdict = ModelVerdict {
        verdict: Verdict::Abstain,
        forced: true,
        predicted_accuracy: Some(0.4375),
        promise: 0.875,
        transfers: 11,
        curve: Some(AccuracyCurve::Library),
    };
    assert_eq!(model.verdict(), Some(verdict));
    // Abstain, forced, 0.4375, 0.875, 11 transfers, the library's curve.
    let words: [u32; 8] = [u32::from_le_bytes(*b"vdct"), 24, 2, 1, 0x3ee0_0000, 0x3f60_0000, 11, 2];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(common::GOLDEN_VERDICT.ends_with(&bytes));
    // The section takes no RAM: a monitor of the same type still fits.
    assert_eq!(Monitor::<f32, 256, 1, 4, 3, 3>::new(model).map(drop), Ok(()));
}

#[test]
fn an_older_reader_skips_the_section() {
    for model in plain() {
        let with = model.with_sections(&[verdict_section(&FORCED)]).unwrap();
        // A reader that does not know the tag sees it as this one sees another tag in lower case.
        let mut bytes = with.bytes().to_vec();
        let at = model.bytes().len();
        assert_eq!(bytes[at..at + 4], *b"vdct");
        bytes[at..at + 4].copy_from_slice(b"vdcu");
        seal(&mut bytes);
        // So is a file without the section, up to length and checksum.
        assert_eq!(bytes[16..at], model.bytes()[16..]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("older.rbm");
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(DeployedModel::read(&path).unwrap().verdict(), None);
    }
}

#[test]
fn every_bad_field_is_refused_with_its_name() {
    let good = [2, 1, 0.25_f32.to_bits(), 0.9_f32.to_bits(), 3, 2];
    let none = (-1_f32).to_bits();
    let above = 1_f32.to_bits() + 1;
    let below = (-0.01_f32).to_bits();
    let words = |changes: &[(usize, u32)]| {
        let mut words = good;
        for (word, value) in changes {
            words[*word] = *value;
        }
        words
    };
    for model in plain() {
        let verdict = |words: &[u32]| {
            model.with_sections(&[section(words)]).map(|with| with.verdict().is_some())
        };
        // The limits themselves are valid.
        for changes in [
            &[][..],
            &[(2, 0), (3, 0)],
            &[(2, 1_f32.to_bits()), (3, 1_f32.to_bits())],
            &[(2, none), (5, 0)],
            &[(4, u32::MAX)],
            &[(4, 0), (5, 1)],
            &[(0, 0), (1, 0)],
            &[(0, 1), (1, 0)],
        ] {
            assert_eq!(verdict(&words(changes)), Ok(true), "{changes:?}");
        }
        for (field, changes) in [
            ("verdict", &[(0, 3)][..]),
            ("verdict", &[(0, u32::MAX)]),
            ("verdict flags", &[(1, 2)]),
            ("verdict flags", &[(1, 3)]),
            ("verdict flags", &[(1, 1 << 31)]),
            // Only the names of an abstaining model are forced.
            ("verdict flags", &[(0, 0)]),
            ("verdict flags", &[(0, 1)]),
            ("predicted accuracy", &[(2, above)]),
            ("predicted accuracy", &[(2, below)]),
            ("predicted accuracy", &[(2, none + 1)]),
            ("predicted accuracy", &[(2, f32::NAN.to_bits())]),
            ("predicted accuracy", &[(2, f32::INFINITY.to_bits())]),
            ("promised accuracy", &[(3, above)]),
            ("promised accuracy", &[(3, below)]),
            ("promised accuracy", &[(3, none)]),
            ("promised accuracy", &[(3, f32::NAN.to_bits())]),
            ("accuracy curve", &[(5, 3)]),
            ("accuracy curve", &[(5, u32::MAX)]),
            // An accuracy without a curve, a curve without an accuracy, and a library's curve
            // without a transfer.
            ("accuracy curve", &[(5, 0)]),
            ("accuracy curve", &[(2, none)]),
            ("accuracy curve", &[(4, 0)]),
        ] {
            let error = ModelError::OutOfRange { field, index: 0 };
            assert_eq!(verdict(&words(changes)), Err(error), "{changes:?}");
        }
        for (length, words) in [(20, &good[..5]), (28, &[2, 1, 0, 0, 3, 2, 0]), (0, &[])] {
            let error = ModelError::SectionLength { tag: *b"vdct", needs: 24, has: length };
            assert_eq!(verdict(words), Err(error));
        }
    }
}

#[test]
fn damaged_sections_are_refused() {
    let whole = common::GOLDEN_VERDICT;
    let at = common::GOLDEN.len();
    for bit in 8 * at..8 * whole.len() {
        let mut damaged = whole.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        ModelBytes::from_bytes(&damaged).expect_err("the checksum differs");
    }
    for length in at..whole.len() {
        ModelBytes::from_bytes(&whole[..length]).expect_err("cut short");
    }
}

proptest! {
    /// Arbitrary words are refused, or are read as a verdict that the writer writes in the same
    /// words.
    #[test]
    fn what_is_accepted_is_written_again_in_the_same_words(
        verdict in 0..4_u32,
        flags in 0..3_u32,
        accuracy in prop_oneof![Just(-1.0), -0.1..1.1_f32],
        promise in -0.1..1.1_f32,
        transfers in prop_oneof![0..3_u32, any::<u32>()],
        curve in 0..4_u32,
    ) {
        let words = section(&[
            verdict, flags, accuracy.to_bits(), promise.to_bits(), transfers, curve,
        ]);
        let share = 0.0..=1.0;
        let valid = verdict < 3
            && (flags == 0 || flags == 1 && verdict == 2)
            && (accuracy == -1.0 || share.contains(&accuracy))
            && share.contains(&promise)
            && curve < 3
            && (curve == 0) == (accuracy == -1.0)
            && !(curve == 2 && transfers == 0);
        for model in plain() {
            let with = model.with_sections(std::slice::from_ref(&words));
            prop_assert_eq!(with.is_ok(), valid, "{:?}", with.map(drop));
            let Ok(with) = with else { continue };
            let found = with.verdict().unwrap();
            let again = VerdictContents {
                verdict: found.verdict,
                forced: found.forced,
                predicted_accuracy: found.predicted_accuracy.map(f64::from),
                promise: f64::from(found.promise),
                transfers: found.transfers as usize,
                curve: found.curve,
            };
            prop_assert_eq!(read(&again), found);
            prop_assert_eq!(&verdict_section(&again), &words);
        }
    }
}
