//! Recordings whose level is far from the rest of their domain.
//!
//! The level of a recording is the rms of its loudest axis. It is compared with the median of the
//! recordings with the same label, or of all recordings if the label has too few. The limits are
//! wide, because a fault may be far louder than the healthy machine. A file in m/s² among files in
//! g is inside them: only the manifest's unit column can tell.

use std::fmt;
use std::path::PathBuf;

use super::RecordingLevels;
use crate::words::{axis_name, figure};

/// Least share of the median of the same label. One real machine from 600 to 3000 rpm goes down to
/// 1/5.3 of it.
pub const QUIET_LABEL: f64 = 1.0 / 20.0;

/// Least share of the median of all labels. The healthy recording of a real domain of three faults
/// has 1/17 of it.
pub const QUIET_DOMAIN: f64 = 1.0 / 100.0;

/// Largest multiple of either median. The loudest fault of a real domain has 7.2 times the median
/// of all labels.
pub const LOUD: f64 = 50.0;

/// Least number of recordings of one label for a median of their own. Of two, nobody knows which is
/// odd.
pub const SAME_LABEL: usize = 3;

/// A recording whose level does not fit; displayed, it is a warning that says what to do.
#[derive(Debug, Clone, PartialEq)]
pub struct OddLevel {
    /// Index of the recording.
    pub recording: usize,
    /// The file.
    pub path: PathBuf,
    /// Why it is odd.
    pub oddity: Oddity,
}

/// Why the level of a recording does not fit; displayed, it is a sentence without the recording.
#[derive(Debug, Clone, PartialEq)]
pub enum Oddity {
    /// An axis has the same value throughout.
    Constant {
        /// The axis, if the recording has several.
        axis: Option<usize>,
    },
    /// The rms is below or above its limit.
    Far {
        /// Rms of the loudest axis.
        rms: f64,
        /// Median of the rms that it is compared with.
        usual: f64,
        /// Number of recordings in the median.
        among: usize,
        /// Their label, if they are the recordings of one label.
        label: Option<String>,
    },
}

impl Oddity {
    /// Returns the reason in two or three words, for a table.
    pub fn words(&self) -> &'static str {
        match self {
            Self::Constant { .. } => "constant",
            Self::Far { rms, usual, .. } if rms < usual => "far too quiet",
            Self::Far { .. } => "far too loud",
        }
    }
}

impl fmt::Display for OddLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.oddity)
    }
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant { axis } => {
                match axis {
                    Some(axis) => write!(f, "axis {} has", axis_name(*axis))?,
                    None => f.write_str("it has")?,
                }
                f.write_str(
                    " the same value throughout; is the sensor connected? Record again, or leave \
                     the row out of the manifest",
                )
            }
            Self::Far { rms, usual, among, label } => {
                write!(f, "rms {}, but {} is usual", figure(*rms), figure(*usual))?;
                match label {
                    Some(label) => write!(f, " (median of {among} recordings of {label})")?,
                    None => write!(f, " (median of {among} recordings)")?,
                }
                f.write_str(if rms < usual {
                    "; did the machine stand still, or is this another unit or range?"
                } else {
                    "; is this another unit or range, or was the sensor loose?"
                })?;
                f.write_str(
                    " Look at the recording; correct the manifest's unit and full_scale, or leave \
                     the row out",
                )
            }
        }
    }
}

/// Returns the recordings of one domain whose level does not fit.
///
/// ```
/// use rebearing_host::data::levels::{Levels, RecordingLevels, odd_levels};
///
/// let recording = |name: &str, rms| RecordingLevels {
///     path: name.into(),
///     label: Some("Healthy".into()),
///     axes: vec![Levels { rms, kurtosis: 3.0, crest: 4.0 }],
/// };
/// let monday = [recording("1.wav", 0.31), recording("2.wav", 0.29), recording("3.wav", 0.0004)];
/// let odd = odd_levels(&monday);
/// assert_eq!(odd.len(), 1);
/// assert!(odd[0].to_string().starts_with("3.wav: rms 0.0004, but 0.29 is usual"));
/// ```
pub fn odd_levels(recordings: &[RecordingLevels]) -> Vec<OddLevel> {
    let oddity = |recording: &RecordingLevels| -> Option<Oddity> {
        let several = recording.axes.len() > 1;
        if let Some(axis) = recording.axes.iter().position(|levels| levels.rms <= 0.0) {
            return Some(Oddity::Constant { axis: several.then_some(axis) });
        }
        let same = |other: &&RecordingLevels| other.label == recording.label;
        let own = recordings.iter().filter(same).filter_map(positive_rms).collect::<Vec<_>>();
        let by_label = recording.label.is_some() && own.len() >= SAME_LABEL;
        let (compared, least) = if by_label {
            (own, QUIET_LABEL)
        } else {
            (recordings.iter().filter_map(positive_rms).collect(), QUIET_DOMAIN)
        };
        let (rms, among) = (positive_rms(recording)?, compared.len());
        let usual = median(compared)?;
        let label = recording.label.clone().filter(|_| by_label);
        let fits = (least * usual..=LOUD * usual).contains(&rms);
        (!fits).then_some(Oddity::Far { rms, usual, among, label })
    };
    let odd = |(index, recording): (usize, &RecordingLevels)| {
        let oddity = oddity(recording)?;
        Some(OddLevel { recording: index, path: recording.path.clone(), oddity })
    };
    recordings.iter().enumerate().filter_map(odd).collect()
}

/// Returns the rms of the loudest axis, unless it is zero.
fn positive_rms(recording: &RecordingLevels) -> Option<f64> {
    Some(recording.loudest().1.rms).filter(|rms| *rms > 0.0)
}

/// Returns the median of positive numbers. Of an even count it is the geometric mean of the middle
/// two, because levels differ by factors.
pub fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    let upper = *numbers.get(middle)?;
    if numbers.len() % 2 == 1 {
        return Some(upper);
    }
    Some((upper * numbers[middle - 1]).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::levels::Levels;

    fn recording(label: &str, rms: &[f64]) -> RecordingLevels {
        let levels = |rms: &f64| Levels { rms: *rms, kurtosis: 3.0, crest: 4.0 };
        RecordingLevels {
            path: format!("{label}.wav").into(),
            label: (!label.is_empty()).then(|| label.to_owned()),
            axes: rms.iter().map(levels).collect(),
        }
    }

    /// Returns the indices of odd recordings, given label and rms of each.
    fn odd(recordings: &[(&str, f64)]) -> Vec<usize> {
        let all: Vec<_> = recordings.iter().map(|(label, rms)| recording(label, &[*rms])).collect();
        odd_levels(&all).iter().map(|odd| odd.recording).collect()
    }

    #[test]
    fn faults_may_be_far_louder_than_the_healthy_machine() {
        // The healthy machine has 1/17 of the median, and the loudest fault 7 times the median.
        let four = [("Healthy", 0.0075), ("Ball", 0.06), ("Inner", 0.26), ("Outer", 0.9)];
        assert_eq!(odd(&four), [0; 0]);
        // An imbalance at the lowest and the highest speed.
        assert_eq!(odd(&[("I", 0.003), ("I", 0.016), ("I", 0.02), ("I", 0.0926)]), [0; 0]);
        // Nothing to compare with.
        assert_eq!(odd(&[("Healthy", 1e-9)]), [0; 0]);
        assert_eq!(odd(&[]), [0; 0]);
    }

    #[test]
    fn a_machine_at_rest_and_another_unit_are_odd() {
        let same = |rms| [("H", 0.3), ("H", 0.31), ("H", rms), ("F", 9.0)];
        assert_eq!(odd(&same(0.3 * QUIET_LABEL * 0.99)), [2]);
        assert_eq!(odd(&same(0.3 * QUIET_LABEL * 1.01)), [0; 0]);
        assert_eq!(odd(&same(0.31 * LOUD * 1.01)), [2]);
        assert_eq!(odd(&same(0.31 * LOUD * 0.99)), [0; 0]);
        // Labels with one recording each, and no labels at all.
        for labels in [["A", "B", "C", "D", "E"], [""; 5]] {
            let all = |rms| {
                let levels = [1.0, 2.0, 2.0, 2.0, rms];
                labels.into_iter().zip(levels).collect::<Vec<_>>()
            };
            assert_eq!(odd(&all(2.0 * QUIET_DOMAIN * 0.99)), [4]);
            assert_eq!(odd(&all(2.0 * QUIET_DOMAIN * 1.01)), [0; 0]);
            assert_eq!(odd(&all(2.0 * LOUD * 1.01)), [4]);
            assert_eq!(odd(&all(2.0 * LOUD * 0.99)), [0; 0]);
        }
    }

    #[test]
    fn a_constant_axis_is_odd_and_moves_no_median() {
        let mut all = vec![recording("H", &[1.0, 2.0, 0.0])];
        all.extend((0..4).map(|_| recording("H", &[0.0, 0.0, 0.0])));
        all.extend([recording("H", &[1.0; 3]), recording("H", &[1.0; 3])]);
        let odd = odd_levels(&all);
        let found: Vec<usize> = odd.iter().map(|odd| odd.recording).collect();
        assert_eq!(found, [0, 1, 2, 3, 4]);
        assert_eq!(odd[0].oddity, Oddity::Constant { axis: Some(2) });
        assert!(odd[0].to_string().contains("H.wav: axis z has the same value"), "{}", odd[0]);
        let one = odd_levels(&[recording("", &[0.0])]);
        assert!(one[0].to_string().contains("it has the same value"), "{}", one[0]);
    }

    #[test]
    fn a_warning_names_recording_figures_and_remedy() {
        let of = |last| {
            let mut all = vec![recording("Healthy", &[0.3, 0.1]); 3];
            all.push(recording("Healthy", &[last, last / 2.0]));
            odd_levels(&all)[0].to_string()
        };
        for (warning, rms, question) in
            [(of(0.0004), "0.0004", "stand still"), (of(300.0), "300", "loose")]
        {
            for part in [
                "Healthy.wav: rms ",
                rms,
                "0.3 is usual (median of 4 recordings of Healthy)",
                question,
                "unit and full_scale",
            ] {
                assert!(warning.contains(part), "{part}: {warning}");
            }
        }
    }

    #[test]
    fn medians_are_those_of_factors() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![9.0, 1.0, 4.0]), Some(4.0));
        assert_eq!(median(vec![16.0, 1.0, 4.0, 9.0]), Some(6.0));
    }
}
