//! The firmware on the emulated Cortex-M4F: every report is, bit for bit, the host's.
//!
//! These tests need QEMU and a toolchain for thumb, so a plain `cargo test` leaves them out;
//! `cargo xtask test` sets both up and runs them.

mod common;

use std::sync::LazyLock;

use rebearing::{Label, SensorFault};
use rebearing_host::adapt::verdict::{AdaptSettings, Pool, adapt};
use rebearing_host::device::{self, DeviceReport};
use rebearing_host::domain::Domain;
use rebearing_host::emulator::{Emulator, SampleKind};
use rebearing_host::extract::extract;
use rebearing_host::front_end::FrontEndSettings;
use rebearing_host::manifest::Manifest;
use rebearing_host::model_file::ModelBytes;
use rebearing_host::recording::Recording;
use rebearing_host::simulate::{SimulateSettings, simulate};
use rebearing_host::source::{Source, SourceSettings};

static EMULATOR: LazyLock<Emulator> =
    LazyLock::new(|| Emulator::find().expect("QEMU and the thumb toolchain are set up"));

fn golden() -> ModelBytes {
    ModelBytes::from_bytes(common::GOLDEN).expect("the golden file is valid")
}

fn recording(axes: usize, segments: Vec<Vec<f32>>) -> Recording {
    Recording { path: "made by a test".into(), rate_hz: None, rpm: None, axes, segments }
}

/// Runs a recording on both sides, asserts that they agree, and gives the reports.
fn both(model: &ModelBytes, recording: &Recording, kind: SampleKind) -> Vec<DeviceReport> {
    let host = device::run(model.model(), recording).expect("the model fits");
    let run = EMULATOR.run(model.bytes(), recording, kind).expect("the device runs");
    assert_eq!(run.ram, run.monitor.ram(kind.size()), "RAM as the type says");
    assert_eq!(host.len(), run.reports.len());
    for (host, device) in host.iter().zip(&run.reports) {
        assert!(host.same_bits(device), "host {host:?}\ndevice {device:?}");
    }
    run.reports
}

/// A model fitted and adapted on simulated machines, and the recordings it was adapted on.
fn simulated(axes: usize, seconds: f64, blocks: &str) -> (ModelBytes, Vec<Recording>) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let settings = SimulateSettings { axes, seconds, ..SimulateSettings::default() };
    let summary = simulate(&settings, directory.path(), &|_, _| ()).expect("a simulation");
    let manifest = Manifest::read(&summary.manifest).expect("its manifest");
    let known = Domain::read(&manifest, "motor-a").expect("the source's recordings");
    let new = Domain::read(&manifest, "motor-b").expect("the target's recordings");
    let front_end = FrontEndSettings::equal_bands(known.rate_hz, axes, 2048, 1024, 2, 32)
        .and_then(|front_end| front_end.with_blocks(blocks.parse().expect("blocks")))
        .expect("a front end");
    let source = Source::fit(&known, front_end, &SourceSettings::default()).expect("a source");
    let features = extract(&new.recordings, &new.whole(), &source.front_end).expect("features");
    let settings = AdaptSettings { pool: Pool::All, ..AdaptSettings::default() };
    let adaptation = adapt(&source, &features, &settings).expect("an adaptation");
    let model = adaptation.model(&source, "motor-b", [0; 32]).expect("a model");
    (model, new.recordings)
}

#[test]
#[ignore = "needs QEMU: cargo xtask test device"]
fn five_hundred_windows_of_simulated_machines_agree() {
    let (model, recordings) = simulated(1, 8.0, "bands");
    let mut windows = 0;
    for recording in &recordings {
        windows += both(&model, recording, SampleKind::F32).len();
    }
    assert!(windows >= 500, "only {windows} windows");
}

#[test]
#[ignore = "needs QEMU: cargo xtask test device"]
fn three_axes_agree() {
    let (model, recordings) = simulated(3, 4.0, "bands");
    for recording in &recordings {
        assert!(!both(&model, recording, SampleKind::F32).is_empty());
    }
}

#[test]
#[ignore = "needs QEMU: cargo xtask test device"]
fn silence_squares_impulses_and_bad_numbers_agree() {
    let model = golden();
    let square: Vec<f32> =
        (0..768).map(|i| if i / 24 % 2 == 0 { 32767.0 } else { -32768.0 }).collect();
    let mut impulse = vec![0.0; 768];
    impulse[300] = 32767.0;
    let with = |bad: f32| {
        let mut samples = square.clone();
        samples[40] = bad;
        samples
    };
    let first_fault = |samples: Vec<f32>| {
        both(&model, &recording(1, vec![samples]), SampleKind::F32)[0].finding.clone().err()
    };
    assert_eq!(first_fault(square.clone()), None);
    assert_eq!(first_fault(vec![0.0; 768]), Some(SensorFault::Flat));
    assert_eq!(first_fault(vec![9.81; 768]), Some(SensorFault::Flat));
    // The golden model's windows are short: the impulse is in the second segment only, and
    // the first is silent.
    assert_eq!(first_fault(impulse.clone()), Some(SensorFault::Flat));
    impulse[100] = -1.0;
    assert_eq!(first_fault(impulse.clone()), None);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(first_fault(with(bad)), Some(SensorFault::NotFinite));
    }
    assert_eq!(first_fault(with(f32::MAX)), Some(SensorFault::OutOfRange));
    for samples in [square, impulse, vec![0.0; 768]] {
        both(&model, &recording(1, vec![samples]), SampleKind::I16);
    }
}

#[test]
#[ignore = "needs QEMU: cargo xtask test device"]
fn orders_and_envelope_agree_and_need_a_shaft_speed() {
    let (model, recordings) = simulated(2, 4.0, "bands,orders,envelope");
    for recording in &recordings {
        assert!(recording.rpm.is_some());
        let reports = both(&model, recording, SampleKind::F32);
        assert!(!reports.is_empty() && reports.iter().all(|report| report.finding.is_ok()));
    }
    let unknown = Recording { rpm: None, ..recordings[0].clone() };
    for report in both(&model, &unknown, SampleKind::F32) {
        assert_eq!(report.finding.unwrap_err(), SensorFault::NoShaftSpeed);
    }
}

#[test]
#[ignore = "needs QEMU: cargo xtask test device"]
fn gate_and_direction_agree() {
    let model = ModelBytes::from_bytes(common::GOLDEN_GATE).expect("the golden file is valid");
    let noise: Vec<f32> = (0..20_000_i32).map(|i| (i * i % 977) as f32).collect();
    let colours: [fn(&[f32]) -> f32; 4] =
        [|x| x[0], |x| x[0] + x[1], |x| x[0] - x[1], |x| x[0] - x[2]];
    let mut seen = Vec::new();
    for colour in colours {
        let samples = noise.windows(3).map(colour).collect();
        let reports = both(&model, &recording(1, vec![samples]), SampleKind::F32);
        seen.extend(reports.into_iter().map(|report| report.finding.expect("a signal").label));
    }
    for label in [Label::Class(0), Label::Class(1), Label::Class(2), Label::UnknownFault] {
        assert!(seen.contains(&label), "{label:?} is not put to the test: {seen:?}");
    }
}

#[test]
#[ignore = "needs QEMU: cargo xtask test device"]
fn samples_of_two_segments_never_share_a_window() {
    let model = golden();
    let noise: Vec<f32> = (0..600).map(|i| ((i * i) % 977) as f32).collect();
    let apart = both(
        &model,
        &recording(1, vec![noise[..300].to_vec(), noise[300..].to_vec()]),
        SampleKind::F32,
    );
    let together = both(&model, &recording(1, vec![noise]), SampleKind::F32);
    assert_eq!((apart.len(), together.len()), (0, 1));
}

#[test]
#[ignore = "needs QEMU: cargo xtask test device"]
fn a_refused_model_ends_with_a_failing_exit_code_and_its_reason() {
    let noise = recording(1, vec![(0..600).map(|i| ((i * i) % 977) as f32).collect()]);
    let mut damaged = common::GOLDEN.to_vec();
    damaged[200] ^= 1;
    let error = EMULATOR.run(&damaged, &noise, SampleKind::F32).expect_err("a damaged model");
    assert!(format!("{error:#}").contains("model refused: the model is damaged"), "{error:#}");
    let error = EMULATOR.run(&[0xff; 64], &noise, SampleKind::F32).expect_err("erased flash");
    assert!(format!("{error:#}").contains("not a rebearing model"), "{error:#}");
}
