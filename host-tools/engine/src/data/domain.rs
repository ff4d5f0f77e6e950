//! All recordings of one domain of a manifest, read and checked together.

use anyhow::{Context, Result, bail};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::data::manifest::{Manifest, Row};
use crate::data::recording::{Conversion, Recording, RecordingError};
use crate::data::resample::same_rate;
use crate::data::split::{self, Part, SplitError};
use crate::data::units::{Measure, Unit};
use crate::progress;
use crate::words::plural;

/// The sample rate to convert recordings to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Resample {
    /// Keep the recordings' own rate. All must have the same one.
    No,
    /// Use the lowest rate among the recordings.
    Lowest,
    /// Use this rate, in Hz.
    To(f64),
}

/// All recordings of one machine, speed or load.
#[derive(Debug, Clone, Default)]
pub struct Domain {
    /// Its name in the manifest.
    pub name: String,
    /// Sample rate that all its recordings share.
    pub rate_hz: f64,
    /// Axes that all its recordings share.
    pub axes: usize,
    /// The recordings, in the order of the manifest.
    pub recordings: Vec<Recording>,
    /// The label of each recording, if the manifest gives one.
    pub labels: Vec<Option<String>>,
    /// Unit of the samples, if the manifest gives one.
    pub unit: Option<Unit>,
    /// The sensor's largest value in this unit, if the manifest gives one.
    pub full_scale: Option<f64>,
    /// Number of recordings that had another rate.
    pub resampled: usize,
}

impl Domain {
    /// Reads every recording of `domain` without resampling.
    pub fn read(manifest: &Manifest, domain: &str) -> Result<Self> {
        Self::read_at(manifest, domain, Resample::No)
    }

    /// Reads every recording of `domain`. It refuses recordings that do not go together: different
    /// axes or units, different rates if they may not be changed, NaN or infinite samples.
    pub fn read_at(manifest: &Manifest, domain: &str, resample: Resample) -> Result<Self> {
        let rows = manifest.rows_of(domain)?;
        let place = |row: &Row| format!("{}, row {}", manifest.path.display(), row.line);
        let first = rows[0];
        let rate_hz = match resample {
            Resample::No => first.rate_hz,
            Resample::Lowest => rows.iter().map(|row| row.rate_hz).fold(f64::INFINITY, f64::min),
            Resample::To(rate_hz) => rate_hz,
        };
        if let Some(row) = rows.iter().find(|row| !same_rate(row.rate_hz, rate_hz))
            && resample == Resample::No
        {
            bail!(
                "{}: rate_hz is {}, but row {} of the same domain has {}; bring them to one \
                 rate with `resample` or give them domains of their own",
                place(row),
                row.rate_hz,
                first.line,
                first.rate_hz
            );
        }
        let measures = measures(&rows, place)?;
        progress::expect(rows.len());
        let recordings: Vec<Recording> = rows
            .par_iter()
            .zip(&measures)
            .map(|(row, measure)| -> Result<Recording> {
                let recording = manifest.recording(row)?;
                progress::done(1);
                if let Some(at) = recording.first_non_finite().with_context(|| place(row))? {
                    bail!(
                        "{}: {} holds NaN or infinity at {at}; cut that part out of the recording",
                        place(row),
                        recording.path.display()
                    );
                }
                let rates = (!same_rate(row.rate_hz, rate_hz)).then_some((row.rate_hz, rate_hz));
                let Measure { factor, largest, .. } = *measure;
                let conversion = Conversion { factor, largest, rates };
                recording.converted(&conversion).with_context(|| place(row))
            })
            .collect::<Result<_>>()?;
        for (row, recording) in rows.iter().zip(&recordings) {
            if recording.axes != recordings[0].axes {
                bail!(
                    "{}: {} has {}, but row {} has {}; name the same channels in both rows",
                    place(row),
                    recording.path.display(),
                    plural(recording.axes, "axis", "axes"),
                    first.line,
                    recordings[0].axes
                );
            }
        }
        Ok(Self {
            name: domain.into(),
            rate_hz,
            axes: recordings[0].axes,
            recordings,
            labels: rows.iter().map(|row| row.label.clone()).collect(),
            unit: measures[0].unit.clone(),
            // Sensors may have different ranges. The widest range covers the samples of all.
            full_scale: measures.iter().filter_map(|m| m.full_scale).reduce(f64::max),
            resampled: rows.iter().filter(|row| !same_rate(row.rate_hz, rate_hz)).count(),
        })
    }

    /// Keeps only the first `share`, in time, of each recording.
    pub fn keep_first(&mut self, share: f64) -> Result<(), SplitError> {
        let parts = split::in_time(&self.frames(), share)?.first;
        // The parts are in the order of the recordings.
        let mut parts = parts.iter().peekable();
        for (index, recording) in self.recordings.iter_mut().enumerate() {
            let own = std::iter::from_fn(|| parts.next_if(|part| part.recording == index));
            *recording = recording.cut(own.map(|part| (part.stretch, part.frames())));
        }
        Ok(())
    }

    /// Frames of each stretch of each recording, in the form that a split takes.
    pub fn frames(&self) -> Vec<Vec<usize>> {
        self.recordings.iter().map(Recording::stretch_frames).collect()
    }

    /// All of every recording, as parts.
    pub fn whole(&self) -> Vec<Part> {
        split::whole(&self.frames())
    }

    /// The class names in order of first appearance, and the class of each recording.
    pub fn classes(&self) -> Result<(Vec<String>, Vec<usize>)> {
        let mut names: Vec<String> = Vec::new();
        let mut classes = Vec::new();
        for (label, recording) in self.labels.iter().zip(&self.recordings) {
            let label = label.as_ref().with_context(|| {
                format!(
                    "domain {}: {} has no label; a source needs the label of every recording \
                     (fill the manifest's label column, or leave the row out)",
                    self.name,
                    recording.path.display()
                )
            })?;
            let class = names.iter().position(|name| name == label).unwrap_or(names.len());
            if class == names.len() {
                names.push(label.clone());
            }
            classes.push(class);
        }
        Ok((names, classes))
    }

    /// SHA-256 of everything a fit depends on: rate, speeds, samples and, if `labelled`, labels.
    pub fn hash(&self, labelled: bool) -> Result<[u8; 32], RecordingError> {
        let mut hash = Sha256::new();
        hash.update(self.name.as_bytes());
        hash.update(self.rate_hz.to_le_bytes());
        for (recording, label) in self.recordings.iter().zip(&self.labels) {
            if labelled {
                hash.update(label.as_deref().unwrap_or("").as_bytes());
            }
            if let Some(rpm) = recording.rpm {
                hash.update(rpm.to_le_bytes());
            }
            for (stretch, frames) in recording.stretch_frames().into_iter().enumerate() {
                hash.update(((frames * recording.axes) as u64).to_le_bytes());
                recording.each_chunk(stretch, 0..frames, |chunk| {
                    // Blocks of 1024 samples: hashing four bytes at a time is slow, and hashing all
                    // would need a copy.
                    for samples in chunk.chunks(1024) {
                        let bytes: Vec<u8> =
                            samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
                        hash.update(bytes);
                    }
                    Ok::<_, RecordingError>(())
                })?;
            }
        }
        Ok(hash.finalize().into())
    }
}

/// The measure of each row, all in the unit of the first row.
fn measures(rows: &[&Row], place: impl Fn(&Row) -> String) -> Result<Vec<Measure>> {
    let first = rows[0].measure().unit;
    rows.iter()
        .map(|row| {
            let measure = row.measure();
            match (&first, &measure.unit) {
                (None, None) => Ok(measure),
                (Some(wanted), Some(_)) => measure.in_unit(wanted).with_context(|| {
                    format!("{}: its unit differs from that of row {}", place(row), rows[0].line)
                }),
                _ => bail!(
                    "{}: only one of this row and row {} of the same domain has a unit; fill the \
                     manifest's unit column in both, or in neither",
                    place(row),
                    rows[0].line
                ),
            }
        })
        .collect()
}

/// The class of a healthy machine: the named one, or else the one called healthy or normal.
pub fn healthy_class(classes: &[String], named: Option<&str>) -> Result<Option<usize>> {
    match named {
        Some(name) => match classes.iter().position(|class| class == name) {
            Some(class) => Ok(Some(class)),
            None => {
                bail!("`healthy` {name}: no such class; the classes are {}", classes.join(", "))
            }
        },
        None => Ok(classes.iter().position(|class| {
            class.eq_ignore_ascii_case("healthy") || class.eq_ignore_ascii_case("normal")
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::Domain;
    use crate::data::recording::Recording;

    #[test]
    fn the_first_part_in_time_is_what_is_kept() {
        let recording =
            |stretches: Vec<Vec<f32>>, axes| Recording::in_memory("r.csv", axes, stretches);
        let mut domain = Domain {
            name: "d".into(),
            rate_hz: 1.0,
            axes: 2,
            recordings: vec![
                recording(vec![(0..20_u8).map(f32::from).collect()], 2),
                recording(vec![vec![1.0; 8], vec![2.0; 8], vec![3.0; 8], vec![4.0; 8]], 2),
            ],
            labels: vec![None, None],
            ..Domain::default()
        };
        domain.keep_first(0.6).unwrap();
        let expected: Vec<f32> = (0..12_u8).map(f32::from).collect();
        assert_eq!(domain.recordings[0].stretches().unwrap(), [expected]);
        assert_eq!(domain.recordings[1].stretches().unwrap(), [vec![1.0; 8], vec![2.0; 8]]);
        assert!(domain.keep_first(0.0).is_err());
    }
}
