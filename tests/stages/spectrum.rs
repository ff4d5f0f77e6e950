//! The power spectrum of every length against a DFT in f64, computed by its definition.

use std::f64::consts::TAU;

use crate::common;
use proptest::prelude::*;
use rebearing::signal::Spectrum;

const LENGTHS: [usize; 8] = [32, 64, 128, 256, 512, 1024, 2048, 4096];

/// Largest error of a bin's power for noise and tones, as a share of the largest power: five units
/// of the last place. The largest error seen is 4e-7, here and with the crate `microfft`.
const LARGEST: f64 = 6e-7;

/// Largest error of a bin's power if an impulse makes every bin one of the largest, as a share of
/// the largest power. The largest error in 4000 tries was 1.1e-6, and 1.0e-6 with `microfft`.
const LARGEST_OF_ANY: f64 = 2e-6;

/// Smallest ratio of signal to error over all amplitudes for noise, in dB. Tries gave 140 to 144,
/// and 139.8 to 145 with `microfft`.
const NOISE_DB: f64 = 138.0;

/// Returns the power spectrum from a buffer of the segment's own length.
fn own_type(x: &[f32]) -> Vec<f32> {
    fn of<const FFT: usize>(x: &[f32]) -> Vec<f32> {
        let mut buffer: [f32; FFT] = x.try_into().expect("the length of the type");
        Spectrum::transform(&mut buffer, FFT).power().collect()
    }
    match x.len() {
        32 => of::<32>(x),
        64 => of::<64>(x),
        128 => of::<128>(x),
        256 => of::<256>(x),
        512 => of::<512>(x),
        1024 => of::<1024>(x),
        2048 => of::<2048>(x),
        4096 => of::<4096>(x),
        other => panic!("no spectrum of {other} points"),
    }
}

/// Returns the power spectrum from the longest buffer. NaN behind the segment must not matter.
fn longest_type(x: &[f32]) -> Vec<f32> {
    let mut buffer = [f32::NAN; 4096];
    buffer[..x.len()].copy_from_slice(x);
    Spectrum::transform(&mut buffer, x.len()).power().collect()
}

/// Returns the power of each bin and its exact value. Asserts that both buffers give the same bits.
fn spectra(x: &[f32]) -> (Vec<f64>, Vec<f64>) {
    let power = own_type(x);
    let bits = |power: &[f32]| power.iter().map(|p| p.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&power), bits(&longest_type(x)), "{} points", x.len());
    let exact: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
    (power.into_iter().map(f64::from).collect(), common::power(&exact))
}

/// Returns the largest error as a share of the largest power.
fn largest_error((power, exact): &(Vec<f64>, Vec<f64>)) -> f64 {
    assert_eq!(power.len(), exact.len());
    let peak = exact.iter().copied().fold(0.0, f64::max);
    power.iter().zip(exact).map(|(a, b)| (a - b).abs() / peak).fold(0.0, f64::max)
}

/// Returns the ratio of signal to error of the amplitudes, in dB.
fn signal_to_error((power, exact): &(Vec<f64>, Vec<f64>)) -> f64 {
    let error: f64 = power.iter().zip(exact).map(|(a, b)| (a.sqrt() - b.sqrt()).powi(2)).sum();
    10.0 * (exact.iter().sum::<f64>() / error).log10()
}

/// Returns uniform noise from a seed.
fn noise(length: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / 8_388_608.0 - 1.0
    };
    (0..length).map(|_| next()).collect()
}

fn tone(length: usize, bin: f64, phase: f64) -> Vec<f32> {
    (0..length).map(|n| (TAU * bin * n as f64 / length as f64 + phase).sin() as f32).collect()
}

#[test]
fn noise_of_every_length() {
    for length in LENGTHS {
        for seed in 0..4 {
            let spectra = spectra(&noise(length, 77 + seed));
            let (largest, db) = (largest_error(&spectra), signal_to_error(&spectra));
            assert!(largest < LARGEST, "{length} points, seed {seed}: {largest:e}");
            assert!(db > NOISE_DB, "{length} points, seed {seed}: {db} dB");
        }
    }
}

#[test]
fn a_tone_on_any_bin_stands_there_alone() {
    // Every bin of the short lengths, and some bins of the long ones.
    for length in LENGTHS {
        let step = (length / 64).max(1);
        for bin in (1..length / 2).step_by(step) {
            let power = own_type(&tone(length, bin as f64, 0.4));
            let peak = (length * length) as f32 / 4.0;
            for (k, p) in power.iter().enumerate() {
                let expected = if k == bin { peak } else { 0.0 };
                let error = (p - expected).abs() / peak;
                assert!(error < LARGEST as f32, "{length} points, tone {bin}, bin {k}: {p}");
            }
        }
    }
}

#[test]
fn constants_and_alternating_samples_are_exact() {
    for length in LENGTHS {
        let whole = (length * length) as f32;
        let mut expected = vec![0.0; length / 2 + 1];
        expected[0] = whole;
        assert_eq!(own_type(&vec![1.0; length]), expected, "{length} points");
        expected.reverse();
        let alternating: Vec<f32> = (0..length).map(|n| [1.0, -1.0][n % 2]).collect();
        assert_eq!(own_type(&alternating), expected, "{length} points");
        assert_eq!(own_type(&vec![0.0; length]), vec![0.0; length / 2 + 1]);
    }
}

#[test]
fn an_impulse_is_flat_wherever_it_stands() {
    for length in LENGTHS {
        for place in (0..length).step_by((length / 64).max(1)) {
            let mut x = vec![0.0; length];
            x[place] = 3.0;
            for p in own_type(&x) {
                assert!((p / 9.0 - 1.0).abs() < LARGEST as f32, "{length} points, at {place}: {p}");
            }
        }
    }
}

#[test]
fn a_power_of_two_as_gain_changes_no_digit() {
    for length in LENGTHS {
        let x = noise(length, 5);
        let reference = own_type(&x);
        for exponent in [-20, 20, 45] {
            let gain = 2.0_f32.powi(exponent);
            let power = own_type(&x.iter().map(|x| gain * x).collect::<Vec<_>>());
            for (a, b) in power.iter().zip(&reference) {
                assert_eq!(*a, b * gain * gain, "{length} points, gain {gain}");
            }
        }
    }
}

#[test]
fn other_lengths_have_no_spectrum() {
    let mut buffer = [1.0; 256];
    for length in [0, 1, 2, 16, 31, 33, 48, 96, 255, 257, 512, 8192, usize::MAX] {
        let spectrum = Spectrum::transform(&mut buffer, length);
        assert!(spectrum.is_empty() && spectrum.power().next().is_none(), "{length}");
        assert_eq!(spectrum.band_power(0, usize::MAX), 0.0);
    }
    // A buffer's own length need not have a spectrum, and a buffer may have none at all.
    let mut odd: [f32; 300] = noise(300, 9).try_into().unwrap();
    let own: Vec<f32> = own_type(&odd[..256]);
    assert_eq!(Spectrum::transform(&mut odd, 256).power().collect::<Vec<_>>(), own);
    assert!(Spectrum::transform(&mut [1.0; 4], 4).is_empty());
    assert!(Spectrum::transform(&mut [], 0).is_empty());
}

#[test]
fn a_band_is_the_sum_of_its_bins() {
    let mut buffer: [f32; 256] = noise(256, 3).try_into().unwrap();
    let spectrum = Spectrum::transform(&mut buffer, 256);
    let power: Vec<f64> = spectrum.power().map(f64::from).collect();
    assert_eq!(spectrum.len(), power.len());
    for low in 0..131 {
        for high in low..135 {
            let bins = low.min(129)..high.min(129);
            let sum: f64 = power[bins].iter().sum();
            let found = f64::from(spectrum.band_power(low, high));
            assert!((found - sum).abs() <= 1e-5 * sum, "{low}..{high}: {found} {sum}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_mixture_of_tones_noise_and_an_impulse(
        length in prop::sample::select(&LENGTHS[..7]),
        seed in any::<u64>(),
        bin in 0.0_f64..1.0,
        phase in 0.0_f64..TAU,
        place in 0.0_f64..1.0,
        shares in prop::array::uniform4(-1.0_f32..1.0),
        level in -40_i32..40,
    ) {
        let mut x = noise(length, seed);
        let tone = tone(length, bin * length as f64 / 2.0, phase);
        for (x, tone) in x.iter_mut().zip(tone) {
            *x = shares[0] * *x + shares[1] * tone + shares[2];
        }
        x[(place * length as f64) as usize] += shares[3] * length as f32;
        for x in &mut x {
            *x *= (level as f32).exp2();
        }
        let largest = largest_error(&spectra(&x));
        prop_assert!(largest < LARGEST_OF_ANY, "{} points: {:e}", length, largest);
    }
}

#[test]
fn the_first_power_is_that_of_bin_1_and_half_of_bin_0() {
    for length in LENGTHS {
        let x: Vec<f32> = noise(length, 3).iter().map(|x| x + 0.3).collect();
        let mut buffer = [f32::NAN; 4096];
        buffer[..length].copy_from_slice(&x);
        let found = f64::from(Spectrum::transform(&mut buffer, length).first_power());
        let (mut re, mut im) = (0.0, 0.0);
        for (n, x) in x.iter().enumerate() {
            let (sin, cos) = (TAU * n as f64 / length as f64).sin_cos();
            re += f64::from(*x) * (cos + 0.5);
            im -= f64::from(*x) * sin;
        }
        let exact = re * re + im * im;
        assert!((found - exact).abs() <= 1e-5 * exact, "{length} points: {found}, {exact}");
    }
}
