//! The story of the pictures: two simulated motors, and labels carried from one to the other.

use anyhow::{Context, Result};
use ndarray::Array2;
use rebearing_host::adapt::verdict::{AdaptSettings, Adaptation, Pool, adapt};
use rebearing_host::data::domain::Domain;
use rebearing_host::data::manifest::Manifest;
use rebearing_host::features::extract::{Features, extract};
use rebearing_host::features::front_end::{EqualBands, FrontEndSettings};
use rebearing_host::simulate::{SimulateSettings, simulate};
use rebearing_host::source::{Source, SourceSettings};

/// The machine with known labels, and the new one.
pub(super) const NAMES: [&str; 2] = ["motor-a", "motor-b"];
/// Samples of an FFT, as in the demo.
pub(super) const FFT: usize = 2048;
/// Samples from one FFT to the next, as in the demo.
pub(super) const HOP: usize = 1024;
/// FFTs in a window, as in the demo.
pub(super) const SEGMENTS: usize = 2;
const BANDS: usize = 32;

/// One machine: its recordings and the features of all their windows.
pub(super) struct Machine {
    pub(super) domain: Domain,
    pub(super) features: Features,
    /// True class of each window.
    pub(super) truth: Vec<usize>,
}

/// Both machines, the source fitted on the first, and the result carried over to the second.
pub(super) struct Story {
    pub(super) known: Machine,
    pub(super) new: Machine,
    pub(super) source: Source,
    pub(super) adaptation: Adaptation,
}

impl Story {
    pub(super) fn new() -> Result<Self> {
        let folder = tempfile::tempdir().context("no temporary directory")?;
        let summary = simulate(&SimulateSettings::default(), folder.path(), &|_, _| ())?;
        let manifest = Manifest::read(&summary.manifest)?;
        let [known, new] = NAMES.map(|name| Domain::read(&manifest, name));
        let (known, new) = (known?, new?);
        let front_end = front_end(&known, BANDS)?;
        let source = Source::fit(&known, front_end, &SourceSettings::default())?;
        let known = Machine::new(known, &source)?;
        let new = Machine::new(new, &source)?;
        let settings =
            AdaptSettings { pool_is: Pool::All, force: true, ..AdaptSettings::default() };
        let adaptation = adapt(&source.clone().into(), &new.features, &settings)?;
        Ok(Self { known, new, source, adaptation })
    }

    /// Returns the index of the class with this name.
    pub(super) fn class(&self, name: &str) -> Result<usize> {
        let position = self.source.classes.iter().position(|class| class == name);
        position.with_context(|| format!("no class {name}"))
    }
}

/// Returns the front end of the pictures, with `bands` bands.
pub(super) fn front_end(domain: &Domain, bands: usize) -> Result<FrontEndSettings> {
    let Domain { rate_hz, axes, .. } = *domain;
    Ok(FrontEndSettings::equal_bands(EqualBands {
        rate_hz,
        axes,
        fft_len: FFT,
        hop: HOP,
        segments: SEGMENTS,
        bands,
    })?)
}

impl Machine {
    fn new(domain: Domain, source: &Source) -> Result<Self> {
        let features = extract(&domain.recordings, &domain.whole(), &source.front_end)?;
        let (names, classes) = domain.classes()?;
        let class = |recording: &usize| -> Result<usize> {
            let name = &names[classes[*recording]];
            source.classes.iter().position(|class| class == name).context("a class is missing")
        };
        let truth = features.recording.iter().map(class).collect::<Result<_>>()?;
        Ok(Self { domain, features, truth })
    }

    /// Returns the mean features of a class.
    pub(super) fn mean(&self, class: usize) -> Vec<f64> {
        let rows = self.truth.iter().enumerate().filter(|(_, truth)| **truth == class);
        let rows: Vec<usize> = rows.map(|(row, _)| row).collect();
        let column = |dim: usize| {
            rows.iter().map(|row| f64::from(self.features.x[[*row, dim]])).sum::<f64>()
        };
        (0..self.features.x.ncols()).map(|dim| column(dim) / rows.len() as f64).collect()
    }
}

/// Returns the likeliest class of each row.
pub(super) fn likeliest(posterior: &Array2<f64>) -> Vec<usize> {
    let best = |row: ndarray::ArrayView1<'_, f64>| {
        (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best })
    };
    posterior.rows().into_iter().map(best).collect()
}
