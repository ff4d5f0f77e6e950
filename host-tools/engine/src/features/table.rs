//! The features of machines as one table: a row a window, with label, domain, recording and time.

use std::collections::HashMap;
use std::path::Path;

use thiserror::Error;

use crate::data::domain::Domain;
use crate::data::manifest::{Manifest, ManifestError};
use crate::features::extract::{ExtractError, Features, extract, windows};
use crate::features::front_end::FrontEndSettings;
use crate::files::matrix::{BESIDE, Beside, Block, MatrixError, Table, write_table};
use crate::words::{axis_name, plural};

/// Why a machine cannot be added to a table.
#[derive(Debug, Error)]
pub enum TableError {
    /// Its features could not be computed.
    #[error(transparent)]
    Extract(#[from] ExtractError),
    /// The manifest has no such domain.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Its rows have another length.
    #[error(
        "domain {domain} has {}, but domain {first} has {}; a table has the same columns in every \
         row: name the same channels, or write a file for each `domain`",
        plural(*has, "axis", "axes"),
        plural(*needs, "axis", "axes")
    )]
    Axes {
        /// The domain.
        domain: String,
        /// Its number of axes.
        has: usize,
        /// The first domain of the table.
        first: String,
        /// Its number of axes.
        needs: usize,
    },
}

/// The windows of one domain.
#[derive(Debug, Clone)]
struct Machine {
    domain: String,
    features: Features,
    /// Label of each recording.
    labels: Vec<Option<String>>,
    /// Each recording as the manifest names it.
    recordings: Vec<String>,
    /// Seconds from the start of the recording to the start of each window.
    time: Vec<f64>,
}

/// The features of one or more domains, not standardised, as the device computes them.
///
/// Only features are kept, so that the samples of one domain at a time are in memory.
#[derive(Debug, Clone)]
pub struct FeatureTable {
    front_end: FrontEndSettings,
    columns: Vec<String>,
    machines: Vec<Machine>,
}

impl FeatureTable {
    /// Returns a table without rows. The columns are named for this front end.
    pub fn new(front_end: &FrontEndSettings) -> Self {
        Self {
            front_end: front_end.clone(),
            columns: column_names(front_end),
            machines: Vec::new(),
        }
    }

    /// Adds the windows of a domain, one every hop, as a source is fitted on. Recordings need no
    /// labels.
    pub fn add(
        &mut self,
        manifest: &Manifest,
        domain: &Domain,
        front_end: &FrontEndSettings,
    ) -> Result<(), TableError> {
        if front_end.dims() != self.columns.len() {
            return Err(TableError::Axes {
                domain: domain.name.clone(),
                has: front_end.axes,
                first: self.machines.first().map_or_else(String::new, |m| m.domain.clone()),
                needs: self.front_end.axes,
            });
        }
        let parts = domain.whole();
        let features = extract(&domain.recordings, &parts, front_end)?;
        let mut time = Vec::with_capacity(features.recording.len());
        let (mut recording, mut before) = (0, 0);
        for part in &parts {
            if part.recording != recording {
                (recording, before) = (part.recording, 0);
            }
            let count = windows(part.frames().len(), front_end, features.stride);
            let start = |window: usize| before + part.start + window * features.stride;
            time.extend((0..count).map(|window| start(window) as f64 / domain.rate_hz));
            before += domain.recordings[recording].frames_of(part.stretch);
        }
        let rows = manifest.rows_of(&domain.name)?;
        self.machines.push(Machine {
            domain: domain.name.clone(),
            features,
            labels: domain.labels.clone(),
            recordings: rows.iter().map(|row| row.name.clone()).collect(),
            time,
        });
        Ok(())
    }

    /// Names of the features, in the order of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Each domain and its number of rows, in the order of the rows.
    pub fn domains(&self) -> Vec<(&str, usize)> {
        let machines = self.machines.iter();
        machines.map(|machine| (machine.domain.as_str(), machine.time.len())).collect()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.machines.iter().map(|machine| machine.time.len()).sum()
    }

    /// Each label and its number of rows, in order of first appearance; `None` are the rows without
    /// a label.
    pub fn classes(&self) -> Vec<(Option<&str>, usize)> {
        let mut classes: Vec<(Option<&str>, usize)> = Vec::new();
        let mut places: HashMap<Option<&str>, usize> = HashMap::new();
        for machine in &self.machines {
            for &recording in &machine.features.recording {
                let label = machine.labels[recording].as_deref();
                let place = *places.entry(label).or_insert(classes.len());
                if place == classes.len() {
                    classes.push((label, 0));
                }
                classes[place].1 += 1;
            }
        }
        classes
    }

    /// Writes the table by the extension of `path`, whole or not at all. `.npy` holds the features
    /// alone, and `X.rows.csv` beside it the rest.
    pub fn write(&self, path: &Path) -> Result<(), MatrixError> {
        let beside = BESIDE.into_iter().map(|name| (name, self.beside(name))).collect();
        let blocks = self.machines.iter().map(|m| Block::F32(m.features.x.view())).collect();
        write_table(path, &Table { beside, columns: &self.columns, blocks })
    }

    /// A column about each row.
    fn beside(&self, name: &str) -> Beside<'_> {
        let machines = self.machines.iter();
        if name == "time" {
            return Beside::Numbers(machines.flat_map(|machine| machine.time.clone()).collect());
        }
        let mut texts = Vec::with_capacity(self.rows());
        for machine in machines {
            texts.extend(machine.features.recording.iter().map(|&recording| match name {
                "label" => machine.labels[recording].as_deref(),
                "domain" => Some(machine.domain.as_str()),
                _ => machine.recordings.get(recording).map(String::as_str),
            }));
        }
        Beside::Texts(texts)
    }
}

/// Names of the features of a front end, in the order in which the device computes them.
///
/// `x_band03_938to1250Hz` is the fourth band of the first axis, in Hz. `x_order00_0.5to1` and
/// `x_envelope00_0.5to1` are bands of shaft orders, of the spectrum and of the envelope's spectrum.
///
/// ```
/// use rebearing_host::features::front_end::{EqualBands, FrontEndSettings};
/// use rebearing_host::features::table::column_names;
///
/// let front_end = FrontEndSettings::equal_bands(EqualBands::usual(20_000.0, 2))?;
/// let names = column_names(&front_end);
/// assert_eq!((names[3].as_str(), names[32].as_str()), ("x_band03_938to1250Hz", "y_band00_0to313Hz"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn column_names(front_end: &FrontEndSettings) -> Vec<String> {
    let mut names = Vec::with_capacity(front_end.dims());
    for axis in (0..front_end.axes).map(axis_name) {
        let hertz = |edge: u32| (f64::from(edge) * front_end.bin_hz()).round();
        for (band, edges) in front_end.band_edges.windows(2).enumerate() {
            let (low, high) = (hertz(edges[0]), hertz(edges[1]));
            names.push(format!("{axis}_band{band:02}_{low}to{high}Hz"));
        }
        let Some(orders) = front_end.orders else { continue };
        let blocks = [("order", orders.spectrum), ("envelope", orders.envelope)];
        for (block, _) in blocks.into_iter().filter(|(_, has)| *has) {
            for band in 0..orders.bands {
                let edge = |edge: usize| orders.first + edge as f32 * orders.width;
                let (low, high) = (edge(band), edge(band + 1));
                names.push(format!("{axis}_{block}{band:02}_{low}to{high}"));
            }
        }
    }
    names
}
