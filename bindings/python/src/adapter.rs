//! Guarded adaptation: a library and the windows of a new machine in, a verdict and a model out.

use std::path::PathBuf;

use numpy::{IntoPyArray as _, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rebearing::{Encoding, Label};
use rebearing_host::adapt::false_alarms::FalseAlarms;
use rebearing_host::adapt::verdict::{AdaptSettings, Adaptation};
use rebearing_host::build::{BuildSettings, Target, build, build_of_features};
use rebearing_host::data::domain::{Domain, Resample};
use rebearing_host::data::manifest::Manifest;
use rebearing_host::data::units::Unit;
use rebearing_host::features::extract::Features;
use rebearing_host::model::encoded::ModelBytes;
use rebearing_host::model::findings::findings;
use rebearing_host::source::SourceSettings;

use crate::error::{Failed, refuse};
use crate::features::in_memory;
use crate::library::Library;
use crate::methods::pool_of;
use crate::transport::plan_settings;
use crate::work::run;

/// Settings as Python's estimator names them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct GivenAdaptation {
    pool_is: String,
    promise: f64,
    force: bool,
    components: usize,
    reg: f64,
    reg_m: f64,
    n_init: usize,
    seed: u64,
    false_alarms: f64,
    window_every: f64,
    encoding: String,
    full_scale: Option<f64>,
}

impl GivenAdaptation {
    fn get(&self) -> PyResult<BuildSettings> {
        let encoding = match self.encoding.as_str() {
            "f32" => Encoding::F32,
            "i16" => Encoding::I16,
            other => return refuse(format!("encoding is {other:?}; it must be f32 or i16")),
        };
        let (per_year, window_every) = (self.false_alarms, self.window_every);
        let (restarts, seed) = (self.n_init, self.seed);
        Ok(BuildSettings {
            adapt: AdaptSettings {
                pool_is: pool_of(&self.pool_is)?,
                promise: self.promise,
                false_alarms: FalseAlarms { per_year, window_every, ..FalseAlarms::default() },
                force: self.force,
                plan: plan_settings(self.reg, self.reg_m)?,
                components: self.components,
                em: SourceSettings { restarts, seed, ..SourceSettings::default() },
            },
            encoding,
            full_scale: self.full_scale,
            ..BuildSettings::default()
        })
    }
}

/// Adapts to features. Returns the verdict and the model.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "Python's estimator calls it alone")]
pub(crate) fn adapt_features<'py>(
    py: Python<'py>,
    library: &Library,
    name: &str,
    x: PyReadonlyArray2<'py, f32>,
    recording: Vec<usize>,
    stride: usize,
    settings: GivenAdaptation,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = settings.get()?;
    let features = Features { x: x.as_array().to_owned(), recording, stride };
    let library = &library.0;
    let built = run(py, progress, || build_of_features(library, name, &features, &settings))?;
    let windows = features.x.nrows();
    to_dict(py, &built.adaptation, built.model.bytes(), built.model.bytes(), windows)
}

/// Adapts to a domain of a manifest, exactly as `rebearing adapt` does.
#[pyfunction]
pub(crate) fn adapt_manifest<'py>(
    py: Python<'py>,
    library: &Library,
    manifest: PathBuf,
    domain: &str,
    settings: GivenAdaptation,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = settings.get()?;
    finish(py, library, &settings, progress, || {
        let manifest = Manifest::read(&manifest)?;
        Ok(Target::read(&manifest, domain, Vec::new(), Resample::No)?)
    })
}

/// Adapts to recordings in memory, as `rebearing adapt` does with files of the same samples.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "Python's estimator calls it alone")]
pub(crate) fn adapt_recordings<'py>(
    py: Python<'py>,
    library: &Library,
    name: &str,
    rate: f64,
    recordings: Vec<PyReadonlyArray2<'py, f32>>,
    rpm: Option<Vec<f64>>,
    unit: Option<&str>,
    settings: GivenAdaptation,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = settings.get()?;
    let recordings = in_memory(&recordings, rpm)?;
    let axes = recordings.first().map_or(0, |recording| recording.axes);
    if axes == 0 || recordings.iter().any(|recording| recording.axes != axes) {
        return refuse("the recordings must be at least one, all with the same number of axes");
    }
    for recording in &recordings {
        if let Some(place) = recording.first_non_finite().map_err(Failed::from)? {
            let path = recording.path.display();
            return refuse(format!("{path} holds NaN or infinity at {place}; cut that part out"));
        }
    }
    let unit: Option<Unit> = unit.map(str::parse).transpose().map_err(Failed::from)?;
    let labels = vec![None; recordings.len()];
    let (full_scale, resampled) = (None, 0);
    let domain = Domain {
        name: name.into(),
        rate_hz: rate,
        axes,
        recordings,
        labels,
        unit,
        full_scale,
        resampled,
    };
    let target = Target { domain, snapshots: Vec::new(), place: format!("the machine {name}") };
    finish(py, library, &settings, progress, || Ok(target))
}

fn finish<'py>(
    py: Python<'py>,
    library: &Library,
    settings: &BuildSettings,
    progress: Option<Py<PyAny>>,
    target: impl FnOnce() -> Result<Target, Failed> + Send,
) -> PyResult<Bound<'py, PyDict>> {
    let library = library.0.clone();
    let (built, floats) = run(py, progress, || {
        let built = build(library, target()?, settings)?;
        // Features are labelled by the model in floats, also if the device's is in integers.
        let floats = built.adaptation.model(&built.target.domain.name, [0; 32])?;
        Ok::<_, Failed>((built, floats))
    })?;
    let windows = built.features.x.nrows();
    to_dict(py, &built.adaptation, built.model.bytes(), floats.bytes(), windows)
}

fn to_dict<'py>(
    py: Python<'py>,
    adaptation: &Adaptation,
    model: &[u8],
    floats: &[u8],
    windows: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("verdict", adaptation.verdict.to_string())?;
    out.set_item("forced", adaptation.forced)?;
    let predicted = adaptation.prediction.map(|prediction| prediction.accuracy);
    out.set_item("predicted_accuracy", predicted)?;
    out.set_item("reasons", &adaptation.reasons)?;
    out.set_item("warnings", &adaptation.warnings)?;
    out.set_item("source", &adaptation.source.domain)?;
    out.set_item("classes", &adaptation.source.classes)?;
    let weights = adaptation.candidates.iter().map(|one| (one.domain.clone(), one.weight));
    out.set_item("weights", weights.collect::<Vec<_>>())?;
    out.set_item("windows", windows)?;
    out.set_item("model", pyo3::types::PyBytes::new(py, model))?;
    out.set_item("floats", pyo3::types::PyBytes::new(py, floats))?;
    Ok(out)
}

/// The label of each row of features: a class, −1 for unknown or −2 for a fault of unknown type.
/// Also the class posterior of each row.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "Python unpacks it at once")]
pub(crate) fn label_features<'py>(
    py: Python<'py>,
    model: &[u8],
    x: PyReadonlyArray2<'py, f32>,
) -> PyResult<(Vec<i32>, Bound<'py, PyArray2<f64>>)> {
    let model = ModelBytes::from_bytes(model).map_err(Failed::from)?;
    let x = x.as_array();
    let dims = model.model().dims();
    if x.ncols() != dims {
        return refuse(format!("the windows have {} features, the model has {dims}", x.ncols()));
    }
    if let Some(((row, column), value)) = x.indexed_iter().find(|(_, value)| !value.is_finite()) {
        return refuse(format!("feature at row {row}, column {column} is {value}"));
    }
    let found = run(py, None, || Ok::<_, Failed>(findings(&model.model(), &x.to_owned())))?;
    let index = |label: Label| match label {
        // A model has far fewer classes than this type can count.
        Label::Class(class) => i32::try_from(class).unwrap_or(-1),
        Label::Unknown => -1,
        Label::UnknownFault => -2,
    };
    let labels = found.rows.iter().map(|row| index(row.label)).collect();
    Ok((labels, found.posterior.into_pyarray(py)))
}
