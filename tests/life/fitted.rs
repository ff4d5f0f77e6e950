//! The model of the simulated machine.

use crate::machine::{Fault, Machine, RATE, SPEEDS_HZ, WINDOW};
use ndarray::{Array1, Array2};
use rebearing::model::{AlarmParameters, IdleRms, Rms};
use rebearing::{AnyMonitor, Monitor};
use rebearing_host::features::front_end::{EqualBands, FrontEndSettings};
use rebearing_host::mixture::{Covariance, LabelledMixture, Mixture};
use rebearing_host::model::encoded::ModelBytes;
use rebearing_host::model::file::{self, ModelContents};
use rebearing_host::model::sections::alarm_section;

pub(crate) type OneAxis<'m> = Monitor<'m, f32, WINDOW, 1, BANDS, 8, 3>;

const BANDS: usize = 8;
const CLASSES: [&str; 3] = ["Healthy", "InnerRace", "OuterRace"];
/// Windows of a run-up or run-down.
pub(crate) const RUN_UP: usize = 12;

fn front_end() -> FrontEndSettings {
    FrontEndSettings::equal_bands(EqualBands {
        rate_hz: f64::from(RATE),
        axes: 1,
        fft_len: WINDOW,
        hop: WINDOW,
        segments: 1,
        bands: BANDS,
    })
    .expect("a front end")
}

fn model(mixture: &LabelledMixture, log_likelihood_min: Option<f64>) -> ModelBytes {
    let names = CLASSES.map(String::from);
    file::encode(&ModelContents {
        front_end: &front_end(),
        shift: &[0.0; BANDS],
        scale: &[1.0; BANDS],
        mixture: Some(mixture),
        gate: None,
        class_names: &names,
        healthy: Some(0),
        log_likelihood_min,
        source: "simulated",
        target: "simulated",
        hash: [0; 32],
    })
    .expect("a valid model")
}

/// Returns one Gaussian per class and speed, from windows of each: like `fit`, but without EM.
pub(crate) fn fitted() -> ModelBytes {
    let count = SPEEDS_HZ.len() * CLASSES.len();
    let blank = LabelledMixture {
        mixture: Mixture {
            weights: Array1::from_elem(1, 1.0),
            means: Array2::zeros((1, BANDS)),
            covariance: Covariance::Diagonal(Array2::ones((1, BANDS))),
        },
        labels: Array2::from_shape_fn((1, 3), |(_, class)| f64::from(u8::from(class == 0))),
    };
    let (mut means, mut variances) = (Array2::zeros((count, BANDS)), Array2::zeros((count, BANDS)));
    let mut labels = Array2::zeros((count, CLASSES.len()));
    let mut rows = Vec::new();
    let plain = model(&blank, None);
    for component in 0..count {
        let (class, speed) = (component % CLASSES.len(), component / CLASSES.len());
        let fault = [Fault::None, Fault::Inner, Fault::Outer][class];
        let mut monitor = OneAxis::new(plain.model()).expect("it fits");
        let mut machine = Machine::new(77 + component as u64);
        let mut features = Vec::new();
        for n in 0..2000 {
            // Faults from 0.4 to 1 of their full size.
            let severity = 0.4 + 0.6 * (n % 100) as f32 / 100.0;
            let severity = if fault == Fault::None { 0.0 } else { severity };
            let frames = machine.window(SPEEDS_HZ[speed], 1.0, fault, severity).map(|x| [x]);
            monitor.push_slice(&frames, |finding| assert!(finding.result.is_ok()));
            features.push(monitor.features().to_vec());
        }
        let n = features.len() as f64;
        for band in 0..BANDS {
            let values = || features.iter().map(|row| f64::from(row[band]));
            let mean = values().sum::<f64>() / n;
            means[[component, band]] = mean;
            let variance = values().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            variances[[component, band]] = variance.max(0.01);
        }
        labels[[component, class]] = 1.0;
        rows.extend(features);
    }
    let weights = Array1::from_elem(count, 1.0 / count as f64);
    let mixture = Mixture { weights, means, covariance: Covariance::Diagonal(variances) };
    let fitted = LabelledMixture { mixture, labels };
    let bytes = model(&fitted, None);
    // The threshold of `adapt`: far below the scores of the recordings.
    let view = bytes.model();
    let mut scores = vec![0.0; count];
    let log_likelihoods: Vec<f64> = rows
        .iter()
        .map(|row| {
            view.mixture().log_densities(row, &mut scores);
            f64::from(rebearing::classify::responsibilities(&mut scores))
        })
        .collect();
    let n = log_likelihoods.len() as f64;
    let mean = log_likelihoods.iter().sum::<f64>() / n;
    let sd = (log_likelihoods.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    let rms = |x| Rms::of_samples(x).expect("an rms");
    let parameters = AlarmParameters {
        settle: RUN_UP as u32,
        idle: Some(IdleRms { below: rms(0.15), until: rms(0.2) }),
        ..AlarmParameters::DEFAULT
    };
    let model = model(&fitted, Some(mean - 6.0 * sd));
    model.with_sections(&[alarm_section(&parameters)]).expect("valid parameters")
}
