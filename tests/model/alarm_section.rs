//! The alarm section of the model file: its values are kept, and it is refused if it is damaged or
//! makes no sense.

use crate::common;
use crate::common::alarm::{CLASSES, Small, idle};
use rebearing::model::{AlarmParameters, IdleRms, ONE, Rms, Section, probability};
use rebearing::{Alarm, IntegerModel, Model, ModelError};
use rebearing_host::model::bytes::Payload;
use rebearing_host::model::encoded::{IntegerModelBytes, ModelBytes};
use rebearing_host::model::file::seal;
use rebearing_host::model::sections::alarm_section;

fn all_changed() -> AlarmParameters {
    AlarmParameters {
        average: 20,
        raise: probability(0.8),
        clear: probability(0.2),
        delay: 4,
        settle: 5,
        fault_windows: 6,
        hold: false,
        idle: Some(idle()),
    }
}

#[test]
fn a_model_file_keeps_what_a_decision_goes_by() {
    assert_eq!(Model::parse(common::GOLDEN).unwrap().alarm(), AlarmParameters::DEFAULT);
    assert_eq!(IntegerModel::parse(common::GOLDEN_I16).unwrap().alarm(), AlarmParameters::DEFAULT);
    let golden = Model::parse(common::GOLDEN_ALARM).unwrap();
    let alarm = golden.alarm();
    assert_eq!((alarm.average, alarm.raise, alarm.clear), (16, 24_576, 8192));
    assert_eq!((alarm.delay, alarm.settle, alarm.fault_windows), (4, 10, 6));
    let idle = alarm.idle.unwrap();
    assert_eq!(idle.below, Rms::of_samples(0.125).unwrap());
    assert_eq!((idle.until, alarm.hold), (Rms::of_samples(0.25).unwrap(), false));
    let severity = golden.severity().unwrap();
    assert_eq!([severity.low_hz, severity.high_hz, severity.unit], [160.0, 1000.0, 9.5]);
    assert_eq!(severity.limits, [1.5, 2.5, 4.5]);
    let with = common::golden_contents().with_sections(&[alarm_section(&all_changed())]);
    let with = with.unwrap();
    assert_eq!(with.model().alarm(), all_changed());
    assert_eq!(*Small::of_model(&with.model()).unwrap().parameters(), all_changed());
    let idle = IdleRms { below: Rms::of_counts(u32::MAX - 1), until: Rms::of_counts(u32::MAX) };
    let counts = AlarmParameters { idle: Some(idle), ..all_changed() };
    let with = common::golden_i16_contents().with_sections(&[alarm_section(&counts)]).unwrap();
    assert_eq!(with.model().alarm(), counts);
    assert_eq!(*Small::of_model(&with.model()).unwrap().parameters(), counts);
    // Read as floats, these counts are not valid.
    let error = common::golden_contents().with_sections(&[alarm_section(&counts)]).unwrap_err();
    assert_eq!(error, ModelError::OutOfRange { field: "idle rms", index: 0 });
}

#[test]
fn what_a_decision_cannot_go_by_is_refused() {
    let good = AlarmParameters::DEFAULT;
    let swapped = IdleRms { below: idle().until, until: idle().below };
    let cases = [
        ("windows to average", AlarmParameters { average: 0, ..good }),
        ("windows to average", AlarmParameters { average: 257, ..good }),
        ("raise threshold", AlarmParameters { raise: 0, ..good }),
        ("raise threshold", AlarmParameters { raise: ONE + 1, ..good }),
        ("clear threshold", AlarmParameters { clear: 0, ..good }),
        ("clear threshold", AlarmParameters { clear: good.raise, ..good }),
        ("delay", AlarmParameters { delay: 0, ..good }),
        ("delay", AlarmParameters { delay: u32::MAX, ..good }),
        ("settle time", AlarmParameters { settle: u32::MAX, ..good }),
        ("fault windows", AlarmParameters { fault_windows: 0, ..good }),
        ("idle rms", AlarmParameters { idle: Some(swapped), ..good }),
    ];
    let plain = common::golden_contents();
    for (field, bad) in cases {
        let error = ModelError::OutOfRange { field, index: 0 };
        assert_eq!(Small::new(bad, CLASSES, Some(0)).map(drop), Err(error), "{bad:?}");
        let section = [alarm_section(&bad)];
        assert_eq!(plain.with_sections(&section).map(drop), Err(error), "{bad:?}");
        let integer = common::golden_i16_contents();
        assert_eq!(integer.with_sections(&section).map(drop), Err(error), "{bad:?}");
    }
    let fit = |what, needs, holds| Err(ModelError::DoesNotFit { what, needs, holds });
    assert_eq!(Alarm::<2, 32>::new(good, 3, None).map(drop), fit("classes", 3, 2));
    let small = Alarm::<3, 7>::new(good, 3, None).map(drop);
    assert_eq!(small, fit("windows to average", 8, 7));
    assert_eq!((probability(0.5), probability(2.0), probability(-1.0)), (ONE / 2, ONE, 0));
    assert_eq!(probability(f32::NAN), 0);
    assert_eq!(Rms::of_samples(f32::NAN), None);
}

#[test]
fn damaged_sections_are_refused() {
    let floats = common::golden_contents().with_sections(&[alarm_section(&all_changed())]);
    let floats = floats.unwrap();
    for bit in 0..8 * floats.bytes().len() {
        let mut bytes = floats.bytes().to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        ModelBytes::from_bytes(&bytes).expect_err("this must be refused");
    }
    for length in 0..floats.bytes().len() {
        ModelBytes::from_bytes(&floats.bytes()[..length]).expect_err("cut short");
    }
    // With a correct checksum: an unknown flag, and an idle rms without its flag.
    let at = floats.bytes().len() - 12;
    for (flags, field) in [(4_u32, "alarm flags"), (0, "idle rms")] {
        let mut bytes = floats.bytes().to_vec();
        bytes[at..at + 4].copy_from_slice(&flags.to_le_bytes());
        seal(&mut bytes);
        let error = ModelBytes::from_bytes(&bytes).unwrap_err();
        assert_eq!(error, ModelError::OutOfRange { field, index: 0 });
    }
    let short = Payload { section: Section::Alarm, bytes: vec![0; 32] };
    let error = common::golden_contents().with_sections(&[short]).unwrap_err();
    assert_eq!(error, ModelError::SectionLength { tag: *b"dcsn", needs: 36, has: 32 });
}

#[test]
fn integers_have_no_severity() {
    let numbers = [10.0_f32, 1000.0, 1.0, 1.0, 2.0, 3.0];
    let payload = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let section = Payload { section: Section::Severity, bytes: payload };
    let error = common::golden_i16_contents().with_sections(&[section]).unwrap_err();
    assert_eq!(error, ModelError::MixedEncodings { tag: *b"sevr" });
    IntegerModelBytes::from_bytes(common::GOLDEN_I16).unwrap();
}
