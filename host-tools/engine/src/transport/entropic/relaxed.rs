//! Entropic transport with soft marginals: semi-relaxed and unbalanced (Chizat et al. 2018).
//!
//! A balanced plan must move all source mass, even the mass of classes that the target does not
//! have. If the source marginal is relaxed, such mass can stay where it is.

use ndarray::ArrayRef2;

use super::scaling::{self, Settings};
use crate::transport::{
    MASS_TOLERANCE, Plan, Side, TransportError, check_cost, check_weights, finish,
};

/// How a marginal of the plan is tied to its weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Marginal {
    /// The marginal equals the weights.
    Held,
    /// The penalty `tau · KL(marginal | weights)` draws the marginal to the weights. Tau is
    /// relative to the largest cost.
    Relaxed(f64),
}

impl Marginal {
    fn tau(self) -> f64 {
        match self {
            Self::Held => f64::INFINITY,
            Self::Relaxed(tau) => tau,
        }
    }
}

/// Settings of the relaxed solver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The source marginal.
    pub rows: Marginal,
    /// The target marginal.
    pub columns: Marginal,
    /// Weight of the entropy `KL(P | a bᵀ)`, relative to the largest magnitude in the cost.
    pub epsilon: f64,
    /// If a side is relaxed: stop when the bound on the relative error of any entry's potentials
    /// falls below this. If both are held: as for Sinkhorn.
    pub tolerance: f64,
    /// Number of iterations after which the solver gives up with an error.
    pub max_iterations: usize,
}

impl Default for Options {
    /// Semi-relaxed: target held, source relaxed with tau 0.1.
    fn default() -> Self {
        Self {
            rows: Marginal::Relaxed(0.1),
            columns: Marginal::Held,
            epsilon: 1e-2,
            tolerance: 1e-9,
            max_iterations: 100_000,
        }
    }
}

/// The plan that minimises `Σ P·C / max|C| + epsilon · KL(P | a bᵀ)` plus the penalties of its
/// marginals.
///
/// Weights are masses here and are not normalised. Their sums must agree only if both sides are
/// held. The marginal errors of the result are measured against `a` and `b`. On a relaxed side they
/// tell how far the marginal has moved from its weights.
///
/// ```
/// use ndarray::array;
/// use rebearing_host::transport::relaxed;
///
/// // The target has nothing like the second row: a balanced plan would have to send it somewhere.
/// let cost = array![[0.0, 0.1], [9.0, 9.0]];
/// let plan = relaxed::solve(&[0.5, 0.5], &[0.5, 0.5], &cost, &relaxed::Options::default())?;
/// assert!(plan.plan.row(1).sum() < 0.01);
/// assert!((plan.plan.row(0).sum() - 1.0).abs() < 0.01);
/// # Ok::<(), rebearing_host::transport::TransportError>(())
/// ```
pub fn solve(
    a: &[f64],
    b: &[f64],
    cost: &ArrayRef2<f64>,
    options: &Options,
) -> Result<Plan, TransportError> {
    let largest = check_cost(cost)?;
    let rows = check_weights(Side::Rows, a, cost.dim())?;
    let columns = check_weights(Side::Columns, b, cost.dim())?;
    let taus = [options.rows.tau(), options.columns.tau()];
    if taus.iter().all(|tau| tau.is_infinite())
        && (rows - columns).abs() > MASS_TOLERANCE * rows.max(columns)
    {
        return Err(TransportError::Unequal { rows, columns });
    }
    let settings = Settings {
        epsilon: options.epsilon,
        taus,
        tolerance: options.tolerance,
        max_iterations: options.max_iterations,
    };
    let scaled = scaling::solve(a, b, cost, largest, &settings)?;
    Ok(finish(scaled.plan, cost, a, b, scaled.iterations, scaled.duals))
}
