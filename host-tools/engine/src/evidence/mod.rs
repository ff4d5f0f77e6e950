//! Evidence for a fault: the envelope spectrum at a bearing's characteristic frequencies.
//!
//! When a defect is rolled over, it strikes. Each strike rings, and the envelope of the ringing
//! repeats at the frequency of the strikes. So a label that names a part of the bearing can be
//! checked against the bearing's geometry, independently of any model. This is host code in full
//! precision over whole recordings. A window of the device is too short to separate such
//! frequencies from the shaft's harmonics.

mod contradictions;

use std::fmt;
use std::path::PathBuf;

pub use contradictions::{ABSENT_DB, OVERSHADOWED_DB, STANDS_OUT_DB};

use rustfft::{FftPlanner, num_complex::Complex};
use serde::Serialize;
use thiserror::Error;

use crate::data::bearing::{Bearing, Characteristic};
use crate::data::recording::{Recording, RecordingError};

/// The band for the envelope, as fractions of the sample rate: above the shaft's harmonics, below
/// the roll-off of the anti-alias filter.
const BAND: (f64, f64) = (0.1, 0.45);
/// The longest stretch that is transformed at once, in samples.
const LONGEST: usize = 1 << 16;
/// Largest number of frames used from a recording: enough to average over, and they fit in memory.
const MOST_FRAMES: usize = 1 << 22;
/// Smallest number of shaft turns in a stretch, so that the frequencies can be separated.
const TURNS: f64 = 20.0;
/// Largest slip of the balls, as a fraction of the frequency.
const SLIP: f64 = 0.02;
/// Range for measuring the floor, as a fraction of the frequency on either side.
const NEIGHBOURHOOD: f64 = 0.2;
/// Number of harmonics to check.
const HARMONICS: usize = 3;

/// A part of a bearing that can be damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Outer race, at BPFO.
    OuterRace,
    /// Inner race, at BPFI.
    InnerRace,
    /// A ball, at twice BSF, because it strikes both races.
    Ball,
    /// The cage, at FTF.
    Cage,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 4] = [Self::OuterRace, Self::InnerRace, Self::Ball, Self::Cage];

    /// The usual abbreviation of the part's frequency.
    pub fn abbreviation(self) -> &'static str {
        match self {
            Self::OuterRace => "BPFO",
            Self::InnerRace => "BPFI",
            Self::Ball => "2×BSF",
            Self::Cage => "FTF",
        }
    }

    /// The frequency at which a defect of this part is struck.
    pub fn frequency(self, of: &Characteristic) -> f64 {
        match self {
            Self::OuterRace => of.outer_race,
            Self::InnerRace => of.inner_race,
            Self::Ball => 2.0 * of.ball_spin,
            Self::Cage => of.cage,
        }
    }

    /// The part that a label names, in common spellings (`InnerRace`, `OR007@6`, `ball_14`).
    pub fn of_label(label: &str) -> Option<Self> {
        let label = label.to_lowercase();
        let names: [(Self, &[&str], &str); 4] = [
            (Self::InnerRace, &["inner", "bpfi"], "ir"),
            (Self::OuterRace, &["outer", "bpfo"], "or"),
            (Self::Ball, &["ball", "roller", "rolling", "bsf"], "b"),
            (Self::Cage, &["cage", "ftf"], "c"),
        ];
        // A short form is a whole label or comes before a number, as in IR014.
        let starts = |short: &str| {
            label.strip_prefix(short).is_some_and(|rest| {
                rest.chars().next().is_none_or(|next| !next.is_ascii_alphabetic())
            })
        };
        let mut found = names
            .iter()
            .filter(|(_, words, short)| words.iter().any(|w| label.contains(w)) || starts(short));
        match (found.next(), found.next()) {
            (Some((part, ..)), None) => Some(*part),
            _ => None,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OuterRace => "outer race",
            Self::InnerRace => "inner race",
            Self::Ball => "ball",
            Self::Cage => "cage",
        })
    }
}

/// The evidence in the envelope spectrum for one part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evidence {
    /// The part.
    pub part: Part,
    /// Its frequency at the given shaft speed, from the geometry.
    pub frequency_hz: f64,
    /// Height of the envelope spectrum above its floor at the frequency and its harmonics, in dB.
    /// There are fewer if the recording's band ends before them.
    pub harmonics_db: Vec<f64>,
    /// Their mean. Noise alone gives about 5 dB.
    pub level_db: f64,
}

/// Why there is no evidence.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum EvidenceError {
    /// The stretch is too short.
    #[error(
        "{found} samples are {turns:.1} turns of the shaft, but {TURNS} are needed to tell the \
         characteristic frequencies apart; record {needed} samples or more in one stretch"
    )]
    Short {
        /// Number of samples.
        found: usize,
        /// Number of turns in these samples.
        turns: f64,
        /// Number of samples needed.
        needed: usize,
    },
    /// The shaft speed is not a positive number.
    #[error("a shaft speed of {0} rpm; give a positive number")]
    Speed(f64),
    /// The recording could not be read to its end.
    #[error("{0}")]
    Recording(String),
    /// A sample is NaN or infinite.
    #[error("sample {0} is NaN or infinite; cut that part out of the recording")]
    NotFinite(usize),
}

/// Power spectrum of a squared envelope.
#[derive(Debug, Clone, PartialEq)]
pub struct EnvelopeSpectrum {
    /// Width of a bin in Hz.
    pub bin_hz: f64,
    /// Power in each bin, the first at 0 Hz.
    pub power: Vec<f64>,
}

impl EnvelopeSpectrum {
    /// The spectrum of samples of one axis. `rpm` determines how long a stretch must be.
    pub fn new(samples: &[f32], rate_hz: f64, rpm: f64) -> Result<Self, EvidenceError> {
        if !(rpm.is_finite() && rpm > 0.0) {
            return Err(EvidenceError::Speed(rpm));
        }
        if let Some(place) = samples.iter().position(|x| !x.is_finite()) {
            return Err(EvidenceError::NotFinite(place));
        }
        let needed = (TURNS * rate_hz * 60.0 / rpm).ceil() as usize;
        if samples.len() < needed {
            let turns = samples.len() as f64 * rpm / 60.0 / rate_hz;
            return Err(EvidenceError::Short { found: samples.len(), turns, needed });
        }
        let length = samples.len().min(LONGEST.max(needed));
        let power = envelope_spectrum(samples, length);
        Ok(Self { bin_hz: rate_hz / length as f64, power })
    }

    /// The spectrum of each axis in the longest stretch of a recording.
    pub fn of_axes(
        recording: &Recording,
        rate_hz: f64,
        rpm: f64,
    ) -> Result<Vec<Self>, EvidenceError> {
        let lengths = recording.stretch_frames();
        let longest = lengths.iter().enumerate().max_by_key(|(_, frames)| **frames);
        let mut frames = Vec::new();
        if let Some((segment, &length)) = longest {
            recording
                .each_chunk(segment, 0..length.min(MOST_FRAMES), |chunk| {
                    frames.extend_from_slice(chunk);
                    Ok(())
                })
                .map_err(|error: RecordingError| EvidenceError::Recording(error.to_string()))?;
        }
        let axis = |axis| {
            let samples: Vec<f32> =
                frames.iter().skip(axis).step_by(recording.axes).copied().collect();
            Self::new(&samples, rate_hz, rpm)
        };
        (0..recording.axes).map(axis).collect()
    }

    /// The evidence for each part of `bearing`.
    pub fn evidence(&self, rpm: f64, bearing: &Bearing) -> Vec<Evidence> {
        let frequencies = bearing.frequencies_hz(rpm);
        let of_part = |part: Part| {
            let frequency_hz = part.frequency(&frequencies);
            let bin = |harmonic: usize| harmonic as f64 * frequency_hz / self.bin_hz;
            let harmonics_db: Vec<f64> = (1..=HARMONICS)
                .filter_map(|harmonic| above_floor(&self.power, bin(harmonic)))
                .collect();
            let level_db = harmonics_db.iter().sum::<f64>() / harmonics_db.len().max(1) as f64;
            Evidence { part, frequency_hz, harmonics_db, level_db }
        };
        Part::ALL.map(of_part).to_vec()
    }
}

/// The evidence for each part of `bearing` in samples of one axis.
pub fn evidence(
    samples: &[f32],
    rate_hz: f64,
    rpm: f64,
    bearing: &Bearing,
) -> Result<Vec<Evidence>, EvidenceError> {
    Ok(EnvelopeSpectrum::new(samples, rate_hz, rpm)?.evidence(rpm, bearing))
}

/// The evidence for each part, axis by axis, in the longest stretch of a recording. Only its first
/// four million frames are used.
pub fn of_recording(
    recording: &Recording,
    rate_hz: f64,
    rpm: f64,
    bearing: &Bearing,
) -> Result<Vec<Vec<Evidence>>, EvidenceError> {
    let axes = EnvelopeSpectrum::of_axes(recording, rate_hz, rpm)?;
    Ok(axes.iter().map(|axis| axis.evidence(rpm, bearing)).collect())
}

/// A check of one recording's label against its envelope spectrum.
#[derive(Debug, Clone, Serialize)]
pub struct Checked {
    /// The recording.
    #[serde(serialize_with = "crate::files::shown")]
    pub path: PathBuf,
    /// The label that most of its windows have.
    pub label: String,
    /// Fraction of its windows with that label.
    pub share: f64,
    /// The part of the bearing that the label names, if it names one.
    pub part: Option<Part>,
    /// Evidence for each part, the strongest over the axes; empty if there is none.
    pub evidence: Vec<Evidence>,
    /// The reason why there is no evidence.
    pub problem: Option<String>,
    /// The axis with the strongest evidence for the label's part, or for any part, and its
    /// spectrum.
    #[serde(skip)]
    pub envelope: Option<(usize, EnvelopeSpectrum)>,
}

impl Checked {
    /// Checks the labels of a recording's windows.
    pub fn new(recording: &Recording, labels: &[String], rate_hz: f64, bearing: &Bearing) -> Self {
        let mut counts: Vec<(&String, usize)> = Vec::new();
        for label in labels {
            match counts.iter_mut().find(|(known, _)| *known == label) {
                Some((_, count)) => *count += 1,
                None => counts.push((label, 1)),
            }
        }
        // Among equally frequent labels, the first in time wins.
        let most = counts.into_iter().rev().max_by_key(|(_, count)| *count);
        let (label, count) =
            most.map_or_else(Default::default, |(label, count)| (label.clone(), count));
        let share = count as f64 / labels.len().max(1) as f64;
        let part = Part::of_label(&label);
        let found = recording.rpm.ok_or_else(|| "the manifest has no rpm for it".to_owned());
        let found = found.and_then(|rpm| {
            let axes = EnvelopeSpectrum::of_axes(recording, rate_hz, rpm);
            axes.map(|axes| (rpm, axes)).map_err(|error| error.to_string())
        });
        let path = recording.path.clone();
        let (rpm, spectra) = match found {
            Ok(found) => found,
            Err(problem) => {
                let (evidence, problem, envelope) = (Vec::new(), Some(problem), None);
                return Self { path, label, share, part, evidence, problem, envelope };
            }
        };
        let axes: Vec<Vec<Evidence>> =
            spectra.iter().map(|axis| axis.evidence(rpm, bearing)).collect();
        let level = |axis: &[Evidence]| {
            let asked =
                axis.iter().filter(|evidence| part.is_none_or(|part| evidence.part == part));
            asked.map(|evidence| evidence.level_db).fold(f64::NEG_INFINITY, f64::max)
        };
        let envelope = spectra
            .into_iter()
            .enumerate()
            .max_by(|(a, _), (b, _)| level(&axes[*a]).total_cmp(&level(&axes[*b])));
        Self { path, label, share, part, evidence: strongest(axes), problem: None, envelope }
    }

    /// The evidence for the part that the label names.
    pub fn for_label(&self) -> Option<&Evidence> {
        self.evidence.iter().find(|evidence| Some(evidence.part) == self.part)
    }
}

/// For each part, the evidence of the axis where it is strongest.
fn strongest(axes: Vec<Vec<Evidence>>) -> Vec<Evidence> {
    let mut axes = axes.into_iter();
    let mut best = axes.next().unwrap_or_default();
    for axis in axes {
        for (best, other) in best.iter_mut().zip(axis) {
            if other.level_db > best.level_db {
                *best = other;
            }
        }
    }
    best
}

/// Power spectrum of the squared envelope, averaged over stretches of `length` that overlap by
/// half.
fn envelope_spectrum(samples: &[f32], length: usize) -> Vec<f64> {
    let mut planner = FftPlanner::new();
    let (forward, inverse) = (planner.plan_fft_forward(length), planner.plan_fft_inverse(length));
    let (from, to) = ((BAND.0 * length as f64) as usize, (BAND.1 * length as f64) as usize);
    let mut spectrum = vec![0.0; length / 2];
    let mut start = 0;
    while start + length <= samples.len() {
        let stretch = &samples[start..start + length];
        let mut values: Vec<Complex<f64>> =
            stretch.iter().map(|&x| Complex::new(f64::from(x), 0.0)).collect();
        forward.process(&mut values);
        // Only the positive frequencies of the band stay. This is the analytic signal; its
        // magnitude is the envelope.
        for (bin, value) in values.iter_mut().enumerate() {
            if bin < from || bin > to {
                *value = Complex::ZERO;
            }
        }
        inverse.process(&mut values);
        let mean = values.iter().map(Complex::norm_sqr).sum::<f64>() / length as f64;
        for (i, value) in values.iter_mut().enumerate() {
            let phase = std::f64::consts::TAU * i as f64 / length as f64;
            *value = Complex::new((value.norm_sqr() - mean) * (1.0 - libm::cos(phase)), 0.0);
        }
        forward.process(&mut values);
        for (sum, value) in spectrum.iter_mut().zip(&values) {
            *sum += value.norm_sqr();
        }
        start += (length / 2).max(1);
    }
    spectrum
}

/// The largest value near `bin` relative to the median around it, in dB; `None` beyond the
/// spectrum.
fn above_floor(spectrum: &[f64], bin: f64) -> Option<f64> {
    // A peak of the taper is four bins wide.
    let slip = (SLIP * bin).max(2.0);
    let around = (NEIGHBOURHOOD * bin).max(8.0 * slip.min(4.0));
    let within = |width: f64| {
        let from = (bin - width).ceil().max(1.0) as usize;
        let to = (bin + width).floor() as usize;
        (to < spectrum.len()).then_some(from..=to)
    };
    let peak = spectrum[within(slip)?].iter().copied().fold(0.0, f64::max);
    let mut floor = spectrum[within(around)?].to_vec();
    floor.sort_by(f64::total_cmp);
    let median = floor[floor.len() / 2];
    // A silent recording has neither a peak nor a floor.
    (median > 0.0).then(|| 10.0 * libm::log10(peak / median))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    const RATE: f64 = 12_000.0;
    const RPM: f64 = 1_750.0;

    /// A signal with `per_second` strikes, each ringing at 3 kHz, plus noise.
    fn strikes(per_second: f64, noise: f32) -> Vec<f32> {
        let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        (0..60_000)
            .map(|i| {
                let since = (f64::from(i) / RATE * per_second).fract() / per_second;
                let ring =
                    libm::exp(-since * 800.0) * libm::sin(since * 3_000.0 * std::f64::consts::TAU);
                ring as f32 + noise * (rng.random::<f32>() - 0.5)
            })
            .collect()
    }

    fn strongest(samples: &[f32]) -> (Part, f64) {
        let all = evidence(samples, RATE, RPM, &Bearing::DEEP_GROOVE_6205).unwrap();
        let best = all.iter().max_by(|a, b| a.level_db.total_cmp(&b.level_db)).unwrap();
        (best.part, best.level_db)
    }

    #[test]
    fn strikes_at_a_parts_frequency_are_evidence_for_it_also_when_balls_slip() {
        let frequencies = Bearing::DEEP_GROOVE_6205.frequencies_hz(RPM);
        for part in [Part::OuterRace, Part::InnerRace, Part::Ball] {
            for slip in [0.99, 1.0, 1.01] {
                let found = strongest(&strikes(slip * part.frequency(&frequencies), 0.5));
                assert!(found.0 == part && found.1 > 15.0, "{part:?}: {found:?}");
            }
        }
    }

    #[test]
    fn noise_alone_is_evidence_for_nothing() {
        assert!(strongest(&strikes(0.001, 1.0)).1 < 10.0);
    }

    #[test]
    fn labels_name_parts_by_the_words_people_use() {
        for (label, part) in [
            ("InnerRace", Some(Part::InnerRace)),
            ("IR014", Some(Part::InnerRace)),
            ("outer race @6", Some(Part::OuterRace)),
            ("OR007@6", Some(Part::OuterRace)),
            ("B021", Some(Part::Ball)),
            ("Ball", Some(Part::Ball)),
            ("cage", Some(Part::Cage)),
            ("Normal", None),
            ("Original", None),
            ("Bent shaft", None),
            ("inner and outer race", None),
        ] {
            assert_eq!(Part::of_label(label), part, "{label}");
        }
    }

    #[test]
    fn what_cannot_be_judged_is_refused_with_the_reason() {
        let of = |samples: &[f32], rpm| evidence(samples, RATE, rpm, &Bearing::DEEP_GROOVE_6205);
        let message = of(&[0.5; 1000], RPM).unwrap_err().to_string();
        assert!(message.contains("2.4 turns") && message.contains("8229 samples"), "{message}");
        assert_eq!(of(&[0.5; 1000], 0.0), Err(EvidenceError::Speed(0.0)));
        let mut samples = vec![0.5; 20_000];
        samples[7] = f32::NAN;
        assert_eq!(of(&samples, RPM), Err(EvidenceError::NotFinite(7)));
        // Silence has no floor, so it has no harmonics.
        let silence = vec![0.0; 20_000];
        assert!(of(&silence, RPM).unwrap().iter().all(|e| e.harmonics_db.is_empty()));
    }
}
