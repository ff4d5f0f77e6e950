//! Entropic transport with both marginals held (Cuturi 2013), in the log domain.

use ndarray::ArrayRef2;

use super::scaling::{self, Settings};
use crate::transport::{Plan, TransportError, check_cost, finish, normalised};

/// Settings of the Sinkhorn solver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Weight of the entropy, relative to the largest magnitude in the cost. The plan minimises
    /// `Σ P·C / max|C| + epsilon · KL(P | a bᵀ)`, so a value means the same for costs in any unit.
    /// A smaller epsilon gives a sharper plan and takes longer.
    pub epsilon: f64,
    /// Sum over rows of |row sum − weight| at which to stop. Columns are met up to rounding.
    pub tolerance: f64,
    /// Number of iterations after which the solver gives up with an error.
    pub max_iterations: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { epsilon: 1e-2, tolerance: 1e-9, max_iterations: 100_000 }
    }
}

/// The entropic plan between the weights `a` (rows) and `b` (columns). It normalises the weights.
///
/// The duals `f`, `g` reproduce the plan as `a_i b_j exp((f_i + g_j − C_ij) / (epsilon · max|C|))`.
///
/// ```
/// use ndarray::array;
/// use rebearing_host::transport::sinkhorn;
///
/// let cost = array![[0.0, 4.0], [1.0, 1.0]];
/// let options = sinkhorn::Options { epsilon: 0.1, ..Default::default() };
/// let plan = sinkhorn::solve(&[0.5, 0.5], &[0.25, 0.75], &cost, &options)?;
/// assert!(plan.row_error < 1e-9);
/// // Some mass goes every way; the exact plan would cost 1.5.
/// assert!(plan.plan.iter().all(|mass| *mass > 0.0) && plan.cost > 1.5);
/// # Ok::<(), rebearing_host::transport::TransportError>(())
/// ```
pub fn solve(
    a: &[f64],
    b: &[f64],
    cost: &ArrayRef2<f64>,
    options: &Options,
) -> Result<Plan, TransportError> {
    let largest = check_cost(cost)?;
    let (a, b) = normalised(a, b, cost.dim())?;
    let settings = Settings {
        epsilon: options.epsilon,
        taus: [f64::INFINITY; 2],
        tolerance: options.tolerance,
        max_iterations: options.max_iterations,
    };
    let scaled = scaling::solve(&a, &b, cost, largest, &settings)?;
    Ok(finish(scaled.plan, cost, &a, &b, scaled.iterations, scaled.duals))
}
