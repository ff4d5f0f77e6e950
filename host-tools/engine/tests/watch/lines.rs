//! Finding lines: the host reads exactly what a device meant, and accepts nothing else.

use std::fmt::Write as _;

use proptest::prelude::*;
use rebearing::model::ONE;
use rebearing::operation::alarm::{AlarmState, Raised, State};
use rebearing::operation::report_line::{ModelLine, ReportLine, checksum};
use rebearing::{
    Classification, Finding, Label, Model, SensorFault, Severity, Statistics, Zone, include_model,
};
use rebearing_host::device::line::{BitsSeen, LabelSeen, Line, ReportSeen};

static GATE: &[u8] = include_model!("../../../../tests/golden/model-v1-gate.rbm");

fn model() -> Model<'static> {
    Model::parse(GATE).unwrap()
}

fn fault() -> impl Strategy<Value = SensorFault> {
    prop_oneof![
        Just(SensorFault::NotFinite),
        Just(SensorFault::Flat),
        Just(SensorFault::OutOfRange),
        Just(SensorFault::NoShaftSpeed),
        Just(SensorFault::LostSamples),
        Just(SensorFault::Overrun),
        Just(SensorFault::Bus),
        Just(SensorFault::Clipped),
    ]
}

fn label() -> impl Strategy<Value = Label> {
    prop_oneof![
        (0..3_usize).prop_map(Label::Class),
        Just(Label::Unknown),
        Just(Label::UnknownFault)
    ]
}

fn state() -> impl Strategy<Value = State> {
    prop_oneof![
        Just(State::Idle),
        Just(State::Settling),
        Just(State::Filling),
        Just(State::Running),
        fault().prop_map(State::SensorFault),
    ]
}

fn alarm_state() -> impl Strategy<Value = AlarmState> {
    let alarm = (label(), any::<bool>(), any::<bool>())
        .prop_map(|(label, active, acknowledged)| Raised { label, active, acknowledged });
    (state(), proptest::option::of(alarm), proptest::option::of(0..=ONE))
        .prop_map(|(state, alarm, level)| AlarmState { state, alarm, level })
}

fn classification() -> impl Strategy<Value = Classification<2, 3>> {
    let nats = || proptest::option::of(prop_oneof![-1e6_f32..1e3, any::<f32>()]);
    let zones = prop_oneof![Just(Zone::A), Just(Zone::B), Just(Zone::C), Just(Zone::D)];
    let severity = (zones, 0.0_f32..100.0, 0.0_f32..100.0)
        .prop_map(|(zone, x, y)| Severity { velocity: [x, y], zone });
    let statistics = |level: f32, rms: f32| Statistics { level, rms, kurtosis: 3.0, crest: 2.0 };
    let numbers = (nats(), nats(), -30.0_f32..30.0, 0.0_f32..40000.0);
    (label(), [0.0_f32..=1.0, 0.0..=1.0, 0.0..=1.0], numbers, proptest::option::of(severity))
        .prop_map(move |(label, posterior, (gate, other, level, rms), severity)| Classification {
            label,
            gate_log_likelihood: gate,
            log_likelihood: other,
            posterior: posterior.into_iter().collect(),
            statistics: [statistics(level, rms), statistics(level / 2.0, rms / 7.0)],
            severity,
        })
}

fn finding() -> impl Strategy<Value = Finding<2, 3>> {
    (any::<u32>(), prop_oneof![4 => classification().prop_map(Ok), 1 => fault().prop_map(Err)])
        .prop_map(|(index, result)| Finding { index, result })
}

fn read(text: &str) -> ReportSeen {
    match Line::parse(text.as_bytes()) {
        Line::Report(report) => *report,
        line => panic!("{text}: {line:?}"),
    }
}

/// Returns true if both are NaN, or if they differ by at most half of the last written digit plus
/// the resolution of an f32.
fn near(seen: f32, sent: f32, places: i32) -> bool {
    let largest = u32::MAX as f32;
    let sent = if sent.abs() > largest { largest.copysign(sent) } else { sent };
    let off = (f64::from(seen) - f64::from(sent)).abs();
    (seen.is_nan() && sent.is_nan())
        || off <= 0.51 * 10_f64.powi(-places) + 3e-7 * f64::from(sent.abs())
}

/// Returns the exact bits of a finding, from its numbers.
fn finding_bits(finding: &Finding<2, 3>, level: Option<u16>) -> BitsSeen {
    let bits = |numbers: &[f32]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let found = finding.result.as_ref().ok();
    let statistics = found.map_or(&[][..], |found| &found.statistics).iter();
    BitsSeen {
        gate: found.and_then(|found| found.gate_log_likelihood).map(f32::to_bits),
        log_likelihood: found.and_then(|found| found.log_likelihood).map(f32::to_bits),
        posterior: found.map_or(vec![], |found| bits(&found.posterior)),
        statistics: statistics
            .map(|a| [a.level, a.rms, a.kurtosis, a.crest].map(f32::to_bits))
            .collect(),
        velocity: found.and_then(|found| found.severity).map_or(vec![], |s| bits(&s.velocity)),
        level,
    }
}

fn named(label: Label) -> LabelSeen {
    match label {
        Label::Class(index) => {
            LabelSeen::Class { index, name: model().class_name(index).unwrap().into() }
        }
        Label::Unknown => LabelSeen::Unknown,
        Label::UnknownFault => LabelSeen::UnknownFault,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(
        finding in finding(),
        alarm in proptest::option::of(alarm_state()),
        drift in proptest::option::of(any::<bool>()),
        before in "(|INFO  |\u{1b}\\[32mWARN\u{1b}\\[0m  |0.123 \\[W\\] )",
        after in "(|\r\n| └─ src/app.rs:12| \\(rtt.rs:44\\)\n)",
    ) {
        let model = model();
        let line = ReportLine::new(&model, &finding).drift(drift);
        let line = match &alarm {
            Some(alarm) => line.alarm(alarm),
            None => line,
        };
        let exact = read(&format!("{before}{}{after}", line.exact()));
        let seen = read(&format!("{before}{line}{after}"));
        let level = alarm.and_then(|alarm| alarm.level);
        let sent = (finding.result.is_ok() || level.is_some()).then(|| finding_bits(&finding, level));
        prop_assert_eq!(&exact.bits, &sent);
        // Compared as text, because no NaN equals another.
        let without = ReportSeen { bits: None, ..exact };
        prop_assert_eq!(format!("{without:?}"), format!("{seen:?}"));
        prop_assert_eq!(seen.window, finding.index);
        prop_assert_eq!(seen.drift, drift);
        prop_assert_eq!(seen.state, alarm.map(|alarm| alarm.state));
        let level = alarm.and_then(|alarm| alarm.level).map(|l| f32::from(l) / f32::from(ONE));
        prop_assert_eq!(seen.level.is_some(), level.is_some());
        prop_assert!(near(seen.level.unwrap_or(0.0), level.unwrap_or(0.0), 3));
        let raised = alarm.and_then(|alarm| alarm.alarm);
        prop_assert_eq!(seen.alarm.is_some(), raised.is_some());
        if let (Some(seen), Some(raised)) = (&seen.alarm, raised) {
            prop_assert_eq!(&seen.label, &named(raised.label));
            prop_assert_eq!((seen.active, seen.acknowledged), (raised.active, raised.acknowledged));
        }
        let (seen, sent) = match (&seen.finding, &finding.result) {
            (Ok(seen), Ok(sent)) => (seen, sent),
            (seen, sent) => {
                prop_assert_eq!(seen.as_ref().err(), sent.as_ref().err());
                return Ok(());
            }
        };
        prop_assert_eq!(&seen.label, &named(sent.label));
        for (seen, sent) in seen.posterior.iter().zip(&sent.posterior) {
            prop_assert!(near(*seen, *sent, 3));
        }
        let least = model.gate().unwrap().log_likelihood_min;
        for (seen, sent, least) in [
            (seen.gate, sent.gate_log_likelihood, least),
            (seen.log_likelihood, sent.log_likelihood, model.log_likelihood_min()),
        ] {
            prop_assert_eq!(seen.is_some(), sent.is_some());
            if let (Some(seen), Some(sent)) = (seen, sent) {
                prop_assert!(near(seen.0, sent, 2) && near(seen.1, least, 2), "{:?} {}", seen, sent);
            }
        }
        for (seen, sent) in seen.rms.iter().zip(&sent.statistics) {
            prop_assert!(near(*seen, sent.rms, 6), "{} {}", seen, sent.rms);
        }
        prop_assert_eq!(seen.severity.as_ref().map(|(zone, _)| *zone), sent.severity.map(|s| s.zone));
        if let (Some((_, seen)), Some(sent)) = (&seen.severity, &sent.severity) {
            prop_assert!(seen.iter().zip(&sent.velocity).all(|(seen, sent)| near(*seen, *sent, 3)));
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let report = matches!(Line::parse(&bytes), Line::Report(_) | Line::Model(_));
        prop_assert!(!report);
    }

    /// Bytes that look like a line, down to its checksum.
    #[test]
    fn any_words_are_read_without_a_panic(
        kind in "(report|model|monitor|end|mood) ?[0-9]{0,11}",
        words in proptest::collection::vec(
            "(label|p|ll|gate|rms|zone|velocity|state|level|alarm|drift|bands|bits|fault|classes|edges|fft|rate|findings|ram)=[-0-9a-fA-D:,.%x/]{0,12}", 0..12),
    ) {
        let mut line = format!("rb1 {kind}");
        for word in words {
            line = line + " " + &word;
        }
        let sum = checksum(line.as_bytes());
        Line::parse(format!("{line} crc={sum:08x}").as_bytes());
    }

    #[test]
    fn a_damaged_line_is_never_a_report(
        finding in finding(),
        at in any::<prop::sample::Index>(),
        flip in 1..=255_u8,
    ) {
        let model = model();
        let line = ReportLine::new(&model, &finding);
        let mut bytes = line.to_string().into_bytes();
        let cut = bytes[..at.index(bytes.len())].to_vec();
        prop_assert!(!matches!(Line::parse(&cut), Line::Report(_)));
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        let changed = Line::parse(&bytes);
        prop_assert!(!matches!(changed, Line::Report(_)), "{:?}", String::from_utf8_lossy(&bytes));
        bytes[at] ^= flip;
        bytes.remove(at);
        prop_assert!(!matches!(Line::parse(&bytes), Line::Report(_)));
    }
}

#[test]
fn two_lines_that_ran_together_are_damaged() {
    let model = model();
    let finding: Finding<1, 3> = Finding { index: 7, result: Err(SensorFault::Bus) };
    let line = ReportLine::new(&model, &finding);
    assert!(matches!(Line::parse(format!("{line}{line}").as_bytes()), Line::Damaged(_)));
    assert!(matches!(Line::parse(format!("{line} {line}").as_bytes()), Line::Damaged(_)));
    assert!(matches!(Line::parse(&line.to_string().as_bytes()[4..]), Line::Damaged(_)));
    assert_eq!(Line::parse(b"clock MHz=16\r"), Line::Text("clock MHz=16".into()));
    assert_eq!(Line::parse(b"\x1b[31mred\x1b[0m\x07"), Line::Text("red\u{fffd}".into()));
    assert_eq!(Line::parse(b"rb12 report 1 crc=00000000"), Line::OtherVersion("12".into()));
    // A word that only ends in the mark is not the mark.
    assert_eq!(Line::parse(b"verb1 x"), Line::Text("verb1 x".into()));
}

/// A golden line means the same in every later version of the tool.
#[test]
fn a_line_as_it_was_released_is_read() {
    let line = "rb1 report 21 label=1:Inner%20race p=0,950,50 gate=-15.28,-4.00 ll=-3.05,-8.00 \
                rms=828.605896 zone=C velocity=4.520 state=running level=0.875 \
                alarm=1:Inner%20race,on,new drift=1 later=field bands=b8b5b2ac";
    let seen = read(&format!("{line} crc={:08x}", checksum(line.as_bytes())));
    let finding = seen.finding.unwrap();
    assert_eq!(finding.label.word(), "Inner race");
    assert_eq!((finding.confidence(), finding.trend()), (Some(0.95), Some((-15.28, -4.0))));
    assert_eq!(finding.severity, Some((Zone::C, vec![4.52])));
    assert_eq!(seen.bands, [[56.0, 53.0, 50.0, 44.0]]);
    assert_eq!((seen.drift, seen.alarm.map(|alarm| alarm.active)), (Some(true), Some(true)));
}

#[test]
fn the_model_is_told() {
    let Line::Model(seen) = Line::parse(ModelLine(&model()).to_string().as_bytes()) else {
        panic!("no model");
    };
    assert_eq!(seen.classes, ["Healthy", "InnerRace", "Käfig"]);
    assert_eq!((seen.bytes, seen.fft, seen.axes), (GATE.len(), 256, 1));
    assert_eq!(seen.span_hz(), Some((0.0, 10000.0)));
}

/// Comparing every name with every other made 32 MB of such lines take half a minute.
#[test]
fn a_line_of_too_many_fields_is_damaged() {
    let with = |fields: usize| {
        let mut line = String::from("rb1 end findings=1");
        for field in 0..fields {
            write!(line, " f{field}=1").unwrap();
        }
        Line::parse(format!("{line} crc={:08x}", checksum(line.as_bytes())).as_bytes())
    };
    assert!(matches!(with(63), Line::End(_)), "later versions may have more fields");
    assert_eq!(with(64), Line::Damaged("more than 64 fields".into()));
    assert_eq!(with(3000), Line::Damaged("more than 64 fields".into()));
    let version = format!("rb{} report 1 crc=00000000", "1".repeat(16_000));
    assert!(matches!(Line::parse(version.as_bytes()), Line::Damaged(_)));
}
