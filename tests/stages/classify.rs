//! Gate, direction and mixture against the naive reference, through the model file.

use crate::common;
use ndarray::{Array1, Array2};
use proptest::collection::vec;
use proptest::prelude::*;
use rebearing::Label;
use rebearing::classify::{Classified, classify};
use rebearing_host::features::front_end::{EqualBands, FrontEndSettings};
use rebearing_host::mixture::{Covariance, LabelledMixture, Mixture};
use rebearing_host::model::encoded::ModelBytes;
use rebearing_host::model::file::{GateContents, ModelContents, encode};

const DIMS: usize = 4;
const CLASSES: usize = 3;
const HEALTHY: usize = 1;

/// A diagonal mixture in plain numbers.
#[derive(Debug, Clone)]
struct Plain {
    weights: Vec<f64>,
    means: Vec<Vec<f64>>,
    stds: Vec<Vec<f64>>,
}

impl Plain {
    fn mixture(&self) -> Mixture {
        let table = |rows: &[Vec<f64>]| {
            Array2::from_shape_fn((rows.len(), DIMS), |(row, column)| rows[row][column])
        };
        Mixture {
            weights: Array1::from(self.weights.clone()),
            means: table(&self.means),
            covariance: Covariance::Diagonal(table(&self.stds).mapv(|std| std * std)),
        }
    }

    fn evaluate(&self, x: &[f64]) -> (f64, Vec<f64>) {
        common::responsibilities(&common::log_densities(x, &self.weights, &self.means, &self.stds))
    }
}

fn plain() -> impl Strategy<Value = Plain> {
    let component = (vec(-2.0_f64..2.0, DIMS), vec(0.2_f64..2.0, DIMS), 0.05_f64..1.0);
    vec(component, 1..5).prop_map(|components| {
        let total: f64 = components.iter().map(|(.., weight)| weight).sum();
        Plain {
            weights: components.iter().map(|(.., weight)| weight / total).collect(),
            means: components.iter().map(|(mean, ..)| mean.clone()).collect(),
            stds: components.iter().map(|(_, std, _)| std.clone()).collect(),
        }
    })
}

/// All inputs that decide a label.
#[derive(Debug, Clone)]
struct Case {
    gate: Option<Plain>,
    types: Option<Plain>,
    /// Class of each component of the fault types, at most eight.
    labels: Vec<usize>,
    direction: bool,
    gate_min: f64,
    types_min: f64,
}

fn case() -> impl Strategy<Value = Case> {
    let gate = proptest::option::weighted(0.8, plain());
    let types = proptest::option::weighted(0.8, plain());
    let min = || -20.0_f64..0.0;
    (gate, types, vec(0..CLASSES, 8), any::<bool>(), min(), min())
        .prop_filter("a model has components", |(gate, types, ..)| {
            gate.is_some() || types.is_some()
        })
        .prop_map(|(gate, types, labels, direction, gate_min, types_min)| Case {
            gate,
            types,
            labels,
            direction,
            gate_min,
            types_min,
        })
}

impl Case {
    fn model(&self) -> ModelBytes {
        let front_end = FrontEndSettings {
            rate_hz: 1000.0,
            axes: 1,
            fft_len: 256,
            hop: 256,
            segments: 1,
            band_edges: vec![0, 32, 64, 96, 128],
            orders: None,
        };
        let gate = self.gate.as_ref().map(Plain::mixture);
        let types = self.types.as_ref().map(|types| LabelledMixture {
            mixture: types.mixture(),
            labels: Array2::from_shape_fn((types.weights.len(), CLASSES), |(k, class)| {
                f64::from(u8::from(self.labels[k] == class))
            }),
        });
        encode(&ModelContents {
            front_end: &front_end,
            shift: &[0.0; DIMS],
            scale: &[1.0; DIMS],
            mixture: types.as_ref(),
            gate: gate.as_ref().map(|mixture| GateContents {
                mixture,
                log_likelihood_min: self.gate_min,
                direction: self.direction,
            }),
            class_names: &["InnerRace".into(), "Fine".into(), "Ball".into()],
            healthy: Some(HEALTHY),
            log_likelihood_min: Some(self.types_min),
            source: "",
            target: "",
            hash: [0; 32],
        })
        .expect("a valid model")
    }

    /// Returns label, log-likelihoods and posterior, by their definitions.
    fn reference(&self, z: &[f64]) -> (Label, Option<f64>, Option<f64>, Vec<f64>) {
        let mut posterior = vec![0.0; CLASSES];
        let gate = self.gate.as_ref().map(|gate| gate.evaluate(z).0);
        if gate.is_some_and(|gate| gate >= self.gate_min) {
            posterior[HEALTHY] = 1.0;
            return (Label::Class(HEALTHY), gate, None, posterior);
        }
        let Some(types) = &self.types else {
            return (Label::UnknownFault, gate, None, posterior);
        };
        let u = if gate.is_some() && self.direction { common::direction(z) } else { z.to_vec() };
        let (log_likelihood, r) = types.evaluate(&u);
        for (r, class) in r.iter().zip(&self.labels) {
            posterior[*class] += r;
        }
        let best = (0..CLASSES).fold(0, |a, b| if posterior[b] > posterior[a] { b } else { a });
        let label = match gate {
            _ if log_likelihood >= self.types_min => Label::Class(best),
            Some(_) => Label::UnknownFault,
            None => Label::Unknown,
        };
        (label, gate, Some(log_likelihood), posterior)
    }
}

fn run(model: &ModelBytes, z: &[f32]) -> (Classified, Vec<f32>, Vec<f32>) {
    let model = model.model();
    let mut direction = [0.0; DIMS];
    // Old contents of the buffers must not matter.
    let mut responsibilities = vec![7.0; model.components().len()];
    let mut posterior = vec![7.0; CLASSES];
    let healthy = model.healthy().unwrap_or(0);
    let classified = classify(
        model.classifier(),
        healthy,
        z,
        &mut direction,
        &mut responsibilities,
        &mut posterior,
    );
    (classified, responsibilities, posterior)
}

/// Returns true if a log-likelihood in f32 is right, relative to its size.
fn close(device: Option<f32>, exact: Option<f64>) -> bool {
    match (device, exact) {
        (Some(a), Some(b)) => (f64::from(a) - b).abs() < 1e-5 * (b.abs() + 10.0),
        (a, b) => a.is_none() && b.is_none(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_diagnosis_matches_the_reference(case in case(), z in vec(-4.0_f32..4.0, DIMS)) {
        let exact: Vec<f64> = z.iter().map(|z| f64::from(*z)).collect();
        let (label, gate, log_likelihood, posterior) = case.reference(&exact);
        // At a threshold either answer is right.
        let on = |x: Option<f64>, min: f64| x.is_some_and(|x| (x - min).abs() < 1e-3);
        prop_assume!(!on(gate, case.gate_min) && !on(log_likelihood, case.types_min));
        let (classified, responsibilities, found) = run(&case.model(), &z);
        prop_assert!(close(classified.gate_log_likelihood, gate), "{classified:?} {gate:?}");
        prop_assert!(close(classified.log_likelihood, log_likelihood), "{classified:?} {log_likelihood:?}");
        for (a, b) in found.iter().zip(&posterior) {
            prop_assert!((f64::from(*a) - b).abs() < 1e-4, "{found:?} {posterior:?}");
        }
        let mut sorted = posterior.clone();
        sorted.sort_by(f64::total_cmp);
        if !matches!(label, Label::Class(_)) || sorted[CLASSES - 1] - sorted[CLASSES - 2] > 1e-3 {
            prop_assert_eq!(classified.label, label);
        }
        let asked = f32::from(u8::from(gate.is_some()) + u8::from(log_likelihood.is_some()));
        prop_assert!((responsibilities.iter().sum::<f32>() - asked).abs() < 1e-5);
    }
}

#[test]
fn the_healthy_centre_itself_has_no_direction_and_no_nan() {
    let one =
        Plain { weights: vec![1.0], means: vec![vec![0.5; DIMS]], stds: vec![vec![1.0; DIMS]] };
    // No window is healthy enough for this gate, not even its centre.
    let case = Case {
        gate: Some(one.clone()),
        types: Some(one),
        labels: vec![2],
        direction: true,
        gate_min: 1e6,
        types_min: -1e6,
    };
    let (classified, _, posterior) = run(&case.model(), &[0.0; DIMS]);
    assert_eq!(classified.label, Label::Class(2));
    // Half a standard deviation off in four dimensions, for the direction and for the gate.
    let exact = -0.5 - 2.0 * std::f64::consts::TAU.ln();
    assert!(close(classified.log_likelihood, Some(exact)), "{classified:?}");
    assert!(close(classified.gate_log_likelihood, Some(exact)), "{classified:?}");
    assert_eq!(posterior, [0.0, 0.0, 1.0]);
}

#[test]
fn a_gate_needs_a_healthy_class() {
    let front_end = FrontEndSettings::equal_bands(EqualBands {
        rate_hz: 1000.0,
        axes: 1,
        fft_len: 256,
        hop: 256,
        segments: 1,
        bands: DIMS,
    })
    .unwrap();
    let mixture =
        Plain { weights: vec![1.0], means: vec![vec![0.0; DIMS]], stds: vec![vec![1.0; DIMS]] }
            .mixture();
    let error = encode(&ModelContents {
        front_end: &front_end,
        shift: &[0.0; DIMS],
        scale: &[1.0; DIMS],
        mixture: None,
        gate: Some(GateContents { mixture: &mixture, log_likelihood_min: 0.0, direction: false }),
        class_names: &["Ball".into()],
        healthy: None,
        log_likelihood_min: None,
        source: "",
        target: "",
        hash: [0; 32],
    })
    .unwrap_err();
    assert!(error.to_string().contains("`healthy`"), "{error}");
}
