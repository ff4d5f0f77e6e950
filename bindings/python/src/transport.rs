//! Transport plans, and the maps along a plan between mixtures.

use numpy::{IntoPyArray as _, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use rebearing_host::adapt::maps::ComponentMaps;
use rebearing_host::adapt::plan::{PlanSettings, Solver, between};
use rebearing_host::transport::relaxed::{self, Marginal};
use rebearing_host::transport::{Plan, exact, sinkhorn};

use crate::arrays::{Matrix, vector, with_view};
use crate::error::refuse;
use crate::mixture::GivenMixture;
use crate::work::run;

/// Returns the plan with its cost, the error of its row and column sums, its iterations and its
/// duals.
#[pyfunction]
#[pyo3(signature = (cost, a, b, *, reg, reg_m, tol, max_iter, progress))]
#[allow(clippy::too_many_arguments, reason = "each is a keyword of Python's function")]
#[allow(clippy::type_complexity, reason = "Python unpacks it at once")]
pub(crate) fn solve_plan<'py>(
    py: Python<'py>,
    cost: PyReadonlyArray2<'py, f64>,
    a: PyReadonlyArray1<'py, f64>,
    b: PyReadonlyArray1<'py, f64>,
    reg: f64,
    reg_m: [f64; 2],
    tol: f64,
    max_iter: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(
    Bound<'py, PyArray2<f64>>,
    (f64, f64, f64, usize),
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>),
)> {
    let (a, b) = (vector(&a), vector(&b));
    let cost = cost.as_array();
    let most = max_iter.unwrap_or(100_000);
    let plan: Plan = run(py, progress, || {
        if reg_m.iter().any(|tau| tau.is_finite()) {
            let marginal =
                |tau: f64| if tau.is_finite() { Marginal::Relaxed(tau) } else { Marginal::Held };
            let [rows, columns] = reg_m.map(marginal);
            let options = relaxed::Options {
                rows,
                columns,
                epsilon: reg,
                tolerance: tol,
                max_iterations: most,
            };
            relaxed::solve(&a, &b, &cost, &options)
        } else if reg == 0.0 {
            exact::solve(&a, &b, &cost, &exact::Options { max_pivots: max_iter })
        } else {
            let options = sinkhorn::Options { epsilon: reg, tolerance: tol, max_iterations: most };
            sinkhorn::solve(&a, &b, &cost, &options)
        }
    })?;
    let Plan { plan, cost, row_error, col_error, iterations, duals: (rows, columns) } = plan;
    Ok((
        plan.into_pyarray(py),
        (cost, row_error, col_error, iterations),
        (rows.into_pyarray(py), columns.into_pyarray(py)),
    ))
}

/// The settings of a plan between mixtures, from POT's names: no entropy is exact, no finite `reg_m`
/// is Sinkhorn, both are relaxed.
pub(crate) fn plan_settings(reg: f64, reg_m: f64) -> PyResult<PlanSettings> {
    if !(reg.is_finite() && reg >= 0.0) {
        return refuse(format!(
            "reg is {reg}; it must be 0 for an exact plan, or a finite number above 0"
        ));
    }
    if reg_m.is_nan() || reg_m <= 0.0 {
        return refuse(format!(
            "reg_m is {reg_m}; it must be above 0, or None to hold both marginals"
        ));
    }
    let solver = match (reg > 0.0, reg_m.is_finite()) {
        (false, false) => Solver::Exact,
        (true, false) => Solver::Sinkhorn,
        (true, true) => Solver::Relaxed,
        (false, true) => {
            return refuse(format!(
                "reg is 0 and reg_m is {reg_m}; a relaxed plan needs a reg above 0, and an exact one has reg_m=None"
            ));
        }
    };
    Ok(PlanSettings { solver, epsilon: reg, tau: reg_m })
}

/// The plan between the components of two mixtures: mass from each source component (row) to each
/// target component, and the squared mixture-Wasserstein distance.
#[pyfunction]
pub(crate) fn plan_between<'py>(
    py: Python<'py>,
    source: GivenMixture<'py>,
    target: GivenMixture<'py>,
    reg: f64,
    reg_m: f64,
) -> PyResult<(Bound<'py, PyArray2<f64>>, f64)> {
    let (source, target) = (source.get()?, target.get()?);
    let settings = plan_settings(reg, reg_m)?;
    let found = run(py, None, || between(&source, &target, &settings))?;
    Ok((found.plan.into_pyarray(py), found.mw2_squared))
}

/// `T_weight`: mapped samples, their weights, and the source row of each.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "Python unpacks it at once")]
pub(crate) fn map_weight<'py>(
    py: Python<'py>,
    x: Matrix<'py>,
    source: GivenMixture<'py>,
    target: GivenMixture<'py>,
    plan: PyReadonlyArray2<'py, f64>,
    threshold: f64,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<usize>>)> {
    let (source, target, plan) = (source.get()?, target.get()?, plan.as_array());
    let mapped = with_view!(x, x => run(py, None, || {
        ComponentMaps::new(&source, &target, &plan)?.weighted(x, threshold)
    })?);
    Ok((
        mapped.samples.into_pyarray(py),
        mapped.weights.into_pyarray(py),
        mapped.origin.into_pyarray(py),
    ))
}

/// `T_mean`: the mapped samples.
#[pyfunction]
pub(crate) fn map_mean<'py>(
    py: Python<'py>,
    x: Matrix<'py>,
    source: GivenMixture<'py>,
    target: GivenMixture<'py>,
    plan: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (source, target, plan) = (source.get()?, target.get()?, plan.as_array());
    let mapped =
        with_view!(x, x => run(py, None, || ComponentMaps::new(&source, &target, &plan)?.mean(x))?);
    Ok(mapped.into_pyarray(py))
}

/// `T_rand`: the mapped samples.
#[pyfunction]
pub(crate) fn map_random<'py>(
    py: Python<'py>,
    x: Matrix<'py>,
    source: GivenMixture<'py>,
    target: GivenMixture<'py>,
    plan: PyReadonlyArray2<'py, f64>,
    seed: u64,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (source, target, plan) = (source.get()?, target.get()?, plan.as_array());
    let mapped = with_view!(x, x => run(py, None, || ComponentMaps::new(&source, &target, &plan)?.random(x, seed))?);
    Ok(mapped.into_pyarray(py))
}
