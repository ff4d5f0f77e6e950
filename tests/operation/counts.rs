//! Samples in counts and models in another unit: what measures is refused, what only labels is not.

use crate::common;
use rebearing::model::AlarmParameters;
use rebearing::monitor::{Capacities, Samples};
use rebearing::signal::SeverityParameters;
use rebearing::{Encoding, IntegerMonitor, Model, ModelError, Monitor};
use rebearing_host::data::units::Unit;
use rebearing_host::model::bytes::Payload;
use rebearing_host::model::encoded::ModelBytes;
use rebearing_host::model::sections::{alarm_section, severity_section, unit_section};

type OfFloats<'m> = Monitor<'m, f32, 256, 1, 4, 3, 3>;
type OfCounts<'m> = Monitor<'m, i16, 256, 1, 4, 3, 3>;

fn severity() -> Payload {
    severity_section(&SeverityParameters {
        low_hz: 160.0,
        high_hz: 1000.0,
        unit: 9.8,
        limits: [1.0, 2.0, 4.0],
    })
}

fn idle() -> Payload {
    let idle = Some(common::alarm::idle());
    alarm_section(&AlarmParameters { idle, ..AlarmParameters::DEFAULT })
}

fn model(sections: &[Payload]) -> ModelBytes {
    common::golden_contents().with_sections(sections).unwrap()
}

/// Whether a monitor of counts refuses the model, each time it could start.
fn refused(model: &Model<'_>) -> bool {
    assert_eq!(OfFloats::new(*model).err(), None, "samples in the model's unit are never refused");
    assert_eq!(OfFloats::CAPACITIES.check(model), Ok(()));
    let checks = [
        OfCounts::CAPACITIES.check(model),
        OfCounts::new(*model).map(drop),
        OfCounts::vacant().start(*model).map(|_| ()),
    ];
    assert_eq!(checks, [checks[0]; 3]);
    match checks[0] {
        Ok(()) => false,
        Err(ModelError::NotInCounts) => true,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn severity_and_idle_rms_in_another_unit_are_refused_by_a_monitor_of_counts() {
    let g = || unit_section(&Unit::G, Some(16.0));
    for measures in [severity, idle] {
        assert!(refused(&model(&[measures(), g()]).model()));
        // Counts of another converter, and a unit that nobody gave, are other units too.
        assert!(refused(&model(&[measures(), unit_section(&Unit::Counts(24), None)]).model()));
        assert!(refused(&model(&[measures()]).model()));
    }
    assert!(refused(&Model::parse(common::GOLDEN_ALARM).unwrap()));
    let error = OfCounts::new(model(&[severity(), g()]).model()).unwrap_err().to_string();
    assert!(error.contains("counts") && error.contains("unit"), "{error}");
}

#[test]
fn a_model_in_counts_or_one_that_only_labels_takes_counts() {
    let counts = || unit_section(&Unit::Counts(16), None);
    assert!(!refused(&model(&[severity(), counts()]).model()));
    assert!(!refused(&model(&[idle(), counts()]).model()));
    assert!(!refused(&model(&[unit_section(&Unit::G, None)]).model()));
    assert!(!refused(&model(&[]).model()));
}

#[test]
fn an_i16_model_takes_counts_whatever_its_recordings_were_in() {
    let sections = [unit_section(&Unit::G, Some(16.0)), alarm_section(&AlarmParameters::DEFAULT)];
    let bytes = common::golden_i16_contents().with_sections(&sections).unwrap();
    let fits = IntegerMonitor::<256, 1, 4, 4, 3>::new(bytes.model()).map(drop);
    assert_eq!(fits, Ok(()));
}

#[test]
fn a_type_refuses_the_other_encoding_and_what_it_cannot_hold() {
    let float = model(&[]);
    let integer = common::golden_i16_contents();
    let (of_floats, of_integers) =
        (OfFloats::CAPACITIES, IntegerMonitor::<'_, 256, 1, 4, 4, 3>::CAPACITIES);
    assert_eq!(
        of_floats.check(&integer.model()),
        Err(ModelError::WrongEncoding { found: Encoding::I16 })
    );
    assert_eq!(
        of_integers.check(&float.model()),
        Err(ModelError::WrongEncoding { found: Encoding::F32 })
    );
    assert_eq!((of_floats.samples, of_integers.samples), (Samples::Floats, Samples::Counts));
    let does_not_fit = |what, needs, holds| Err(ModelError::DoesNotFit { what, needs, holds });
    // Buffers of an i16 monitor are used to their end.
    let roomy = |of: Capacities| Capacities { fft: 512, ..of };
    assert_eq!(roomy(of_floats).check(&float.model()), Ok(()));
    assert_eq!(roomy(of_integers).check(&integer.model()), does_not_fit("FFT points", 256, 512));
    for (small, what, needs, holds) in [
        (Capacities { axes: 3, ..of_integers }, "axes", 1, 3),
        (Capacities { dims: 3, ..of_integers }, "features", 4, 3),
        (Capacities { components: 3, ..of_integers }, "components", 4, 3),
        (Capacities { classes: 2, ..of_integers }, "classes", 3, 2),
    ] {
        assert_eq!(small.check(&integer.model()), does_not_fit(what, needs, holds));
    }
}
