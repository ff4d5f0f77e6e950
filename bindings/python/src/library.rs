//! Libraries of known machines.

use std::path::PathBuf;

use ndarray::Array2;
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rebearing_host::adapt::leave_one_out::fit_library;
use rebearing_host::data::domain::{Domain, Resample};
use rebearing_host::data::manifest::Manifest;
use rebearing_host::data::units::Unit;
use rebearing_host::features::extract::Features;
use rebearing_host::features::front_end::FrontEndSettings;
use rebearing_host::features::rates;
use rebearing_host::source::library::{self, Shared};
use rebearing_host::source::{LabelledFeatures, SourceSettings};
use sha2::{Digest, Sha256};

use crate::error::Failed;
use crate::features::{FrontEnd, front_end};
use crate::work::{guarded, run};

/// Settings of the mixtures of known machines.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct GivenSource {
    components: usize,
    reg_covar: f64,
    n_init: usize,
    seed: u64,
    healthy: Option<String>,
}

impl GivenSource {
    pub(crate) fn get(&self) -> SourceSettings {
        SourceSettings {
            components: self.components,
            variance_floor: self.reg_covar,
            restarts: self.n_init,
            seed: self.seed,
            healthy: self.healthy.clone(),
        }
    }
}

/// The windows of one known machine: its name, features, label of each window, and recording of
/// each window.
pub(crate) type GivenMachine<'py> =
    (String, PyReadonlyArray2<'py, f32>, Vec<String>, Vec<usize>, usize);

/// Known machines with the same classes, axes and bands.
#[pyclass(frozen, module = "rebearing._rebearing")]
pub(crate) struct Library(pub(crate) library::Library);

#[pymethods]
impl Library {
    /// Fits a library to features.
    #[staticmethod]
    fn of_features(
        py: Python<'_>,
        machines: Vec<GivenMachine<'_>>,
        front_end: FrontEnd,
        settings: GivenSource,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let known = machines.into_iter().map(|machine| labelled(machine, &front_end.0)).collect();
        fitted(py, known, settings, progress)
    }

    /// Fits a library to machines of a manifest.
    #[staticmethod]
    #[allow(clippy::too_many_arguments, reason = "Python's class calls it alone")]
    fn of_manifest(
        py: Python<'_>,
        manifest: PathBuf,
        domains: Vec<String>,
        fft_len: usize,
        hop: usize,
        segments: usize,
        bands: &str,
        blocks: &str,
        settings: GivenSource,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let settings = settings.get();
        let library = run(py, progress, || {
            let manifest = Manifest::read(&manifest)?;
            let domains = if domains.is_empty() {
                manifest.domains().into_iter().map(str::to_owned).collect()
            } else {
                domains
            };
            let known = read(&manifest, &domains, &|rate, axes| {
                front_end(rate, axes, fft_len, hop, segments, bands, blocks)
            })?;
            let shared = Shared::new(known, settings.healthy.as_deref())?;
            Ok::<_, Failed>(fit_library(&shared, &settings)?)
        })?;
        Ok(Self(library))
    }

    #[staticmethod]
    fn from_json(text: &[u8]) -> PyResult<Self> {
        guarded(|| Ok(Self(library::Library::from_json(text).map_err(Failed::from)?)))
    }

    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_json().map_err(Failed::from)?))
    }

    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        guarded(|| Ok(Self(library::Library::read(&path).map_err(Failed::from)?)))
    }

    fn write(&self, path: PathBuf) -> PyResult<()> {
        Ok(self.0.write(&path).map_err(Failed::from)?)
    }

    /// The names of the machines.
    #[getter]
    fn domains(&self) -> Vec<String> {
        self.0.domains().into_iter().map(str::to_owned).collect()
    }

    #[getter]
    fn classes(&self) -> Vec<String> {
        self.0.first().classes.clone()
    }

    #[getter]
    fn healthy(&self) -> Option<String> {
        let first = self.0.first();
        first.healthy.and_then(|class| first.classes.get(class).cloned())
    }

    #[getter]
    fn front_end(&self) -> FrontEnd {
        FrontEnd(self.0.first().front_end.clone())
    }

    /// The library of one of its machines alone.
    fn only(&self, domain: &str) -> PyResult<Self> {
        Ok(Self(self.0.only(domain).map_err(Failed::from)?))
    }
}

/// The library of these machines.
fn fitted(
    py: Python<'_>,
    known: Vec<LabelledFeatures>,
    settings: GivenSource,
    progress: Option<Py<PyAny>>,
) -> PyResult<Library> {
    let settings = settings.get();
    let library = run(py, progress, || {
        fit_library(&Shared::new(known, settings.healthy.as_deref())?, &settings)
    })?;
    Ok(Library(library))
}

/// The windows of a machine as the engine takes them. Classes are in the order of their first
/// window, as in a manifest.
fn labelled(machine: GivenMachine<'_>, front_end: &FrontEndSettings) -> LabelledFeatures {
    let (domain, x, names, recording, stride) = machine;
    let x: Array2<f32> = x.as_array().to_owned();
    let mut classes: Vec<String> = Vec::new();
    let labels = names.into_iter().map(|name| {
        classes.iter().position(|class| *class == name).unwrap_or_else(|| {
            classes.push(name);
            classes.len() - 1
        })
    });
    let labels: Vec<usize> = labels.collect();
    let mut hash = Sha256::new();
    hash.update(domain.as_bytes());
    x.iter().for_each(|value| hash.update(value.to_le_bytes()));
    for label in &labels {
        hash.update(classes[*label].as_bytes());
    }
    LabelledFeatures {
        domain,
        classes,
        front_end: front_end.clone(),
        features: Features { x, recording, stride },
        labels,
        hash: hash.finalize().into(),
        unit: None,
        full_scale: None,
    }
}

/// Reads machines of a manifest, with bands that end where the lowest sample rate ends.
fn read(
    manifest: &Manifest,
    domains: &[String],
    front_end: &dyn Fn(f64, usize) -> Result<FrontEndSettings, Failed>,
) -> Result<Vec<LabelledFeatures>, Failed> {
    let mut lowest = f64::INFINITY;
    for name in domains {
        lowest = manifest.rows_of(name)?.iter().map(|row| row.rate_hz).fold(lowest, f64::min);
    }
    let mut first: Option<Unit> = None;
    let mut known = Vec::new();
    for name in domains {
        let domain = Domain::read_at(manifest, name, Resample::No)?;
        if let Some(own) = &domain.unit {
            let unit = first.get_or_insert_with(|| own.clone());
            own.factor_to(unit).map(drop)?;
        }
        let front_end = front_end(lowest.min(domain.rate_hz), domain.axes)?;
        let front_end = rates::at_rate(&front_end, domain.rate_hz)?;
        known.push(LabelledFeatures::extract(&domain, &front_end)?);
    }
    Ok(known)
}
