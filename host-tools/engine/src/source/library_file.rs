//! Libraries as JSON files. The library of one machine is written as a source, as it always was.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::library::{KnownTransfer, LeftOut, Library, MOST_SOURCES};
use super::{Source, VERSION};
use crate::features::rates::same_bands;
use crate::files::{input, output};

/// Version of the layout of a library with several machines.
const LIBRARY_VERSION: u32 = 2;

/// Advice about a file that is no library.
const REMEDY: &str = "give a file that `rebearing fit` wrote";

/// Why a text is no library.
#[derive(Debug, Error)]
pub enum LibraryError {
    /// It is not JSON, or another JSON.
    #[error("is not a source mixture; {REMEDY}")]
    Foreign(#[source] serde_json::Error),
    /// It has a layout that this tool does not read.
    #[error("has layout version {version}, but this tool reads {expected}; fit it again")]
    Version {
        /// Version of the layout.
        version: u32,
        /// The version that can be read.
        expected: u32,
    },
    /// Its parts contradict one another.
    #[error("is damaged; fit it again")]
    Damaged(#[source] anyhow::Error),
}

impl LibraryError {
    /// The error about the file at `path`.
    fn of_file(self, path: &Path) -> anyhow::Error {
        let text = format!("{}: {self}", path.display());
        match self {
            Self::Foreign(cause) => anyhow::Error::new(cause).context(text),
            Self::Damaged(cause) => cause.context(text),
            Self::Version { .. } => anyhow::Error::msg(text),
        }
    }
}

/// A library with several machines, as it stands in the file.
#[derive(Serialize, Deserialize)]
struct Contents<S, T> {
    version: u32,
    tool: String,
    sources: S,
    transfers: T,
    #[serde(default)]
    left_out: LeftOut,
}

impl Library {
    /// Writes the library as JSON, completely or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        Ok(output::write(path, &self.to_json()?)?)
    }

    /// Reads a library, or the source of one machine, and checks that its parts agree.
    pub fn read(path: &Path) -> Result<Self> {
        let text = input::read_whole(path, input::MOST_LIBRARY)
            .with_context(|| format!("{}: cannot be read; {REMEDY}", path.display()))?;
        Self::from_json(&text).map_err(|error| error.of_file(path))
    }

    /// Returns the library as the bytes of its file.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        Ok(match self.sources.as_slice() {
            [source] => serde_json::to_vec_pretty(source)?,
            sources => serde_json::to_vec_pretty(&Contents {
                version: LIBRARY_VERSION,
                tool: concat!("rebearing ", env!("CARGO_PKG_VERSION")).into(),
                sources,
                transfers: &self.transfers,
                left_out: self.left_out.clone(),
            })?,
        })
    }

    /// Reads a library from the bytes of its file and checks that its parts agree.
    pub fn from_json(text: &[u8]) -> Result<Self, LibraryError> {
        let foreign = LibraryError::Foreign;
        let value: serde_json::Value = serde_json::from_slice(text).map_err(foreign)?;
        let (library, version, expected) = if value.get("sources").is_some() {
            let contents = serde_json::from_value(value).map_err(foreign)?;
            let Contents { version, sources, transfers, left_out, .. } = contents;
            (Self { sources, transfers, left_out }, version, LIBRARY_VERSION)
        } else {
            let source: Source = serde_json::from_value(value).map_err(foreign)?;
            let version = source.version;
            (source.into(), version, VERSION)
        };
        if version != expected {
            return Err(LibraryError::Version { version, expected });
        }
        library.check().map_err(LibraryError::Damaged)?;
        Ok(library)
    }

    fn check(&self) -> Result<()> {
        let Some(first) = self.sources.first() else { bail!("it has no machine") };
        if self.sources.len() > MOST_SOURCES {
            bail!("it has more than {MOST_SOURCES} machines");
        }
        let mut names = BTreeSet::new();
        for source in &self.sources {
            source.check().with_context(|| format!("its machine {:?}", source.domain))?;
            if source.version != VERSION {
                bail!("its machine {:?} has layout version {}", source.domain, source.version);
            }
            let unit = source.unit.as_ref().map(ToString::to_string);
            let mut texts = source.classes.iter().chain([&source.domain]).chain(&unit);
            if texts.any(|text| text.contains(['\n', '\r'])) {
                bail!("its machine {:?} has a line break in a name", source.domain);
            }
            if !names.insert(source.domain.as_str()) {
                bail!("it has the machine {:?} twice", source.domain);
            }
            if source.classes != first.classes
                || source.healthy != first.healthy
                || !same_bands(&source.front_end, &first.front_end)
                || source.front_end.dims() != first.front_end.dims()
            {
                bail!("its machines differ in classes, axes or bands");
            }
        }
        for transfer in &self.transfers {
            let KnownTransfer { source, target, quality, accuracy } = transfer;
            let known = names.contains(source.as_str()) && names.contains(target.as_str());
            let share = |x: &f64| (0.0..=1.0).contains(x);
            if !known || !share(quality) || !share(accuracy) {
                bail!("its transfer {source:?} -> {target:?} is not one");
            }
        }
        Ok(())
    }
}
