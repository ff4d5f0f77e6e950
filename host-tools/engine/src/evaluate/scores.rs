//! Compares labels with the truth: a confusion table, and rates computed from it.

use ndarray::Array2;
use rebearing::Label;
use serde::Serialize;

/// Rates of a test, as fractions. A rate is `None` if it has no windows to count.
///
/// In these rates an *alarm* is a window that is called a fault class or a fault of unknown type. A
/// window called unknown is neither an alarm nor a detection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Scores {
    /// Windows with the right label. Unknown of any kind counts as wrong.
    pub accuracy: Option<f64>,
    /// Fraction of windows with the right label, for each true label, averaged over the labels.
    pub balanced_accuracy: Option<f64>,
    /// Alarms among healthy windows.
    pub false_alarm_rate: Option<f64>,
    /// Alarms among fault windows, of any fault class or of unknown type.
    pub detection_rate: Option<f64>,
    /// Fault windows with the right label, among all fault windows. A missed or unknown window
    /// counts as wrong.
    pub fault_type_accuracy: Option<f64>,
    /// Windows called unknown or a fault of unknown type.
    pub unknown_rate: Option<f64>,
    /// Windows called unknown or a fault of unknown type, among windows whose label the source has.
    pub false_unknown_rate: Option<f64>,
    /// Windows called unknown or a fault of unknown type, among windows whose label the source does
    /// not have. A method that knows its limits should give this answer.
    pub novel_unknown_rate: Option<f64>,
}

impl Scores {
    /// Names of the rates, in the order of [`Scores::values`].
    pub const NAMES: [&'static str; 8] = [
        "accuracy",
        "balanced_accuracy",
        "false_alarm_rate",
        "detection_rate",
        "fault_type_accuracy",
        "unknown_rate",
        "false_unknown_rate",
        "novel_unknown_rate",
    ];

    /// The rates in the order of their names.
    pub fn values(&self) -> [Option<f64>; 8] {
        [
            self.accuracy,
            self.balanced_accuracy,
            self.false_alarm_rate,
            self.detection_rate,
            self.fault_type_accuracy,
            self.unknown_rate,
            self.false_unknown_rate,
            self.novel_unknown_rate,
        ]
    }

    fn from_values(values: [Option<f64>; 8]) -> Self {
        let [
            accuracy,
            balanced_accuracy,
            false_alarm_rate,
            detection_rate,
            fault_type_accuracy,
            unknown_rate,
            false_unknown_rate,
            novel_unknown_rate,
        ] = values;
        Self {
            accuracy,
            balanced_accuracy,
            false_alarm_rate,
            detection_rate,
            fault_type_accuracy,
            unknown_rate,
            false_unknown_rate,
            novel_unknown_rate,
        }
    }

    /// The mean of each rate over the scores that have it.
    pub fn mean(all: &[Self]) -> Self {
        Self::combine(all, |_, rates| mean(rates))
    }

    /// The standard deviation of each rate over the scores that have it (divisor n).
    pub fn spread(all: &[Self]) -> Self {
        Self::combine(all, |_, rates| {
            let centre = mean(rates);
            mean(&rates.iter().map(|x| (x - centre).powi(2)).collect::<Vec<_>>()).sqrt()
        })
    }

    /// The worst of each rate: the largest for false alarms and false unknowns, the smallest for
    /// the others.
    pub fn worst(all: &[Self]) -> Self {
        Self::combine(all, |name, rates| {
            if matches!(name, "false_alarm_rate" | "unknown_rate" | "false_unknown_rate") {
                rates.iter().copied().fold(f64::NEG_INFINITY, f64::max)
            } else {
                rates.iter().copied().fold(f64::INFINITY, f64::min)
            }
        })
    }

    fn combine(all: &[Self], f: impl Fn(&str, &[f64]) -> f64) -> Self {
        let mut combined = [None; 8];
        for (index, (place, name)) in combined.iter_mut().zip(Self::NAMES).enumerate() {
            let rates: Vec<f64> = all.iter().filter_map(|scores| scores.values()[index]).collect();
            *place = (!rates.is_empty()).then(|| f(name, &rates));
        }
        Self::from_values(combined)
    }
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

/// Number of test windows by true label (row) and predicted label (column).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confusion {
    /// Columns: the classes, and, for a method that can give them, unknown and fault of unknown
    /// type.
    counts: Array2<usize>,
    classes: usize,
}

impl Confusion {
    /// Counts windows. There are `labels` true labels, and a method can give the first `classes` of
    /// them. `with_unknown` adds the columns of a method that can say unknown.
    ///
    /// # Panics
    /// If a label is outside its range, or is unknown without a column for it.
    pub fn count(
        truth: &[usize],
        called: &[Label],
        labels: usize,
        classes: usize,
        with_unknown: bool,
    ) -> Self {
        let mut counts = Array2::zeros((labels, classes + 2 * usize::from(with_unknown)));
        for (truth, called) in truth.iter().zip(called) {
            let column = match called {
                Label::Class(class) => *class,
                Label::Unknown => classes,
                Label::UnknownFault => classes + 1,
            };
            counts[[*truth, column]] += 1;
        }
        Self { counts, classes }
    }

    /// The counts, row by row.
    pub fn rows(&self) -> Vec<Vec<usize>> {
        self.counts.rows().into_iter().map(|row| row.to_vec()).collect()
    }

    /// The rates. `healthy` is the true label of the healthy machine.
    ///
    /// Without it, the rates of false alarms, detections and fault types are `None`.
    pub fn scores(&self, healthy: Option<usize>) -> Scores {
        let all: Vec<usize> = (0..self.counts.nrows()).collect();
        let windows = |rows: &[usize]| rows.iter().map(|row| self.counts.row(*row).sum()).sum();
        let right = |rows: &[usize]| -> usize {
            rows.iter()
                .filter(|row| **row < self.classes)
                .map(|row| self.counts[[*row, *row]])
                .sum()
        };
        let alarms = |rows: &[usize]| -> usize {
            let alarm = |column: &usize| *column != self.classes && Some(*column) != healthy;
            rows.iter()
                .map(|row| {
                    let columns = (0..self.counts.ncols()).filter(alarm);
                    columns.map(|column| self.counts[[*row, column]]).sum::<usize>()
                })
                .sum()
        };
        let unknown = |rows: &[usize]| -> usize {
            let columns = self.classes..self.counts.ncols();
            rows.iter()
                .map(|row| columns.clone().map(|c| self.counts[[*row, c]]).sum::<usize>())
                .sum()
        };
        let (known, novel) = all.split_at(self.classes.min(all.len()));
        let recalls: Vec<f64> =
            all.iter().filter_map(|row| share(right(&[*row]), windows(&[*row]))).collect();
        let faults: Vec<usize> = all.iter().copied().filter(|row| Some(*row) != healthy).collect();
        let with_healthy = |rate: Option<f64>| healthy.and(rate);
        Scores {
            accuracy: share(right(&all), windows(&all)),
            balanced_accuracy: (!recalls.is_empty()).then(|| mean(&recalls)),
            false_alarm_rate: healthy.and_then(|row| share(alarms(&[row]), windows(&[row]))),
            detection_rate: with_healthy(share(alarms(&faults), windows(&faults))),
            fault_type_accuracy: with_healthy(share(right(&faults), windows(&faults))),
            unknown_rate: share(unknown(&all), windows(&all)),
            false_unknown_rate: share(unknown(known), windows(known)),
            novel_unknown_rate: share(unknown(novel), windows(novel)),
        }
    }
}

/// How far a run may be below the better of its alternatives, as a share of the windows.
const MARGIN: f64 = 0.02;

/// Whether labels are clearly worse than the better of two alternatives: the labels of the source's
/// model on the same windows, and saying nothing.
///
/// A window that is called unknown counts as neither right nor wrong, and so does a fault that is
/// called a fault of unknown type. Right minus wrong is compared, over all windows, so that two
/// points of accuracy are four points of it.
pub fn harmful(
    truth: &[usize],
    called: &[Label],
    source_only: &[Label],
    healthy: Option<usize>,
) -> bool {
    let (mut own, mut other) = (0_i64, 0_i64);
    for ((truth, called), source_only) in truth.iter().zip(called).zip(source_only) {
        let gain = |label: &Label| match label {
            Label::Class(class) if class == truth => 1,
            Label::Class(_) => -1,
            Label::UnknownFault if Some(*truth) == healthy => -1,
            Label::Unknown | Label::UnknownFault => 0,
        };
        let said = *called != Label::Unknown && gain(called) != 0;
        own += gain(called);
        other += if said { gain(source_only) } else { 0 };
    }
    let margin = 2.0 * MARGIN * truth.len() as f64;
    (own as f64) < other.max(0) as f64 - margin
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const U: Label = Label::Unknown;
    const F: Label = Label::UnknownFault;

    fn c(class: usize) -> Label {
        Label::Class(class)
    }

    #[test]
    fn rates_follow_their_definitions() {
        // Healthy (0): 6 windows, 3 right, 1 called Inner, 1 unknown, 1 fault of unknown type.
        // Ball (1): 4 windows, 1 right, 1 called Inner, 1 missed, 1 unknown. Inner (2): none.
        // Gear (3, only the target has it): 1 called Ball, 1 unknown, 1 fault of unknown type.
        let truth = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 3, 3, 3];
        let called = [c(0), c(0), c(0), c(2), U, F, c(1), c(2), c(0), U, c(1), U, F];
        let confusion = Confusion::count(&truth, &called, 4, 3, true);
        assert_eq!(
            confusion.rows(),
            [[3, 0, 1, 1, 1], [1, 1, 1, 1, 0], [0; 5], [0, 1, 0, 1, 1]].map(|row| row.to_vec())
        );
        let scores = confusion.scores(Some(0));
        let close = |rate: Option<f64>, expected: f64| {
            assert!((rate.unwrap() - expected).abs() < 1e-12, "{rate:?} is not {expected}");
        };
        close(scores.accuracy, 4.0 / 13.0);
        close(scores.balanced_accuracy, (3.0 / 6.0 + 1.0 / 4.0 + 0.0) / 3.0);
        close(scores.false_alarm_rate, 2.0 / 6.0);
        close(scores.detection_rate, 4.0 / 7.0);
        close(scores.fault_type_accuracy, 1.0 / 7.0);
        close(scores.unknown_rate, 5.0 / 13.0);
        close(scores.false_unknown_rate, 3.0 / 10.0);
        close(scores.novel_unknown_rate, 2.0 / 3.0);
    }

    #[test]
    fn saying_nothing_harms_nobody_and_wrong_names_do() {
        let truth = [0, 0, 1, 1];
        let right = [c(0), c(0), c(1), c(1)];
        let wrong = [c(1), c(1), c(0), c(0)];
        assert!(!harmful(&truth, &[U; 4], &right, Some(0)), "silence is not harm");
        assert!(!harmful(&truth, &[c(0), c(0), F, F], &right, Some(0)), "a fault is found");
        assert!(harmful(&truth, &[F, F, F, F], &right, Some(0)), "false alarms");
        assert!(harmful(&truth, &wrong, &wrong, Some(0)), "silence would have been better");
        assert!(harmful(&truth, &[c(0), c(0), c(1), c(0)], &right, Some(0)));
        assert!(!harmful(&truth, &right, &wrong, Some(0)));
    }

    #[test]
    fn rates_without_a_basis_are_none() {
        let confusion = Confusion::count(&[0, 1], &[c(0), c(0)], 2, 2, false);
        let scores = confusion.scores(None);
        assert_eq!(scores.accuracy, Some(0.5));
        assert_eq!(scores.unknown_rate, Some(0.0));
        assert_eq!(scores.false_alarm_rate, None);
        assert_eq!(scores.detection_rate, None);
        assert_eq!(scores.fault_type_accuracy, None);
        // No test window has the healthy class.
        let scores = Confusion::count(&[1], &[c(1)], 2, 2, false).scores(Some(0));
        assert_eq!(scores.false_alarm_rate, None);
        assert_eq!(scores.detection_rate, Some(1.0));
    }

    #[test]
    fn means_skip_what_is_undefined_and_the_worst_is_the_worst() {
        let scores = |accuracy, false_alarm_rate| Scores {
            accuracy: Some(accuracy),
            false_alarm_rate,
            ..Scores::default()
        };
        let all = [scores(0.5, Some(0.2)), scores(1.0, None), scores(0.75, Some(0.4))];
        assert_eq!(Scores::mean(&all).accuracy, Some(0.75));
        assert!((Scores::mean(&all).false_alarm_rate.unwrap() - 0.3).abs() < 1e-12);
        assert_eq!(Scores::mean(&all).detection_rate, None);
        assert!((Scores::spread(&all).false_alarm_rate.unwrap() - 0.1).abs() < 1e-12);
        assert_eq!(Scores::worst(&all), scores(0.5, Some(0.4)));
    }
}
