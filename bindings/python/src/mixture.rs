//! Gaussian mixtures: fit and evaluate. Mixtures go in and out as plain arrays in scikit-learn's
//! shapes.

use ndarray::{Ix1, Ix2, Ix3};
use numpy::{
    IntoPyArray as _, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArrayDyn,
};
use pyo3::prelude::*;
use rebearing_host::mixture::{Covariance, CovarianceKind, EmSettings, Fit, Mixture, Start, fit};

use crate::arrays::{Matrix, vector, with_view};
use crate::error::refuse;
use crate::work::run;

/// Weights, means and covariances of a mixture, and the name of the covariances' shape.
#[derive(FromPyObject)]
pub(crate) struct GivenMixture<'py>(
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray2<'py, f64>,
    PyReadonlyArrayDyn<'py, f64>,
    String,
);

impl GivenMixture<'_> {
    /// The mixture itself. The engine checks it when it uses it.
    pub(crate) fn get(&self) -> PyResult<Mixture> {
        let Self(weights, means, covariances, kind) = self;
        let covariances = covariances.as_array().into_owned();
        let has = covariances.ndim();
        let covariance = match kind_of(kind)? {
            CovarianceKind::Diagonal => {
                covariances.into_dimensionality::<Ix2>().map(Covariance::Diagonal)
            }
            CovarianceKind::Spherical => {
                covariances.into_dimensionality::<Ix1>().map(Covariance::Spherical)
            }
            CovarianceKind::Tied => covariances.into_dimensionality::<Ix2>().map(Covariance::Tied),
            CovarianceKind::Full => covariances.into_dimensionality::<Ix3>().map(Covariance::Full),
        };
        let Ok(covariance) = covariance else {
            return refuse(format!(
                "covariances of type {kind} have {has} dimensions; give them in scikit-learn's shape"
            ));
        };
        Ok(Mixture {
            weights: weights.as_array().into_owned(),
            means: means.as_array().into_owned(),
            covariance,
        })
    }
}

/// Weights, means and covariances of a mixture, and the name of the covariances' shape, for Python.
type Arrays<'py> =
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyAny>, &'static str);

/// A mixture as arrays.
pub(crate) fn arrays(py: Python<'_>, mixture: Mixture) -> Arrays<'_> {
    let kind = name_of(mixture.covariance.kind());
    let covariances = match mixture.covariance {
        Covariance::Diagonal(v) | Covariance::Tied(v) => v.into_pyarray(py).into_any(),
        Covariance::Spherical(v) => v.into_pyarray(py).into_any(),
        Covariance::Full(v) => v.into_pyarray(py).into_any(),
    };
    (mixture.weights.into_pyarray(py), mixture.means.into_pyarray(py), covariances, kind)
}

/// The shape of covariances by scikit-learn's name.
pub(crate) fn kind_of(name: &str) -> PyResult<CovarianceKind> {
    match name {
        "diag" => Ok(CovarianceKind::Diagonal),
        "full" => Ok(CovarianceKind::Full),
        "spherical" => Ok(CovarianceKind::Spherical),
        "tied" => Ok(CovarianceKind::Tied),
        _ => {
            refuse(format!("covariance_type is {name:?}; it must be diag, full, spherical or tied"))
        }
    }
}

fn name_of(kind: CovarianceKind) -> &'static str {
    match kind {
        CovarianceKind::Diagonal => "diag",
        CovarianceKind::Full => "full",
        CovarianceKind::Spherical => "spherical",
        CovarianceKind::Tied => "tied",
    }
}

/// Fits a mixture. Returns the mixture and the course of the fit.
#[pyfunction]
#[pyo3(signature = (x, *, components, covariance_type, tol, max_iter, reg_covar, n_init, seed, start, means_init, mixture_init, sample_weight, progress))]
#[allow(clippy::too_many_arguments, reason = "each is a keyword of Python's estimator")]
#[allow(clippy::type_complexity, reason = "Python unpacks it at once")]
pub(crate) fn mixture_fit<'py>(
    py: Python<'py>,
    x: Matrix<'py>,
    components: usize,
    covariance_type: &str,
    tol: f64,
    max_iter: usize,
    reg_covar: f64,
    n_init: usize,
    seed: u64,
    start: &str,
    means_init: Option<PyReadonlyArray2<'py, f64>>,
    mixture_init: Option<GivenMixture<'py>>,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, f64, usize, bool)> {
    let start = match (mixture_init, means_init, start) {
        (Some(mixture), ..) => Start::Mixture(mixture.get()?),
        (_, Some(means), _) => Start::Means(means.as_array().to_owned()),
        (.., "kmeans") => Start::KMeans,
        (.., "k-means++") => Start::KMeansPlusPlus,
        (.., other) => {
            return refuse(format!("init_params is {other:?}; it must be kmeans or k-means++"));
        }
    };
    let settings = EmSettings {
        components,
        covariance: kind_of(covariance_type)?,
        tolerance: tol,
        max_iterations: max_iter,
        variance_floor: reg_covar,
        restarts: n_init,
        seed,
        start,
        ..EmSettings::new(components)
    };
    let weights = sample_weight.as_ref().map(vector);
    let fitted: Fit =
        with_view!(x, x => run(py, progress, || fit(x, weights.as_deref(), &settings, &|_| ()))?);
    let Fit { mixture, log_likelihood, iterations, converged, .. } = fitted;
    let mixture = arrays(py, mixture).into_pyobject(py)?.into_any();
    Ok((mixture, log_likelihood, iterations, converged))
}

/// Evaluates a mixture on rows: `log_likelihoods` (n) or `responsibilities` (n × K).
#[pyfunction]
pub(crate) fn mixture_evaluate<'py>(
    py: Python<'py>,
    mixture: GivenMixture<'py>,
    x: Matrix<'py>,
    what: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let mixture = mixture.get()?;
    if what == "responsibilities" {
        let values = with_view!(x, x => run(py, None, || mixture.responsibilities(x))?);
        return Ok(values.into_pyarray(py).into_any());
    }
    let values = with_view!(x, x => run(py, None, || mixture.log_likelihoods(x))?);
    Ok(values.into_pyarray(py).into_any())
}
