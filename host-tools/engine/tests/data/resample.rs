//! Resampling against scipy, its filter measured with tones, and input in chunks against input at
//! once.

use std::f64::consts::PI;

use proptest::prelude::*;
use rebearing_host::data::resample::{PASS, Resampler, resample};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    from_hz: f64,
    to_hz: f64,
    frames: usize,
    output_frames: usize,
    step: usize,
    outputs: Vec<f64>,
}

/// Returns the noise of the generator in `golden/resample.py`.
fn noise(frames: usize) -> Vec<f32> {
    let mut state = 1_u64;
    std::iter::repeat_with(|| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 48) as f32 / 256.0 - 100.0
    })
    .take(frames)
    .collect()
}

#[test]
fn scipy_gives_the_same_numbers() {
    let golden: Golden = serde_json::from_str(include_str!("golden/resample.json")).unwrap();
    assert_eq!(golden.cases.len(), 5);
    for case in golden.cases {
        let found = resample(&noise(case.frames), 1, case.from_hz, case.to_hz).unwrap();
        assert_eq!(found.len(), case.output_frames, "{} -> {}", case.from_hz, case.to_hz);
        let found = found.iter().step_by(case.step);
        assert_eq!(found.len(), case.outputs.len());
        for (found, wanted) in found.zip(case.outputs) {
            // Half a unit in the last place of an f32, plus the difference between two orders of
            // summation.
            let bound = wanted.abs() * f64::from(f32::EPSILON) / 2.0 + 1e-10;
            let error = (f64::from(*found) - wanted).abs();
            assert!(error <= bound, "{} -> {}: {found} for {wanted}", case.from_hz, case.to_hz);
        }
    }
}

/// Returns the gain in dB of a tone of unit amplitude, away from the ends of the recording.
fn gain_db(from_hz: f64, to_hz: f64, tone_hz: f64) -> f64 {
    let frames = (1.2 * from_hz) as usize;
    let sine = (0..frames).map(|n| (2.0 * PI * tone_hz * n as f64 / from_hz).sin() as f32);
    let out = resample(&sine.collect::<Vec<_>>(), 1, from_hz, to_hz).unwrap();
    let edge = 300.min(out.len() / 3);
    let middle = &out[edge..out.len() - edge];
    let power = middle.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / middle.len() as f64;
    10.0 * (2.0 * power).log10()
}

#[test]
fn the_pass_band_is_flat_and_nothing_comes_back_as_an_alias() {
    for (from_hz, to_hz) in
        [(25_600.0, 12_000.0), (20_000.0, 12_000.0), (48_000.0, 16_000.0), (25_641.0, 12_000.0)]
    {
        let half = to_hz / 2.0;
        for share in [0.01, 0.1, 0.333, 0.5, 0.71, 0.9, PASS] {
            let gain = gain_db(from_hz, to_hz, share * half);
            // The measured power of a sine over a part of a second has a small error of its own.
            assert!(gain.abs() <= 0.002, "{from_hz} -> {to_hz}: {gain} dB at {share}");
        }
        let above = (from_hz / to_hz - 1.0) / 8.0;
        for step in 0..8 {
            let share = 1.0005 + above * f64::from(step);
            let gain = gain_db(from_hz, to_hz, share * half);
            assert!(gain <= -100.0, "{from_hz} -> {to_hz}: {gain} dB at {share}");
        }
    }
}

#[test]
fn the_delay_is_taken_out() {
    // A slow tone goes in, and the same tone comes out at the new rate: sample for sample, except
    // near the ends.
    let tone = |rate_hz: f64, n: usize| (2.0 * PI * 40.0 * n as f64 / rate_hz).cos();
    let input: Vec<f32> = (0..25_600).map(|n| tone(25_600.0, n) as f32).collect();
    let out = resample(&input, 1, 25_600.0, 12_000.0).unwrap();
    assert_eq!(out.len(), 12_000);
    for (n, found) in out.iter().enumerate().skip(140).take(11_700) {
        assert!((f64::from(*found) - tone(12_000.0, n)).abs() < 1e-5, "{n}: {found}");
    }
    // A constant has no error at the ends either.
    let flat = resample(&[9.81; 1000], 1, 25_600.0, 12_000.0).unwrap();
    assert!(flat.iter().all(|x| (x - 9.81).abs() < 1e-5));
}

#[test]
fn segments_are_apart_and_empty_ones_stay_empty() {
    let mut resampler = Resampler::new(48_000.0, 16_000.0, 1).unwrap();
    let mut out = Vec::new();
    resampler.finish(&mut out);
    assert!(out.is_empty());
    let input = noise(500);
    for _ in 0..2 {
        let mut again = Vec::new();
        resampler.push(&input, &mut again);
        resampler.finish(&mut again);
        assert_eq!(again, resample(&input, 1, 48_000.0, 16_000.0).unwrap());
    }
    assert_eq!(resample(&[3.0], 1, 48_000.0, 16_000.0).unwrap().len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However the input is cut, the output has the same bits. Each axis has the bits that it has
    /// alone.
    #[test]
    fn chunks_change_nothing(
        rates in prop::sample::select(vec![(25_600.0, 12_000.0), (20_000.0, 12_000.0), (50_000.0, 1000.0), (44_100.0, 25_600.0)]),
        axes in 1..=3_usize,
        frames in 0..3000_usize,
        cuts in prop::collection::vec(0..3000_usize, 0..6),
    ) {
        let (from_hz, to_hz) = rates;
        let input = noise(frames * axes);
        let mut resampler = Resampler::new(from_hz, to_hz, axes).unwrap();
        let whole = resample(&input, axes, from_hz, to_hz).unwrap();
        prop_assert_eq!(whole.len() as u64, resampler.frames(frames as u64) * axes as u64);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(frames)).collect();
        cuts.extend([0, frames]);
        cuts.sort_unstable();
        let mut out = Vec::new();
        for pair in cuts.windows(2) {
            resampler.push(&input[pair[0] * axes..pair[1] * axes], &mut out);
        }
        resampler.finish(&mut out);
        prop_assert_eq!(&out, &whole);
        for axis in 0..axes {
            let own: Vec<f32> = input.iter().skip(axis).step_by(axes).copied().collect();
            let alone = resample(&own, 1, from_hz, to_hz).unwrap();
            let beside: Vec<f32> = whole.iter().skip(axis).step_by(axes).copied().collect();
            prop_assert_eq!(alone, beside);
        }
    }
}
