//! The early drop against the full evaluation: the same label, posterior and log-likelihood to f32
//! resolution, and the same bits for every component that is kept.

use ndarray::{Array1, Array2};
use proptest::collection::vec;
use proptest::prelude::*;
use rebearing::Label;
use rebearing::classify::{self, Mixture, classify};
use rebearing::model::Section;
use rebearing_host::features::front_end::{EqualBands, FrontEndSettings};
use rebearing_host::mixture as host;
use rebearing_host::model::encoded::ModelBytes;
use rebearing_host::model::file::{GateContents, ModelContents, encode};

const CLASSES: usize = 3;
/// Components of the model in a file: enough for the early drop to pay.
const COMPONENTS: usize = 40;
/// Features of the model in a file: enough for the early drop to pay.
const DIMS: usize = 64;

/// A mixture in plain numbers, and a feature vector near one of its components or nowhere.
#[derive(Debug, Clone)]
struct Case {
    dims: usize,
    means: Vec<f32>,
    stds: Vec<f32>,
    weights: Vec<f32>,
    x: Vec<f32>,
    first: usize,
}

fn case() -> impl Strategy<Value = Case> {
    (1..30_usize, 1..45_usize).prop_flat_map(|(components, dims)| {
        let spread = prop_oneof![Just(0.05_f32), Just(0.5), Just(3.0)];
        let numbers = || vec(-1.0_f32..1.0, components * dims);
        let x = (0..components, vec(-2.0_f32..2.0, dims), prop_oneof![Just(1.0_f32), Just(40.0)]);
        let parts = (numbers(), numbers(), vec(0.01_f32..1.0, components), x, 0..=dims, spread);
        parts.prop_map(move |(means, stds, weights, (near, noise, far), first, spread)| {
            let means: Vec<f32> = means.iter().map(|mean| spread * mean).collect();
            let stds: Vec<f32> = stds.iter().map(|s| 0.6 + 0.4 * s).collect();
            let at = near * dims;
            let x = (0..dims).map(|i| means[at + i] + far * stds[at + i] * noise[i]).collect();
            Case { dims, means, stds, weights, x, first }
        })
    })
}

impl Case {
    fn components(&self) -> usize {
        self.weights.len()
    }

    fn parameters(&self) -> (Vec<f32>, Vec<f32>) {
        let rows = self.means.chunks(self.dims).zip(self.stds.chunks(self.dims));
        let constants = self
            .weights
            .iter()
            .zip(self.stds.chunks(self.dims))
            .map(|(weight, stds)| weight.ln() - stds.iter().map(|s| s.ln()).sum::<f32>());
        let whitening = rows.flat_map(|(means, stds)| {
            let offsets = means.iter().zip(stds).map(|(m, s)| -m / s);
            stds.iter().map(|s| 1.0 / s).chain(offsets).collect::<Vec<_>>()
        });
        (constants.collect(), whitening.collect())
    }
}

/// Returns responsibilities, log-likelihood and posterior.
fn results(mut scores: Vec<f32>) -> (Vec<f32>, f32, [f32; CLASSES]) {
    let log_likelihood = classify::responsibilities(&mut scores);
    let row = |k: usize| (0..CLASSES).map(move |c| f32::from(u8::from(c == k % CLASSES)));
    let labels: Vec<f32> = (0..scores.len()).flat_map(row).collect();
    let mut posterior = [0.0; CLASSES];
    classify::posterior(&scores, &labels, &mut posterior);
    (scores, log_likelihood, posterior)
}

/// Returns two rounding errors of a number of this size.
fn resolution(x: f32) -> f32 {
    2.0 * f32::EPSILON * x.abs().max(1.0)
}

/// Asserts that two posteriors agree, and that they lead to the same class.
fn assert_same_class(a: &[f32], b: &[f32]) {
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= resolution(1.0), "{a} {b}");
    }
    let (found, expected) = (classify::map_class(a), classify::map_class(b));
    assert!(found == expected || b[expected] - b[found] <= resolution(1.0), "{a:?} {b:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn leading_is_the_full_evaluation_to_f32_resolution(case in case()) {
        let (constants, whitening) = case.parameters();
        let mixture = Mixture::new(&constants, &whitening, case.dims);
        let mut full = vec![7.0; case.components()];
        mixture.log_densities(&case.x, &mut full);
        let mut dropped = vec![7.0; case.components()];
        mixture.log_densities_with_early_drop(&case.x, case.first, &mut dropped);

        let best = full.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        for (dropped, full) in dropped.iter().zip(&full) {
            if *dropped == f32::NEG_INFINITY {
                prop_assert!(best - full > 20.0, "dropped at {full}, {best} is the best");
            } else {
                prop_assert_eq!(dropped.to_bits(), full.to_bits());
            }
        }
        let (full, dropped) = (results(full), results(dropped));
        prop_assert!((full.1 - dropped.1).abs() <= resolution(full.1), "{} {}", full.1, dropped.1);
        for (full, dropped) in full.0.iter().zip(&dropped.0) {
            prop_assert!((full - dropped).abs() <= resolution(1.0), "{full} {dropped}");
        }
        assert_same_class(&dropped.2, &full.2);
    }

    #[test]
    fn a_model_that_leads_diagnoses_as_its_whole_mixture_does(
        x in vec(-2.0_f32..2.0, DIMS),
        near in 0..COMPONENTS,
        gate in any::<bool>(),
        direction in any::<bool>(),
        // The scores of such vectors lie on both sides of these thresholds.
        threshold in -400.0_f64..-20.0,
    ) {
        let bytes = separated(gate, direction, threshold);
        let model = bytes.model();
        let early_drop = model.early_drop().expect("components so far apart are worth it");
        let z: Vec<f32> = x.iter().enumerate().map(|(i, x)| mean(near, i) as f32 + 0.5 * x).collect();

        // The full evaluation of the same vector, without the early drop.
        let gate_components = usize::from(gate);
        let mut u = vec![0.0; DIMS];
        classify::reorder(&z, early_drop.order, &mut u);
        let (_, types) = model.mixture().split_at(gate_components);
        if gate && direction {
            classify::take_direction(&mut u);
        }
        let mut scores = vec![0.0; types.len()];
        types.log_densities(&u, &mut scores);
        let (_, log_likelihood, posterior) = results(scores);

        let mut responsibilities = vec![7.0; model.components().len()];
        let mut found = [7.0; CLASSES];
        let classified = classify(model.classifier(), 1, &z, &mut [7.0; DIMS], &mut responsibilities, &mut found);
        let found_log_likelihood = classified.log_likelihood.expect("no window passes this gate");
        prop_assert!((found_log_likelihood - log_likelihood).abs() <= resolution(log_likelihood));
        assert_same_class(&found, &posterior);
        if (f64::from(log_likelihood) - threshold).abs() > 1e-3 {
            let expected = match (f64::from(log_likelihood) >= threshold, gate) {
                (true, _) => Label::Class(classify::map_class(&posterior)),
                (false, true) => Label::UnknownFault,
                (false, false) => Label::Unknown,
            };
            prop_assert_eq!(classified.label, expected);
        }
    }
}

/// Returns the mean of a component; the means are far apart in a few features.
fn mean(k: usize, feature: usize) -> f64 {
    if feature % 3 == 1 { ((k * 7 + feature * 5) % 12) as f64 - 6.0 } else { 0.1 * k as f64 }
}

fn separated(gate: bool, direction: bool, threshold: f64) -> ModelBytes {
    let front_end = FrontEndSettings::equal_bands(EqualBands {
        rate_hz: 1000.0,
        axes: 1,
        fft_len: 256,
        hop: 256,
        segments: 1,
        bands: DIMS,
    })
    .expect("a front end");
    let types = host::LabelledMixture {
        mixture: host::Mixture {
            weights: Array1::from_elem(COMPONENTS, 1.0 / COMPONENTS as f64),
            means: Array2::from_shape_fn((COMPONENTS, DIMS), |(k, i)| mean(k, i)),
            covariance: host::Covariance::Diagonal(Array2::from_elem((COMPONENTS, DIMS), 0.25)),
        },
        labels: Array2::from_shape_fn((COMPONENTS, CLASSES), |(k, c)| {
            f64::from(u8::from(c == k % CLASSES))
        }),
    };
    let healthy = host::Mixture {
        weights: Array1::ones(1),
        means: Array2::zeros((1, DIMS)),
        covariance: host::Covariance::Diagonal(Array2::ones((1, DIMS))),
    };
    encode(&ModelContents {
        front_end: &front_end,
        shift: &[0.0; DIMS],
        scale: &[1.0; DIMS],
        mixture: Some(&types),
        // No window is healthy enough for this gate.
        gate: gate.then_some(GateContents {
            mixture: &healthy,
            log_likelihood_min: 1e6,
            direction,
        }),
        class_names: &["Ball".into(), "Fine".into(), "Outer".into()],
        healthy: Some(1),
        log_likelihood_min: Some(threshold),
        source: "",
        target: "",
        hash: [0; 32],
    })
    .expect("a valid model")
}

#[test]
fn an_order_that_is_none_is_refused() {
    let bytes = separated(false, false, -100.0);
    let at = bytes
        .bytes()
        .windows(4)
        .position(|tag| *tag == Section::EarlyDrop.tag())
        .expect("the section")
        + 8;
    let too_many = DIMS as u32 + 1;
    for (word, value) in [(0_usize, 0_u32), (0, too_many), (1, DIMS as u32), (1, u32::MAX)] {
        let mut damaged = bytes.bytes().to_vec();
        damaged[at + 4 * word..][..4].copy_from_slice(&u32::to_le_bytes(value));
        rebearing_host::model::file::seal(&mut damaged);
        let error = ModelBytes::from_bytes(&damaged).unwrap_err().to_string();
        assert!(
            error.contains(if word == 0 { "features of the early drop" } else { "order" }),
            "{error}"
        );
    }
    // If one feature is listed twice, another one is missing.
    let mut twice = bytes.bytes().to_vec();
    let first = twice[at + 4..at + 8].to_vec();
    twice[at + 8..at + 12].copy_from_slice(&first);
    rebearing_host::model::file::seal(&mut twice);
    assert!(ModelBytes::from_bytes(&twice).is_err());
}
