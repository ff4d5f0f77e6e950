//! The methods: labelled source rows and unlabelled target rows in, a classifier for the target out.

use ndarray::ArrayView2;
use numpy::{IntoPyArray as _, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rebearing_host::adapt::softmax::Softmax;
use rebearing_host::baselines::{
    BaselineError, Classifier, Fitted, Joined, Method, Settings, Task,
};
use rebearing_host::mixture::{LabelledMixture, Sample};

use crate::arrays::{Matrix, with_view};
use crate::error::{Failed, refuse};
use crate::mixture::{GivenMixture, arrays, kind_of};
use crate::transport::plan_settings;
use crate::work::run;

/// The names of all methods.
#[pyfunction]
pub(crate) fn method_names() -> [&'static str; 10] {
    Method::ALL.map(Method::name)
}

/// Settings as Python's estimators name them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct GivenSettings {
    n_components: Option<usize>,
    covariance_type: String,
    reg_covar: f64,
    reg: f64,
    reg_m: f64,
    n_init: usize,
    seed: u64,
    max_samples: usize,
}

impl GivenSettings {
    /// The engine's settings for a task with this number of classes.
    fn get(&self, classes: usize) -> PyResult<Settings> {
        if self.n_components == Some(0) {
            return refuse(
                "n_components is 0; it must be at least 1, or None for two of each class",
            );
        }
        if self.n_init == 0 {
            return refuse("n_init is 0; it must be at least 1");
        }
        if !(self.reg_covar.is_finite() && self.reg_covar > 0.0) {
            return refuse(format!(
                "reg_covar is {}; it must be finite and above 0",
                self.reg_covar
            ));
        }
        let usual = Settings::default();
        Ok(Settings {
            seed: self.seed,
            components_per_class: self
                .n_components
                .map_or(usual.components_per_class, |all| (all / classes.max(1)).max(1)),
            target_components: self.n_components,
            covariance: kind_of(&self.covariance_type)?,
            variance_floor: self.reg_covar,
            restarts: self.n_init,
            plan: plan_settings(self.reg, self.reg_m)?,
            max_samples: self.max_samples,
            ..usual
        })
    }
}

/// A fitted classifier, and the mixtures and plan it came from if the method has them.
struct Outcome {
    fitted: Fitted,
    joined: Option<Joined>,
}

fn fit<T: Sample>(
    method: Method,
    task: &Task<'_, T>,
    settings: &Settings,
) -> Result<Outcome, BaselineError> {
    let joined = match method {
        Method::GmmOtdaMap | Method::GmmOtdaT => Some(Joined::new(task, settings)?),
        _ => None,
    };
    let fitted = match (&joined, method) {
        (Some(joined), Method::GmmOtdaMap) => joined.clone().map()?,
        (Some(joined), _) => joined.clone().carried(task, settings)?,
        (None, _) => method.fit(task, settings)?,
    };
    Ok(Outcome { fitted, joined })
}

/// Fits a method. `labels` holds the class index of each source row. Returns a dict with the
/// classifier, and with the mixtures and the plan if the method has them.
#[pyfunction]
#[pyo3(signature = (method, source, labels, classes, pool, settings, progress))]
#[allow(clippy::too_many_arguments, reason = "Python's estimator calls it alone")]
pub(crate) fn method_fit<'py>(
    py: Python<'py>,
    method: &str,
    source: Matrix<'py>,
    labels: PyReadonlyArray1<'py, i64>,
    classes: usize,
    pool: Matrix<'py>,
    settings: GivenSettings,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let method: Method = method.parse().map_err(Failed::from)?;
    let settings = settings.get(classes)?;
    let labels: Vec<usize> = labels.as_array().iter().map(|label| *label as usize).collect();
    let both = |source: ArrayView2<'_, f64>, pool: ArrayView2<'_, f64>, progress| {
        let task = Task { source, labels: &labels, classes, pool };
        run(py, progress, || fit(method, &task, &settings))
    };
    let result = match (&source, &pool) {
        (Matrix::F32(source), Matrix::F32(pool)) => {
            let task =
                Task { source: source.as_array(), labels: &labels, classes, pool: pool.as_array() };
            run(py, progress, || fit(method, &task, &settings))?
        }
        (Matrix::F64(source), Matrix::F64(pool)) => {
            both(source.as_array(), pool.as_array(), progress)?
        }
        // One of them must be widened.
        (Matrix::F32(source), Matrix::F64(pool)) => {
            both(source.as_array().mapv(f64::from).view(), pool.as_array(), progress)?
        }
        (Matrix::F64(source), Matrix::F32(pool)) => {
            both(source.as_array(), pool.as_array().mapv(f64::from).view(), progress)?
        }
    };
    let out = PyDict::new(py);
    match result.fitted.classifier {
        Classifier::Mixture(LabelledMixture { mixture, labels }) => {
            out.set_item("classifier", (arrays(py, mixture), labels.into_pyarray(py)))?;
        }
        Classifier::Softmax(Softmax { coefficients, intercepts, .. }) => {
            let parts = (coefficients.into_pyarray(py), intercepts.into_pyarray(py));
            out.set_item("classifier", parts)?;
        }
    }
    if let Some(Joined { source, target, plan, .. }) = result.joined {
        out.set_item("source", arrays(py, source.mixture))?;
        out.set_item("source_labels", source.labels.into_pyarray(py))?;
        out.set_item("target", arrays(py, target))?;
        out.set_item("plan", plan.into_pyarray(py))?;
    }
    let seconds = result.fitted.seconds;
    out.set_item("seconds", (seconds.fit_source, seconds.fit_target, seconds.transport))?;
    Ok(out)
}

/// A classifier as [`method_fit`] returns it.
#[derive(FromPyObject)]
pub(crate) enum GivenClassifier<'py> {
    /// A mixture and the class distribution of each component.
    #[pyo3(annotation = "mixture")]
    Mixture(GivenMixture<'py>, PyReadonlyArray2<'py, f64>),
    /// A softmax: coefficients and intercepts.
    #[pyo3(annotation = "softmax")]
    Softmax(PyReadonlyArray2<'py, f64>, PyReadonlyArray1<'py, f64>),
}

impl GivenClassifier<'_> {
    fn get(&self) -> PyResult<Classifier> {
        Ok(match self {
            Self::Mixture(mixture, labels) => {
                let (mixture, labels) = (mixture.get()?, labels.as_array().to_owned());
                if labels.nrows() != mixture.components() {
                    return refuse(format!(
                        "{} rows of labels for {} components",
                        labels.nrows(),
                        mixture.components()
                    ));
                }
                Classifier::Mixture(LabelledMixture { mixture, labels })
            }
            Self::Softmax(coefficients, intercepts) => {
                let (coefficients, intercepts) =
                    (coefficients.as_array().to_owned(), intercepts.as_array().to_owned());
                if coefficients.nrows() != intercepts.len() {
                    return refuse(format!(
                        "{} rows of coefficients for {} intercepts",
                        coefficients.nrows(),
                        intercepts.len()
                    ));
                }
                Classifier::Softmax(Softmax {
                    coefficients,
                    intercepts,
                    iterations: 0,
                    gradient: 0.0,
                    converged: true,
                })
            }
        })
    }
}

/// The class posterior of each row, n × C.
#[pyfunction]
pub(crate) fn method_predict<'py>(
    py: Python<'py>,
    classifier: GivenClassifier<'py>,
    x: Matrix<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let classifier = classifier.get()?;
    let posterior = with_view!(x, x => run(py, None, || classifier.posterior(x))?);
    Ok(posterior.into_pyarray(py))
}
