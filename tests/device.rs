//! The firmware on the emulated Cortex-M4F: every finding equals the host's, bit for bit.
//!
//! These tests need QEMU and a toolchain for thumb, so a plain `cargo test` leaves them out;
//! `cargo xtask test` sets both up and runs them.

mod common;

use std::sync::LazyLock;

use rebearing::model::{AlarmParameters, Floats, Numbers};
use rebearing::operation::DriftWatch;
use rebearing::signal::SeverityParameters;
use rebearing::{Label, SensorFault};
use rebearing_host::adapt::verdict::{AdaptSettings, Pool, adapt};
use rebearing_host::data::counts::{self, Counts};
use rebearing_host::data::domain::Domain;
use rebearing_host::data::manifest::Manifest;
use rebearing_host::data::recording::Recording;
use rebearing_host::device::emulator::{Core, EmulatedDrift, Emulator, SampleKind};
use rebearing_host::device::setup::Setup;
use rebearing_host::device::{self, DeviceFinding};
use rebearing_host::features::extract::extract;
use rebearing_host::features::front_end::{EqualBands, FrontEndSettings};
use rebearing_host::model::drift::DriftContents;
use rebearing_host::model::encoded::{IntegerModelBytes, ModelBytes};
use rebearing_host::model::integer_file::encode_integer;
use rebearing_host::model::quantise::quantise;
use rebearing_host::model::sections::drift_section;
use rebearing_host::model::sections::{alarm_section, severity_section};
use rebearing_host::simulate::{SimulateSettings, simulate};
use rebearing_host::source::{Source, SourceSettings};

static EMULATOR: LazyLock<Emulator> =
    LazyLock::new(|| Emulator::find(Setup::Ask).expect("QEMU and the thumb toolchain are set up"));

fn golden() -> ModelBytes {
    ModelBytes::from_bytes(common::GOLDEN).expect("the golden file is valid")
}

fn recording(axes: usize, segments: Vec<Vec<f32>>) -> Recording {
    Recording::in_memory("made by a test", axes, segments)
}

/// Runs a recording on both sides, asserts that they agree, and returns the findings.
fn both(model: &ModelBytes, recording: &Recording, kind: SampleKind) -> Vec<DeviceFinding> {
    let host = device::run(model.model(), recording).expect("the model fits");
    let run = EMULATOR.run(model.bytes(), recording, kind).expect("the device runs");
    assert_eq!(run.ram, run.monitor.device_ram(), "RAM as the type says");
    assert_eq!(host.len(), run.findings.len());
    for (host, device) in host.iter().zip(&run.findings) {
        assert!(host.same_bits(device), "host {host:?}\ndevice {device:?}");
    }
    run.findings
}

/// Returns a model fitted and adapted on simulated machines, and the recordings it was adapted on.
fn simulated(axes: usize, seconds: f64, blocks: &str) -> (ModelBytes, Vec<Recording>) {
    simulated_with(axes, seconds, blocks, (2048, 32))
}

fn simulated_with(
    axes: usize,
    seconds: f64,
    blocks: &str,
    (fft, bands): (usize, usize),
) -> (ModelBytes, Vec<Recording>) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let settings = SimulateSettings { axes, seconds, ..SimulateSettings::default() };
    let summary = simulate(&settings, directory.path(), &|_, _| ()).expect("a simulation");
    let manifest = Manifest::read(&summary.manifest).expect("its manifest");
    let known = Domain::read(&manifest, "motor-a").expect("the source's recordings");
    let new = Domain::read(&manifest, "motor-b").expect("the target's recordings");
    let front_end = FrontEndSettings::equal_bands(EqualBands {
        rate_hz: known.rate_hz,
        axes,
        fft_len: fft,
        hop: fft / 2,
        segments: 2,
        bands,
    })
    .and_then(|front_end| front_end.with_blocks(blocks.parse().expect("blocks")))
    .expect("a front end");
    let source = Source::fit(&known, front_end, &SourceSettings::default()).expect("a source");
    let features = extract(&new.recordings, &new.whole(), &source.front_end).expect("features");
    let settings = AdaptSettings { pool_is: Pool::All, force: true, ..AdaptSettings::default() };
    let adaptation = adapt(&source.into(), &features, &settings).expect("an adaptation");
    let model = adaptation.model("motor-b", [0; 32]).expect("a model");
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
fn severity_and_decisions_agree() {
    let (model, recordings) = simulated(3, 4.0, "bands");
    let severity = SeverityParameters {
        low_hz: 20.0,
        high_hz: 1000.0,
        unit: 9.806_65,
        limits: [0.5, 1.0, 2.0],
    };
    let alarm = AlarmParameters { average: 4, delay: 2, settle: 1, ..AlarmParameters::DEFAULT };
    let sections = [alarm_section(&alarm), severity_section(&severity)];
    let model = model.with_sections(&sections).expect("valid sections");
    let (mut alarms, mut quiet) = (0, 0);
    for recording in &recordings {
        for finding in both(&model, recording, SampleKind::F32) {
            assert!(finding.result.expect("a signal").severity.is_some());
            match finding.alarm.expect("the firmware has an alarm").alarm {
                Some(_) => alarms += 1,
                None => quiet += 1,
            }
        }
    }
    assert!(alarms > 0 && quiet > 0, "{alarms} {quiet}");
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
        both(&model, &recording(1, vec![samples]), SampleKind::F32)[0].result.clone().err()
    };
    assert_eq!(first_fault(square.clone()), None);
    assert_eq!(first_fault(vec![0.0; 768]), Some(SensorFault::Flat));
    assert_eq!(first_fault(vec![9.81; 768]), Some(SensorFault::Flat));
    // The golden model's windows are short. Only the second segment holds the impulse; the first is
    // silent.
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
        let findings = both(&model, recording, SampleKind::F32);
        assert!(!findings.is_empty() && findings.iter().all(|finding| finding.result.is_ok()));
    }
    let unknown = Recording { rpm: None, ..recordings[0].clone() };
    for finding in both(&model, &unknown, SampleKind::F32) {
        assert_eq!(finding.result.unwrap_err(), SensorFault::NoShaftSpeed);
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
        let findings = both(&model, &recording(1, vec![samples]), SampleKind::F32);
        seen.extend(findings.into_iter().map(|finding| finding.result.expect("a signal").label));
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

/// Runs an i16 model on the host, on the smallest core that it fits and on the Cortex-M4F. Asserts
/// that all agree, and returns the findings.
fn both_integer(model: &IntegerModelBytes, counts: &Counts) -> Vec<DeviceFinding> {
    let host = device::run_integer(&model.model(), counts).expect("the model fits");
    let smallest = EMULATOR.run_integer(model, counts).expect("the device runs");
    let largest = EMULATOR.run_integer_on(Core::CortexM4F, model, counts).expect("it runs");
    for run in [&smallest, &largest] {
        assert_eq!(run.ram, run.monitor.device_ram(), "RAM as the type says");
        assert_eq!(host.len(), run.findings.len());
        for (host, device) in host.iter().zip(&run.findings) {
            assert!(host.same_bits(device), "host {host:?}\ndevice {device:?}");
        }
    }
    smallest.findings
}

/// Returns the i16 model of an f32 model, and its recordings in counts.
fn in_counts(exact: &ModelBytes, recordings: &[Recording]) -> (IntegerModelBytes, Vec<Counts>) {
    let full_scale = counts::full_scale(recordings).expect("in memory").expect("a signal");
    let counts_per_unit = (32767.0 / full_scale) as f32;
    let contents = quantise(&exact.model(), counts_per_unit).expect("16 bits");
    let model = encode_integer(&exact.model(), &contents).expect("a model");
    let counts = recordings.iter().map(|recording| counts::counts(recording, counts_per_unit));
    (model, counts.collect::<Result<_, _>>().expect("no clipping"))
}

#[test]
#[ignore = "needs QEMU: cargo xtask test device"]
fn integers_on_a_cortex_m0_agree() {
    let (exact, recordings) = simulated_with(1, 2.0, "bands", (512, 32));
    let (model, recordings) = in_counts(&exact, &recordings);
    assert_eq!(Core::of_integer_model(&model.model()), Core::CortexM0);
    let windows: usize = recordings.iter().map(|counts| both_integer(&model, counts).len()).sum();
    assert!(windows >= 100, "only {windows} windows");

    let golden = IntegerModelBytes::from_bytes(common::GOLDEN_I16).expect("a valid file");
    let noise: Vec<i16> = (0..8000_i32).map(|i| (i * i % 977) as i16).collect();
    let colours: [fn(&[i16]) -> i16; 4] =
        [|x| x[0], |x| x[0] + x[1], |x| x[0] - x[1], |x| x[0] - x[2]];
    let mut seen = Vec::new();
    for colour in colours {
        let counts = Counts { axes: 1, stretches: vec![noise.windows(3).map(colour).collect()] };
        let findings = both_integer(&golden, &counts).into_iter();
        seen.extend(findings.map(|finding| finding.result.expect("a signal").label));
    }
    assert!(seen.contains(&Label::Class(0)) && seen.iter().any(|label| *label != seen[0]));
    let flat = Counts { axes: 1, stretches: vec![vec![5; 400]] };
    assert_eq!(both_integer(&golden, &flat)[0].result, Err(SensorFault::Flat));
}

#[test]
#[ignore = "needs QEMU: cargo xtask test device"]
fn integers_of_any_shape_agree_on_the_core_that_has_room() {
    for (axes, fft, bands, core) in [
        (2, 512, 32, Core::CortexM0),
        (3, 512, 21, Core::CortexM0),
        (3, 512, 32, Core::CortexM4F),
        (1, 2048, 32, Core::CortexM4F),
    ] {
        let (exact, recordings) = simulated_with(axes, 2.0, "bands", (fft, bands));
        let (model, recordings) = in_counts(&exact, &recordings[..1]);
        assert_eq!(Core::of_integer_model(&model.model()), core);
        assert!(!both_integer(&model, &recordings[0]).is_empty());
    }
}

#[test]
#[ignore = "needs QEMU: cargo xtask test device"]
fn the_drift_watch_counts_on_the_device_as_on_the_host() {
    let plain = IntegerModelBytes::from_bytes(common::GOLDEN_I16).expect("a valid file");
    let drift = DriftContents {
        block: 5,
        correlation: 1,
        deviation_min: -100,
        unknown_max: 3,
        blocks_per_false_alarm: 10,
        held_out: 100,
        held_out_unknown: 0,
        classes: vec![(0, 256); 3],
    };
    let model = plain.with_sections(&[drift_section(&drift)]).expect("a valid section");
    let noise: Vec<i16> = (0..9000_i32).map(|i| (i * i % 977) as i16).collect();
    let counts = Counts { axes: 1, stretches: vec![noise] };
    let view = model.model();
    let mut watch = DriftWatch::new(view.drift().expect("it was written"));
    for finding in device::run_integer(&view, &counts).expect("the model fits") {
        let found = finding.result.expect("a signal");
        let nats = found.log_likelihood.or(found.gate_log_likelihood);
        watch.window(found.label, nats.and_then(Floats::nats_q8));
    }
    let host = EmulatedDrift {
        blocks: watch.blocks() as usize,
        drifted: watch.drifted() as usize,
        windows: watch.windows() as usize,
    };
    assert!(host.blocks > 5 && host.drifted > 0, "{host:?}");
    assert_eq!(EMULATOR.run_integer(&model, &counts).expect("it runs").drift, Some(host));
    assert_eq!(EMULATOR.run_integer(&plain, &counts).expect("it runs").drift, None);
}

#[test]
#[ignore = "needs QEMU: cargo xtask test device"]
fn the_cortex_m0_firmware_has_no_floating_point() {
    let elf = std::fs::read(EMULATOR.elf(Core::CortexM0)).expect("the firmware was built");
    let names = symbol_names(&elf).expect("an ELF file with symbols");
    let has = |name: &str| {
        let name = format!("\0{name}");
        names.windows(name.len()).any(|window| window == name.as_bytes())
    };
    assert!(has("__aeabi_lmul"), "what it does call is found");
    // The compiler calls these functions for floats if the processor has none.
    let floats = ["__aeabi_f", "__aeabi_d", "__aeabi_i2f", "__aeabi_ui2f", "__addsf3", "__mulsf3"];
    for name in floats {
        assert!(!has(name), "{name} is linked");
    }
}

/// Returns the names in the symbol table of a 32-bit ELF file, each behind a zero byte.
fn symbol_names(elf: &[u8]) -> Option<&[u8]> {
    let word = |at: usize| Some(u32::from_le_bytes(*elf.get(at..)?.first_chunk()?) as usize);
    let table = word(0x20)?;
    let header = |index: usize| table + 40 * index;
    let count = word(0x30)? & 0xffff;
    // The symbol table is a section of type 2. It links to the section of its names.
    let symbols = (0..count).find(|index| word(header(*index) + 4) == Some(2))?;
    let names = header(word(header(symbols) + 24)?);
    elf.get(word(names + 16)?..)?.get(..word(names + 20)?)
}
