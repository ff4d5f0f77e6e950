//! The model file: the golden bytes of version 1, and everything that must be refused.

use crate::common;
use rebearing::classify::Gate;
use rebearing::model::{Aligned, Section, format};
use rebearing::{AnyMonitor, Model, ModelError, Monitor};
use rebearing_host::model::encoded::ModelBytes;
use rebearing_host::model::file::seal;

/// Rewrites the golden files if `REBEARING_BLESS` is set. Do that only for a new format version,
/// never to make a test pass.
#[test]
fn golden_files_are_what_the_writer_writes() {
    let all = [
        ("model-v1.rbm", common::golden_contents(), common::GOLDEN),
        ("model-v1-gate.rbm", common::golden_gate_contents(), common::GOLDEN_GATE),
        ("model-v1-orders.rbm", common::golden_orders_contents(), common::GOLDEN_ORDERS),
        ("model-v1-decision.rbm", common::golden_alarm_contents(), common::GOLDEN_ALARM),
        ("model-v1-verdict.rbm", common::golden_verdict_contents(), common::GOLDEN_VERDICT),
    ];
    for (name, written, golden) in all {
        if std::env::var_os("REBEARING_BLESS").is_some() {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/");
            std::fs::write(format!("{folder}{name}"), written.bytes()).expect("can be written");
        }
        // The tool's version is part of the provenance; all other bytes are fixed.
        let model = Model::parse(golden).expect("the golden file is valid");
        if model.provenance().tool == written.model().provenance().tool {
            assert_eq!(written.bytes(), golden, "{name}");
        }
    }
}

#[test]
fn golden_file_reads_as_it_was_written() {
    let model = Model::parse(common::GOLDEN).unwrap();
    let front_end = model.front_end();
    assert_eq!(front_end.rate_hz.to_bits(), 20_000_f32.to_bits());
    assert_eq!(
        (front_end.axes, front_end.fft_len, front_end.hop, front_end.segments),
        (1, 256, 128, 2)
    );
    assert_eq!(front_end.band_edges, [0, 32, 64, 96, 129]);
    assert_eq!(front_end.window_len(), 384);
    assert_eq!(model.shift(), [0.5, 0.25, -0.25, -0.5]);
    assert_eq!(model.scale(), [1.0, 2.0, 0.5, 1.5]);
    assert_eq!(model.components().len(), 3);
    let second = model.components().nth(1).unwrap();
    assert_eq!(second.scale, [5.0, 1.0, 1.0, 0.5]);
    assert_eq!(second.offset, [5.0, 0.0, -1.0, 0.0]);
    let constant = 0.25_f64.ln() - 2.0 * std::f64::consts::TAU.ln() - 0.5 * 0.16_f64.ln();
    assert!((f64::from(second.constant) - constant).abs() < 1e-6);
    assert_eq!(model.labels(), [1.0, 0.0, 0.0, 0.0, 0.75, 0.25, 0.0, 0.0, 1.0]);
    assert_eq!(model.classes(), 3);
    assert_eq!(model.class_name(2), Some("Käfig"));
    assert_eq!(model.class_name(3), None);
    assert_eq!(model.healthy(), Some(0));
    assert_eq!(model.log_likelihood_min().to_bits(), (-60_f32).to_bits());
    let provenance = model.provenance();
    assert_eq!((provenance.source, provenance.target), ("motor-a", "motor-b"));
    assert!(provenance.tool.starts_with("rebearing "));
    assert_eq!(provenance.hash[31], 31);
}

#[test]
fn the_gate_reads_as_it_was_written() {
    assert_eq!(Model::parse(common::GOLDEN).unwrap().gate(), None);
    let model = Model::parse(common::GOLDEN_GATE).unwrap();
    let gate = Gate { components: 2, log_likelihood_min: -4.0, direction: true };
    assert_eq!(model.gate(), Some(gate));
    assert_eq!(model.components().len(), 4);
    assert_eq!(model.components().next().unwrap().scale, [4.0, 2.0, 4.0, 2.0]);
    assert_eq!(model.components().nth(2).unwrap().offset[3], 3.0);
    assert_eq!(model.labels(), [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.25, 0.75]);
    assert_eq!(model.log_likelihood_min(), -8.0);
    let mut gate = Monitor::<f32, 256, 1, 4, 4, 3>::new(model).unwrap();
    assert!(gate.push([0.0]).is_none());
}

#[test]
fn a_gate_that_makes_no_sense_is_refused() {
    let at = |section: Section| {
        let at = common::GOLDEN_GATE.windows(4).position(|four| four == section.tag());
        at.expect("the section is there") + format::SECTION_HEADER_LEN
    };
    let (gate, labels, counts) = (at(Section::Gate), at(Section::Labels), at(Section::Counts));
    let cases: [(&str, usize, Word); 8] = [
        ("number of gate components", gate, 0.into()),
        ("number of gate components", gate, 5.into()),
        ("gate threshold", gate + 4, f32::NAN.into()),
        ("gate threshold", gate + 4, f32::INFINITY.into()),
        ("gate flags", gate + 8, 2.into()),
        ("healthy class of a gate", counts + 16, format::NO_CLASS.into()),
        ("label of a gate component", counts + 16, 1.into()),
        // A third gate component would carry the label of a fault.
        ("label of a gate component", gate, 3.into()),
    ];
    for (name, at, word) in cases {
        let mut bytes = common::GOLDEN_GATE.to_vec();
        bytes[at..at + 4].copy_from_slice(&word.0);
        seal(&mut bytes);
        match refusal(&bytes) {
            ModelError::OutOfRange { field, .. } => assert_eq!(field, name),
            error => panic!("{name}: {error}"),
        }
    }
    // This label is close enough to one for a row of fractions, but a gate's label is all or
    // nothing.
    let mut bytes = common::GOLDEN_GATE.to_vec();
    put(&mut bytes, labels, 0.99995_f32);
    seal(&mut bytes);
    let error = refusal(&bytes);
    assert_eq!(error, ModelError::OutOfRange { field: "label of a gate component", index: 0 });
    let mut bytes = common::GOLDEN_GATE.to_vec();
    put(&mut bytes, gate - 4, 16_u32);
    bytes.splice(gate + 12..gate + 12, [0; 4]);
    seal(&mut bytes);
    let error = refusal(&bytes);
    assert_eq!(error, ModelError::SectionLength { tag: Section::Gate.tag(), needs: 12, has: 16 });
}

/// Returns a changed copy of the golden file, on a 4-byte boundary.
fn changed(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = common::GOLDEN.to_vec();
    change(&mut bytes);
    bytes
}

fn refusal(bytes: &[u8]) -> ModelError {
    ModelBytes::from_bytes(bytes).expect_err("this must be refused")
}

/// Returns the error of a changed file with a correct length and CRC-32, so the inner checks run.
fn sealed_refusal(change: impl FnOnce(&mut Vec<u8>)) -> ModelError {
    let mut bytes = changed(change);
    seal(&mut bytes);
    refusal(&bytes)
}

#[test]
fn every_single_bit_flip_is_refused() {
    for golden in [common::GOLDEN, common::GOLDEN_GATE, common::GOLDEN_ORDERS] {
        for bit in 0..8 * golden.len() {
            let mut bytes = golden.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            refusal(&bytes);
        }
    }
}

#[test]
fn every_truncation_and_every_longer_file_is_refused() {
    for length in 0..common::GOLDEN.len() {
        let error = refusal(&common::GOLDEN[..length]);
        assert!(matches!(error, ModelError::TooShort { has, .. } if has == length), "{error:?}");
    }
    for extra in 1..9 {
        let error = refusal(&changed(|bytes| bytes.extend(vec![0; extra])));
        assert!(matches!(error, ModelError::TooLong { .. }), "{error:?}");
    }
}

#[test]
fn a_region_larger_than_the_model_is_read() {
    let mut region = Aligned([0xff_u8; 4096]);
    assert_eq!(Model::from_region(&region.0).unwrap_err(), ModelError::WrongMagic, "erased flash");
    region.0[..common::GOLDEN.len()].copy_from_slice(common::GOLDEN);
    assert_eq!(Model::from_region(&region.0).unwrap().bytes(), common::GOLDEN);
    let cut = &region.0[..common::GOLDEN.len() - 4];
    assert!(matches!(Model::from_region(cut).unwrap_err(), ModelError::TooShort { .. }));
}

#[test]
fn misaligned_bytes_are_refused() {
    let mut shifted = Aligned([0_u8; 4096]);
    for offset in 1..4 {
        let place = &mut shifted.0[offset..offset + common::GOLDEN.len()];
        place.copy_from_slice(common::GOLDEN);
        assert_eq!(Model::parse(place).unwrap_err(), ModelError::Misaligned);
    }
}

/// Returns the offset of a section's payload.
fn payload(section: Section) -> usize {
    let at = common::GOLDEN
        .windows(4)
        .position(|four| four == section.tag())
        .expect("the section is there");
    at + format::SECTION_HEADER_LEN
}

fn put(bytes: &mut [u8], at: usize, value: impl Into<Word>) {
    bytes[at..at + 4].copy_from_slice(&value.into().0);
}

/// Four bytes of a file.
struct Word([u8; 4]);

impl From<f32> for Word {
    fn from(x: f32) -> Self {
        Self(x.to_le_bytes())
    }
}

impl From<u32> for Word {
    fn from(x: u32) -> Self {
        Self(x.to_le_bytes())
    }
}

#[test]
fn versions_and_reserved_bits_are_refused() {
    for version in [0_u16, 2, 3, 0x100, u16::MAX] {
        let error = sealed_refusal(|b| b[4..6].copy_from_slice(&version.to_le_bytes()));
        assert_eq!(error, ModelError::UnsupportedVersion { found: version });
    }
    assert_eq!(sealed_refusal(|b| b[6] = 1), ModelError::ReservedBits);
}

#[test]
fn numbers_out_of_range_are_refused_by_name() {
    let dims = 4;
    let mixture = payload(Section::Mixture);
    let scales = mixture + 4 * 3;
    let cases: [(&str, usize, Word); 25] = [
        ("number of axes", payload(Section::Counts), 0.into()),
        ("number of axes", payload(Section::Counts), 4.into()),
        ("number of bands", payload(Section::Counts) + 4, 0.into()),
        ("number of components", payload(Section::Counts) + 8, 0.into()),
        ("number of components", payload(Section::Counts) + 8, u32::MAX.into()),
        ("number of classes", payload(Section::Counts) + 12, 0.into()),
        ("healthy class", payload(Section::Counts) + 16, 3.into()),
        ("sample rate", payload(Section::FrontEnd), f32::NAN.into()),
        ("sample rate", payload(Section::FrontEnd), 0.0.into()),
        ("sample rate", payload(Section::FrontEnd), 1e-38.into()),
        ("FFT length", payload(Section::FrontEnd) + 4, 300.into()),
        ("hop", payload(Section::FrontEnd) + 8, 0.into()),
        ("hop", payload(Section::FrontEnd) + 8, 257.into()),
        ("number of segments", payload(Section::FrontEnd) + 12, 0.into()),
        ("band edges", payload(Section::FrontEnd) + 20, 200.into()),
        ("band edges", payload(Section::FrontEnd) + 32, 130.into()),
        ("shift", payload(Section::Scaling), f32::INFINITY.into()),
        ("scale", payload(Section::Scaling) + 4 * dims, 0.0.into()),
        ("component constant", mixture, f32::NAN.into()),
        ("component precision", scales, (-1.0).into()),
        ("component precision", scales + 4, f32::NAN.into()),
        ("component mean", scales + 4 * dims, f32::NEG_INFINITY.into()),
        ("label", payload(Section::Labels), (-0.5).into()),
        ("sum of a label row", payload(Section::Labels), 0.5.into()),
        ("threshold", payload(Section::Thresholds), f32::NAN.into()),
    ];
    for (name, at, word) in cases {
        match sealed_refusal(|bytes| bytes[at..at + 4].copy_from_slice(&word.0)) {
            ModelError::OutOfRange { field, .. } => assert_eq!(field, name),
            error => panic!("{name}: {error}"),
        }
    }
}

#[test]
fn orders_that_no_shaft_has_are_refused_by_name() {
    let at = common::GOLDEN_ORDERS.windows(4).position(|four| four == Section::Orders.tag());
    let at = at.unwrap() + format::SECTION_HEADER_LEN;
    // A denormal, the smallest normal number, and one just below the least.
    for tiny in [1e-45_f32, f32::MIN_POSITIVE, 0.9e-3] {
        for (name, at) in [("first order", at + 8), ("width of an order band", at + 12)] {
            let mut bytes = common::GOLDEN_ORDERS.to_vec();
            put(&mut bytes, at, tiny);
            seal(&mut bytes);
            let error = ModelBytes::from_bytes(&bytes).unwrap_err();
            assert_eq!(error, ModelError::OutOfRange { field: name, index: 0 }, "{tiny:e}");
        }
    }
}

/// On a 32-bit chip these lengths have no next multiple of four. `fuzz-32` runs the same there.
#[test]
fn the_largest_lengths_are_refused() {
    for last in [u32::MAX - 3, u32::MAX - 2, u32::MAX - 1, u32::MAX] {
        let error = sealed_refusal(|b| put(b, payload(Section::Provenance) - 4, last));
        assert!(matches!(error, ModelError::SectionLength { .. }), "{error:?}");
        // The end of the last of three names.
        let error = sealed_refusal(|b| put(b, payload(Section::Names) + 8, last));
        assert!(matches!(error, ModelError::SectionLength { .. }), "{error:?}");
    }
}

#[test]
fn sizes_that_do_not_add_up_are_refused() {
    // One component more than the tables hold.
    let error = sealed_refusal(|b| put(b, payload(Section::Counts) + 8, 4_u32));
    assert!(
        matches!(error, ModelError::SectionLength { tag, .. } if tag == Section::Mixture.tag()),
        "{error:?}"
    );
    // One class more than the tables hold.
    let error = sealed_refusal(|b| put(b, payload(Section::Counts) + 12, 4_u32));
    assert!(
        matches!(error, ModelError::SectionLength { tag, .. } if tag == Section::Labels.tag()),
        "{error:?}"
    );
    // A section that reaches past the end, and a section that is not a whole number of words.
    let length = payload(Section::Provenance) - 4;
    let error = sealed_refusal(|b| put(b, length, 4096_u32));
    assert!(
        matches!(error, ModelError::SectionLength { tag, .. } if tag == Section::Provenance.tag()),
        "{error:?}"
    );
    let error = sealed_refusal(|b| put(b, length, 33_u32));
    assert!(
        matches!(error, ModelError::SectionLength { tag, .. } if tag == Section::Provenance.tag()),
        "{error:?}"
    );
    // Offsets of class names that run backwards.
    let error = sealed_refusal(|b| put(b, payload(Section::Names), 200_u32));
    assert!(
        matches!(error, ModelError::BadText { tag } if tag == Section::Names.tag()),
        "{error:?}"
    );
    // A name cut in the middle of a character.
    let error = sealed_refusal(|b| put(b, payload(Section::Names) + 4, 18_u32));
    assert!(
        matches!(error, ModelError::BadText { tag } if tag == Section::Names.tag()),
        "{error:?}"
    );
}

#[test]
fn sections_are_needed_once_and_unknown_ones_are_passed_over_only_if_they_may_be() {
    let rename = |section: Section, to: [u8; 4]| {
        let at = payload(section) - format::SECTION_HEADER_LEN;
        sealed_refusal(|b| b[at..at + 4].copy_from_slice(&to))
    };
    assert_eq!(rename(Section::Labels, *b"NEWS"), ModelError::UnknownSection { tag: *b"NEWS" });
    assert_eq!(
        rename(Section::Labels, *b"news"),
        ModelError::MissingSection { tag: Section::Labels.tag() }
    );
    assert_eq!(
        rename(Section::Labels, Section::Names.tag()),
        ModelError::RepeatedSection { tag: Section::Names.tag() }
    );
    let mut with_note = changed(|bytes| {
        bytes.extend(*b"note");
        bytes.extend(4_u32.to_le_bytes());
        bytes.extend(*b"1234");
    });
    seal(&mut with_note);
    ModelBytes::from_bytes(&with_note).expect("a lower-case section may be passed over");
}

#[test]
fn a_monitor_refuses_what_it_cannot_hold() {
    let model = Model::parse(common::GOLDEN).unwrap();
    assert!(Monitor::<f32, 256, 1, 4, 3, 3>::new(model).is_ok());
    assert!(Monitor::<i16, 2048, 1, 32, 40, 10>::new(model).is_ok());
    let refused = |result: Result<(), ModelError>| match result {
        Err(ModelError::DoesNotFit { what, needs, holds }) => (what, needs, holds),
        other => panic!("{other:?}"),
    };
    let drop_ok = |r: Result<Monitor<'_, f32, 256, 3, 4, 3, 3>, _>| r.map(drop);
    assert_eq!(refused(drop_ok(Monitor::new(model))), ("axes", 1, 3));
    assert_eq!(refused(Monitor::<f32, 256, 1, 3, 3, 3>::new(model).map(drop)), ("features", 4, 3));
    assert_eq!(
        refused(Monitor::<f32, 256, 1, 4, 2, 3>::new(model).map(drop)),
        ("components", 3, 2)
    );
    assert_eq!(refused(Monitor::<f32, 256, 1, 4, 3, 2>::new(model).map(drop)), ("classes", 3, 2));
    let long = ModelBytes::from_bytes(&{
        let mut bytes = changed(|b| put(b, payload(Section::FrontEnd) + 4, 512_u32));
        seal(&mut bytes);
        bytes
    })
    .unwrap();
    assert_eq!(
        refused(Monitor::<f32, 256, 1, 4, 3, 3>::new(long.model()).map(drop)),
        ("FFT points", 512, 256)
    );
}
