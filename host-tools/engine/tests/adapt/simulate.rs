//! Simulated machines: the same bytes for the same seed, and the promised physics.

use std::f64::consts::TAU;
use std::fmt::Write;
use std::path::Path;

use rebearing_host::data::bearing::Bearing;
use rebearing_host::data::manifest::Manifest;
use rebearing_host::simulate::{Class, FileFormat, Machine, SimulateSettings, Summary, simulate};
use sha2::{Digest, Sha256};

fn simulated(settings: &SimulateSettings, out: &Path) -> Summary {
    simulate(settings, out, &|_, _| {}).unwrap()
}

/// Returns one hash over all files of a simulation, including their names.
fn hash(out: &Path) -> String {
    let manifest = Manifest::read(&out.join("manifest.csv")).unwrap();
    let mut hasher = Sha256::new();
    hasher.update(std::fs::read(&manifest.path).unwrap());
    for row in &manifest.rows {
        hasher.update(std::fs::read(&row.path).unwrap());
    }
    hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[test]
fn a_seed_gives_the_same_bytes_everywhere() {
    let settings = SimulateSettings { seconds: 0.5, axes: 2, ..SimulateSettings::default() };
    let out = tempfile::tempdir().unwrap();
    simulated(&settings, out.path());
    assert_eq!(
        hash(out.path()),
        "e907d04a5e344226f5a51a133ad38ef3ba15db2f918c5ae66a846188eb3ff9e7"
    );
    let other = tempfile::tempdir().unwrap();
    simulated(&SimulateSettings { seed: 2, ..settings }, other.path());
    assert_ne!(hash(out.path()), hash(other.path()));
}

#[test]
fn a_recording_does_not_depend_on_its_neighbours_or_the_threads() {
    let all = SimulateSettings { seconds: 0.2, ..SimulateSettings::default() };
    let one = SimulateSettings { classes: vec![Class::Ball], machines: 3, ..all.clone() };
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    simulated(&all, first.path());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| simulated(&one, second.path()));
    let read = |folder: &Path| std::fs::read(folder.join("motor-b/Ball.wav")).unwrap();
    assert_eq!(read(first.path()), read(second.path()));
}

#[test]
fn the_manifest_names_every_recording_with_rate_speed_and_label() {
    let settings = SimulateSettings {
        seconds: 0.25,
        axes: 3,
        machines: 3,
        rate_hz: 12_800,
        ..SimulateSettings::default()
    };
    let out = tempfile::tempdir().unwrap();
    let told = std::sync::Mutex::new(Vec::new());
    let summary = simulate(&settings, out.path(), &|done, total| {
        told.lock().unwrap().push((done, total));
    })
    .unwrap();
    let mut told = told.into_inner().unwrap();
    told.sort_unstable();
    assert_eq!(told, (1..=21).map(|done| (done, 21)).collect::<Vec<_>>());
    assert_eq!((summary.recordings, summary.frames), (21, 3200));

    let manifest = Manifest::read(&summary.manifest).unwrap();
    assert_eq!(manifest.domains(), ["motor-a", "motor-b", "motor-c"]);
    for domain in manifest.domains() {
        let rows = manifest.rows_of(domain).unwrap();
        let labels: Vec<_> = rows.iter().map(|row| row.label.as_deref().unwrap()).collect();
        assert_eq!(labels, Class::ALL.map(Class::label));
        for row in rows {
            let recording = manifest.recording(row).unwrap();
            assert_eq!((recording.axes, recording.stretch_frames()), (3, vec![3200]));
            assert_eq!(recording.first_non_finite().unwrap(), None);
            assert!(row.rpm.is_some());
            // Each axis has its own view of the same machine.
            let axis = |axis: usize| recording.stretches().unwrap()[0].iter().skip(axis).step_by(3);
            for (a, b) in [(0, 1), (1, 2), (0, 2)] {
                assert!(axis(a).zip(axis(b)).any(|(a, b)| (a - b).abs() > 1e-4));
            }
        }
    }
}

/// Returns the samples of one axis of a class on motor-a, ten seconds at 20 kHz.
fn recording(out: &Path, class: Class) -> Vec<f64> {
    let settings =
        SimulateSettings { classes: vec![class], machines: 1, ..SimulateSettings::default() };
    let summary = simulated(&settings, out);
    let manifest = Manifest::read(&summary.manifest).unwrap();
    let recording = manifest.recording(&manifest.rows[0]).unwrap();
    recording.stretches().unwrap()[0].iter().map(|&x| f64::from(x)).collect()
}

/// Returns the mean power at a frequency over pieces of one second, by definition.
fn power(samples: &[f64], frequency_hz: f64) -> f64 {
    let seconds = samples.chunks_exact(20_000);
    let n = seconds.len() as f64;
    seconds
        .map(|second| {
            let mean = second.iter().sum::<f64>() / second.len() as f64;
            let (mut re, mut im) = (0.0, 0.0);
            for (t, x) in second.iter().enumerate() {
                let (sin, cos) = (TAU * frequency_hz * t as f64 / 20_000.0).sin_cos();
                re += (x - mean) * cos;
                im += (x - mean) * sin;
            }
            (re * re + im * im) / n
        })
        .sum()
}

/// Returns the power near a frequency in the envelope, relative to the median around it.
fn prominence(envelope: &[f64], frequency_hz: f64) -> f64 {
    let peak = (-2..=2)
        .map(|step| power(envelope, frequency_hz + f64::from(step) * 0.5))
        .fold(0.0, f64::max);
    let mut around: Vec<f64> = (4..12)
        .flat_map(|step| [-1.0, 1.0].map(|sign| frequency_hz + sign * f64::from(step) * 1.3))
        .map(|frequency| power(envelope, frequency))
        .collect();
    around.sort_by(f64::total_cmp);
    peak / around[around.len() / 2]
}

#[test]
fn envelopes_of_defects_have_their_characteristic_frequency() {
    let machine = Machine::of_family(0, 1);
    let frequencies = Bearing::DEEP_GROOVE_6205.frequencies_hz(machine.rpm);
    let out = tempfile::tempdir().unwrap();
    let defects = [
        (Class::OuterRace, frequencies.outer_race),
        (Class::InnerRace, frequencies.inner_race),
        (Class::Ball, 2.0 * frequencies.ball_spin),
    ];
    for class in [Class::Healthy, Class::OuterRace, Class::InnerRace, Class::Ball] {
        let samples = recording(out.path(), class);
        // The rectified difference removes the shaft orders and leaves the bursts.
        let envelope: Vec<f64> = samples.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
        for (defect, frequency) in defects {
            let prominence = prominence(&envelope, frequency);
            if class == defect {
                assert!(prominence > 10.0, "{class} at {frequency}: {prominence}");
            } else if class == Class::Healthy {
                assert!(prominence < 10.0, "{class} at {frequency}: {prominence}");
            }
        }
    }
}

#[test]
fn shaft_orders_tell_imbalance_misalignment_and_looseness() {
    let shaft_hz = Machine::of_family(0, 1).rpm / 60.0;
    let out = tempfile::tempdir().unwrap();
    let orders = |class: Class| {
        let samples = recording(out.path(), class);
        [0.5, 1.0, 2.0, 9.0].map(|order| power(&samples, order * shaft_hz))
    };
    let healthy = orders(Class::Healthy);
    let imbalance = orders(Class::Imbalance);
    let misalignment = orders(Class::Misalignment);
    let looseness = orders(Class::Looseness);
    assert!(imbalance[1] > 30.0 * healthy[1] && imbalance[1] > 30.0 * imbalance[2]);
    assert!(misalignment[2] > 30.0 * healthy[2] && misalignment[2] > 2.0 * misalignment[1]);
    assert!(looseness[0] > 30.0 * healthy[0] && looseness[3] > 30.0 * healthy[3]);
}

#[test]
fn tables_hold_the_samples_and_the_rate_of_wav_files() {
    for axes in [1, 3] {
        let settings = SimulateSettings { seconds: 0.2, axes, ..SimulateSettings::default() };
        let read = |format| {
            let out = tempfile::tempdir().unwrap();
            let summary = simulated(&SimulateSettings { format, ..settings.clone() }, out.path());
            let manifest = Manifest::read(&summary.manifest).unwrap();
            let recordings = manifest.rows.iter().map(|row| manifest.recording(row).unwrap());
            recordings.map(|r| (r.rate_hz, r.stretches().unwrap().to_vec())).collect::<Vec<_>>()
        };
        assert_eq!(read(FileFormat::Csv), read(FileFormat::Wav));
    }
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let out = tempfile::tempdir().unwrap();
    let good = SimulateSettings::default();
    let cases = [
        (
            SimulateSettings { rate_hz: 0, ..good.clone() },
            "rate is 0; it must be 1000 to 200000 Hz",
        ),
        (SimulateSettings { seconds: f64::NAN, ..good.clone() }, "seconds is NaN"),
        (SimulateSettings { seconds: 0.0, ..good.clone() }, "seconds is 0"),
        (SimulateSettings { seconds: 1e9, ..good.clone() }, "0.1 to 600"),
        (SimulateSettings { axes: 4, ..good.clone() }, "axes is 4; it must be 1 to 3"),
        (SimulateSettings { machines: 0, ..good.clone() }, "machines is 0; it must be 1 to 26"),
        (SimulateSettings { machines: 27, ..good.clone() }, "machines is 27"),
        (SimulateSettings { classes: vec![], ..good.clone() }, "one class or more"),
        (SimulateSettings { classes: vec![Class::Ball; 2], ..good.clone() }, "each once"),
    ];
    for (settings, says) in cases {
        let message = simulate(&settings, out.path(), &|_, _| {}).unwrap_err().to_string();
        assert!(message.contains(says), "{message:?} does not say {says:?}");
    }
    assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 0);
    let file = out.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let message = simulate(&good, &file, &|_, _| {}).unwrap_err().to_string();
    assert!(message.contains("cannot make the folder"), "{message}");
}
