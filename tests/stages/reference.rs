//! Every stage of the device against a naive f64 reference, with its error bound.

use crate::common;
use proptest::collection::vec;
use proptest::prelude::*;
use rebearing::classify;
use rebearing::classify::Mixture;
use rebearing::features::bands;
use rebearing::signal::Segment;
use rebearing::signal::Spectrum;
use rebearing::signal::statistics::Moments;

fn to_f64(x: &[f32]) -> Vec<f64> {
    x.iter().map(|x| f64::from(*x)).collect()
}

/// Samples of any level, with a constant added.
fn samples(count: usize) -> impl Strategy<Value = Vec<f32>> {
    (vec(-1.0_f32..1.0, count), -20_i32..20, -50.0_f32..50.0).prop_map(|(x, level, offset)| {
        let gain = (level as f32).exp2();
        x.iter().map(|x| gain * (x + offset)).collect()
    })
}

/// Returns the power spectrum by the device's code and by the reference.
fn spectra<const FFT: usize>(x: &[f32]) -> (Vec<f64>, Vec<f64>) {
    let mut filled = Segment::<f32, FFT, 1>::new(FFT, FFT / 2);
    for sample in x {
        filled.push([*sample]);
    }
    let mut buffer = [0.0; FFT];
    filled.taper(0, &mut buffer).expect("the samples vary");
    let device = Spectrum::transform(&mut buffer, FFT).power().map(f64::from).collect();
    (device, common::power(&common::taper(&to_f64(x))))
}

/// Returns the largest error of a power spectrum, as a share of the largest power.
fn power_error((device, reference): (Vec<f64>, Vec<f64>)) -> f64 {
    assert_eq!(device.len(), reference.len());
    let peak = reference.iter().copied().fold(0.0, f64::max);
    device.iter().zip(&reference).map(|(a, b)| (a - b).abs() / peak).fold(0.0, f64::max)
}

/// Largest loss of f32 through taper and FFT, relative to the peak of the power spectrum. The
/// constant is up to fifty times as large as the vibration.
const POWER_BOUND: f64 = 4e-5;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn taper_matches_the_reference(x in samples(512)) {
        let mut filled = Segment::<f32, 512, 1>::new(512, 256);
        for sample in &x {
            filled.push([*sample]);
        }
        let mut out = [0.0; 512];
        filled.taper(0, &mut out).unwrap();
        let reference = common::taper(&to_f64(&x));
        let peak = to_f64(&x).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        for (a, b) in out.iter().zip(&reference) {
            prop_assert!((f64::from(*a) - b).abs() <= 1e-6 * peak, "{a} {b}");
        }
    }

    #[test]
    fn a_shorter_window_in_a_larger_type_is_the_same(x in samples(256)) {
        let tapered = |out: &mut [f32]| {
            let mut exact = Segment::<f32, 256, 1>::new(256, 128);
            for sample in &x {
                exact.push([*sample]);
            }
            let mut buffer = [0.0; 256];
            exact.taper(0, &mut buffer).unwrap();
            out.copy_from_slice(&buffer);
        };
        let mut exact = vec![0.0; 256];
        tapered(&mut exact);
        let mut roomy = Segment::<f32, 4096, 1>::new(256, 128);
        for sample in &x {
                roomy.push([*sample]);
            }
        let mut buffer = [0.0; 4096];
        roomy.taper(0, &mut buffer).unwrap();
        prop_assert_eq!(&exact[..], &buffer[..256]);
    }

    #[test]
    fn power_matches_the_reference_at_256(x in samples(256)) {
        let error = power_error(spectra::<256>(&x));
        prop_assert!(error < POWER_BOUND, "{error:e}");
    }

    #[test]
    fn power_matches_the_reference_at_512(x in samples(512)) {
        let error = power_error(spectra::<512>(&x));
        prop_assert!(error < POWER_BOUND, "{error:e}");
    }

    #[test]
    fn power_matches_the_reference_at_1024(x in samples(1024)) {
        let error = power_error(spectra::<1024>(&x));
        prop_assert!(error < POWER_BOUND, "{error:e}");
    }

    #[test]
    fn features_match_the_reference(x in samples(512)) {
        let edges = [0_u32, 16, 48, 96, 129];
        let mut sums = [0.0; 4];
        let segments: Vec<&[f32]> = x.windows(256).step_by(128).collect();
        for segment in &segments {
            let mut filled = Segment::<f32, 256, 1>::new(256, 256);
            for sample in *segment {
                filled.push([*sample]);
            }
            let mut buffer = [0.0; 256];
            filled.taper(0, &mut buffer).unwrap();
            bands::add_band_power(&mut sums, &edges, Spectrum::transform(&mut buffer, 256));
        }
        let mut out = [0.0; 4];
        bands::log_bands(&sums, &mut out).unwrap();
        let segments: Vec<Vec<f64>> = segments.iter().map(|s| to_f64(s)).collect();
        let reference = common::features(&segments, &edges);
        for (a, b) in out.iter().zip(&reference) {
            prop_assert!((f64::from(*a) - b).abs() < 1e-4, "{a} {b}");
        }
    }

    #[test]
    fn statistics_match_the_reference_however_the_samples_are_cut(
        x in samples(3000),
        cuts in vec(64..3000_usize, 0..6),
        stale in 16..200_usize,
        burst in 0.0_f32..1e6,
    ) {
        let mut x = x;
        // Part of the signal is far stronger than the rest.
        for x in &mut x[1000..1100] {
            *x += *x * burst * f32::from(u8::from(burst > 5e5));
        }
        let mut cuts = cuts;
        cuts.extend([0, 3000]);
        cuts.sort_unstable();
        let mut moments = Moments::EMPTY;
        for cut in cuts.windows(2) {
            // As with overlapping segments, samples that were already counted come first.
            let start = cut[0].saturating_sub(stale);
            let mut filled = Segment::<f32, 4096, 1>::new(cut[1] - start, 1);
            filled.fill(x[start..cut[1]].as_chunks().0);
            let piece = filled.taper_and_measure(0, cut[1] - cut[0], &mut [0.0; 4096]);
            moments.add(&piece.expect("the samples vary"));
        }
        let found = moments.statistics(1.0);
        let exact = common::statistics(&to_f64(&x));
        // Each of the 3000 additions may round by half a unit, all in the same direction. That is
        // 1.8e-4 in a sum, and the kurtosis uses three sums.
        let bounds = [2e-4, 6e-4, 2e-4];
        let found_all = [found.rms, found.kurtosis, found.crest];
        for ((a, b), bound) in found_all.into_iter().zip(exact).zip(bounds) {
            prop_assert!((f64::from(a) - b).abs() < bound * b, "{found:?} {exact:?}");
        }
    }

    #[test]
    fn mixture_and_label_match_the_reference(
        x in vec(-4.0_f32..4.0, 6),
        components in vec((vec(-3.0_f64..3.0, 6), vec(0.1_f64..3.0, 6), 0.05_f64..1.0, vec(0.01_f64..1.0, 3)), 1..9),
    ) {
        let total: f64 = components.iter().map(|(_, _, weight, _)| weight).sum();
        let weights: Vec<f64> = components.iter().map(|(_, _, weight, _)| weight / total).collect();
        let means: Vec<Vec<f64>> = components.iter().map(|(mean, ..)| mean.clone()).collect();
        let stds: Vec<Vec<f64>> = components.iter().map(|(_, std, ..)| std.clone()).collect();
        let labels: Vec<f64> = components
            .iter()
            .flat_map(|(.., row)| row.iter().map(|l| l / row.iter().sum::<f64>()))
            .collect();

        let ln_volume = |std: &Vec<f64>| {
            std.iter().map(|s| s.ln() + 0.5 * (2.0 * std::f64::consts::PI).ln()).sum::<f64>()
        };
        let constants: Vec<f32> =
            weights.iter().zip(&stds).map(|(w, std)| (w.ln() - ln_volume(std)) as f32).collect();
        let whitening: Vec<f32> = means
            .iter()
            .zip(&stds)
            .flat_map(|(mean, std)| {
                let offset = mean.iter().zip(std).map(|(m, s)| (-m / s) as f32);
                std.iter().map(|s| s.recip() as f32).chain(offset).collect::<Vec<_>>()
            })
            .collect();
        let mut scores = vec![0.0; weights.len()];
        Mixture::new(&constants, &whitening, 6).log_densities(&x, &mut scores);
        let reference = common::log_densities(&to_f64(&x), &weights, &means, &stds);
        for (a, b) in scores.iter().zip(&reference) {
            // Relative to the sum of squares; its terms reach 70² per dimension.
            prop_assert!((f64::from(*a) - b).abs() < 2e-6 * (b.abs() + 10.0), "{a} {b}");
        }

        let (reference_ll, reference_r) = common::responsibilities(&to_f64(&scores));
        let log_likelihood = classify::responsibilities(&mut scores);
        prop_assert!((f64::from(log_likelihood) - reference_ll).abs() < 2e-7 * reference_ll.abs().max(1.0));
        for (a, b) in scores.iter().zip(&reference_r) {
            prop_assert!((f64::from(*a) - b).abs() < 1e-6);
        }

        let labels_f32: Vec<f32> = labels.iter().map(|l| *l as f32).collect();
        let mut posterior = [0.0; 3];
        classify::posterior(&scores, &labels_f32, &mut posterior);
        for (class, p) in posterior.iter().enumerate() {
            let exact: f64 =
                reference_r.iter().enumerate().map(|(k, r)| r * labels[3 * k + class]).sum();
            prop_assert!((f64::from(*p) - exact).abs() < 1e-6);
        }
        let best = classify::map_class(&posterior);
        prop_assert!(posterior.iter().all(|p| *p <= posterior[best]));
    }
}

#[test]
fn power_matches_the_reference_at_2048_and_4096() {
    // This is too slow to repeat many times. A chirp and an impulse fill and empty the spectrum.
    let chirp: Vec<f32> = (0..4096).map(|i| (i as f32 * i as f32 * 3e-4).sin()).collect();
    let mut impulse = vec![0.0; 4096];
    impulse[1000] = 1e4;
    for x in [chirp, impulse] {
        assert!(power_error(spectra::<2048>(&x[..2048])) < POWER_BOUND);
        assert!(power_error(spectra::<4096>(&x)) < POWER_BOUND);
    }
}
