//! The recordings of one domain of a manifest, read and checked together.

use anyhow::{Context, Result, bail};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::manifest::{Manifest, Row};
use crate::progress;
use crate::recording::Recording;
use crate::split::{self, Part, SplitError};

/// All recordings of one machine, speed or load.
#[derive(Debug, Clone)]
pub struct Domain {
    /// Its name in the manifest.
    pub name: String,
    /// Sample rate that all its recordings share.
    pub rate_hz: f64,
    /// Axes that all its recordings share.
    pub axes: usize,
    /// The recordings, in the order of the manifest.
    pub recordings: Vec<Recording>,
    /// The label of each recording, where the manifest gives one.
    pub labels: Vec<Option<String>>,
}

impl Domain {
    /// Reads every recording of `domain`, and refuses what cannot be fitted together:
    /// rates or axes that differ, NaN or infinite samples.
    pub fn read(manifest: &Manifest, domain: &str) -> Result<Self> {
        let rows = manifest.rows_of(domain)?;
        let place = |row: &Row| format!("{}, row {}", manifest.path.display(), row.line);
        let first = rows[0];
        for row in &rows {
            if (row.rate_hz - first.rate_hz).abs() > 1e-6 * first.rate_hz {
                bail!(
                    "{}: rate_hz is {}, but row {} of the same domain has {}; \
                     resample one of them or give them domains of their own",
                    place(row),
                    row.rate_hz,
                    first.line,
                    first.rate_hz
                );
            }
        }
        progress::expect(rows.len());
        let recordings: Vec<Recording> = rows
            .par_iter()
            .map(|row| -> Result<Recording> {
                let recording = manifest.recording(row)?;
                progress::done(1);
                if let Some(at) = recording.first_non_finite() {
                    bail!(
                        "{}: {} holds NaN or infinity at {at}; cut that part out of the recording",
                        place(row),
                        recording.path.display()
                    );
                }
                Ok(recording)
            })
            .collect::<Result<_>>()?;
        for (row, recording) in rows.iter().zip(&recordings) {
            if recording.axes != recordings[0].axes {
                bail!(
                    "{}: {} has {} axes, but row {} has {}; name the same channels in both rows",
                    place(row),
                    recording.path.display(),
                    recording.axes,
                    first.line,
                    recordings[0].axes
                );
            }
        }
        Ok(Self {
            name: domain.into(),
            rate_hz: first.rate_hz,
            axes: recordings[0].axes,
            recordings,
            labels: rows.iter().map(|row| row.label.clone()).collect(),
        })
    }

    /// Forgets all but the first `share`, in time, of each recording.
    pub fn keep_first(&mut self, share: f64) -> Result<(), SplitError> {
        let parts = split::in_time(&self.frames(), share)?.first;
        for (index, recording) in self.recordings.iter_mut().enumerate() {
            let own = parts.iter().filter(|part| part.recording == index);
            recording.segments = own
                .map(|part| {
                    let samples = part.start * recording.axes..part.end * recording.axes;
                    recording.segments[part.segment][samples].to_vec()
                })
                .collect();
        }
        Ok(())
    }

    /// Frames of each segment of each recording, as a split wants them.
    pub fn frames(&self) -> Vec<Vec<usize>> {
        self.recordings.iter().map(Recording::segment_frames).collect()
    }

    /// Every recording whole.
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

    /// SHA-256 over rate, speeds, samples and (where `labelled`) labels: what a fit depends on.
    pub fn hash(&self, labelled: bool) -> [u8; 32] {
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
            for segment in &recording.segments {
                hash.update((segment.len() as u64).to_le_bytes());
                for sample in segment {
                    hash.update(sample.to_le_bytes());
                }
            }
        }
        hash.finalize().into()
    }
}

/// The class that stands for a healthy machine: the one named, or else the one that is
/// called healthy or normal.
pub fn healthy_class(classes: &[String], named: Option<&str>) -> Result<Option<usize>> {
    match named {
        Some(name) => match classes.iter().position(|class| class == name) {
            Some(class) => Ok(Some(class)),
            None => {
                bail!("--healthy {name}: no such class; the classes are {}", classes.join(", "))
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
    use crate::recording::Recording;

    #[test]
    fn the_first_part_in_time_is_what_is_kept() {
        let recording = |segments: Vec<Vec<f32>>, axes| Recording {
            path: "r.csv".into(),
            rate_hz: None,
            rpm: None,
            axes,
            segments,
        };
        let mut domain = Domain {
            name: "d".into(),
            rate_hz: 1.0,
            axes: 2,
            recordings: vec![
                recording(vec![(0..20_u8).map(f32::from).collect()], 2),
                recording(vec![vec![1.0; 8], vec![2.0; 8], vec![3.0; 8], vec![4.0; 8]], 2),
            ],
            labels: vec![None, None],
        };
        domain.keep_first(0.6).unwrap();
        let expected: Vec<f32> = (0..12_u8).map(f32::from).collect();
        assert_eq!(domain.recordings[0].segments, [expected]);
        assert_eq!(domain.recordings[1].segments, [vec![1.0; 8], vec![2.0; 8]]);
        assert!(domain.keep_first(0.0).is_err());
    }
}
