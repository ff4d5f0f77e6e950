//! Entropic transport whose marginals may give way: semi-relaxed and unbalanced (Chizat et al. 2018).
//!
//! A balanced plan must hand out the whole source mass, also that of classes the target does not
//! have. Relaxing the source marginal lets such mass stay where it is.

use ndarray::ArrayRef2;

use super::scaling::{self, Settings};
use crate::transport::{
    MASS_TOLERANCE, Plan, Side, TransportError, check_cost, check_weights, finish,
};

/// How a marginal of the plan is tied to its weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Marginal {
    /// It equals them.
    Held,
    /// It is drawn to them by `tau · KL(marginal | weights)`, tau relative to the largest cost.
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
    /// With a relaxed side: bound on the relative error of any entry's potentials at which to stop.
    /// With both held: as for Sinkhorn.
    pub tolerance: f64,
    /// Iterations after which to give up with an error.
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

/// The plan that minimises `Σ P·C / max|C| + epsilon · KL(P | a bᵀ)` and the penalties of its marginals.
///
/// Weights are masses here and are taken as they are, not normalised; only when both sides are held
/// must their sums agree. The marginal errors of the result are those against `a` and `b`: on a
/// relaxed side they say how far the plan has given way.
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
