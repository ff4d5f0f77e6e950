//! The firmware's soak on the host. The same code must print the same line. The line is committed
//! with the firmware, and `cargo xtask test soak` compares it with the output of the emulated
//! cores.

#[path = "../../firmware-examples/src/soak.rs"]
#[allow(dead_code, unreachable_pub, reason = "the firmware uses the rest, as a library")]
mod firmware;

use crate::simulated::{Next, Simulated, SimulatedSample, TOUR, TOUR_WINDOWS};
use firmware::soak;
use rebearing::acquisition::Rails;
use rebearing::model::Numbers;
use rebearing::monitor::{AnyFinding, acquire};
use rebearing::operation::alarm::State;
use rebearing::operation::{DriftWatch, Feeding, ModelLine, ReportLine};
use rebearing::{Alarm, AnyMonitor, IntegerModel, IntegerMonitor, Model, Monitor, include_model};

static GATE: &[u8] = include_model!("../golden/model-v1-gate.rbm");
static I16: &[u8] = include_model!("../golden/model-v1-i16.rbm");

/// Returns the line with the field that the firmware adds. The host does not measure its stack.
fn line(summary: &firmware::Summary) -> String {
    format!("{summary} stack=settled\n")
}

#[test]
fn ten_thousand_windows_are_as_the_emulated_cortex_m4f_has_them() {
    let model = Model::parse(GATE).unwrap();
    let mut monitor = Monitor::<f32, 256, 1, 4, 8, 4>::new(model).unwrap();
    let summary = soak(&mut monitor, || ());
    assert_eq!(line(&summary), include_str!("../../firmware-examples/src/bin/soak-m4.txt"));
    assert_eq!((summary.findings, summary.wrong), (10_000, None));
}

#[test]
fn ten_thousand_windows_are_as_the_emulated_cortex_m0_has_them() {
    let model = IntegerModel::parse(I16).unwrap();
    let mut monitor = IntegerMonitor::<256, 1, 4, 8, 4>::new(model).unwrap();
    let summary = soak(&mut monitor, || ());
    assert_eq!(line(&summary), include_str!("../../firmware-examples/src/bin/soak-m0.txt"));
    assert_eq!((summary.findings, summary.wrong), (10_000, None));
}

/// One error of a monitor, in the middle of a phase. The soak must find each of these.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Swallows,
    Repeats,
    Clears,
}

/// Runs the soak with a monitor that makes one error.
fn broken(how: How) -> firmware::Summary {
    let model = Model::parse(GATE).unwrap();
    let mut monitor = Monitor::<f32, 256, 1, 4, 8, 4>::new(model).unwrap();
    let mut findings = 0;
    firmware::soak_with(
        f32::PHASES,
        model.front_end(),
        || (),
        |source, take| {
            let mut clear = false;
            firmware::step(&mut monitor, source, &mut |outcome| {
                findings += 1;
                let now = findings == 5023;
                clear |= now && how == How::Clears;
                if !(now && how == How::Swallows) {
                    take(outcome);
                }
                if now && how == How::Repeats {
                    take(outcome);
                }
            });
            if clear {
                monitor.clear();
            }
        },
    )
}

#[test]
fn a_monitor_that_goes_wrong_once_is_found() {
    for (how, what) in [
        (How::Swallows, "index"),
        (How::Repeats, "index"),
        (How::Clears, "number of findings in a phase"),
    ] {
        assert_eq!(broken(how).wrong.map(|(_, wrong)| wrong), Some(what));
    }
}

/// Returns the lines of a board on the tour, from the first report line on.
fn tour<'m, M, const CLASSES: usize>(monitor: &mut M) -> Vec<String>
where
    M: AnyMonitor<'m, 1, CLASSES, Sample = i16>,
{
    let model = *monitor.model();
    let mut source = Simulated::new(TOUR, 1, TOUR_WINDOWS, model.front_end());
    let mut alarm = Alarm::<CLASSES, 8>::of_model(&model).unwrap();
    let mut watch = model.drift().map(DriftWatch::new);
    let (mut lines, mut feeding) = (vec![ModelLine(&model).to_string()], Feeding::new());
    let (mut total, mut fed, mut bits) = (0, 0, 0);
    while source.next() != Next::End {
        let mut samples = [[0_i16; 1]; 128];
        let mut last = None;
        let count = acquire(&mut source, &Rails::FULL, &mut samples, monitor, |finding| {
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
            bits = mix_finding(bits, &finding);
            feeding.handed_on(&finding);
        }
        feeding.arrived(count);
        total += count;
        fed += usize::from(feeding.due());
    }
    lines.push(format!("done samples={total} fed={fed} bits={bits:08x}"));
    lines
}

fn mix_finding<N: Numbers, const CLASSES: usize>(
    bits: u32,
    finding: &AnyFinding<N, 1, CLASSES>,
) -> u32 {
    let Ok(found) = &finding.result else { return bits };
    let posterior = found.posterior.iter().map(|p| N::probability_bits(*p));
    let nats = found.gate_log_likelihood.iter().chain(&found.log_likelihood);
    posterior.chain(nats.map(|nats| N::log_likelihood_bits(*nats))).fold(bits, firmware::mix)
}

/// Asserts that the board prints these lines, after the lines that say what it runs on.
fn assert_same(device: &'static str, lines: &[String]) {
    let device: Vec<&str> = device.lines().skip_while(|line| !line.starts_with("rb1")).collect();
    assert_eq!(device, lines);
    assert!(lines.iter().any(|line| line.contains(" alarm=1:InnerRace,on,new ")), "{lines:?}");
}

#[test]
fn the_emulated_stm32f405_reports_what_the_host_does() {
    let model = Model::parse(GATE).unwrap();
    let lines = tour(&mut Monitor::<i16, 2048, 1, 32, 64, 8>::new(model).unwrap());
    let device =
        include_str!("../../firmware-examples/boards/stm32f405/src/bin/stm32f405-qemu.txt");
    assert_same(device, &lines);
}

#[test]
fn the_emulated_stm32f405_reports_what_the_host_does_with_an_i16_model() {
    let model = IntegerModel::parse(I16).unwrap();
    let lines = tour(&mut IntegerMonitor::<256, 1, 32, 64, 8>::new(model).unwrap());
    let device =
        include_str!("../../firmware-examples/boards/stm32f405/src/bin/stm32f405-qemu-i16.txt");
    assert_same(device, &lines);
}
