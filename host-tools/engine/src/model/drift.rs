//! The reference for the device's drift watch: log-likelihoods and limits.
//!
//! The log-likelihoods are those of windows that the model was not fitted on. The limits keep their
//! rate of false alarms for windows that depend on one another.
//!
//! The device's `drift` module gives the bound and the reason for block means. Here, n = B/τ is the
//! number of windows that count in a block. Take n independent numbers with variance σ² that reach
//! at most b below (or above) their mean. Bernstein's inequality for the mean of these numbers is
//!
//! ```text
//! P(mean off by t or more) ≤ exp(−n·t²/(2·(σ² + b·t/3)))
//! ```
//!
//! This module solves it for t. The bound holds for the true mean and variance. The held-out
//! windows give only estimates, so each estimate is widened by three standard errors.

use rebearing::model::format;
use rebearing::{Label, Model};

use crate::features::extract::Features;
use crate::mixture::held_out::{HeldOut, LEAST_HELD_OUT};
use crate::model::findings::findings;

/// If nothing has changed, at most one block in this many drifts.
pub const BLOCKS_PER_FALSE_ALARM: u32 = 1_000_000;
/// Number of windows that count in a block, n.
pub const COUNTING: u32 = 32;
/// The limits allow for dependence over at least this many neighbouring windows. A burst of a duty
/// cycle has fewer windows.
pub const LEAST_CORRELATION: u32 = 16;
/// The limits allow for dependence over at most this many neighbouring windows. If a machine
/// wanders more slowly, that looks like drift.
const MOST_CORRELATION: u32 = 256;
/// How far dependence reaches, in units of the measured correlation time.
const REACH: f64 = 4.0;
/// Number of standard errors by which an estimate is widened.
const ERRORS: f64 = 3.0;
/// The device cuts deviations off here, in standard deviations.
const CUT: f64 = format::MAX_DEVIATION as f64 / 256.0;

/// The section of a model file for the drift watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriftContents {
    /// Number of windows in a block.
    pub block: u32,
    /// Number of neighbouring windows that may depend on one another.
    pub correlation: u32,
    /// Smallest mean deviation in a block without drift, in standard deviations Q8.
    pub deviation_min: i32,
    /// Most unknown windows in a block without drift.
    pub unknown_max: u32,
    /// If nothing has changed, at most one block in this many drifts.
    pub blocks_per_false_alarm: u32,
    /// Number of held-out windows that the values were taken from.
    pub held_out: u32,
    /// Number of those windows that were unknown.
    pub held_out_unknown: u32,
    /// Mean and spread of each class in nats Q8. A spread of zero means that the class has no
    /// reference.
    pub classes: Vec<(i32, u32)>,
}

/// A stretch of held-out windows in time order, spaced as the windows of a monitor.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stretch {
    /// Label and log-likelihood of each window.
    pub windows: Vec<(Label, f64)>,
}

/// Returns the drift reference of `model`, from the windows that its mixture was not fitted on;
/// `None` if no window was held out.
///
/// `features` are those that the mixture was fitted on. In a recording, windows may start closer
/// together than those of a device; only windows as far apart as the device's are used. Recordings
/// from index `first_snapshot` on are snapshots, so their windows are the device's.
pub fn reference(
    model: &Model<'_>,
    held_out: &HeldOut,
    features: &Features,
    first_snapshot: usize,
) -> Option<DriftContents> {
    let front_end = model.front_end();
    let apart = (front_end.segments * front_end.hop).div_ceil(features.stride).max(1);
    let found = findings(model, &features.x).rows;
    // With a gate, the held-out log-likelihoods are those of the gate.
    let gate_min = model.gate().map(|gate| f64::from(gate.log_likelihood_min));
    let mut stretches: Vec<(usize, Stretch)> = Vec::new();
    let mut next = 0;
    for (row, score) in held_out.rows.iter().zip(&held_out.log_likelihoods) {
        let recording = features.recording[*row];
        if stretches.last().is_none_or(|(of, _)| *of != recording) {
            stretches.push((recording, Stretch::default()));
            next = 0;
        }
        if *row < next {
            continue;
        }
        next = *row + if recording < first_snapshot { apart } else { 1 };
        let label = match gate_min {
            Some(min) if *score >= min => model.healthy().map_or(Label::Unknown, Label::Class),
            None if *score < f64::from(model.log_likelihood_min()) => Label::Unknown,
            // With a gate this is a fault, as on the device. The final model names its type.
            _ => found[*row].label,
        };
        // The gate's log-likelihood of a fault is not that of a fault type.
        let score = if gate_min.is_some_and(|min| *score < min) { f64::NAN } else { *score };
        if let Some((_, stretch)) = stretches.last_mut() {
            stretch.windows.push((label, score));
        }
    }
    let stretches: Vec<Stretch> = stretches.into_iter().map(|(_, stretch)| stretch).collect();
    contents(&stretches, model.classes(), BLOCKS_PER_FALSE_ALARM)
}

/// Returns references and limits from stretches of held-out windows; `None` if there are no
/// windows.
///
/// A log-likelihood of NaN marks a window that has none to compare.
pub fn contents(
    stretches: &[Stretch],
    classes: usize,
    blocks_per_false_alarm: u32,
) -> Option<DriftContents> {
    let all = || stretches.iter().flat_map(|stretch| &stretch.windows);
    let held_out = all().count();
    if held_out == 0 {
        return None;
    }
    let unknown = all().filter(|(label, _)| !matches!(label, Label::Class(_))).count();
    let time = stretches.iter().map(correlation_time).fold(1.0, f64::max);
    let correlation = (REACH * time).ceil() as u32;
    let correlation = correlation.clamp(LEAST_CORRELATION, MOST_CORRELATION);

    let of_class = |class: usize| {
        let own: Vec<f64> = all()
            .filter(|(label, score)| *label == Label::Class(class) && !score.is_nan())
            .map(|(_, score)| *score)
            .collect();
        if own.len() < LEAST_HELD_OUT {
            return (0, 0);
        }
        let (mean, spread) = mean_spread(&own);
        let counting = (own.len() as f64 / time).max(1.0);
        let mean = mean - ERRORS * spread / counting.sqrt();
        let spread = spread * (1.0 + ERRORS / (2.0 * counting).sqrt());
        let spread = (256.0 * spread).ceil().clamp(1.0, f64::from(format::MAX_SPREAD));
        ((256.0 * mean).floor() as i32, spread as u32)
    };
    // The two limits share the rate of false alarms.
    let log_rate = (2.0 * f64::from(blocks_per_false_alarm)).ln();
    let n = f64::from(COUNTING);
    let deviation = bernstein(n, 1.0, CUT, log_rate).min(CUT - 1.0 / 256.0);
    let block = COUNTING * correlation;
    let counting = (held_out as f64 / time).max(1.0);
    // Upper end of the share: from the normal distribution, or from the rule of three if no window
    // was unknown.
    let share = unknown as f64 / held_out as f64;
    let error = ERRORS * (share * (1.0 - share) / counting).sqrt();
    let share = (share + error.max(ERRORS / counting)).min(1.0);
    let most = share + bernstein(n, share * (1.0 - share), 1.0 - share, log_rate);
    Some(DriftContents {
        block,
        correlation,
        deviation_min: -((256.0 * deviation).ceil() as i32).min(format::MAX_DEVIATION - 1),
        unknown_max: ((f64::from(block) * most).ceil() as u32).min(block),
        blocks_per_false_alarm,
        held_out: held_out as u32,
        held_out_unknown: unknown as u32,
        classes: (0..classes).map(of_class).collect(),
    })
}

/// Returns the smallest deviation for which Bernstein's bound is at most exp(−`log_rate`).
fn bernstein(n: f64, variance: f64, reach: f64, log_rate: f64) -> f64 {
    let linear = 2.0 * log_rate * reach / 3.0;
    (linear + (linear * linear + 8.0 * n * log_rate * variance).sqrt()) / (2.0 * n)
}

/// Returns the number of windows that count as one: 1 + 2·Σ of the autocorrelations.
///
/// The autocorrelations are those of the deviations from each class' own mean. The sum ends before
/// the first one that is not positive.
fn correlation_time(stretch: &Stretch) -> f64 {
    let windows = &stretch.windows;
    let mean_of = |label: &Label| {
        let own = windows.iter().filter(|(other, score)| other == label && !score.is_nan());
        mean_spread(&own.map(|(_, score)| *score).collect::<Vec<_>>()).0
    };
    // Computed once per label, not once per window: hours of recording have hundreds of thousands
    // of windows.
    let mut means: Vec<(Label, f64)> = Vec::new();
    for (label, _) in windows {
        if !means.iter().any(|(known, _)| known == label) {
            means.push((*label, mean_of(label)));
        }
    }
    let mean = |label: &Label| means.iter().find(|(known, _)| known == label).map_or(0.0, |m| m.1);
    let deviations: Vec<f64> = windows
        .iter()
        .filter(|(_, score)| !score.is_nan())
        .map(|(label, score)| score - mean(label))
        .collect();
    let product = |lag: usize| -> f64 {
        deviations.iter().zip(deviations.iter().skip(lag)).map(|(a, b)| a * b).sum()
    };
    let square = product(0);
    if square <= 0.0 {
        return 1.0;
    }
    let positive = (1..deviations.len() / 2).map(|lag| product(lag) / square);
    1.0 + 2.0 * positive.take_while(|correlation| *correlation > 0.0).sum::<f64>()
}

fn mean_spread(x: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n.max(1.0);
    let squares: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0).max(1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::random::Random;

    #[test]
    fn the_bound_is_bernsteins() {
        for (n, variance, reach, rate) in [(32.0, 1.0, 4.0, 1e-6), (16.0, 0.1, 0.9, 1e-3)] {
            let t = bernstein(n, variance, reach, -f64::ln(rate));
            let bound = (-n * t * t / (2.0 * (variance + reach * t / 3.0))).exp();
            assert!((bound / rate - 1.0).abs() < 1e-9, "{bound} {rate}");
        }
    }

    #[test]
    fn correlation_is_measured_and_makes_blocks_longer() {
        let mut random = Random::new(3, 0);
        let mut stretch = |memory: f64| {
            let mut x = 0.0;
            let mut next = || {
                x = memory * x + random.normal();
                (Label::Class(0), x)
            };
            Stretch { windows: (0..4000).map(|_| next()).collect() }
        };
        let independent = stretch(0.0);
        assert!((correlation_time(&independent) - 1.0).abs() < 0.3);
        // The sum of a geometric series: (1 + 0.9)/(1 − 0.9).
        let slow = stretch(0.9);
        assert!((correlation_time(&slow) / 19.0 - 1.0).abs() < 0.3, "{}", correlation_time(&slow));
        let contents = |stretch| contents(&[stretch], 1, 1000).unwrap();
        assert_eq!(contents(independent).block, COUNTING * LEAST_CORRELATION);
        assert!(contents(slow).block > 40 * COUNTING);
    }

    #[test]
    fn few_windows_give_no_reference_and_none_no_section() {
        let windows = |n| vec![Stretch { windows: vec![(Label::Class(1), -5.0); n] }];
        assert_eq!(contents(&windows(0), 2, 1000), None);
        assert_eq!(contents(&windows(7), 2, 1000).unwrap().classes, [(0, 0); 2]);
        // Windows that are all alike have the smallest possible spread.
        assert_eq!(contents(&windows(8), 2, 1000).unwrap().classes, [(0, 0), (-1280, 1)]);
    }
}
