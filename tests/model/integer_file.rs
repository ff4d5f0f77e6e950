//! The model file in i16 encoding: its golden bytes, and everything that must be refused.

use crate::common;
use rebearing::model::Section;
use rebearing::model::format;
use rebearing::{Encoding, IntegerModel, IntegerMonitor, Model, ModelError, Monitor};
use rebearing_host::model::encoded::IntegerModelBytes;
use rebearing_host::model::file::seal;
use rebearing_host::model::integer_file::encode_integer;
use rebearing_host::model::quantise::{QuantiseError, quantise};

/// Rewrites the golden file if `REBEARING_BLESS` is set. Do that only for a new format version,
/// never to make a test pass.
#[test]
fn the_golden_file_is_what_the_writer_writes() {
    let written = common::golden_i16_contents();
    if std::env::var_os("REBEARING_BLESS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1-i16.rbm");
        std::fs::write(path, written.bytes()).expect("can be written");
    }
    let golden = IntegerModel::parse(common::GOLDEN_I16).expect("the golden file is valid");
    // The tool's version is part of the provenance; all other bytes are fixed.
    if golden.provenance().tool == written.model().provenance().tool {
        assert_eq!(written.bytes(), common::GOLDEN_I16);
    }
}

#[test]
fn the_golden_file_reads_as_it_was_written() {
    let model = IntegerModel::parse(common::GOLDEN_I16).unwrap();
    let exact = Model::parse(common::GOLDEN_GATE).unwrap();
    assert_eq!(model.front_end(), exact.front_end());
    assert_eq!(model.counts_per_unit(), 1000.0);
    assert_eq!((model.dims(), model.component_count(), model.classes()), (4, 4, 3));
    assert_eq!(model.healthy(), Some(0));
    assert_eq!(model.class_name(2), Some("Käfig"));
    assert_eq!(model.log_likelihood_min(), -8 * 256);
    assert_eq!(model.provenance(), exact.provenance());
    let gate = model.gate().unwrap();
    assert_eq!((gate.part.len(), gate.log_likelihood_min, gate.direction), (2, -4 * 256, true));
    assert_eq!(model.classes_part().unwrap().len(), 2);
    let labels = [32768, 0, 0, 32768, 0, 0, 0, 32768, 0, 0, 8192, 24576];
    assert_eq!(model.labels(), labels);
    // Means and deviations, converted back to the units of the f32 model.
    let shift = |i: usize| f64::from(model.scaling().shift[i]) / 65536.0 * std::f64::consts::LN_2;
    for (i, feature) in model.scaling().order.iter().enumerate() {
        let feature = *feature as usize;
        assert!((shift(i) - f64::from(exact.shift()[feature])).abs() < 1e-5);
        for (part, unit) in [(model.classes_part().unwrap(), 16383.0 / 2.0)] {
            for (k, component) in part.components().enumerate() {
                let exact = exact.components().nth(2 + k).unwrap();
                let mean = -f64::from(exact.offset[feature]) / f64::from(exact.scale[feature]);
                let found = f64::from(component.means[i]) / unit;
                assert!((found - mean).abs() < 1e-4, "{found} {mean}");
            }
        }
    }
}

#[test]
fn each_monitor_refuses_the_other_encoding_by_name() {
    assert_eq!(Encoding::of(common::GOLDEN_I16), Ok(Encoding::I16));
    assert_eq!(Encoding::of(common::GOLDEN), Ok(Encoding::F32));
    let error = Model::parse(common::GOLDEN_I16).unwrap_err();
    assert_eq!(error, ModelError::WrongEncoding { found: Encoding::I16 });
    assert!(error.to_string().contains("IntegerMonitor"), "{error}");
    let error = IntegerModel::parse(common::GOLDEN).unwrap_err();
    assert_eq!(error, ModelError::WrongEncoding { found: Encoding::F32 });
    assert!(error.to_string().contains("--encoding i16"), "{error}");
    // The f32 monitor still accepts its own model.
    Monitor::<f32, 256, 1, 4, 4, 3>::new(Model::parse(common::GOLDEN_GATE).unwrap()).unwrap();
}

#[test]
fn orders_have_no_i16_form() {
    let orders = Model::parse(common::GOLDEN_ORDERS).unwrap();
    assert_eq!(quantise(&orders, 1.0).unwrap_err(), QuantiseError::Orders);
    let mut bytes = common::GOLDEN_I16.to_vec();
    bytes.extend(Section::Orders.tag());
    bytes.extend(0_u32.to_le_bytes());
    seal(&mut bytes);
    let error = IntegerModelBytes::from_bytes(&bytes).unwrap_err();
    assert_eq!(error, ModelError::OrdersInIntegers);
}

#[test]
fn an_f32_model_too_steep_for_16_bits_is_refused() {
    let error = quantise(&common::steep().model(), 1.0).unwrap_err();
    assert!(matches!(error, QuantiseError::Range { .. }), "{error}");
    assert!(error.to_string().contains("`variance_floor`"), "{error}");
    assert!(
        encode_integer(
            &Model::parse(common::GOLDEN).unwrap(),
            &quantise(&Model::parse(common::GOLDEN).unwrap(), 1.0).unwrap()
        )
        .is_ok()
    );
}

#[test]
fn every_single_bit_flip_and_every_truncation_is_refused() {
    for bit in 0..8 * common::GOLDEN_I16.len() {
        let mut bytes = common::GOLDEN_I16.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        IntegerModelBytes::from_bytes(&bytes).expect_err("this must be refused");
    }
    for length in 0..common::GOLDEN_I16.len() {
        IntegerModelBytes::from_bytes(&common::GOLDEN_I16[..length]).expect_err("cut short");
    }
}

/// Returns the offset of a section's payload.
fn payload(section: Section) -> usize {
    let at = common::GOLDEN_I16.windows(4).position(|four| four == section.tag());
    at.expect("the section is there") + format::SECTION_HEADER_LEN
}

#[test]
fn numbers_out_of_range_are_refused_by_name() {
    let integer = payload(Section::Integer);
    let scaling = payload(Section::IntegerScaling);
    let mixture = payload(Section::IntegerMixture);
    let gate = payload(Section::IntegerGate);
    let half = |low: i16, high: i16| {
        let ([a, b], [c, d]) = (low.to_le_bytes(), high.to_le_bytes());
        u32::from_le_bytes([a, b, c, d])
    };
    let cases: [(&str, usize, u32); 19] = [
        ("sample rate", payload(Section::FrontEnd), f32::NAN.to_bits()),
        ("sample rate", payload(Section::FrontEnd), (-1.0_f32).to_bits()),
        ("sample rate", payload(Section::FrontEnd), 2e9_f32.to_bits()),
        ("counts per unit", integer, 0),
        ("counts per unit", integer, f32::INFINITY.to_bits()),
        ("counts per unit", integer, (-1.0_f32).to_bits()),
        ("features of the early drop", integer + 4, 5),
        ("fraction bits", integer + 12, 13),
        ("order of features", scaling, 4),
        ("order of features", scaling + 4, u32::MAX),
        ("shift", scaling + 16, (1 << 23) + 1),
        ("scale", scaling + 32, 0),
        ("component mean", mixture + 16, half(16384, 0)),
        ("component precision", mixture + 24, half(0, 1)),
        ("component precision", mixture + 24, half(1, -1)),
        ("sum of a label row", payload(Section::IntegerLabels), half(0, 1)),
        ("number of gate components", gate, 5),
        ("fraction bits", gate + 4, 13),
        ("gate flags", gate + 16, 2),
    ];
    for (name, at, word) in cases {
        let mut bytes = common::GOLDEN_I16.to_vec();
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        seal(&mut bytes);
        match IntegerModelBytes::from_bytes(&bytes).expect_err("this must be refused") {
            ModelError::OutOfRange { field, .. } => assert_eq!(field, name),
            error => panic!("{name}: {error}"),
        }
    }
    // The same feature twice.
    let mut bytes = common::GOLDEN_I16.to_vec();
    bytes.copy_within(scaling..scaling + 4, scaling + 4);
    seal(&mut bytes);
    let error = IntegerModelBytes::from_bytes(&bytes).unwrap_err();
    assert_eq!(error, ModelError::OutOfRange { field: "order of features", index: 1 });
}

#[test]
fn sections_of_two_encodings_do_not_mix() {
    let mut bytes = common::GOLDEN_I16.to_vec();
    bytes.extend(Section::Scaling.tag());
    bytes.extend(0_u32.to_le_bytes());
    seal(&mut bytes);
    let error = IntegerModelBytes::from_bytes(&bytes).unwrap_err();
    assert_eq!(error, ModelError::MixedEncodings { tag: Section::Scaling.tag() });
    let mut bytes = common::GOLDEN_I16.to_vec();
    let at = payload(Section::IntegerLabels) - format::SECTION_HEADER_LEN;
    bytes[at] = b'x';
    seal(&mut bytes);
    let error = IntegerModelBytes::from_bytes(&bytes).unwrap_err();
    assert_eq!(error, ModelError::MissingSection { tag: Section::IntegerLabels.tag() });
}

#[test]
fn a_monitor_refuses_what_it_cannot_hold() {
    let model = IntegerModel::parse(common::GOLDEN_I16).unwrap();
    assert!(IntegerMonitor::<256, 1, 4, 4, 3>::new(model).is_ok());
    assert!(IntegerMonitor::<256, 1, 32, 40, 10>::new(model).is_ok());
    let refused = |result: Result<(), ModelError>| match result {
        Err(ModelError::DoesNotFit { what, needs, holds }) => (what, needs, holds),
        other => panic!("{other:?}"),
    };
    let drop_512 = IntegerMonitor::<512, 1, 4, 4, 3>::new(model).map(drop);
    assert_eq!(refused(drop_512), ("FFT points", 256, 512));
    assert_eq!(refused(IntegerMonitor::<256, 3, 4, 4, 3>::new(model).map(drop)), ("axes", 1, 3));
    let drop_dims = IntegerMonitor::<256, 1, 3, 4, 3>::new(model).map(drop);
    assert_eq!(refused(drop_dims), ("features", 4, 3));
    let drop_components = IntegerMonitor::<256, 1, 4, 3, 3>::new(model).map(drop);
    assert_eq!(refused(drop_components), ("components", 4, 3));
    let drop_classes = IntegerMonitor::<256, 1, 4, 4, 2>::new(model).map(drop);
    assert_eq!(refused(drop_classes), ("classes", 3, 2));
}
