//! Threshold for unknown windows: a log-likelihood limit, calibrated on windows that the mixture
//! was not fitted on.
//!
//! Quantiles of the fitted windows themselves are too optimistic. They would call far too many new
//! windows unknown. So the threshold comes from the last part, in time, of each recording.

use ndarray::{Array2, Axis};

use crate::features::extract::Features;
use crate::mixture::held_out::LEAST_HELD_OUT;

/// Fraction of each recording, in time, on which the calibration's mixture is fitted.
const FIT_SHARE: f64 = 0.7;

/// Rows of a feature matrix to fit on and to calibrate on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calibration {
    /// Rows of the first part, in time, of each recording.
    pub fit: Vec<usize>,
    /// Rows of the last part; they share no sample with the first part.
    pub held_out: Vec<usize>,
}

impl Calibration {
    /// Splits the windows of each recording in time. The first `overlap` windows after the cut
    /// share samples with windows before it, so they are left out.
    pub fn new(features: &Features, overlap: usize) -> Self {
        let mut calibration = Self { fit: Vec::new(), held_out: Vec::new() };
        let mut start = 0;
        for windows in features.recording.chunk_by(|a, b| a == b) {
            let cut = (windows.len() as f64 * FIT_SHARE).ceil() as usize;
            calibration.fit.extend(start..start + cut);
            calibration
                .held_out
                .extend(start + (cut + overlap).min(windows.len())..start + windows.len());
            start += windows.len();
        }
        calibration
    }

    /// The rows to fit on.
    pub fn fit_rows(&self, x: &Array2<f32>) -> Array2<f32> {
        x.select(Axis(0), &self.fit)
    }

    /// The held-out rows.
    pub fn held_out_rows(&self, x: &Array2<f32>) -> Array2<f32> {
        x.select(Axis(0), &self.held_out)
    }
}

/// Number of standard deviations below the held-out mean. Log-likelihoods have a long lower tail,
/// and faults lie far below it. On recordings of two machines, 4 called up to 1.2 % of the known
/// windows of a pair unknown, and 7 up to 0.5 %. With 7, 97 % of left-out faults were still found.
const MARGIN: f64 = 7.0;

/// Threshold from the log-likelihoods of fitted and held-out windows: the held-out mean − 7
/// standard deviations. Returns `None` if fewer than [`LEAST_HELD_OUT`] windows were held out.
pub fn threshold(fitted: &[f64], held_out: &[f64]) -> Option<f64> {
    if held_out.len() < LEAST_HELD_OUT {
        return None;
    }
    let (mean, sd_held_out) = mean_sd(held_out);
    let (_, sd_fitted) = mean_sd(fitted);
    Some(mean - MARGIN * sd_held_out.max(sd_fitted))
}

fn mean_sd(x: &[f64]) -> (f64, f64) {
    let n = x.len().max(1) as f64;
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::{Calibration, threshold};
    use crate::features::extract::Features;
    use ndarray::Array2;

    #[test]
    fn held_out_windows_share_no_sample_with_fitted_ones() {
        let features = Features {
            x: Array2::zeros((30, 2)),
            recording: [vec![0; 10], vec![1; 20]].concat(),
            stride: 1,
        };
        let calibration = Calibration::new(&features, 2);
        assert_eq!(calibration.fit, [(0..7).collect::<Vec<_>>(), (10..24).collect()].concat());
        assert_eq!(calibration.held_out, [9, 26, 27, 28, 29]);
    }

    #[test]
    fn the_margin_is_of_the_wider_part_and_too_few_windows_give_none() {
        let wave = |n: usize, size: f64| {
            (0..n).map(|i| if i % 2 == 0 { size } else { -size }).collect::<Vec<_>>()
        };
        assert_eq!(threshold(&wave(100, 1.0), &wave(50, 2.0)), Some(-14.0));
        assert_eq!(threshold(&wave(100, 3.0), &wave(50, 2.0)), Some(-21.0));
        assert_eq!(threshold(&wave(100, 1.0), &wave(6, 1.0)), None);
    }
}
