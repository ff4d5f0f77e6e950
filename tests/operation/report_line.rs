//! The line of an i16 finding: the host reads what the device meant, and the exact bits as a field.

use crate::common;
use rebearing::operation::alarm::{AlarmState, State};
use rebearing::operation::{ModelLine, ReportLine};
use rebearing::{Alarm, AnyMonitor, IntegerFinding, IntegerModel, IntegerMonitor, SensorFault};
use rebearing_host::device::line::{Line, ReportSeen};

type Small = IntegerMonitor<'static, 256, 1, 4, 4, 3>;

fn model() -> IntegerModel<'static> {
    IntegerModel::parse(common::GOLDEN_I16).unwrap()
}

fn read(line: &str) -> ReportSeen {
    match Line::parse(line.as_bytes()) {
        Line::Report(seen) => *seen,
        other => panic!("{line}: {other:?}"),
    }
}

fn words(words: impl IntoIterator<Item = Option<u32>>) -> String {
    let word = |word: Option<u32>| word.map_or("-".into(), |word| format!("{word:08x}"));
    words.into_iter().map(word).collect::<Vec<_>>().join(",")
}

/// Returns the field of exact bits, by its description: log-likelihoods, posterior, statistics,
/// velocity, level.
fn bits(finding: &IntegerFinding<1, 3>, level: Option<u16>) -> String {
    let found = finding.result.as_ref().unwrap();
    let likelihoods = [found.gate_log_likelihood, found.log_likelihood];
    let [axis] = found.statistics;
    [
        words(likelihoods.map(|nats| nats.map(i32::cast_unsigned))),
        words(found.posterior.iter().map(|p| Some(u32::from(*p)))),
        words([axis.level.cast_unsigned(), axis.rms, axis.kurtosis, axis.crest].map(Some)),
        "-".into(),
        words([level.map(u32::from)]),
    ]
    .join("/")
}

#[test]
fn the_bits_of_an_i16_finding_are_those_of_its_numbers() {
    let model = model();
    let mut monitor = Small::new(model).unwrap();
    let mut alarm = Alarm::<3, 8>::of_model(&model).unwrap();
    let noise = |n: i32| (n * n % 977) as i16;
    let (mut lines, mut levels, mut gated) = (0, 0, 0);
    for n in 0..8000 {
        // The signal changes from white noise to high frequencies, so the windows differ.
        let x = if n < 4000 { noise(n) } else { noise(n) - noise(n - 1) };
        let Some(finding) = monitor.push([x]) else { continue };
        let state = alarm.update(&finding);
        let line = ReportLine::new(&model, &finding).alarm(&state).features(monitor.features());
        let (plain, exact) = (line.to_string(), line.exact().to_string());
        assert!(!plain.contains(" bits="), "{plain}");
        assert!(exact.contains(&format!(" bits={} crc=", bits(&finding, state.level))), "{exact}");

        // Without the bits, the rest is the plain line.
        assert_eq!(read(&exact).window, finding.index);
        let all = read(&exact);
        let seen_bits = all.bits.clone().expect("they were sent");
        assert_eq!(ReportSeen { bits: None, ..all }, read(&plain));
        assert_eq!((seen_bits.level, seen_bits.statistics.len()), (state.level, 1));
        let seen = read(&exact).finding.unwrap();
        let found = finding.result.as_ref().unwrap();
        for (seen, q15) in seen.posterior.iter().zip(&found.posterior) {
            assert!((seen - f32::from(*q15) / 32768.0).abs() <= 0.000_51, "{exact}");
        }
        for (seen, q8) in
            [(seen.gate, found.gate_log_likelihood), (seen.log_likelihood, found.log_likelihood)]
        {
            assert_eq!(seen.is_some(), q8.is_some(), "{exact}");
            let (seen, q8) = (seen.map_or(0.0, |(nats, _)| nats), q8.unwrap_or(0));
            assert!((seen - q8 as f32 / 256.0).abs() <= 0.006, "{exact}");
        }
        assert!((seen.rms[0] - found.statistics[0].rms as f32 / 256.0).abs() < 1e-3, "{exact}");
        lines += 1;
        levels += usize::from(state.level.is_some());
        gated += usize::from(found.log_likelihood.is_none());
    }
    // Some lines have a level and some have none; the same holds for a second log-likelihood.
    assert!(
        lines > 20 && (1..lines).contains(&levels) && (1..lines).contains(&gated),
        "{lines} {levels} {gated}"
    );
}

#[test]
fn a_sensor_fault_has_no_bits() {
    let model = model();
    let finding = Small::new(model).unwrap().discard(SensorFault::Overrun);
    let line = ReportLine::new(&model, &finding);
    assert_eq!(line.exact().to_string(), line.to_string());
    assert_eq!(read(&line.to_string()).finding, Err(SensorFault::Overrun));
    // The alarm may still have a level.
    let state = AlarmState { state: State::Running, alarm: None, level: Some(0x1234) };
    let line = line.alarm(&state).exact().to_string();
    assert!(line.contains(" bits=-/-/-/-/00001234 crc="), "{line}");
    assert_eq!(read(&line).bits.and_then(|bits| bits.level), Some(0x1234));
}

#[test]
fn an_i16_model_is_told_like_an_f32_one() {
    let Line::Model(seen) = Line::parse(ModelLine(&model()).to_string().as_bytes()) else {
        panic!("no model");
    };
    assert_eq!(seen.classes, ["Healthy", "InnerRace", "Käfig"]);
    assert_eq!((seen.bytes, seen.fft, seen.axes), (common::GOLDEN_I16.len(), 256, 1));
}
