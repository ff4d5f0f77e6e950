//! Collects the lines of the emulated device into a run.

use anyhow::{Context, Result, bail};
use rebearing::model::Integers;
use rebearing::monitor::Capacities;
use rebearing::operation::AlarmState;
use rebearing::operation::alarm::Raised;
use rebearing::{IntegerStatistics, Label, Statistics};

use crate::device::line::{
    BitsSeen, EndSeen, FindingSeen, LabelSeen, Line, MonitorSeen, ReportSeen,
};
use crate::device::{DeviceClassification, DeviceFinding, DeviceSeverity, Shown};

pub use crate::device::line::DriftSeen as EmulatedDrift;

/// The output of the emulated device.
#[derive(Debug, Clone)]
pub struct EmulatedRun {
    /// The firmware's monitor type.
    pub monitor: Capacities,
    /// The monitor's RAM in bytes, as the firmware reports it.
    pub ram: usize,
    /// The findings of the run.
    pub findings: Vec<DeviceFinding>,
    /// The counts of its drift watch, if it has one.
    pub drift: Option<EmulatedDrift>,
}

/// The number format of a report's exact bits.
#[derive(Debug, Clone, Copy)]
pub(super) enum Numbers {
    /// The bits of floats.
    F32,
    /// Integers in the units of an `IntegerFinding`.
    I16 { counts_per_unit: f32 },
}

impl Numbers {
    fn nats(self, bits: u32) -> f32 {
        match self {
            Self::F32 => f32::from_bits(bits),
            Self::I16 { .. } => Integers::shown_nats(bits.cast_signed()),
        }
    }

    fn probability(self, bits: u32) -> f32 {
        match self {
            Self::F32 => f32::from_bits(bits),
            Self::I16 { .. } => Integers::shown_probability(bits as u16),
        }
    }

    fn statistics(self, bits: [u32; 4]) -> Statistics {
        match self {
            Self::F32 => {
                let [level, rms, kurtosis, crest] = bits.map(f32::from_bits);
                Statistics { level, rms, kurtosis, crest }
            }
            Self::I16 { counts_per_unit } => {
                let [level, rms, kurtosis, crest] = bits;
                let level = level.cast_signed();
                let axis = IntegerStatistics { level, rms, kurtosis, crest };
                Integers::shown_statistics(axis, counts_per_unit)
            }
        }
    }
}

/// Parses all lines of a run.
pub(super) fn parse(text: &str, numbers: Numbers) -> Result<EmulatedRun> {
    let (mut monitor, mut end) = (None, None);
    let mut findings = Vec::new();
    for text in text.lines() {
        match Line::parse(text.as_bytes()) {
            Line::Model(_) => {}
            Line::Monitor(seen) => monitor = Some(seen),
            Line::Report(report) => {
                findings.push(finding(&report, numbers).with_context(|| text.to_owned())?);
            }
            Line::End(seen) => end = Some(seen),
            Line::Damaged(reason) => bail!("{text}: {reason}"),
            Line::OtherVersion(_) | Line::Text(_) => bail!("{text}"),
        }
    }
    let MonitorSeen { capacities, ram } = monitor.context("no line says which monitor it runs")?;
    let EndSeen { findings: announced, drift } = end.context("it stopped before its end")?;
    if announced != findings.len() {
        bail!("{} findings came, but it announced {announced}", findings.len());
    }
    Ok(EmulatedRun { monitor: capacities, ram, findings, drift })
}

/// Converts a report to a finding with the exact value of each number.
fn finding(report: &ReportSeen, numbers: Numbers) -> Result<DeviceFinding> {
    let bits = report.bits.as_ref();
    let result = match &report.finding {
        Ok(found) => Ok(classification(found, bits.context("no exact bits")?, numbers)),
        Err(fault) => Err(*fault),
    };
    let alarm = report.state.map(|state| AlarmState {
        state,
        alarm: report.alarm.as_ref().map(|alarm| Raised {
            label: label(&alarm.label),
            active: alarm.active,
            acknowledged: alarm.acknowledged,
        }),
        level: bits.and_then(|bits| bits.level),
    });
    Ok(DeviceFinding { index: report.window, result, alarm })
}

fn classification(found: &FindingSeen, bits: &BitsSeen, numbers: Numbers) -> DeviceClassification {
    let velocity = bits.velocity.iter().map(|bits| f32::from_bits(*bits)).collect();
    DeviceClassification {
        label: label(&found.label),
        gate_log_likelihood: bits.gate.map(|bits| numbers.nats(bits)),
        log_likelihood: bits.log_likelihood.map(|bits| numbers.nats(bits)),
        posterior: bits.posterior.iter().map(|bits| numbers.probability(*bits)).collect(),
        statistics: bits.statistics.iter().map(|axis| numbers.statistics(*axis)).collect(),
        severity: found.severity.as_ref().map(|(zone, _)| DeviceSeverity { velocity, zone: *zone }),
    }
}

fn label(seen: &LabelSeen) -> Label {
    match seen {
        LabelSeen::Class { index, .. } => Label::Class(*index),
        LabelSeen::Unknown => Label::Unknown,
        LabelSeen::UnknownFault => Label::UnknownFault,
    }
}

#[cfg(test)]
mod tests {
    use super::{EmulatedDrift, EmulatedRun, Numbers};
    use rebearing::operation::alarm::{AlarmState, Raised, State};
    use rebearing::operation::report_line::checksum;
    use rebearing::{Label, SensorFault, Statistics, Zone};

    const MONITOR: &str = "monitor model=f32 samples=f32 fft=4096 axes=1 features=768 \
                           components=4096 classes=256 ram=99";

    /// Adds the mark and the checksum to each line, and parses the lines.
    fn parse(lines: &[&str], numbers: Numbers) -> anyhow::Result<EmulatedRun> {
        let line = |line: &&str| {
            let text = format!("rb1 {line}");
            format!("{text} crc={:08x}\n", checksum(text.as_bytes()))
        };
        super::parse(&lines.iter().map(line).collect::<String>(), numbers)
    }

    #[test]
    fn integers_come_in_the_unit_of_the_recordings() {
        let numbers = Numbers::I16 { counts_per_unit: 2.0 };
        let report = "report 0 label=1:B p=250,750 ll=-0.50,-8.00 rms=4.000000 \
                      bits=-,ffffff80/00002000,00006000/00010000,00000400,00000300,00000180/-/-";
        let run = parse(&[MONITOR, report, "end findings=1"], numbers).unwrap();
        let found = run.findings[0].result.as_ref().unwrap();
        assert_eq!(found.log_likelihood, Some(-0.5));
        assert_eq!(found.posterior, [0.25, 0.75]);
        let axis = found.statistics[0];
        assert_eq!((axis.rms, axis.kurtosis, axis.crest), (2.0, 3.0, 1.5));
        // Twice the square of a count. Two counts make a unit.
        assert!((axis.level - 0.5_f32.ln()).abs() < 1e-6, "{}", axis.level);
    }

    #[test]
    fn reports_keep_their_bits() {
        let axis = "c2280000,3f800000,40400000,40800000";
        let run = parse(
            &[
                MONITOR,
                &format!(
                    "report 0 label=1:B p=250,750 ll=-42.00,-8.00 rms=1.000000,1.000000 zone=B \
                     velocity=1.500,2.000 bits=-,c2280000/3e800000,3f400000/{axis},00000000,\
                     3f800000,40400000,40800000/3fc00000,40000000/-"
                ),
                "report 1 fault=flat state=running level=0.038 alarm=1:B,on,new bits=-/-/-/-/000004d2",
                &format!(
                    "report 2 label=unknown p=1000,0 ll=-800.00,-8.00 rms=1.000000 \
                     bits=-,c4480000/3f800000,00000000/{axis}/-/-"
                ),
                &format!(
                    "report 3 label=unknown_fault p=0,0 gate=-800.00,-8.00 rms=1.000000 \
                     bits=c4480000,-/00000000,00000000/{axis}/-/-"
                ),
                "end findings=4 drift=3,1,2",
            ],
            Numbers::F32,
        )
        .unwrap();
        assert_eq!(run.drift, Some(EmulatedDrift { blocks: 3, drifted: 1, windows: 2 }));
        assert_eq!((run.monitor.fft, run.ram), (4096, 99));
        let first = run.findings[0].result.as_ref().unwrap();
        assert_eq!(first.label, Label::Class(1));
        assert_eq!((first.gate_log_likelihood, first.log_likelihood), (None, Some(-42.0)));
        assert_eq!(first.posterior, [0.25, 0.75]);
        let axis = Statistics { level: -42.0, rms: 1.0, kurtosis: 3.0, crest: 4.0 };
        assert_eq!(first.statistics, [axis, Statistics { level: 0.0, ..axis }]);
        let severity = first.severity.as_ref().unwrap();
        assert_eq!((&severity.velocity[..], severity.zone), (&[1.5, 2.0][..], Zone::B));
        assert_eq!(run.findings[1].result, Err(SensorFault::Flat));
        let alarm = Raised { label: Label::Class(1), active: true, acknowledged: false };
        let state = AlarmState { state: State::Running, alarm: Some(alarm), level: Some(1234) };
        assert_eq!(run.findings[1].alarm, Some(state));
        assert_eq!(run.findings[2].result.as_ref().unwrap().label, Label::Unknown);
        let last = run.findings[3].result.as_ref().unwrap();
        assert_eq!(last.label, Label::UnknownFault);
        assert_eq!((last.gate_log_likelihood, last.log_likelihood), (Some(-800.0), None));
    }

    #[test]
    fn a_device_that_stops_early_is_noticed() {
        let fault = "report 0 fault=flat";
        assert!(parse(&[MONITOR, fault, "end findings=1"], Numbers::F32).is_ok());
        assert!(parse(&[MONITOR, fault], Numbers::F32).is_err());
        assert!(parse(&[MONITOR, fault, "end findings=2"], Numbers::F32).is_err());
        assert!(parse(&["end findings=0"], Numbers::F32).is_err());
        let inexact = "report 0 label=unknown p=0,0 rms=1.000000";
        assert!(parse(&[MONITOR, inexact, "end findings=1"], Numbers::F32).is_err());
        assert!(super::parse("panicked\n", Numbers::F32).is_err());
    }
}
