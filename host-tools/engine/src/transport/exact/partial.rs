//! Partial transport: the cheapest way to move a given part of the mass.
//!
//! A dummy row and a dummy column make the problem a balanced one. They take the mass that stays,
//! at no cost (Chapel et al. 2020).

use ndarray::{Array2, ArrayRef2, s};

use crate::transport::{Plan, Side, TransportError, check_cost, check_weights, exact, finish};

/// The plan of least cost that moves `mass` out of the weights `a` (rows) into `b` (columns).
///
/// Weights are masses here and are not normalised. `mass` may be up to the smaller sum. Row and
/// column sums of the plan never exceed their weights, so the marginal errors are the mass left
/// behind on each side.
pub fn solve(
    a: &[f64],
    b: &[f64],
    cost: &ArrayRef2<f64>,
    mass: f64,
    options: &exact::Options,
) -> Result<Plan, TransportError> {
    let largest = check_cost(cost)?;
    let rows = check_weights(Side::Rows, a, cost.dim())?;
    let columns = check_weights(Side::Columns, b, cost.dim())?;
    let most = rows.min(columns);
    if !(mass > 0.0 && mass <= most * (1.0 + f64::EPSILON)) {
        return Err(TransportError::Parameter {
            name: "mass",
            value: mass,
            allowed: "positive and at most the smaller of the two sums of weights",
        });
    }
    let extended = |weights: &[f64], stays: f64| -> Vec<f64> {
        weights.iter().copied().chain([stays.max(0.0)]).collect()
    };
    let (m, n) = cost.dim();
    let mut extended_cost = Array2::zeros((m + 1, n + 1));
    extended_cost.slice_mut(s![..m, ..n]).assign(cost);
    // Moving mass from dummy to dummy must not pay. A unit there could always be undone by leaving
    // a unit of real mass behind. That saves its cost, which is at least −largest.
    extended_cost[[m, n]] = if largest > 0.0 { 2.0 * largest } else { 1.0 };
    let whole = exact::solve(
        &extended(a, columns - mass),
        &extended(b, rows - mass),
        &extended_cost,
        options,
    )?;
    let total = rows + columns - mass;
    let plan = whole.plan.slice(s![..m, ..n]).to_owned() * total;
    let (u, v) = whole.duals;
    let duals = (u.slice(s![..m]).to_owned(), v.slice(s![..n]).to_owned());
    Ok(finish(plan, cost, a, b, whole.iterations, duals))
}
