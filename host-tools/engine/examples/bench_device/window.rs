//! A whole window: a model of 32 bands and 40 components, samples, and their results in f64.

use std::f64::consts::PI;

use anyhow::Context;
use ndarray::{Array1, Array2};
use rebearing::integer::features::SCALE_FRACTION;
use rebearing_host::features::front_end::{EqualBands, FrontEndSettings};
use rebearing_host::mixture::{Covariance, LabelledMixture, Mixture};
use rebearing_host::model::encoded::{IntegerModelBytes, ModelBytes};
use rebearing_host::model::file::{ModelContents, encode};
use rebearing_host::model::integer_file::encode_integer;
use rebearing_host::model::quantise::quantise;

use crate::draw::Draw;

pub(crate) const FFT: usize = 2048;
pub(crate) const BANDS: usize = 32;
pub(crate) const COMPONENTS: usize = 40;
const CLASSES: usize = 5;

/// A model, the samples of one window, and the results that they must give.
pub(crate) struct WindowProblem {
    model: ModelBytes,
    samples: Vec<i16>,
    /// Standardised features.
    features: Vec<f64>,
    log_likelihood: f64,
    posterior: Vec<f64>,
}

/// Draws the samples, and a model of this many components.
pub(crate) fn draw(components: usize) -> anyhow::Result<WindowProblem> {
    let mut draw = Draw::new(2048);
    let samples: Vec<i16> = (0..FFT)
        .map(|n| {
            let tone = 4000.0 * (0.31 * n as f64).sin() + 900.0 * (1.7 * n as f64).sin();
            (tone + 500.0 * draw.normal()) as i16
        })
        .collect();
    let front_end = FrontEndSettings::equal_bands(EqualBands {
        rate_hz: 20_000.0,
        axes: 1,
        fft_len: FFT,
        hop: FFT,
        segments: 1,
        bands: BANDS,
    })?;
    let features = features(&samples, &front_end.band_edges);
    let shift: Vec<f32> = features.iter().map(|x| (*x + 0.3 * draw.normal()) as f32).collect();
    let scale: Vec<f32> = (0..BANDS).map(|_| draw.uniform(0.5, 2.0) as f32).collect();
    let z: Vec<f64> = features
        .iter()
        .zip(shift.iter().zip(&scale))
        .map(|(x, (shift, scale))| (x - f64::from(*shift)) * f64::from(*scale))
        .collect();

    // All means are near the window, so every component has a share and no term is dropped.
    let means = Array2::from_shape_fn((components, BANDS), |(_, i)| z[i] + 0.2 * draw.normal());
    let variances = Array2::from_elem((components, BANDS), 0.5);
    let labels = Array2::from_shape_fn((components, CLASSES), |(k, c)| {
        f64::from(u8::from(c == k % CLASSES))
    });
    let mixture = LabelledMixture {
        mixture: Mixture {
            weights: Array1::from_elem(components, 1.0 / components as f64),
            means,
            covariance: Covariance::Diagonal(variances),
        },
        labels,
    };
    let class_names: Vec<String> = (0..CLASSES).map(|class| format!("Class{class}")).collect();
    let model = encode(&ModelContents {
        front_end: &front_end,
        shift: &shift,
        scale: &scale,
        mixture: Some(&mixture),
        gate: None,
        class_names: &class_names,
        healthy: Some(0),
        log_likelihood_min: None,
        source: "bench",
        target: "bench",
        hash: [0; 32],
    })?;
    let (log_likelihood, posterior) = evaluate(&mixture, &z).context("a diagonal mixture")?;

    Ok(WindowProblem { model, samples, features: z, log_likelihood, posterior })
}

impl WindowProblem {
    /// Returns the file that the firmware `bench-window` reads.
    pub(crate) fn f32_bytes(&self) -> Vec<u8> {
        let results = self.features.iter().chain([&self.log_likelihood]).chain(&self.posterior);
        let results = results.flat_map(|x| (*x as f32).to_le_bytes());
        self.file(*b"WNDW", self.model.bytes(), results)
    }

    /// Returns the model in integers.
    pub(crate) fn integer_model(&self) -> anyhow::Result<IntegerModelBytes> {
        let model = self.model.model();
        Ok(encode_integer(&model, &quantise(&model, 1.0)?)?)
    }

    /// Returns the file that the firmware `bench-window-i16` reads.
    ///
    /// Features are in the order and the unit of the model in integers, as i32. The log-likelihood
    /// is in nats Q8, the posterior in Q15 as i32.
    pub(crate) fn i16_bytes(&self) -> anyhow::Result<Vec<u8>> {
        let model = self.model.model();
        let contents = quantise(&model, 1.0)?;
        let encoded = encode_integer(&model, &contents)?;
        // A feature's integer scale is its f32 scale, for logarithms to base 2, in this unit.
        let unit = |place: usize| {
            let scale = f64::from(model.scale()[contents.order[place] as usize]);
            let in_q8 = f64::from(contents.scale[place]);
            in_q8 / f64::from(1 << SCALE_FRACTION) / scale / std::f64::consts::LN_2
        };
        let features = contents.order.iter().enumerate();
        let features =
            features.map(|(place, feature)| self.features[*feature as usize] * unit(place));
        let log_likelihood = self.log_likelihood * 256.0;
        let posterior = self.posterior.iter().map(|p| p * 32768.0);
        let results = features.chain([log_likelihood]).chain(posterior);
        let results = results.flat_map(|x| (x.round() as i32).to_le_bytes());
        Ok(self.file(*b"WNDI", encoded.bytes(), results))
    }

    fn file(&self, magic: [u8; 4], model: &[u8], results: impl Iterator<Item = u8>) -> Vec<u8> {
        let mut bytes = magic.to_vec();
        let counts = [model.len(), FFT, BANDS, CLASSES];
        bytes.extend(counts.iter().flat_map(|count| (*count as u32).to_le_bytes()));
        bytes.extend(model);
        bytes.extend(self.samples.iter().flat_map(|sample| sample.to_le_bytes()));
        bytes.extend(results);
        bytes
    }
}

/// Log band energies without their mean, by the definition of the discrete Fourier transform.
fn features(samples: &[i16], edges: &[u32]) -> Vec<f64> {
    let n = samples.len();
    let mean = samples.iter().map(|x| f64::from(*x)).sum::<f64>() / n as f64;
    let hann = |i: usize| (PI * i as f64 / n as f64).sin().powi(2);
    let window: Vec<f64> =
        samples.iter().enumerate().map(|(i, x)| (f64::from(*x) - mean) * hann(i)).collect();
    let turn: Vec<(f64, f64)> =
        (0..n).map(|i| (2.0 * PI * i as f64 / n as f64).sin_cos()).collect();
    let power = |bin: usize| {
        let (mut re, mut im) = (0.0, 0.0);
        for (i, x) in window.iter().enumerate() {
            let (sin, cos) = turn[bin * i % n];
            re += x * cos;
            im -= x * sin;
        }
        re * re + im * im
    };
    let bands: Vec<f64> = edges
        .windows(2)
        .map(|edge| (edge[0]..edge[1]).map(|bin| power(bin as usize)).sum())
        .collect();
    let total: f64 = bands.iter().sum();
    let logs: Vec<f64> = bands.iter().map(|band| (band / total + 1e-12).ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    logs.iter().map(|log| log - mean).collect()
}

/// Log-likelihood and class posterior by the definitions.
fn evaluate(labelled: &LabelledMixture, z: &[f64]) -> Option<(f64, Vec<f64>)> {
    let mixture = &labelled.mixture;
    let Covariance::Diagonal(variances) = &mixture.covariance else { return None };
    let densities: Vec<f64> = (0..mixture.weights.len())
        .map(|k| {
            let exponent = z.iter().enumerate().map(|(i, z)| {
                let variance = variances[[k, i]];
                -0.5 * ((z - mixture.means[[k, i]]).powi(2) / variance + (2.0 * PI * variance).ln())
            });
            mixture.weights[k] * exponent.sum::<f64>().exp()
        })
        .collect();
    let sum: f64 = densities.iter().sum();
    let mut posterior = vec![0.0; CLASSES];
    for (k, density) in densities.iter().enumerate() {
        for (class, p) in posterior.iter_mut().enumerate() {
            *p += density / sum * labelled.labels[[k, class]];
        }
    }
    Some((sum.ln(), posterior))
}
