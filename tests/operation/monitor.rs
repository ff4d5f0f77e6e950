//! The complete monitor: samples in, findings out, against the reference and at the edges.

use crate::common;
use proptest::collection::vec;
use proptest::prelude::*;
use rebearing::{AnyMonitor, Finding, Label, Model, Monitor, SensorFault};

type Small<'m, S> = Monitor<'m, S, 256, 1, 4, 3, 3>;

fn findings(samples: &[f32]) -> Vec<Finding<1, 3>> {
    let model = Model::parse(common::GOLDEN).unwrap();
    let mut monitor = Small::<f32>::new(model).unwrap();
    let mut findings = Vec::new();
    let frames: Vec<[f32; 1]> = samples.iter().map(|x| [*x]).collect();
    monitor.push_slice(&frames, |finding| findings.push(finding));
    findings
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_decision_matches_the_reference(x in vec(-1.0_f32..1.0, 384)) {
        let findings = findings(&x);
        prop_assert_eq!(findings.len(), 1);
        let found = findings[0].result.as_ref().unwrap();

        let model = Model::parse(common::GOLDEN).unwrap();
        let segments: Vec<Vec<f64>> = x
            .windows(256)
            .step_by(128)
            .map(|s| s.iter().map(|x| f64::from(*x)).collect())
            .collect();
        let (features, level) =
            common::features_and_level(&segments, model.front_end().band_edges);
        let [axis] = found.statistics;
        prop_assert!((f64::from(axis.level) - level).abs() < 1e-4, "{axis:?} {level}");
        let all: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
        for (a, b) in [axis.rms, axis.kurtosis, axis.crest].into_iter().zip(common::statistics(&all)) {
            prop_assert!((f64::from(a) - b).abs() < 1e-5 * b, "{axis:?} {b}");
        }
        let z: Vec<f64> = features
            .iter()
            .zip(model.shift().iter().zip(model.scale()))
            .map(|(x, (shift, scale))| (x - f64::from(*shift)) * f64::from(*scale))
            .collect();
        let weights = [0.5, 0.25, 0.25];
        let means = [vec![1.0, 0.5, -0.5, -1.0], vec![-1.0, 0.0, 1.0, 0.0], vec![0.0, -1.5, 0.0, 1.5]];
        let stds = [
            vec![1.0, 0.5_f64.sqrt(), 0.5, 2.0_f64.sqrt()],
            vec![0.2, 1.0, 1.0, 2.0],
            vec![1.0, 0.25, 3.0, 1.0],
        ];
        let (log_likelihood, r) =
            common::responsibilities(&common::log_densities(&z, &weights, &means, &stds));
        prop_assert!((f64::from(found.log_likelihood.unwrap()) - log_likelihood).abs() < 1e-3);
        let labels = model.labels();
        for class in 0..3 {
            let exact: f64 = (0..3).map(|k| r[k] * f64::from(labels[3 * k + class])).sum();
            prop_assert!((f64::from(found.posterior[class]) - exact).abs() < 1e-3);
        }
        prop_assert_eq!(found.label == Label::Unknown, found.log_likelihood < Some(-60.0));
    }

    #[test]
    fn counts_give_the_same_bits_as_i16_and_as_f32(x in vec(any::<i16>(), 640)) {
        let model = Model::parse(common::GOLDEN).unwrap();
        let mut counts = Small::<i16>::new(model).unwrap();
        let as_f32: Vec<f32> = x.iter().map(|x| f32::from(*x)).collect();
        let mut got = Vec::new();
        let frames: Vec<[i16; 1]> = x.iter().map(|x| [*x]).collect();
        counts.push_slice(&frames, |finding| got.push(finding));
        prop_assert_eq!(got, findings(&as_f32));
    }

    #[test]
    fn any_bits_give_a_finite_finding_or_a_fault(bits in vec(any::<u32>(), 700)) {
        let x: Vec<f32> = bits.iter().map(|b| f32::from_bits(*b)).collect();
        for finding in findings(&x) {
            if let Ok(found) = finding.result {
                prop_assert!(found.log_likelihood.is_some_and(f32::is_finite));
                let sum: f32 = found.posterior.iter().sum();
                prop_assert!((sum - 1.0).abs() < 1e-4);
            }
        }
    }
}

/// A signal that is never silent.
fn noise(count: usize) -> Vec<f32> {
    let mut state = 1_u32;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        })
        .collect()
}

#[test]
fn a_fault_spoils_only_the_windows_that_hold_it() {
    // Windows start every 256 samples and span 384.
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut x = noise(256 * 5 + 128);
        x[600] = bad;
        let faults: Vec<Option<SensorFault>> =
            findings(&x).into_iter().map(|finding| finding.result.err()).collect();
        let fault = Some(SensorFault::NotFinite);
        // Sample 600 is in the segments that start at 384 and 512: windows 1 and 2.
        assert_eq!(faults, [None, fault, fault, None, None]);
    }
}

#[test]
fn silence_is_a_fault_and_gain_is_not_a_difference() {
    let silent = findings(&[0.1; 384]);
    assert_eq!(silent[0].result.as_ref().unwrap_err(), &SensorFault::Flat);
    let x = noise(384);
    let loud: Vec<f32> = x.iter().map(|x| x * 4096.0).collect();
    let [quiet, loud] = [findings(&x), findings(&loud)].map(|r| r[0].result.clone().unwrap());
    assert_eq!((quiet.label, &quiet.posterior), (loud.label, &loud.posterior));
    assert_eq!(quiet.log_likelihood, loud.log_likelihood);
    // A gain changes the level and the rms, but not the shape.
    let ([quiet], [loud]) = (quiet.statistics, loud.statistics);
    assert!((loud.level - quiet.level - 2.0 * 4096.0_f32.ln()).abs() < 1e-4);
    assert_eq!(loud.rms, 4096.0 * quiet.rms);
    assert_eq!((loud.kurtosis, loud.crest), (quiet.kurtosis, quiet.crest));
    let tiny: Vec<f32> = x.iter().map(|x| x * 1e-25).collect();
    assert_eq!(findings(&tiny)[0].result.as_ref().unwrap_err(), &SensorFault::OutOfRange);
}

#[test]
fn a_gate_calls_white_noise_healthy_and_coloured_noise_a_fault() {
    let model = Model::parse(common::GOLDEN_GATE).unwrap();
    let mut monitor = Monitor::<f32, 256, 1, 4, 4, 3>::new(model).unwrap();
    let mut find = |filter: fn(&[f32]) -> f32| {
        let x = noise(386);
        let frames: Vec<[f32; 1]> = x.windows(3).map(|x| [filter(x)]).collect();
        let mut found = None;
        monitor.clear();
        monitor.push_slice(&frames, |finding| found = finding.result.ok());
        (found.unwrap(), monitor.responsibilities().to_vec())
    };
    let (white, r) = find(|x| x[0]);
    assert_eq!(white.label, Label::Class(0));
    assert!(white.gate_log_likelihood >= Some(-4.0) && white.log_likelihood.is_none());
    assert_eq!(*white.posterior, [1.0, 0.0, 0.0]);
    assert!((r[0] + r[1] - 1.0).abs() < 1e-6 && r[2..] == [0.0, 0.0]);
    // The golden file calls low frequencies an inner race.
    let (low, r) = find(|x| x[0] + 0.9 * x[1]);
    assert_eq!(low.label, Label::Class(1));
    assert!(low.gate_log_likelihood < Some(-4.0) && low.log_likelihood >= Some(-8.0));
    assert!((r[2] + r[3] - 1.0).abs() < 1e-6);
    assert!((low.posterior.iter().sum::<f32>() - 1.0).abs() < 1e-6);
    // The middle of the band alone matches neither class.
    let (middle, _) = find(|x| x[0] - x[2]);
    assert_eq!(middle.label, Label::UnknownFault);
    assert!(middle.log_likelihood < Some(-8.0));
}

#[test]
fn clear_starts_a_new_window_and_counts_on() {
    let model = Model::parse(common::GOLDEN).unwrap();
    let mut monitor = Small::<f32>::new(model).unwrap();
    let x = noise(384);
    let feed = |monitor: &mut Small<'_, f32>, x: &[f32]| x.iter().find_map(|x| monitor.push([*x]));
    let first = feed(&mut monitor, &x).unwrap();
    assert!(feed(&mut monitor, &x[..200]).is_none());
    monitor.clear();
    assert!(feed(&mut monitor, &x[..383]).is_none());
    let again = monitor.push([x[383]]).unwrap();
    assert_eq!((first.index, again.index), (0, 1));
    assert_eq!(first.result, again.result);
}

#[test]
fn axes_stand_side_by_side() {
    use rebearing_host::features::front_end::FrontEndSettings;
    use rebearing_host::mixture::{Covariance, LabelledMixture, Mixture};
    use rebearing_host::model::file::{ModelContents, encode};

    let model = |axes: usize| {
        let front_end = FrontEndSettings {
            rate_hz: 1000.0,
            axes,
            fft_len: 256,
            hop: 128,
            segments: 2,
            band_edges: vec![0, 32, 64, 96, 129],
            orders: None,
        };
        let dims = 4 * axes;
        let mixture = LabelledMixture {
            mixture: Mixture {
                weights: ndarray::array![1.0],
                means: ndarray::Array2::zeros((1, dims)),
                covariance: Covariance::Diagonal(ndarray::Array2::ones((1, dims))),
            },
            labels: ndarray::array![[1.0]],
        };
        encode(&ModelContents {
            front_end: &front_end,
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
        .unwrap()
    };
    let x = noise(3 * 384);
    let frames: Vec<[f32; 3]> = x.as_chunks::<3>().0.to_vec();
    let three = model(3);
    let mut all = Monitor::<f32, 256, 3, 12, 1, 1>::new(three.model()).unwrap();
    all.push_slice(&frames, |_| ());
    let one = model(1);
    for axis in 0..3 {
        let mut single = Monitor::<f32, 256, 1, 4, 1, 1>::new(one.model()).unwrap();
        for frame in &frames {
            single.push([frame[axis]]);
        }
        assert_eq!(single.features(), &all.features()[4 * axis..4 * axis + 4]);
        assert!(single.features().iter().any(|x| *x != 0.0));
    }
}
