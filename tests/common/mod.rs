//! Shared by the tests: the golden models, and a naive f64 reference of every stage.
//!
//! The reference follows the formulas, not the code: a DFT by its definition, densities by their
//! exponents. It is slow and uses no tricks, so it can be trusted.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part")]

pub mod alarm;

use std::f64::consts::PI;

use ndarray::{Array2, array};
use rebearing::model::{AccuracyCurve, AlarmParameters, IdleRms, Rms, Verdict, probability};
use rebearing::signal::SeverityParameters;
use rebearing_host::features::front_end::{FrontEndSettings, OrderSettings};
use rebearing_host::mixture::{Covariance, LabelledMixture, Mixture};
use rebearing_host::model::encoded::{IntegerModelBytes, ModelBytes};
use rebearing_host::model::file::{self, GateContents, ModelContents};
use rebearing_host::model::integer_file::encode_integer;
use rebearing_host::model::quantise::quantise;
use rebearing_host::model::sections::{alarm_section, severity_section, verdict_section};
use rebearing_host::model::verdict::VerdictContents;

/// The golden file of format version 1.
pub static GOLDEN: &[u8] = rebearing::include_model!("../golden/model-v1.rbm");

/// The golden file of format version 1 with a gate and direction.
pub static GOLDEN_GATE: &[u8] = rebearing::include_model!("../golden/model-v1-gate.rbm");

/// The golden file of format version 1 with orders and envelope.
pub static GOLDEN_ORDERS: &[u8] = rebearing::include_model!("../golden/model-v1-orders.rbm");

/// The golden file of format version 1 with alarm and severity.
pub static GOLDEN_ALARM: &[u8] = rebearing::include_model!("../golden/model-v1-decision.rbm");

/// Returns the contents of the golden file with alarm and severity. They must never change while
/// version 1 is read.
pub fn golden_alarm_contents() -> ModelBytes {
    let rms = |x| Rms::of_samples(x).expect("a number");
    let alarm = AlarmParameters {
        average: 16,
        raise: probability(0.75),
        clear: probability(0.25),
        delay: 4,
        settle: 10,
        fault_windows: 6,
        hold: false,
        idle: Some(IdleRms { below: rms(0.125), until: rms(0.25) }),
    };
    let severity =
        SeverityParameters { low_hz: 160.0, high_hz: 1000.0, unit: 9.5, limits: [1.5, 2.5, 4.5] };
    let sections = [alarm_section(&alarm), severity_section(&severity)];
    golden_contents().with_sections(&sections).expect("the golden contents are valid")
}

/// The golden file of format version 1 with a verdict.
pub static GOLDEN_VERDICT: &[u8] = rebearing::include_model!("../golden/model-v1-verdict.rbm");

/// Returns the contents of the golden file with a verdict. They must never change while version 1
/// is read.
pub fn golden_verdict_contents() -> ModelBytes {
    let verdict = VerdictContents {
        verdict: Verdict::Abstain,
        forced: true,
        predicted_accuracy: Some(0.4375),
        promise: 0.875,
        transfers: 11,
        curve: Some(AccuracyCurve::Library),
    };
    golden_contents().with_sections(&[verdict_section(&verdict)]).expect("the contents are valid")
}

/// The golden file of format version 1 in i16 encoding, made from the golden file with a gate.
pub static GOLDEN_I16: &[u8] = rebearing::include_model!("../golden/model-v1-i16.rbm");

/// Returns the contents of the golden file in i16 encoding. They must never change while version 1
/// is read.
pub fn golden_i16_contents() -> IntegerModelBytes {
    let exact = golden_gate_contents();
    let mut contents = quantise(&exact.model(), 1000.0).expect("the golden model fits in 16 bits");
    // The file is older than the rule for this number. The rule would give zero for so few
    // features.
    contents.early_drop = 4;
    encode_integer(&exact.model(), &contents).expect("the golden contents are valid")
}

/// Returns a model in which the narrowest component is a millionth as wide as the widest.
pub fn steep() -> ModelBytes {
    let mixture = LabelledMixture {
        mixture: Mixture {
            weights: array![1.0],
            means: array![[0.0, 0.0, 0.0, 0.0]],
            covariance: Covariance::Diagonal(array![[1e-6, 1.0, 1.0, 1e6]]),
        },
        labels: array![[1.0]],
    };
    file::encode(&ModelContents {
        front_end: &golden_front_end(),
        shift: &[0.0; 4],
        scale: &[1.0; 4],
        mixture: Some(&mixture),
        gate: None,
        class_names: &["Healthy".into()],
        healthy: Some(0),
        log_likelihood_min: None,
        source: "motor-a",
        target: "motor-b",
        hash: [0; 32],
    })
    .expect("a valid model")
}

/// Returns the contents of the golden file with orders. They must never change while version 1 is
/// read.
pub fn golden_orders_contents() -> ModelBytes {
    let orders =
        OrderSettings { spectrum: true, envelope: true, bands: 3, first: 0.5, width: 0.75 };
    let front_end = FrontEndSettings { orders: Some(orders), ..golden_front_end() };
    let means = Array2::from_shape_fn((2, 10), |(k, i)| (i as f64 - 4.5) * (k as f64 - 0.5) / 4.0);
    let mixture = LabelledMixture {
        mixture: Mixture {
            weights: array![0.25, 0.75],
            means,
            covariance: Covariance::Diagonal(Array2::from_elem((2, 10), 0.25)),
        },
        labels: array![[1.0, 0.0], [0.0, 1.0]],
    };
    file::encode(&ModelContents {
        front_end: &front_end,
        shift: &[0.25; 10],
        scale: &[0.5; 10],
        mixture: Some(&mixture),
        gate: None,
        class_names: &["Healthy".into(), "OuterRace".into()],
        healthy: Some(0),
        log_likelihood_min: None,
        source: "motor-a",
        target: "motor-b",
        hash: [0xa5; 32],
    })
    .expect("the golden contents are valid")
}

fn golden_front_end() -> FrontEndSettings {
    FrontEndSettings {
        rate_hz: 20_000.0,
        axes: 1,
        fft_len: 256,
        hop: 128,
        segments: 2,
        band_edges: vec![0, 32, 64, 96, 129],
        orders: None,
    }
}

/// Returns the contents of the golden file with a gate. They must never change while version 1 is
/// read.
pub fn golden_gate_contents() -> ModelBytes {
    let gate = Mixture {
        weights: array![0.75, 0.25],
        means: array![[-0.5, -0.5, 0.125, 0.75], [-0.25, -0.5, 0.0, 0.5]],
        covariance: Covariance::Diagonal(array![
            [0.0625, 0.25, 0.0625, 0.25],
            [0.25, 0.25, 0.25, 0.25]
        ]),
    };
    let types = LabelledMixture {
        mixture: Mixture {
            weights: array![0.5, 0.5],
            means: array![[1.0, 0.5, -0.5, -1.5], [-1.0, -1.0, 0.5, 1.0]],
            covariance: Covariance::Diagonal(array![
                [0.25, 0.5, 0.25, 0.25],
                [0.5, 0.5, 0.25, 0.25]
            ]),
        },
        labels: array![[0.0, 1.0, 0.0], [0.0, 0.25, 0.75]],
    };
    file::encode(&ModelContents {
        front_end: &golden_front_end(),
        shift: &[0.5, 0.25, -0.25, -0.5],
        scale: &[1.0, 2.0, 0.5, 1.5],
        mixture: Some(&types),
        gate: Some(GateContents { mixture: &gate, log_likelihood_min: -4.0, direction: true }),
        class_names: &["Healthy".into(), "InnerRace".into(), "Käfig".into()],
        healthy: Some(0),
        log_likelihood_min: Some(-8.0),
        source: "motor-a",
        target: "motor-b",
        hash: [0x5a; 32],
    })
    .expect("the golden contents are valid")
}

/// Returns the contents of the golden file. They must never change while version 1 is read.
pub fn golden_contents() -> ModelBytes {
    let front_end = golden_front_end();
    let mixture = LabelledMixture {
        mixture: Mixture {
            weights: array![0.5, 0.25, 0.25],
            means: array![[1.0, 0.5, -0.5, -1.0], [-1.0, 0.0, 1.0, 0.0], [0.0, -1.5, 0.0, 1.5]],
            covariance: Covariance::Diagonal(array![
                [1.0, 0.5, 0.25, 2.0],
                [0.04, 1.0, 1.0, 4.0],
                [1.0, 0.0625, 9.0, 1.0]
            ]),
        },
        labels: array![[1.0, 0.0, 0.0], [0.0, 0.75, 0.25], [0.0, 0.0, 1.0]],
    };
    let mut hash = [0; 32];
    for (i, byte) in hash.iter_mut().enumerate() {
        *byte = i as u8;
    }
    file::encode(&ModelContents {
        front_end: &front_end,
        shift: &[0.5, 0.25, -0.25, -0.5],
        scale: &[1.0, 2.0, 0.5, 1.5],
        mixture: Some(&mixture),
        gate: None,
        class_names: &["Healthy".into(), "InnerRace".into(), "Käfig".into()],
        healthy: Some(0),
        log_likelihood_min: Some(-60.0),
        source: "motor-a",
        target: "motor-b",
        hash,
    })
    .expect("the golden contents are valid")
}

/// Returns a segment without its mean, tapered by a Hann window.
pub fn taper(samples: &[f64]) -> Vec<f64> {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let hann = |i: usize| 0.5 - 0.5 * (2.0 * PI * i as f64 / n).cos();
    samples.iter().enumerate().map(|(i, x)| (x - mean) * hann(i)).collect()
}

/// Returns the power of bins 0 to N/2, by the definition of the DFT.
pub fn power(window: &[f64]) -> Vec<f64> {
    let n = window.len();
    // The angles repeat after n; a table keeps the double loop affordable.
    let turn: Vec<(f64, f64)> =
        (0..n).map(|i| (2.0 * PI * i as f64 / n as f64).sin_cos()).collect();
    (0..=n / 2)
        .map(|bin| {
            let (mut re, mut im) = (0.0, 0.0);
            for (i, x) in window.iter().enumerate() {
                let (sin, cos) = turn[bin * i % n];
                re += x * cos;
                im -= x * sin;
            }
            re * re + im * im
        })
        .collect()
}

/// Returns the mean square of each band, averaged over the segments.
pub fn band_mean_squares(segments: &[Vec<f64>], edges: &[u32]) -> Vec<f64> {
    let mut bands = vec![0.0; edges.len() - 1];
    for segment in segments {
        let power = power(&taper(segment));
        // The factor counts both halves of the spectrum (Parseval) and restores the power that the
        // taper took.
        let points = segment.len() as f64;
        let hann: f64 = (0..segment.len()).map(|i| (PI * i as f64 / points).sin().powi(4)).sum();
        let share = 2.0 / (points * hann) / segments.len() as f64;
        for (band, edge) in bands.iter_mut().zip(edges.windows(2)) {
            *band += share * power[edge[0] as usize..edge[1] as usize].iter().sum::<f64>();
        }
    }
    bands
}

/// Returns the features of one axis, and the level removed from them. A feature is the log mean
/// square of its band, minus the mean logarithm of all bands.
pub fn features_and_level(segments: &[Vec<f64>], edges: &[u32]) -> (Vec<f64>, f64) {
    let bands = band_mean_squares(segments, edges);
    let total: f64 = bands.iter().sum();
    let logs: Vec<f64> = bands.iter().map(|band| (band / total + 1e-12).ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    (logs.iter().map(|log| log - mean).collect(), mean + total.ln())
}

/// Returns the features without the level.
pub fn features(segments: &[Vec<f64>], edges: &[u32]) -> Vec<f64> {
    features_and_level(segments, edges).0
}

/// Returns rms, kurtosis and crest factor about the mean.
pub fn statistics(x: &[f64]) -> [f64; 3] {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let moment = |power| x.iter().map(|x| (x - mean).powi(power)).sum::<f64>() / n;
    let rms = moment(2).sqrt();
    let peak = x.iter().map(|x| (x - mean).abs()).fold(0.0, f64::max);
    [rms, moment(4) / moment(2).powi(2), peak / rms]
}

/// Returns the direction of the standardised features, with a root mean square of one. A zero
/// vector gives zeros.
pub fn direction(z: &[f64]) -> Vec<f64> {
    let length = z.iter().map(|z| z * z).sum::<f64>().sqrt();
    let factor = if length > 0.0 { (z.len() as f64).sqrt() / length } else { 0.0 };
    z.iter().map(|z| z * factor).collect()
}

/// Returns the weighted log density under each diagonal Gaussian.
pub fn log_densities(
    x: &[f64],
    weights: &[f64],
    means: &[Vec<f64>],
    stds: &[Vec<f64>],
) -> Vec<f64> {
    weights
        .iter()
        .zip(means.iter().zip(stds))
        .map(|(weight, (mean, std))| {
            let mut log = weight.ln();
            for ((x, mean), std) in x.iter().zip(mean).zip(std) {
                log -= 0.5 * ((x - mean) / std).powi(2) + std.ln() + 0.5 * (2.0 * PI).ln();
            }
            log
        })
        .collect()
}

/// Returns log-likelihood and responsibilities from weighted log densities.
pub fn responsibilities(log_densities: &[f64]) -> (f64, Vec<f64>) {
    let largest = log_densities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = log_densities.iter().map(|x| (x - largest).exp()).sum();
    let log_likelihood = largest + sum.ln();
    (log_likelihood, log_densities.iter().map(|x| (x - log_likelihood).exp()).collect())
}
