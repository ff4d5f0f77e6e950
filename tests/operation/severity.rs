//! Velocity and zones: against sines of known velocity, and against the definition in f64.

use std::f64::consts::{PI, TAU};

use crate::common;
use ndarray::{Array2, array};
use proptest::collection::vec;
use proptest::prelude::*;
use rebearing::signal::SeverityParameters;
use rebearing::{AnyMonitor, Model, ModelError, Monitor, SensorFault, Severity, Zone};
use rebearing_host::features::front_end::FrontEndSettings;
use rebearing_host::mixture::{Covariance, LabelledMixture, Mixture};
use rebearing_host::model::encoded::ModelBytes;
use rebearing_host::model::file::{self, ModelContents};
use rebearing_host::model::sections::severity_section;

const RATE: f64 = 5120.0;
const G: f64 = 9.806_65;

fn front_end(axes: usize, segments: usize) -> FrontEndSettings {
    FrontEndSettings {
        rate_hz: RATE,
        axes,
        fft_len: 1024,
        hop: 512,
        segments,
        band_edges: vec![0, 64, 256, 513],
        orders: None,
    }
}

/// Parameters for a band from the second bin up to 1 kHz, and samples in g.
fn parameters() -> SeverityParameters {
    SeverityParameters { low_hz: 10.0, high_hz: 1000.0, unit: G as f32, limits: [1.4, 2.8, 4.5] }
}

fn model(axes: usize, segments: usize, severity: Option<SeverityParameters>) -> ModelBytes {
    let dims = 3 * axes;
    let mixture = LabelledMixture {
        mixture: Mixture {
            weights: array![1.0],
            means: Array2::zeros((1, dims)),
            covariance: Covariance::Diagonal(Array2::from_elem((1, dims), 4.0)),
        },
        labels: array![[1.0]],
    };
    let bytes = file::encode(&ModelContents {
        front_end: &front_end(axes, segments),
        shift: &vec![0.0; dims],
        scale: &vec![1.0; dims],
        mixture: Some(&mixture),
        gate: None,
        class_names: &["Healthy".into()],
        healthy: Some(0),
        log_likelihood_min: None,
        source: "motor-a",
        target: "motor-b",
        hash: [0; 32],
    })
    .expect("a valid model");
    let sections: Vec<_> = severity.iter().map(severity_section).collect();
    bytes.with_sections(&sections).expect("valid sections")
}

fn severities<const AXES: usize>(
    model: &ModelBytes,
    frames: &[[f32; AXES]],
) -> Vec<Option<Severity<AXES>>> {
    let mut monitor = Monitor::<f32, 1024, AXES, 9, 1, 1>::new(model.model()).unwrap();
    let mut found = Vec::new();
    monitor.push_slice(frames, |finding| found.push(finding.result.unwrap().severity));
    found
}

/// Returns the velocity rms in mm/s of a spectral line of `peak` g.
fn exact(peak: f64, hz: f64) -> f64 {
    1e3 * peak * G / (TAU * hz * 2.0_f64.sqrt())
}

/// Returns the largest relative error of a spectral line at `bins` bins.
fn bound(bins: f64) -> f64 {
    match bins {
        b if b < 3.0 => 0.035,
        b if b < 4.0 => 0.006,
        _ => 0.002,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_line_has_its_velocity_wherever_it_stands(
        // Frequencies on and between bins, from the lower end of the band to the upper.
        ln_hz in 10.0_f64.ln()..1000.0_f64.ln(),
        ln_peak in -7.0_f64..3.0,
        phase in 0.0..TAU,
        offset in -1.0_f64..1.0,
        segments in 1_usize..5,
    ) {
        let (hz, peak) = (ln_hz.exp(), ln_peak.exp());
        let frames: Vec<[f32; 1]> = (0..1024 + 512 * (segments - 1))
            .map(|n| [(offset + peak * (TAU * hz * n as f64 / RATE + phase).sin()) as f32])
            .collect();
        let found = severities(&model(1, segments, Some(parameters())), &frames);
        let velocity = f64::from(found[0].unwrap().velocity[0]);
        let error = velocity / exact(peak, hz) - 1.0;
        // Added to the bound: f32 loses digits of a small vibration on a large constant.
        let rounding = 1e-6 * offset.abs() / peak * (hz / 5.0);
        prop_assert!(error.abs() < bound(hz / 5.0) + rounding, "{hz} Hz: {error}");
    }

    #[test]
    fn noise_matches_the_definition(x in vec(-1.0_f32..1.0, 3 * 2048)) {
        let segments = 3;
        let (frames, _) = x.as_chunks::<3>();
        let found = severities(&model(3, segments, Some(parameters())), frames)[0].unwrap();
        let mut largest: f64 = 0.0;
        for axis in 0..3 {
            let x: Vec<f64> = frames.iter().map(|frame| f64::from(frame[axis])).collect();
            let exact = naive(&x, segments);
            let velocity = f64::from(found.velocity[axis]);
            prop_assert!((velocity / exact - 1.0).abs() < 1e-4, "{velocity} {exact}");
            largest = largest.max(velocity);
        }
        prop_assert_eq!(found.zone, parameters().zone(largest as f32));
    }
}

/// Returns the velocity rms in mm/s by the DFT's definition, in f64.
fn naive(x: &[f64], segments: usize) -> f64 {
    let points = 1024;
    let mut mean_square = 0.0;
    for segment in x.windows(points).step_by(512).take(segments) {
        // Removes the mean under the taper, so that no constant is left at all.
        let hann = |n: usize| 0.5 - 0.5 * (TAU * n as f64 / points as f64).cos();
        let weight: f64 = (0..points).map(hann).sum();
        let mean = segment.iter().enumerate().map(|(n, x)| x * hann(n)).sum::<f64>() / weight;
        let tapered: Vec<f64> =
            segment.iter().enumerate().map(|(n, x)| (x - mean) * hann(n)).collect();
        let power = common::power(&tapered);
        let squares: f64 = (0..points).map(|n| hann(n).powi(2)).sum();
        // From one bin below 10 Hz (bin 2) to two bins above 1000 Hz (bin 200).
        for (k, power) in power.iter().enumerate().take(203).skip(1) {
            let omega_squared = (2.0 * PI * RATE / points as f64).powi(2) * ((k * k + 1) as f64);
            mean_square += 2.0 * power / (points as f64 * squares) / omega_squared;
        }
    }
    1e3 * G * (mean_square / segments as f64).sqrt()
}

#[test]
fn lines_outside_the_band_do_not_count() {
    let model = model(1, 1, Some(parameters()));
    for hz in [1100.0, 2000.0] {
        let line: Vec<[f32; 1]> =
            (0..1024).map(|n| [(TAU * hz * f64::from(n) / RATE).sin() as f32]).collect();
        let velocity = f64::from(severities(&model, &line)[0].unwrap().velocity[0]);
        assert!(velocity < 0.01 * exact(1.0, hz), "{hz} Hz: {velocity}");
    }
}

#[test]
fn zones_begin_at_their_limits() {
    let zones = [0.0, 1.39, 1.4, 2.79, 2.8, 4.49, 4.5, 1e9].map(|v| parameters().zone(v));
    let expected = [Zone::A, Zone::A, Zone::B, Zone::B, Zone::C, Zone::C, Zone::D, Zone::D];
    assert_eq!(zones, expected);
    assert_eq!(parameters().zone(f32::NAN), Zone::D);
    assert_eq!(expected.map(Zone::name).concat(), "AABBCCDD");
    // The axis with the largest velocity sets the zone.
    let frames: Vec<[f32; 2]> = (0..1024)
        .map(|n| (TAU * 100.0 * f64::from(n) / RATE).sin() as f32)
        .map(|x| [0.01 * x, 0.2 * x])
        .collect();
    let found = severities(&model(2, 1, Some(parameters())), &frames)[0].unwrap();
    assert!(found.velocity[0] < 1.4 && found.velocity[1] > 2.2, "{found:?}");
    assert_eq!(found.zone, Zone::B);
}

#[test]
fn a_model_without_the_section_has_no_severity() {
    let frames: Vec<[f32; 1]> = (0..1024).map(|n| [(n as f32 * 0.3).sin()]).collect();
    assert_eq!(severities(&model(1, 1, None), &frames), [None]);
}

#[test]
fn samples_too_large_for_a_velocity_are_a_fault_and_never_a_number_without_meaning() {
    let model = model(1, 1, Some(parameters()));
    let mut monitor = Monitor::<f32, 1024, 1, 9, 1, 1>::new(model.model()).unwrap();
    let mut found = Vec::new();
    let loud: Vec<[f32; 1]> = (0..1024).map(|n| [1e19 * (n as f32 * 0.3).sin()]).collect();
    monitor.push_slice(&loud, |finding| found.push(finding.result.map(|f| f.severity)));
    assert_eq!(found, [Err(SensorFault::OutOfRange)]);
    monitor.clear();
    let huge: Vec<[f32; 1]> = (0..1024).map(|n| [1e15 * (n as f32 * 0.3).sin()]).collect();
    monitor.push_slice(&huge, |finding| {
        let severity = finding.result.unwrap().severity.unwrap();
        assert!(severity.velocity[0].is_finite() && severity.zone == Zone::D);
    });
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let good = parameters();
    let limits = |limits| SeverityParameters { limits, ..good };
    let cases = [
        // A bin is 5 Hz wide.
        ("lower end of the severity band", SeverityParameters { low_hz: 9.9, ..good }),
        ("lower end of the severity band", SeverityParameters { low_hz: f32::NAN, ..good }),
        ("upper end of the severity band", SeverityParameters { high_hz: 10.0, ..good }),
        ("upper end of the severity band", SeverityParameters { high_hz: 2561.0, ..good }),
        ("upper end of the severity band", SeverityParameters { high_hz: f32::NAN, ..good }),
        ("severity unit", SeverityParameters { unit: 0.0, ..good }),
        ("severity unit", SeverityParameters { unit: f32::INFINITY, ..good }),
        ("severity limits", limits([0.0, 1.0, 2.0])),
        ("severity limits", limits([1.0, 1.0, 2.0])),
        ("severity limits", limits([1.0, 2.0, f32::NAN])),
        ("severity limits", limits([1.0, 2.0, f32::INFINITY])),
    ];
    let plain = model(1, 1, None);
    for (field, bad) in cases {
        let error = plain.with_sections(&[severity_section(&bad)]).unwrap_err();
        assert_eq!(error, ModelError::OutOfRange { field, index: 0 }, "{bad:?}");
    }
    let twice = [severity_section(&good), severity_section(&good)];
    let error = plain.with_sections(&twice).unwrap_err();
    assert_eq!(error, ModelError::RepeatedSection { tag: *b"sevr" });
}

#[test]
fn the_parameters_read_as_they_were_written() {
    assert_eq!(model(1, 1, Some(parameters())).model().severity(), Some(parameters()));
    assert_eq!(Model::parse(common::GOLDEN).unwrap().severity(), None);
}
