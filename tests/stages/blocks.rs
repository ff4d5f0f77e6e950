//! Order and envelope features against the naive reference, and their behaviour without a speed.

use std::f64::consts::TAU;

use crate::common;
use proptest::collection::vec;
use proptest::prelude::*;
use rebearing::model::Section;
use rebearing::{AnyMonitor, Model, ModelError, Monitor, SensorFault, ShaftSpeedError};
use rebearing_host::data::recording::Recording;
use rebearing_host::data::split;
use rebearing_host::features::extract::extract;
use rebearing_host::features::front_end::{Blocks, EqualBands, FrontEndSettings, OrderSettings};
use rebearing_host::mixture::{Covariance, LabelledMixture, Mixture};
use rebearing_host::model::encoded::ModelBytes;
use rebearing_host::model::file::{ModelContents, encode, seal};

use rebearing::model::format;

const RATE_HZ: f64 = 10_000.0;
const FFT: usize = 512;
const HOP: usize = 256;
const SEGMENTS: usize = 3;
const SAMPLES: usize = FFT + HOP * (SEGMENTS - 1);
const BANDS: usize = 4;
const ORDER_BANDS: usize = 8;
const DIMS: usize = BANDS + 2 * ORDER_BANDS;

type All<'m> = Monitor<'m, f32, FFT, 1, DIMS, 1, 1>;

fn front_end(spectrum: bool, envelope: bool) -> FrontEndSettings {
    let bands = FrontEndSettings::equal_bands(EqualBands {
        rate_hz: RATE_HZ,
        axes: 1,
        fft_len: FFT,
        hop: HOP,
        segments: SEGMENTS,
        bands: BANDS,
    })
    .unwrap();
    let orders = OrderSettings { spectrum, envelope, bands: ORDER_BANDS, first: 0.5, width: 0.5 };
    FrontEndSettings { orders: Some(orders), ..bands }
}

/// Returns a model that passes its features through unchanged.
fn model(front_end: &FrontEndSettings) -> ModelBytes {
    let dims = front_end.dims();
    let mixture = LabelledMixture {
        mixture: Mixture {
            weights: ndarray::array![1.0],
            means: ndarray::Array2::zeros((1, dims)),
            covariance: Covariance::Diagonal(ndarray::Array2::ones((1, dims))),
        },
        labels: ndarray::array![[1.0]],
    };
    encode(&ModelContents {
        front_end,
        shift: &vec![0.0; dims],
        scale: &vec![1.0; dims],
        mixture: Some(&mixture),
        gate: None,
        class_names: &["any".into()],
        healthy: None,
        log_likelihood_min: None,
        source: "",
        target: "",
        hash: [0; 32],
    })
    .expect("a valid model")
}

/// Returns the features of one window, computed by the device's code.
fn device_features(front_end: &FrontEndSettings, x: &[f32], shaft_hz: f32) -> Vec<f32> {
    let bytes = model(front_end);
    let mut monitor = All::new(bytes.model()).unwrap();
    monitor.set_shaft_speed(shaft_hz).unwrap();
    let frames: Vec<[f32; 1]> = x.iter().map(|x| [*x]).collect();
    let mut findings = 0;
    monitor.push_slice(&frames, |finding| {
        finding.result.expect("a signal");
        findings += 1;
    });
    assert_eq!(findings, 1);
    monitor.features().to_vec()
}

/// The band-pass in full precision: Butterworth, order 6, 0.1 to 0.45 of the rate, as scipy's
/// `butter(3, [0.2, 0.9], "bandpass", output="sos")` gives it.
const BAND_PASS: [[f64; 5]; 3] = [
    [
        0.374_452_692_590_159_5,
        0.0,
        -0.374_452_692_590_159_5,
        0.232_616_819_602_144_7,
        -0.324_919_696_232_906_4,
    ],
    [1.0, -2.0, 1.0, -1.256_293_157_259_496, 0.568_105_573_813_060_3],
    [1.0, 2.0, 1.0, 1.657_036_408_642_480_7, 0.746_314_960_618_444_4],
];

/// Returns the envelope, by difference equations and the definition of the triangle.
fn envelope(x: &[f64], by: usize) -> Vec<f64> {
    let mut y: Vec<f64> = x.iter().map(|v| v - x[0]).collect();
    for [b0, b1, b2, a1, a2] in BAND_PASS {
        let input = y.clone();
        let before = |z: &[f64], n: usize, k: usize| if n >= k { z[n - k] } else { 0.0 };
        for n in 0..y.len() {
            let fed = b0 * input[n] + b1 * before(&input, n, 1) + b2 * before(&input, n, 2);
            y[n] = fed - a1 * before(&y, n, 1) - a2 * before(&y, n, 2);
        }
    }
    (0..x.len() / by)
        .map(|point| {
            let weight = |n: usize| 1.0 - (n as f64 - (point * by) as f64).abs() / by as f64;
            (0..x.len()).map(|n| y[n].abs() * weight(n).max(0.0)).sum()
        })
        .collect()
}

/// Returns the power between `low` and `high` bins; each bin is spread over k − ½ … k + ½.
fn power_between(power: &[f64], low: f64, high: f64) -> f64 {
    let overlap = |k: usize| (high.min(k as f64 + 0.5) - low.max(k as f64 - 0.5)).max(0.0);
    power.iter().enumerate().map(|(k, power)| overlap(k) * power).sum()
}

fn without_mean_logarithm(sums: &[f64]) -> Vec<f64> {
    let total: f64 = sums.iter().sum();
    let logs: Vec<f64> = sums.iter().map(|sum| (sum / total + 1e-12).ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    logs.iter().map(|log| log - mean).collect()
}

/// Returns the features of the orders and of the envelope's orders, by their definitions.
fn reference(x: &[f32], shaft_hz: f64, by: usize) -> (Vec<f64>, Vec<f64>) {
    let x: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
    let edge = |band: usize| (0.5 + 0.5 * band as f64) * shaft_hz * FFT as f64 / RATE_HZ;
    let mut sums = [vec![0.0; ORDER_BANDS], vec![0.0; ORDER_BANDS]];
    for segment in x.windows(FFT).step_by(HOP) {
        let spectra = [segment.to_vec(), envelope(segment, by)]
            .map(|window| common::power(&common::taper(&window)));
        for (sums, power) in sums.iter_mut().zip(&spectra) {
            for (band, sum) in sums.iter_mut().enumerate() {
                *sum += power_between(power, edge(band), edge(band + 1));
            }
        }
    }
    let [orders, envelope] = sums.map(|sums| without_mean_logarithm(&sums));
    (orders, envelope)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn orders_and_envelope_match_the_reference(
        noise in vec(-1.0_f32..1.0, SAMPLES),
        shaft_hz in 8.0_f32..1000.0,
        offset in -50.0_f32..50.0,
    ) {
        let x: Vec<f32> = noise.iter().map(|x| x + offset).collect();
        let features = device_features(&front_end(true, true), &x, shaft_hz);
        // The top order, 4.5, must lie below a quarter of the envelope's Nyquist frequency. That
        // frequency is 5000 Hz divided by `by`.
        let by = [8, 4, 2].into_iter().find(|by| 4.0 * 4.5 * f64::from(shaft_hz) <= 5000.0 / f64::from(*by));
        // Close to a limit either choice is right.
        prop_assume!([8.0, 4.0, 2.0].iter().all(|by| (18.0 * shaft_hz * by / 5000.0 - 1.0).abs() > 1e-3));
        let (orders, envelope) =
            reference(&x, f64::from(shaft_hz), by.map_or(1, |by| by as usize));
        for (a, b) in features[BANDS..].iter().zip(orders.iter().chain(&envelope)) {
            prop_assert!((f64::from(*a) - b).abs() < 2e-3, "{:?} {orders:?} {envelope:?}", &features[BANDS..]);
        }
        // Each block is the same without the other, and neither changes the bands.
        let [spectrum, enveloped] =
            [(true, false), (false, true)].map(|(s, e)| device_features(&front_end(s, e), &x, shaft_hz));
        prop_assert_eq!(&spectrum[..], &features[..BANDS + ORDER_BANDS]);
        prop_assert_eq!(&enveloped[BANDS..], &features[BANDS + ORDER_BANDS..]);
    }

    #[test]
    fn the_host_extracts_what_the_device_computes(
        x in vec(-1.0_f32..1.0, SAMPLES),
        rpm in 500.0_f64..50_000.0,
    ) {
        let front_end = front_end(true, true);
        let recording = Recording {
            rpm: Some(rpm),
            ..Recording::in_memory("made by a test", 1, vec![x.clone()])
        };
        let parts = split::whole(&[recording.stretch_frames()]);
        let shaft_hz = recording.shaft_hz().unwrap();
        let features = extract(&[recording], &parts, &front_end).unwrap();
        prop_assert_eq!(features.x.row(0).to_vec(), device_features(&front_end, &x, shaft_hz));
    }
}

/// Returns strikes that repeat `per_second` times a second and ring at 3.1 kHz.
fn strikes(per_second: f64) -> Vec<f32> {
    (0..SAMPLES)
        .map(|n| {
            let t = n as f64 / RATE_HZ;
            let since = t - (t * per_second).floor() / per_second;
            ((TAU * 3100.0 * since).sin() * (-since * 900.0).exp() + 0.3 * (TAU * 60.0 * t).sin())
                as f32
        })
        .collect()
}

#[test]
fn strikes_stand_in_the_band_of_their_order_whatever_the_speed() {
    for shaft_hz in [45.0, 60.0, 90.0] {
        // 2.75 strikes per turn fall into the fifth band, 2.5 to 3 orders.
        let x = strikes(2.75 * f64::from(shaft_hz));
        let features = device_features(&front_end(true, true), &x, shaft_hz);
        let envelope = &features[BANDS + ORDER_BANDS..];
        let largest =
            (0..ORDER_BANDS).fold(0, |a, b| if envelope[b] > envelope[a] { b } else { a });
        assert_eq!(largest, 4, "{shaft_hz} Hz: {envelope:?}");
    }
}

#[test]
fn without_a_shaft_speed_there_is_no_label() {
    let bytes = model(&front_end(true, false));
    let mut monitor = All::new(bytes.model()).unwrap();
    let x = strikes(100.0);
    let feed = |monitor: &mut All<'_>| {
        monitor.clear();
        x.iter().find_map(|x| monitor.push([*x])).unwrap().result.err()
    };
    assert_eq!(feed(&mut monitor), Some(SensorFault::NoShaftSpeed));
    monitor.set_shaft_speed(25.0).unwrap();
    assert_eq!(feed(&mut monitor), None);
    // 4.5 orders reach 5 kHz at 1111 turns a second.
    for (hz, positive) in [(0.0, false), (f32::NAN, false), (-3.0, false), (1112.0, true)] {
        monitor.set_shaft_speed(25.0).unwrap();
        match monitor.set_shaft_speed(hz).unwrap_err() {
            ShaftSpeedError::NotPositive => assert!(!positive),
            ShaftSpeedError::TooHigh { most_hz } => {
                assert!(positive && (most_hz - 1111.1).abs() < 0.1);
            }
        }
        assert_eq!(feed(&mut monitor), Some(SensorFault::NoShaftSpeed), "the old speed is gone");
    }
    monitor.set_shaft_speed(1111.0).unwrap();
    assert_eq!(feed(&mut monitor), None);
}

#[test]
fn a_recording_without_a_speed_is_refused_by_name() {
    let recording =
        |rpm| Recording { rpm, ..Recording::in_memory("slow.wav", 1, vec![strikes(100.0)]) };
    let refusal = |rpm, front_end: &FrontEndSettings| {
        let parts = split::whole(&[recording(rpm).stretch_frames()]);
        extract(&[recording(rpm)], &parts, front_end).map(drop).map_err(|error| error.to_string())
    };
    let error = refusal(None, &front_end(true, false)).unwrap_err();
    assert!(error.contains("slow.wav") && error.contains("rpm column"), "{error}");
    let error = refusal(Some(70_000.0), &front_end(true, false)).unwrap_err();
    assert!(error.contains("66666 rpm") && error.contains("`blocks` bands"), "{error}");
    let bands = front_end(true, false).with_blocks(Blocks::default()).unwrap();
    assert_eq!(refusal(None, &bands), Ok(()));
}

#[test]
fn orders_that_make_no_sense_are_refused() {
    let good = model(&front_end(true, true));
    let parsed = Model::parse(good.bytes()).unwrap().front_end().orders.unwrap();
    assert!(parsed.spectrum && parsed.envelope);
    assert_eq!((parsed.bands, parsed.first, parsed.width), (ORDER_BANDS, 0.5, 0.5));
    let tag = good.bytes().windows(4).position(|tag| tag == Section::Orders.tag()).unwrap();
    let at = tag + format::SECTION_HEADER_LEN;
    let cases: [(&str, usize, u32); 9] = [
        ("order blocks", 0, 0),
        ("order blocks", 0, 4),
        ("number of order bands", 4, 0),
        ("number of order bands", 4, 127),
        ("number of order bands", 4, u32::MAX),
        ("first order", 8, 0),
        ("first order", 8, f32::NAN.to_bits()),
        ("width of an order band", 12, (-0.5_f32).to_bits()),
        ("width of an order band", 12, f32::INFINITY.to_bits()),
    ];
    for (name, offset, word) in cases {
        let mut bytes = good.bytes().to_vec();
        bytes[at + offset..at + offset + 4].copy_from_slice(&word.to_le_bytes());
        seal(&mut bytes);
        match ModelBytes::from_bytes(&bytes).expect_err("this must be refused") {
            ModelError::OutOfRange { field, .. } => assert_eq!(field, name),
            error => panic!("{name}: {error}"),
        }
    }
    // One block fewer than the tables describe.
    let mut bytes = good.bytes().to_vec();
    bytes[at] = 1;
    seal(&mut bytes);
    let error = ModelBytes::from_bytes(&bytes).unwrap_err();
    assert!(
        matches!(error, ModelError::SectionLength { tag, .. } if tag == Section::Scaling.tag()),
        "{error}"
    );
}
