//! The manifest: the table of recordings with their labels and domains.
//!
//! A CSV file with the header `path,label,domain,rate_hz` and, optionally, `rpm`, `channel`, `unit`
//! and `full_scale`. The columns may be in any order. Paths are relative to the manifest.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use csv::{ReaderBuilder, StringRecord, Writer};

use crate::data::recording::{self, Recording, RecordingError};
use crate::data::units::{FullScale, Measure, Unit};
use crate::files::cell;
use crate::files::input;
use crate::words::listed;

/// The header that messages show and [`Manifest::to_csv`] writes.
pub const HEADER: &str = "path,label,domain,rate_hz,rpm,channel";
/// Columns that [`Manifest::to_csv`] writes only if a row has a value in them.
const UNITS: [&str; 2] = ["unit", "full_scale"];
/// Columns that every manifest must have.
pub(crate) const REQUIRED: [&str; 4] = ["path", "label", "domain", "rate_hz"];

/// A table of recordings.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// The file, for messages.
    pub path: PathBuf,
    /// Its rows, in order; never empty.
    pub rows: Vec<Row>,
    /// Columns that have no meaning here, so that a command can mention them.
    pub ignored_columns: Vec<String>,
}

/// One recording of a manifest.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Line in the manifest, counted from 1, for messages.
    pub line: u64,
    /// The recording as the manifest names it.
    pub name: String,
    /// The recording's path from the working directory.
    pub path: PathBuf,
    /// The fault label, if there is one.
    pub label: Option<String>,
    /// The machine, speed or load that the recording belongs to.
    pub domain: String,
    /// Sampling rate.
    pub rate_hz: f64,
    /// Shaft speed, if known.
    pub rpm: Option<f64>,
    /// Variable, column or channel; several axes separated by `;`.
    pub channel: Option<String>,
    /// Unit of the samples, if known.
    pub unit: Option<Unit>,
    /// The sensor's largest value, if known.
    pub full_scale: Option<FullScale>,
}

impl Row {
    /// The unit and full scale of the samples.
    pub fn measure(&self) -> Measure {
        // The row was checked when it was read.
        Measure::new(self.unit.as_ref(), self.full_scale.as_ref()).unwrap_or_default()
    }
}

/// Why a manifest, or a recording in it, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The operating system refused to read the manifest.
    #[error("{}: cannot read the manifest: {source}; give a CSV file with the header {HEADER}", path.display())]
    Io {
        /// The manifest.
        path: PathBuf,
        /// The error from the operating system.
        source: std::io::Error,
    },
    /// The text is not UTF-8.
    #[error("{}: not UTF-8 text (byte {at}); save the manifest as CSV in UTF-8", path.display())]
    NotUtf8 {
        /// The manifest.
        path: PathBuf,
        /// Position of the first byte that is not UTF-8.
        at: usize,
    },
    /// A required column is not in the header.
    #[error("{}: no column {column:?} in the header; expected {HEADER} (rpm and channel may be left out, unit and full_scale added)", path.display())]
    MissingColumn {
        /// The manifest.
        path: PathBuf,
        /// The column.
        column: &'static str,
    },
    /// The manifest has no row.
    #[error("{}: the manifest is empty; add a row for each recording under the header {HEADER}", path.display())]
    NoRows {
        /// The manifest.
        path: PathBuf,
    },
    /// A row cannot be used.
    #[error("{}, line {line}: {reason}", path.display())]
    Row {
        /// The manifest.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The problem and its remedy.
        reason: String,
    },
    /// No row belongs to the domain.
    #[error("{}: no domain {domain:?}; the manifest has: {known}", path.display())]
    UnknownDomain {
        /// The manifest.
        path: PathBuf,
        /// The requested domain.
        domain: String,
        /// The domains that exist.
        known: String,
    },
    /// A row's recording cannot be read.
    #[error("{}, line {line}: {source}", path.display())]
    Recording {
        /// The manifest.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// The reason.
        source: RecordingError,
    },
}

impl Manifest {
    /// Reads a manifest and checks every row. It does not open the recordings yet.
    ///
    /// ```
    /// use rebearing_host::data::manifest::Manifest;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let file = folder.path().join("machines.csv");
    /// std::fs::write(
    ///     &file,
    ///     "path,label,domain,rate_hz,rpm\n\
    ///      known/fine.wav,Healthy,motor-a,20000,1480\n\
    ///      new/monday.csv,,motor-b,20000,1210\n",
    /// )?;
    /// let manifest = Manifest::read(&file)?;
    /// assert_eq!(manifest.domains(), ["motor-a", "motor-b"]);
    /// assert_eq!(manifest.rows[1].label, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        let bytes = input::read_whole(path, input::MOST_MANIFEST)
            .map_err(|source| ManifestError::Io { path: path.into(), source })?;
        let text = std::str::from_utf8(&bytes).map_err(|error| ManifestError::NotUtf8 {
            path: path.into(),
            at: error.valid_up_to(),
        })?;
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let mut records = reader.records();
        let header = match records.next() {
            None => return Err(ManifestError::NoRows { path: path.into() }),
            Some(record) => record.map_err(|error| csv_error(path, text, &error))?,
        };
        let columns = Columns::find(path, &header)?;
        let rows = records
            .map(|record| {
                let record = record.map_err(|error| csv_error(path, text, &error))?;
                let line = recording::line_of(text.as_bytes(), record.position());
                columns.row(path, line, &record)
            })
            .collect::<Result<Vec<_>, _>>()?;
        if rows.is_empty() {
            return Err(ManifestError::NoRows { path: path.into() });
        }
        let known = |name: &&str| !HEADER.split(',').chain(UNITS).any(|column| column == *name);
        Ok(Self {
            path: path.into(),
            rows,
            ignored_columns: header.iter().filter(known).map(Into::into).collect(),
        })
    }

    /// The domains, in order of their first row.
    pub fn domains(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let names = self.rows.iter().map(|row| row.domain.as_str());
        names.filter(|name| seen.insert(*name)).collect()
    }

    /// The rows of a domain, at least one. It is an error if one of their files does not exist.
    pub fn rows_of(&self, domain: &str) -> Result<Vec<&Row>, ManifestError> {
        let rows: Vec<&Row> = self.rows.iter().filter(|r| r.domain == domain).collect();
        if rows.is_empty() {
            return Err(ManifestError::UnknownDomain {
                path: self.path.clone(),
                domain: domain.into(),
                known: listed(&self.domains()),
            });
        }
        // Checked before any long work, and only for the rows in use: files of other domains may be
        // missing.
        if let Some(row) = rows.iter().find(|row| !row.path.is_file()) {
            return Err(self.row_error(
                row,
                format!(
                    "no file {}; paths are relative to the manifest's folder",
                    row.path.display()
                ),
            ));
        }
        Ok(rows)
    }

    /// Reads a row's recording and gives it the row's shaft speed. If the file carries a rate, it
    /// must equal the row's.
    pub fn recording(&self, row: &Row) -> Result<Recording, ManifestError> {
        let recording = recording::read(&row.path, row.channel.as_deref()).map_err(|source| {
            ManifestError::Recording { path: self.path.clone(), line: row.line, source }
        })?;
        match recording.rate_hz {
            Some(rate_hz) if (rate_hz - row.rate_hz).abs() > 1e-6 * rate_hz => Err(self.row_error(
                row,
                format!(
                    "rate_hz is {} but {} carries {rate_hz} Hz; correct the row or the file",
                    row.rate_hz, row.name
                ),
            )),
            _ => Ok(Recording { rpm: row.rpm, ..recording }),
        }
    }

    /// The manifest as CSV text, with the columns of [`HEADER`] and, if a row has values in them,
    /// the columns of units. A text that a spreadsheet would run gets an apostrophe, which reading
    /// takes away.
    pub fn to_csv(rows: &[Row]) -> String {
        let mut writer = Writer::from_writer(Vec::new());
        let units = rows.iter().any(|row| row.unit.is_some() || row.full_scale.is_some());
        let columns = HEADER.split(',').count() + if units { UNITS.len() } else { 0 };
        let header = HEADER.split(',').chain(UNITS).map(Into::into).collect();
        let fields = |row: &Row| {
            vec![
                cell::written(&row.name),
                cell::written(row.label.as_deref().unwrap_or_default()),
                cell::written(&row.domain),
                row.rate_hz.to_string(),
                text(row.rpm.as_ref()),
                cell::written(row.channel.as_deref().unwrap_or_default()),
                cell::written(&text(row.unit.as_ref())),
                text(row.full_scale.as_ref()),
            ]
        };
        let records: Vec<Vec<String>> =
            std::iter::once(header).chain(rows.iter().map(fields)).collect();
        for record in records {
            // Every record has the same number of fields and goes to memory, so nothing can fail.
            let _ = writer.write_record(&record[..columns]);
        }
        let bytes = writer.into_inner().unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn row_error(&self, row: &Row, reason: String) -> ManifestError {
        ManifestError::Row { path: self.path.clone(), line: row.line, reason }
    }
}

/// The text of an optional column; empty if there is no value.
fn text(value: Option<&impl ToString>) -> String {
    value.map(ToString::to_string).unwrap_or_default()
}

/// The position of each column in the header.
struct Columns {
    required: [usize; 4],
    rpm: Option<usize>,
    channel: Option<usize>,
    unit: Option<usize>,
    full_scale: Option<usize>,
}

impl Columns {
    fn find(path: &Path, header: &StringRecord) -> Result<Self, ManifestError> {
        let position = |column: &str| header.iter().position(|name| name == column);
        let mut required = [0; 4];
        for (place, column) in required.iter_mut().zip(REQUIRED) {
            *place = position(column)
                .ok_or_else(|| ManifestError::MissingColumn { path: path.into(), column })?;
        }
        Ok(Self {
            required,
            rpm: position("rpm"),
            channel: position("channel"),
            unit: position("unit"),
            full_scale: position("full_scale"),
        })
    }

    fn row(&self, manifest: &Path, line: u64, record: &StringRecord) -> Result<Row, ManifestError> {
        let error = |reason: String| ManifestError::Row { path: manifest.into(), line, reason };
        let [name, label, domain, rate_hz] =
            self.required.map(|column| cell::read(record.get(column).unwrap_or_default()));
        let optional = |column: Option<usize>| {
            let field = column.and_then(|column| record.get(column)).map(cell::read);
            field.filter(|field| !field.is_empty())
        };
        let texts = [("path", Some(name)), ("label", Some(label)), ("domain", Some(domain))];
        let texts = texts.into_iter().chain([
            ("channel", optional(self.channel)),
            ("unit", optional(self.unit)),
            ("full_scale", optional(self.full_scale)),
        ]);
        for (column, field) in texts {
            if field.is_some_and(cell::breaks_line) {
                return Err(error(format!("{column} has a line break in it; take it out")));
            }
        }
        for (column, field) in [("path", name), ("domain", domain)] {
            if field.is_empty() {
                return Err(error(format!("{column} is empty; every row needs one")));
            }
        }
        let positive = |column: &str, field: &str| {
            let number = field.parse::<f64>().ok();
            number.filter(|number| number.is_finite() && *number > 0.0).ok_or_else(|| {
                error(format!("{column} of {name} is {field:?}; it must be a number above 0"))
            })
        };
        let unit = optional(self.unit).map(str::parse::<Unit>).transpose();
        let full_scale = optional(self.full_scale).map(str::parse::<FullScale>).transpose();
        let unit = unit.map_err(|reason| error(format!("unit of {name}: {reason}")))?;
        let wrong = |reason| error(format!("full_scale of {name}: {reason}"));
        let full_scale = full_scale.map_err(wrong)?;
        Measure::new(unit.as_ref(), full_scale.as_ref()).map_err(wrong)?;
        Ok(Row {
            line,
            name: name.into(),
            path: manifest.parent().unwrap_or(Path::new("")).join(name),
            label: Some(label).filter(|label| !label.is_empty()).map(Into::into),
            domain: domain.into(),
            rate_hz: positive("rate_hz", rate_hz)?,
            rpm: optional(self.rpm).map(|rpm| positive("rpm", rpm)).transpose()?,
            channel: optional(self.channel).map(Into::into),
            unit,
            full_scale,
        })
    }
}

fn csv_error(path: &Path, text: &str, error: &csv::Error) -> ManifestError {
    ManifestError::Row {
        path: path.into(),
        line: recording::line_of(text.as_bytes(), error.position()),
        reason: recording::describe(error),
    }
}
