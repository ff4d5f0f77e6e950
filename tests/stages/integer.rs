//! Every stage of the integer line against a naive f64 reference, with its error bound. Overflow
//! would panic here, because tests are built with overflow checks.

use crate::common;
use proptest::collection::vec;
use proptest::prelude::*;
use rebearing::SensorFault;
use rebearing::integer::IntegerPart;
use rebearing::integer::add_segment;
use rebearing::integer::classifier::{normalise, write_direction, write_limited, write_posterior};
use rebearing::integer::mixture::{energies, energies_with_early_drop, weights};
use rebearing::integer::spectrum::{IntegerSpectrum, NO_POWER, add_aligned};
use rebearing::integer::statistics::IntegerMoments;
use rebearing::integer::taper::taper;
use rebearing::integer::transform::transform;
use rebearing::signal::Segment;

fn to_f64(x: &[i16]) -> Vec<f64> {
    x.iter().map(|x| f64::from(*x)).collect()
}

/// Noise of any level that fits, with a constant added.
fn samples(count: usize) -> impl Strategy<Value = Vec<i16>> {
    (vec(-1.0_f64..1.0, count), 1.0_f64..4.2, -0.4_f64..0.4).prop_map(|(x, level, offset)| {
        let gain = 10_f64.powf(level);
        x.iter().map(|x| (gain * x + 32767.0 * offset).clamp(-32768.0, 32767.0) as i16).collect()
    })
}

/// Returns the power of each bin in squared counts, by the integer line and by the reference.
fn spectra<const FFT: usize>(x: &[i16]) -> (Vec<f64>, Vec<f64>) {
    let mut filled = Segment::<i16, FFT, 1>::new(FFT, FFT / 2);
    // The ring does not start at index 0, as after an overlap.
    for sample in x.iter().cycle().skip(FFT / 2 + 3).take(FFT / 2 - 3).chain(x) {
        filled.push([*sample]);
    }
    let mut buffer = [0; FFT];
    let tapered = taper(&filled, 0, &mut buffer).expect("the samples vary");
    let mean = to_f64(x).iter().sum::<f64>() / FFT as f64;
    assert!((f64::from(tapered.mean) - mean).abs() <= 0.5, "{} {mean}", tapered.mean);
    let block = transform(&mut buffer, tapered.block);
    let spectrum = IntegerSpectrum::power(&mut buffer, block);
    assert_eq!(spectrum.len(), FFT / 2 + 1);
    let unit = 2_f64.powi(spectrum.exponent) / (FFT as f64).powi(2);
    let power = (0..spectrum.len()).map(|k| spectrum.band_power(k, k + 1) as f64 * unit);
    (power.collect(), common::power(&common::taper(&to_f64(x))))
}

/// Returns the error of the amplitudes, relative to all amplitudes together.
fn amplitude_error((found, exact): (Vec<f64>, Vec<f64>)) -> f64 {
    let error: f64 = found.iter().zip(&exact).map(|(a, b)| (a.sqrt() - b.sqrt()).powi(2)).sum();
    (error / exact.iter().sum::<f64>()).sqrt()
}

/// Error bound of the amplitudes: −66 dB at any level. An impulse is the worst case for 16 bits a
/// pass.
const AMPLITUDE_BOUND: f64 = 5e-4;

proptest! {
    #[test]
    fn power_matches_the_reference_at_any_level(x in samples(512)) {
        prop_assert!(amplitude_error(spectra::<512>(&x)) < AMPLITUDE_BOUND);
        prop_assert!(amplitude_error(spectra::<256>(&x[..256])) < AMPLITUDE_BOUND);
    }

    #[test]
    fn log_bands_match_the_reference(x in samples(512)) {
        let edges = [0_u32, 16, 48, 96, 129];
        let (mut sums, mut exponent) = ([0; 4], NO_POWER);
        let segments: Vec<&[i16]> = x.windows(256).step_by(128).collect();
        for segment in &segments {
            let mut filled = Segment::<i16, 256, 1>::new(256, 256);
            segment.iter().for_each(|sample| { filled.push([*sample]); });
            let mut buffer = [0; 256];
            add_segment(&filled, 0, &edges, &mut buffer, &mut sums, &mut exponent).unwrap();
        }
        let mut found = [0; 4];
        rebearing::integer::features::log_bands(&sums, &mut found).unwrap();
        let segments: Vec<Vec<f64>> = segments.iter().map(|s| to_f64(s)).collect();
        let exact = common::features(&segments, &edges);
        for (a, b) in found.iter().zip(&exact) {
            let nats = f64::from(*a) / 65536.0 * std::f64::consts::LN_2;
            prop_assert!((nats - b).abs() < 2e-3, "{nats} {b}");
        }
    }

    #[test]
    fn sums_of_unequal_exponents_are_the_sum(
        parts in vec((vec(0_u64..1 << 43, 3), -40_i32..40), 1..6),
    ) {
        let (mut sums, mut of_sums) = ([0; 3], NO_POWER);
        let mut exact = [0.0; 3];
        for (powers, exponent) in &parts {
            add_aligned(&mut sums, &mut of_sums, powers.iter().copied(), *exponent);
            exact.iter_mut().zip(powers).for_each(|(e, p)| *e += *p as f64 * 2_f64.powi(*exponent));
        }
        for (sum, exact) in sums.iter().zip(exact) {
            // Each addition may drop less than one unit of the coarser operand.
            let unit = 2_f64.powi(of_sums);
            let found = *sum as f64 * unit;
            prop_assert!((found - exact).abs() <= unit * 6.0 + exact * 1e-12, "{found} {exact}");
        }
    }

    #[test]
    fn statistics_match_the_reference(x in samples(3000)) {
        let mut moments = IntegerMoments::EMPTY;
        for piece in x.chunks(1000) {
            let mean = to_f64(piece).iter().sum::<f64>() / piece.len() as f64;
            moments.add(piece.iter().copied(), mean.round() as i32);
        }
        let found = moments.statistics(0);
        let exact = common::statistics(&to_f64(&x));
        let found = [found.rms, found.kurtosis, found.crest].map(|x| f64::from(x) / 256.0);
        for (a, b) in found.iter().zip(exact) {
            // Each piece has its own mean. It differs by about a thirtieth of the deviation.
            prop_assert!((a - b).abs() < 0.06 * b + 0.6 / exact[0] * b, "{found:?} {exact:?}");
        }
    }

    #[test]
    fn direction_matches_the_reference(z in vec(-1.0_f64..1.0, 7), level in 0_i32..31) {
        let z: Vec<i32> = z.iter().map(|z| (z * 2_f64.powi(level)) as i32).collect();
        let mut u = [0; 7];
        write_direction(&z, &mut u);
        let exact = common::direction(&z.iter().map(|z| f64::from(*z)).collect::<Vec<_>>());
        for (u, exact) in u.iter().zip(exact) {
            let found = f64::from(*u) * 7_f64.sqrt() / 16383.0;
            prop_assert!((found - exact).abs() < 4e-4, "{found} {exact}");
        }
    }

    #[test]
    fn a_mixture_is_its_definition_and_abandoning_changes_no_bit(
        mixture in mixtures(),
        x in vec(-16383_i16..=16383, 20),
        near in any::<bool>(),
    ) {
        let mut mixture = mixture;
        let mut x = x[..mixture.dims].to_vec();
        if near {
            // All components are in one place, with weights on both sides of the point where they
            // vanish. If a component is dropped too early, this shows it.
            x = mixture.gather();
        }
        let Mixture { energies: constants, rows, dims, first_dims, fraction_bits } = &mixture;
        let part = IntegerPart::new(constants, rows, *dims, *first_dims, *fraction_bits);
        let mut full = vec![0; constants.len()];
        energies(&part, &x, &mut full);
        let padded = dims.next_multiple_of(2);
        for (k, energy) in full.iter().enumerate() {
            let (means, scales) = rows[2 * padded * k..][..2 * padded].split_at(padded);
            let square = |i: usize| {
                let t = f64::from(i32::from(x[i]) - i32::from(means[i])) * f64::from(scales[i]);
                (t / 65536.0 + 0.5).floor().powi(2)
            };
            let exact = f64::from(constants[k]) + (0..*dims).map(square).sum::<f64>();
            prop_assert_eq!(f64::from(*energy), exact.min(f64::from(u32::MAX)));
        }
        let mut dropped = vec![7; constants.len()];
        energies_with_early_drop(&part, &x, &mut dropped);
        let exact: Vec<f64> =
            full.iter().map(|e| -f64::from(*e) / f64::from(1 << fraction_bits)).collect();
        let likelihood = weights(&part, &mut full);
        prop_assert_eq!(likelihood, weights(&part, &mut dropped));
        prop_assert_eq!(&full, &dropped);

        let nats: Vec<f64> = exact.iter().map(|e| e * std::f64::consts::LN_2).collect();
        let (log_likelihood, r) = common::responsibilities(&nats);
        let found = f64::from(likelihood.log_likelihood) / 256.0;
        // A value below the range of an i32 in Q8 becomes the smallest i32.
        let log_likelihood = log_likelihood.max(f64::from(i32::MIN) / 256.0);
        prop_assert!((found - log_likelihood).abs() < 0.003 + 1e-5 * log_likelihood.abs());
        normalise(&mut full, likelihood.total);
        for (a, b) in full.iter().zip(&r) {
            prop_assert!((f64::from(*a) / 2_f64.powi(30) - b).abs() < 1e-4);
        }
        let labels: Vec<u16> =
            (0..r.len()).flat_map(|k| if k % 2 == 0 { [32768, 0] } else { [8192, 24576] }).collect();
        let mut posterior = [0; 2];
        let class = write_posterior(&full, &labels, &mut posterior);
        for (class, p) in posterior.iter().enumerate() {
            let exact: f64 =
                r.iter().zip(labels.chunks(2)).map(|(r, l)| r * f64::from(l[class])).sum();
            prop_assert!((f64::from(*p) - exact).abs() < 8.0, "{p} {exact}");
        }
        prop_assert!(posterior[class] >= posterior[1 - class]);
    }
}

/// A mixture with any numbers that the format allows.
#[derive(Debug, Clone)]
struct Mixture {
    energies: Vec<u32>,
    rows: Vec<i16>,
    dims: usize,
    first_dims: usize,
    fraction_bits: u32,
}

impl Mixture {
    /// Moves all components to one place, with energies up to 40 bits there, and returns that
    /// place.
    fn gather(&mut self) -> Vec<i16> {
        let padded = self.dims.next_multiple_of(2);
        let place: Vec<i16> = self.rows[..self.dims].iter().map(|mean| mean / 2).collect();
        for row in self.rows.chunks_mut(2 * padded) {
            for (mean, place) in row.iter_mut().zip(&place) {
                *mean = place + *mean / 4096;
            }
        }
        for energy in &mut self.energies {
            *energy %= 40 << self.fraction_bits;
        }
        place
    }
}

fn mixtures() -> impl Strategy<Value = Mixture> {
    (1_usize..9, 1_usize..=20, 0_u32..=12, 1_i16..=32767).prop_flat_map(
        |(components, dims, fraction_bits, steepest)| {
            let padded = dims.next_multiple_of(2);
            let energies = vec(prop_oneof![0_u32..100_000, any::<u32>()], components);
            let pair = (-16383_i16..=16383, 1..=steepest);
            (energies, vec(pair, components * padded), 0..=dims).prop_map(
                move |(energies, pairs, first_dims)| {
                    let mut rows = Vec::new();
                    for row in pairs.chunks(padded) {
                        rows.extend(row.iter().map(|(mean, _)| mean));
                        rows.extend(row.iter().map(|(_, scale)| scale));
                    }
                    Mixture { energies, rows, dims, first_dims, fraction_bits }
                },
            )
        },
    )
}

#[test]
fn the_largest_samples_do_not_overflow() {
    let square = |period: usize| {
        (0..4096)
            .map(|i| if (i / period).is_multiple_of(2) { i16::MAX } else { i16::MIN })
            .collect()
    };
    let mut impulse = vec![i16::MIN; 4096];
    impulse[700] = i16::MAX;
    let mut first = vec![0; 4096];
    first[0] = 1;
    let signals: [Vec<i16>; 6] = [square(1), square(2), square(37), square(500), impulse, first];
    for x in signals {
        for error in [
            amplitude_error(spectra::<1024>(&x[..1024])),
            amplitude_error(spectra::<2048>(&x[..2048])),
            amplitude_error(spectra::<4096>(&x)),
        ] {
            assert!(error < AMPLITUDE_BOUND, "{error}");
        }
    }
}

#[test]
fn what_does_not_vary_is_flat() {
    for level in [0, 7, i16::MIN, i16::MAX] {
        let mut filled = Segment::<i16, 256, 1>::new(256, 256);
        for _ in 0..256 {
            filled.push([level]);
        }
        assert_eq!(taper(&filled, 0, &mut [0; 256]), Err(SensorFault::Flat));
    }
}

#[test]
fn features_beyond_the_range_are_cut_off_and_zero_has_no_direction() {
    let mut x = [0; 4];
    write_limited(&[20_000, -20_000, i32::MAX, -5], &mut x);
    assert_eq!(x, [16383, -16383, 16383, -5]);
    let mut u = [7; 4];
    write_direction(&[0; 4], &mut u);
    assert_eq!(u, [0; 4]);
    write_direction(&[0, -i32::MAX, 0, 0], &mut u);
    assert_eq!(u, [0, -16383, 0, 0]);
}
