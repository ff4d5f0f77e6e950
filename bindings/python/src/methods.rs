//! The methods on plain matrices: labelled source rows and unlabelled target rows in, a classifier
//! for the target out.

use ndarray::ArrayView2;
use numpy::{IntoPyArray as _, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rebearing_host::adapt::settings::Pool;
use rebearing_host::adapt::softmax::Softmax;
use rebearing_host::baselines::{Classifier, ClassifierKind, Method, Nearest, Seconds, Settings};
use rebearing_host::evaluate::EvaluatedMethod;
use rebearing_host::files::matrix::Labels;
use rebearing_host::matrices::{
    Given, MatrixError, MatrixSettings, Model, Prepared, Scale, Scaling,
};
use rebearing_host::mixture::{LabelledMixture, Sample};

use crate::arrays::{Matrix, with_view};
use crate::error::{Failed, refuse};
use crate::mixture::{GivenMixture, arrays, kind_of};
use crate::transport::plan_settings;
use crate::work::run;

/// The names of all methods.
#[pyfunction]
pub(crate) fn method_names() -> Vec<&'static str> {
    let all = Method::ALL.map(EvaluatedMethod::Baseline);
    [EvaluatedMethod::Guarded].into_iter().chain(all).map(EvaluatedMethod::name).collect()
}

/// Labels of rows.
#[derive(FromPyObject)]
pub(crate) enum GivenLabels<'py> {
    /// Whole numbers.
    #[pyo3(transparent, annotation = "int64 vector")]
    Integers(PyReadonlyArray1<'py, i64>),
    /// Names.
    #[pyo3(transparent, annotation = "list of strings")]
    Texts(Vec<String>),
}

/// Settings as Python's estimators name them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct GivenSettings {
    scale: String,
    n_components: Option<usize>,
    covariance_type: String,
    reg_covar: f64,
    reg: f64,
    reg_m: f64,
    n_init: usize,
    seed: u64,
    max_samples: usize,
    classifier: String,
    pool_is: String,
    promise: f64,
    force: bool,
}

/// The knowledge about the target's rows that a name of the command line stands for.
pub(crate) fn pool_of(name: &str) -> PyResult<Pool> {
    match name {
        "all" => Ok(Pool::All),
        "healthy" => Ok(Pool::Healthy),
        "unknown" => Ok(Pool::Unknown),
        _ => refuse(format!("pool_is is {name:?}; it must be all, healthy or unknown")),
    }
}

impl GivenSettings {
    /// The engine's settings for this number of classes.
    fn get(&self, classes: usize) -> PyResult<MatrixSettings> {
        let scale = match self.scale.as_str() {
            "none" => Scale::None,
            "source" => Scale::Source,
            "each" => Scale::Each,
            other => return refuse(format!("scale is {other:?}; it must be source, each or none")),
        };
        if self.n_init == 0 {
            return refuse("n_init is 0; it must be at least 1");
        }
        if !(self.reg_covar.is_finite() && self.reg_covar > 0.0) {
            return refuse(format!(
                "reg_covar is {}; it must be finite and above 0",
                self.reg_covar
            ));
        }
        let classifier = match self.classifier.as_str() {
            "softmax" => ClassifierKind::Softmax,
            "nearest" => ClassifierKind::Nearest,
            other => {
                return refuse(format!("classifier is {other:?}; it must be softmax or nearest"));
            }
        };
        let usual = Settings::default();
        let per_class = |all: usize| (all / classes.max(1)).max(1);
        let methods = Settings {
            seed: self.seed,
            components_per_class: self.n_components.map_or(usual.components_per_class, per_class),
            target_components: self.n_components,
            covariance: kind_of(&self.covariance_type)?,
            variance_floor: self.reg_covar,
            restarts: self.n_init,
            plan: plan_settings(self.reg, self.reg_m)?,
            max_samples: self.max_samples,
            classifier,
            ..usual
        };
        Ok(MatrixSettings {
            scale,
            methods,
            pool_is: pool_of(&self.pool_is)?,
            promise: self.promise,
            force: self.force,
        })
    }
}

fn fit<T: Sample>(
    method: EvaluatedMethod,
    source: ArrayView2<'_, T>,
    labels: &Labels,
    target: ArrayView2<'_, T>,
    settings: &MatrixSettings,
) -> Result<Model, MatrixError> {
    let given = Given { source: source.into(), labels, target: target.into() };
    Prepared::new(given, settings.scale)?.fit(method, settings)
}

/// Fits a method. Returns a dict with the classifier, the constants by which rows are standardised,
/// and the verdict of `guarded`.
#[pyfunction]
#[pyo3(signature = (method, source, labels, classes, target, settings, progress))]
#[allow(clippy::too_many_arguments, reason = "Python's estimator calls it alone")]
pub(crate) fn method_fit<'py>(
    py: Python<'py>,
    method: &str,
    source: Matrix<'py>,
    labels: GivenLabels<'py>,
    classes: usize,
    target: Matrix<'py>,
    settings: GivenSettings,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let method: EvaluatedMethod = method.parse().map_err(Failed::from)?;
    let settings = settings.get(classes)?;
    let labels = match labels {
        GivenLabels::Integers(labels) => Labels::Integers(labels.as_array().to_vec()),
        GivenLabels::Texts(labels) => Labels::Texts(labels),
    };
    let wide = |source: ArrayView2<'_, f64>, target: ArrayView2<'_, f64>, progress| {
        run(py, progress, || fit(method, source, &labels, target, &settings))
    };
    let model = match (&source, &target) {
        (Matrix::F32(source), Matrix::F32(target)) => {
            let (source, target) = (source.as_array(), target.as_array());
            run(py, progress, || fit(method, source, &labels, target, &settings))?
        }
        (Matrix::F64(source), Matrix::F64(target)) => {
            wide(source.as_array(), target.as_array(), progress)?
        }
        // One of them must be widened.
        (Matrix::F32(source), Matrix::F64(target)) => {
            wide(source.as_array().mapv(f64::from).view(), target.as_array(), progress)?
        }
        (Matrix::F64(source), Matrix::F32(target)) => {
            wide(source.as_array(), target.as_array().mapv(f64::from).view(), progress)?
        }
    };
    to_dict(py, model)
}

fn to_dict(py: Python<'_>, model: Model) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("names_classes", model.names_classes())?;
    match model.classifier {
        Classifier::Mixture(LabelledMixture { mixture, labels }) => {
            out.set_item("classifier", (arrays(py, mixture), labels.into_pyarray(py)))?;
        }
        Classifier::Softmax(Softmax { coefficients, intercepts, .. }) => {
            let parts = (coefficients.into_pyarray(py), intercepts.into_pyarray(py));
            out.set_item("classifier", parts)?;
        }
        Classifier::Nearest(Nearest { samples, labels, classes }) => {
            let labels: Vec<u64> = labels.into_iter().map(|label| label as u64).collect();
            let parts = (samples.into_pyarray(py), labels.into_pyarray(py), classes);
            out.set_item("classifier", parts)?;
        }
    }
    let scaling = model.scaling.map(|Scaling { mean, deviation }| (mean, deviation));
    out.set_item("scaling", scaling)?;
    let Seconds { fit_source, fit_target, transport } = model.seconds;
    out.set_item("seconds", (fit_source, fit_target, transport))?;
    if let Some(guarded) = model.guarded {
        out.set_item("verdict", guarded.verdict.to_string())?;
        out.set_item("predicted_accuracy", guarded.judgement.prediction.accuracy)?;
        out.set_item("reasons", guarded.reasons)?;
        out.set_item("warnings", guarded.warnings)?;
        out.set_item("forced", guarded.forced)?;
    }
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
    /// Carried samples, their classes and the number of classes.
    #[pyo3(annotation = "samples")]
    Nearest(PyReadonlyArray2<'py, f64>, PyReadonlyArray1<'py, u64>, usize),
}

impl GivenClassifier<'_> {
    fn get(&self) -> PyResult<Classifier> {
        Ok(match self {
            Self::Mixture(mixture, labels) => {
                let (mixture, labels) = (mixture.get()?, labels.as_array().to_owned());
                let (rows, components) = (labels.nrows(), mixture.components());
                if rows != components {
                    return refuse(format!("{rows} rows of labels for {components} components"));
                }
                Classifier::Mixture(LabelledMixture { mixture, labels })
            }
            Self::Softmax(coefficients, intercepts) => {
                let coefficients = coefficients.as_array().to_owned();
                let intercepts = intercepts.as_array().to_owned();
                let (rows, classes) = (coefficients.nrows(), intercepts.len());
                if rows != classes {
                    return refuse(format!("{rows} rows of coefficients for {classes} intercepts"));
                }
                let (iterations, gradient, converged) = (0, 0.0, true);
                Classifier::Softmax(Softmax {
                    coefficients,
                    intercepts,
                    iterations,
                    gradient,
                    converged,
                })
            }
            Self::Nearest(samples, labels, classes) => {
                let (samples, classes) = (samples.as_array().to_owned(), *classes);
                let labels: Option<Vec<usize>> = labels
                    .as_array()
                    .iter()
                    .map(|label| usize::try_from(*label).ok().filter(|label| *label < classes))
                    .collect();
                match labels {
                    Some(labels) if labels.len() == samples.nrows() => {
                        Classifier::Nearest(Nearest { samples, labels, classes })
                    }
                    _ => {
                        let rows = samples.nrows();
                        return refuse(format!(
                            "{rows} samples need {rows} classes below {classes}"
                        ));
                    }
                }
            }
        })
    }
}

/// The class posterior of each row, n × C, from what [`method_fit`] returned.
#[pyfunction]
pub(crate) fn method_predict<'py>(
    py: Python<'py>,
    classifier: GivenClassifier<'py>,
    scaling: Option<(Vec<f64>, Vec<f64>)>,
    x: Matrix<'py>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let classifier = classifier.get()?;
    let scaling = scaling.map(|(mean, deviation)| Scaling { mean, deviation });
    let dims = classifier.dimensions();
    if scaling.as_ref().is_some_and(|s| s.mean.len() != dims || s.deviation.len() != dims) {
        return refuse(format!(
            "the constants of standardisation are not those of {dims} features"
        ));
    }
    let model = Model {
        method: EvaluatedMethod::Guarded,
        classifier,
        seconds: Seconds::default(),
        scaling,
        guarded: None,
    };
    let found = with_view!(x, x => run(py, None, || model.label(x))?);
    Ok(found.posterior.into_pyarray(py))
}
