//! The firmware's soak on the host: the same code must print the same line, and that line stands
//! beside the firmware, where `cargo xtask test soak` compares it with what the emulated cores
//! print.

#[path = "../../firmware-examples/src/soak.rs"]
#[allow(dead_code, unreachable_pub, reason = "the firmware uses the rest, as a library")]
mod firmware;

use crate::simulated::{self, Next, Simulated, TOUR, TOUR_WINDOWS};
use firmware::soak;
use rebearing::acquisition::Rails;
use rebearing::monitor::acquire;
use rebearing::operation::alarm::State;
use rebearing::operation::{DriftWatch, Feeding, ModelLine, ReportLine};
use rebearing::{Alarm, AnyMonitor, IntegerModel, IntegerMonitor, Model, Monitor, include_model};

static GATE: &[u8] = include_model!("../golden/model-v1-gate.rbm");
static I16: &[u8] = include_model!("../golden/model-v1-i16.rbm");

/// What the firmware adds: the host's stack is not looked at.
fn line(summary: &firmware::Summary) -> String {
    format!("{summary} stack=settled\n")
}

#[test]
fn ten_thousand_windows_are_as_the_emulated_cortex_m4f_has_them() {
    let model = Model::parse(GATE).unwrap();
    let mut monitor = Monitor::<f32, 256, 1, 4, 8, 4>::new(model).unwrap();
    let summary = soak(&mut monitor, model.front_end(), || ());
    assert_eq!(line(&summary), include_str!("../../firmware-examples/src/bin/soak-m4.txt"));
    assert_eq!((summary.reports, summary.wrong), (10_000, None));
}

#[test]
fn ten_thousand_windows_are_as_the_emulated_cortex_m0_has_them() {
    let model = IntegerModel::parse(I16).unwrap();
    let mut monitor = IntegerMonitor::<256, 1, 4, 8, 4>::new(model).unwrap();
    let summary = soak(&mut monitor, model.front_end(), || ());
    assert_eq!(line(&summary), include_str!("../../firmware-examples/src/bin/soak-m0.txt"));
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

impl firmware::Line for Broken<'_> {
    const PHASES: &'static [simulated::Phase] = <Monitor<'_, f32, 256, 1, 4, 8, 4>>::PHASES;
    const WINDOWS: usize = <Monitor<'_, f32, 256, 1, 4, 8, 4>>::WINDOWS;
    const REPORTS_GAPS: bool = true;

    fn acquire(&mut self, source: &mut Simulated, mut on_outcome: impl FnMut(firmware::Outcome)) {
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

#[test]
fn the_emulated_stm32f405_reports_what_the_host_does() {
    let model = Model::parse(GATE).unwrap();
    let mut monitor = Monitor::<i16, 2048, 1, 32, 64, 8>::new(model).unwrap();
    let mut source = Simulated::new(TOUR, 1, TOUR_WINDOWS, model.front_end());
    let mut alarm = Alarm::<8, 8>::of_model(&model).unwrap();
    let mut watch = model.drift().map(DriftWatch::new);
    let (mut lines, mut feeding) = (vec![ModelLine(&model).to_string()], Feeding::new());
    let (mut total, mut fed, mut bits) = (0, 0, 0);
    while source.next() != Next::End {
        let mut samples = [[0_i16; 1]; 128];
        let mut last = None;
        let count = acquire(&mut source, &Rails::FULL, &mut samples, &mut monitor, |finding| {
            assert_eq!(last.replace(finding), None, "two windows in one batch");
        });
        if let Some(finding) = last {
            let state = alarm.update(&finding);
            let runs = matches!(state.state, State::Filling | State::Running);
            if let Some(watch) = watch.as_mut().filter(|_| runs) {
                watch.update(&finding);
            }
            let drift = watch.as_ref().map(DriftWatch::raised);
            let line = ReportLine::new(&model, &finding).alarm(&state).drift(drift);
            let line = line.features(monitor.features());
            lines.push(line.to_string());
            if let Ok(found) = &finding.result {
                let nats = found.gate_log_likelihood.iter().chain(&found.log_likelihood);
                for number in found.posterior.iter().chain(nats) {
                    bits = firmware::mix(bits, number.to_bits());
                }
            }
            feeding.handed_on(&finding);
        }
        feeding.arrived(count);
        total += count;
        fed += usize::from(feeding.due());
    }
    lines.push(format!("done samples={total} fed={fed} bits={bits:08x}"));
    let device =
        include_str!("../../firmware-examples/boards/stm32f405/src/bin/stm32f405-qemu.txt").lines();
    // Before the reports the board says what it runs on.
    let device: Vec<&str> = device.skip_while(|line| !line.starts_with("rb1")).collect();
    assert_eq!(device, lines);
    assert!(lines.iter().any(|line| line.contains(" alarm=1:InnerRace,on,new ")), "{lines:?}");
}
