//! The firmware's soak on the host: the same code must print the same line, and that line stands
//! beside the firmware, where `cargo xtask test soak` compares it with what the emulated cores
//! print.

#[path = "../firmware-examples/src/simulated.rs"]
#[allow(dead_code, unreachable_pub, reason = "the firmware uses the rest, as a library")]
mod simulated;
#[path = "../firmware-examples/src/soak.rs"]
#[allow(dead_code, unreachable_pub, reason = "the firmware uses the rest, as a library")]
mod soak;

use rebearing::acquisition::{Rails, acquire};
use rebearing::decision::{State, Verdict};
use rebearing::integer::{IntegerModel, IntegerMonitor};
use rebearing::watchdog::Feeding;
use rebearing::{Decision, Label, Model, Monitor, Report, include_model};
use simulated::{Next, Simulated, TOUR, TOUR_WINDOWS};
use soak::soak;

static GATE: &[u8] = include_model!("golden/model-v1-gate.rbm");
static I16: &[u8] = include_model!("golden/model-v1-i16.rbm");

/// What the firmware adds: the host's stack is not looked at.
fn line(summary: &soak::Summary) -> String {
    format!("{summary} stack=settled\n")
}

#[test]
fn ten_thousand_windows_are_as_the_emulated_cortex_m4f_has_them() {
    let model = Model::parse(GATE).unwrap();
    let mut monitor = Monitor::<f32, 256, 1, 4, 8, 4>::new(model).unwrap();
    let summary = soak(&mut monitor, model.front_end(), || ());
    assert_eq!(line(&summary), include_str!("../firmware-examples/src/bin/soak-m4.txt"));
    assert_eq!((summary.reports, summary.wrong), (10_000, None));
}

#[test]
fn ten_thousand_windows_are_as_the_emulated_cortex_m0_has_them() {
    let model = IntegerModel::parse(I16).unwrap();
    let mut monitor = IntegerMonitor::<256, 1, 4, 8, 4>::new(model).unwrap();
    let summary = soak(&mut monitor, model.front_end(), || ());
    assert_eq!(line(&summary), include_str!("../firmware-examples/src/bin/soak-m0.txt"));
    assert_eq!((summary.reports, summary.wrong), (10_000, None));
}

/// A monitor that goes wrong once, in the middle of a phase, in one of the ways that are looked for.
struct Broken<'m> {
    monitor: Monitor<'m, f32, 256, 1, 4, 8, 4>,
    reports: u32,
    how: How,
}

#[derive(Clone, Copy, PartialEq)]
enum How {
    Swallows,
    Repeats,
    Clears,
}

impl soak::Line for Broken<'_> {
    const PHASES: &'static [simulated::Phase] = <Monitor<'_, f32, 256, 1, 4, 8, 4>>::PHASES;
    const WINDOWS: usize = <Monitor<'_, f32, 256, 1, 4, 8, 4>>::WINDOWS;
    const REPORTS_GAPS: bool = true;

    fn acquire(&mut self, source: &mut Simulated, mut on_outcome: impl FnMut(soak::Outcome)) {
        let Self { monitor, reports, how } = self;
        let mut clear = false;
        monitor.acquire(source, |outcome| {
            *reports += 1;
            let now = *reports == 5023;
            clear |= now && *how == How::Clears;
            if !(now && *how == How::Swallows) {
                on_outcome(outcome);
            }
            if now && *how == How::Repeats {
                on_outcome(outcome);
            }
        });
        if clear {
            monitor.clear();
        }
    }
}

#[test]
fn a_monitor_that_goes_wrong_once_is_found() {
    let model = Model::parse(GATE).unwrap();
    for (how, what) in [
        (How::Swallows, "index"),
        (How::Repeats, "index"),
        (How::Clears, "number of reports in a phase"),
    ] {
        let monitor = Monitor::new(model).unwrap();
        let mut broken = Broken { monitor, reports: 0, how };
        let summary = soak(&mut broken, model.front_end(), || ());
        assert_eq!(summary.wrong.map(|(_, wrong)| wrong), Some(what));
    }
}

/// A report as the boards' text journal prints it.
fn printed(model: &Model<'_>, report: &Report<1, 8>) -> String {
    let what = match &report.finding {
        Ok(finding) => {
            let label = match finding.label {
                Label::Class(class) => format!("class={}", model.class_name(class).unwrap()),
                Label::Unknown => "unknown".into(),
                Label::UnknownFault => "unknown_fault".into(),
            };
            let bits: Vec<String> =
                finding.posterior.iter().map(|p| format!("{:08x}", p.to_bits())).collect();
            format!("{label} posterior={}", bits.join(","))
        }
        Err(fault) => format!("sensor_fault {}", fault.name()),
    };
    format!("report {} {what}", report.index)
}

/// A verdict as the boards' text journal prints it.
fn changed(verdict: &Verdict) -> String {
    let state = match verdict.state {
        State::SensorFault(fault) => format!("sensor_fault:{}", fault.name()),
        state => state.name().into(),
    };
    let level = verdict.level.map_or("-".into(), |level| level.to_string());
    let alarm = verdict.alarm.map_or("-".into(), |alarm| {
        let label = match alarm.label {
            Label::Class(class) => class.to_string(),
            Label::Unknown => "unknown".into(),
            Label::UnknownFault => "unknown_fault".into(),
        };
        format!("{label}:{}:{}", u8::from(alarm.active), u8::from(alarm.acknowledged))
    });
    format!("now verdict={state},{level},{alarm}")
}

#[test]
fn the_emulated_stm32f405_reports_what_the_host_does() {
    let model = Model::parse(GATE).unwrap();
    let mut monitor = Monitor::<i16, 2048, 1, 32, 64, 8>::new(model).unwrap();
    let mut source = Simulated::new(TOUR, 1, TOUR_WINDOWS, model.front_end());
    let mut decision = Decision::<8, 8>::of_model(&model).unwrap();
    let mut last = None;
    let (mut lines, mut feeding) = (Vec::new(), Feeding::new());
    let (mut total, mut fed) = (0, 0);
    while source.next() != Next::End {
        let mut samples = [[0_i16; 1]; 128];
        let count = acquire(&mut source, &Rails::FULL, &mut samples, &mut monitor, |report| {
            lines.push(printed(&model, &report));
            let verdict = decision.report(&report);
            if last.replace((verdict.state, verdict.alarm)) != Some((verdict.state, verdict.alarm))
            {
                lines.push(changed(&verdict));
            }
            feeding.handed_on(&report);
        });
        feeding.arrived(count);
        total += count;
        fed += usize::from(feeding.due());
    }
    lines.push(format!("done samples={total} fed={fed}"));
    let device =
        include_str!("../firmware-examples/boards/stm32f405/src/bin/stm32f405-qemu.txt").lines();
    // Before the reports the board says what it runs on.
    let device: Vec<&str> = device.skip_while(|line| !line.starts_with("report")).collect();
    assert_eq!(device, lines);
    assert!(lines.iter().any(|line| line.ends_with(",1:1:0")), "no alarm of class 1: {lines:?}");
}
