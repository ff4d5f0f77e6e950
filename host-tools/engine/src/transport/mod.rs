//! Optimal transport: turns weights and a cost matrix into a [`Plan`], or into an error that says
//! why there is none.
//!
//! | solver | marginals | answer |
//! |---|---|---|
//! | [`exact::solve`] | both held | linear program, optimal to rounding, with duals that prove it |
//! | [`sinkhorn::solve`] | both held | entropic plan, dense and smooth |
//! | [`relaxed::solve`] | each side held, or drawn to its weights by a KL penalty | entropic plan |
//! | [`partial::solve`] | upper bounds; the given mass is moved | linear program |
//!
//! Costs may be any finite numbers, including negative ones. Adding a constant to the cost does not
//! change the balanced problems, and the others stay well defined.
//!
//! ```
//! use ndarray::array;
//! use rebearing_host::transport::exact;
//!
//! let cost = array![[0.0, 4.0], [1.0, 1.0]];
//! let plan = exact::solve(&[0.5, 0.5], &[0.25, 0.75], &cost, &exact::Options::default())?;
//! assert_eq!(plan.cost, 0.25 * 0.0 + 0.25 * 4.0 + 0.5 * 1.0);
//! # Ok::<(), rebearing_host::transport::TransportError>(())
//! ```

pub mod cost;
mod entropic;
pub mod exact;

pub use entropic::{relaxed, sinkhorn};
pub use exact::partial;

use std::fmt;

use ndarray::{Array1, Array2, ArrayRef2};
use thiserror::Error;

/// Largest difference between two sums of weights, relative to the larger sum, that still counts as
/// equal mass. It leaves room for weights stored in single precision.
pub const MASS_TOLERANCE: f64 = 1e-4;

/// A transport plan, with the numbers needed to judge it.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Mass moved from source i to target j, rows × columns.
    pub plan: Array2<f64>,
    /// Transport cost `Σ plan · cost`, without any entropy or penalty term.
    pub cost: f64,
    /// Sum over rows of |row sum of the plan − its weight|.
    pub row_error: f64,
    /// Sum over columns of |column sum of the plan − its weight|.
    pub col_error: f64,
    /// Pivots of the simplex, or scaling iterations.
    pub iterations: usize,
    /// Dual potentials of rows and columns, in units of the cost.
    pub duals: (Array1<f64>, Array1<f64>),
}

/// The side of a problem, for errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The source weights `a`, one per row of the cost.
    Rows,
    /// The target weights `b`, one per column of the cost.
    Columns,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rows => "a (rows)",
            Self::Columns => "b (columns)",
        })
    }
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TransportError {
    /// The number of weights differs from the number of rows or columns of the cost.
    #[error("{side}: {weights} weights for a cost of {rows} × {columns}; give one weight for each")]
    Shape {
        /// The side of the weights.
        side: Side,
        /// Number of weights.
        weights: usize,
        /// Rows of the cost.
        rows: usize,
        /// Columns of the cost.
        columns: usize,
    },
    /// The problem has no row or no column.
    #[error("the cost is {rows} × {columns}; transport needs at least one row and one column")]
    Empty {
        /// Rows of the cost.
        rows: usize,
        /// Columns of the cost.
        columns: usize,
    },
    /// A weight is negative, infinite or not a number.
    #[error("{side}: weight {index} is {value}; weights must be finite and not negative")]
    Weight {
        /// The side of the weights.
        side: Side,
        /// Position, counted from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// All weights of one side are zero, or their sum is too large for f64.
    #[error("{side}: the weights sum to {sum}; at least one must be positive, and the sum finite")]
    Mass {
        /// The side of the weights.
        side: Side,
        /// Their sum.
        sum: f64,
    },
    /// The two sides do not carry the same mass.
    #[error(
        "a sums to {rows} and b to {columns}; balanced transport needs equal masses: normalise both, \
         or use the relaxed or partial solver"
    )]
    Unequal {
        /// Sum of `a`.
        rows: f64,
        /// Sum of `b`.
        columns: f64,
    },
    /// A cost is infinite or not a number.
    #[error("cost at row {row}, column {column} is {value}; costs must be finite")]
    Cost {
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A parameter is outside its range.
    #[error("{name} is {value}; it must be {allowed}")]
    Parameter {
        /// Name of the parameter.
        name: &'static str,
        /// The given value.
        value: f64,
        /// The allowed values.
        allowed: &'static str,
    },
    /// The iteration limit was reached before the tolerance.
    #[error(
        "no convergence after {iterations} iterations: marginal error {marginal_error:e} (tolerance \
         {tolerance:e}); raise the iteration limit, epsilon or the tolerance"
    )]
    NotConverged {
        /// Number of iterations.
        iterations: usize,
        /// Marginal error reached. For relaxed marginals it is the relative change of the plan.
        marginal_error: f64,
        /// The required tolerance.
        tolerance: f64,
    },
    /// The simplex stopped at its pivot limit. The marginals hold, but the cost is not minimal yet.
    #[error(
        "not optimal after {pivots} pivots: the best exchange still saves {violation:e} a unit of \
         mass; raise the pivot limit"
    )]
    NotOptimal {
        /// Number of pivots.
        pivots: usize,
        /// Largest violation of dual feasibility, in units of the cost.
        violation: f64,
    },
}

/// Checks a cost matrix and returns its largest magnitude.
pub(crate) fn check_cost(cost: &ArrayRef2<f64>) -> Result<f64, TransportError> {
    let (rows, columns) = cost.dim();
    if rows == 0 || columns == 0 {
        return Err(TransportError::Empty { rows, columns });
    }
    // The fast pass only finds out whether every entry is finite. The slow search names the entry.
    let mut largest = 0.0_f64;
    let mut finite = true;
    for &value in cost {
        finite &= value.is_finite();
        largest = if value.abs() > largest { value.abs() } else { largest };
    }
    if !finite
        && let Some(((row, column), &value)) = cost.indexed_iter().find(|(_, v)| !v.is_finite())
    {
        return Err(TransportError::Cost { row, column, value });
    }
    Ok(largest)
}

/// Checks the weights of one side against the cost's shape and returns their sum.
pub(crate) fn check_weights(
    side: Side,
    weights: &[f64],
    (rows, columns): (usize, usize),
) -> Result<f64, TransportError> {
    let expected = match side {
        Side::Rows => rows,
        Side::Columns => columns,
    };
    if weights.len() != expected {
        return Err(TransportError::Shape { side, weights: weights.len(), rows, columns });
    }
    for (index, &value) in weights.iter().enumerate() {
        if !value.is_finite() || value < 0.0 {
            return Err(TransportError::Weight { side, index, value });
        }
    }
    let sum: f64 = weights.iter().sum();
    if !(sum.is_finite() && sum > 0.0) {
        return Err(TransportError::Mass { side, sum });
    }
    Ok(sum)
}

/// The weights of both sides, checked and scaled to sum to one.
pub(crate) fn normalised(
    a: &[f64],
    b: &[f64],
    shape: (usize, usize),
) -> Result<(Vec<f64>, Vec<f64>), TransportError> {
    let rows = check_weights(Side::Rows, a, shape)?;
    let columns = check_weights(Side::Columns, b, shape)?;
    if (rows - columns).abs() > MASS_TOLERANCE * rows.max(columns) {
        return Err(TransportError::Unequal { rows, columns });
    }
    let scaled = |w: &[f64], sum: f64| w.iter().map(|x| x / sum).collect();
    Ok((scaled(a, rows), scaled(b, columns)))
}

/// Completes a plan: computes its cost and its marginal errors against `a` and `b`.
pub(crate) fn finish(
    plan: Array2<f64>,
    cost: &ArrayRef2<f64>,
    a: &[f64],
    b: &[f64],
    iterations: usize,
    duals: (Array1<f64>, Array1<f64>),
) -> Plan {
    let mut column_sums = vec![0.0; b.len()];
    let mut total = 0.0;
    let mut row_error = 0.0;
    for ((row, costs), weight) in plan.outer_iter().zip(cost.outer_iter()).zip(a) {
        let mut row_sum = 0.0;
        for ((mass, c), column_sum) in row.iter().zip(costs).zip(&mut column_sums) {
            row_sum += mass;
            *column_sum += mass;
            total += mass * c;
        }
        row_error += (row_sum - weight).abs();
    }
    let col_error = column_sums.iter().zip(b).map(|(sum, weight)| (sum - weight).abs()).sum();
    Plan { plan, cost: total, row_error, col_error, iterations, duals }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn costs_that_are_not_finite_are_named_by_row_and_column() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = check_cost(&array![[0.0, 1.0], [value, 2.0]]).unwrap_err();
            assert!(matches!(error, TransportError::Cost { row: 1, column: 0, .. }), "{error}");
        }
    }

    #[test]
    fn weights_are_checked_before_they_are_normalised() {
        let shape = (2, 2);
        let half = [0.5, 0.5];
        assert!(matches!(
            normalised(&[0.5, -0.1], &half, shape),
            Err(TransportError::Weight { side: Side::Rows, index: 1, .. })
        ));
        assert!(matches!(
            normalised(&half, &[f64::NAN, 0.1], shape),
            Err(TransportError::Weight { side: Side::Columns, index: 0, .. })
        ));
        assert!(matches!(
            normalised(&[0.0, 0.0], &half, shape),
            Err(TransportError::Mass { side: Side::Rows, .. })
        ));
        assert!(matches!(
            normalised(&half, &[0.5, 0.6], shape),
            Err(TransportError::Unequal { .. })
        ));
        assert!(matches!(
            normalised(&[1.0], &half, shape),
            Err(TransportError::Shape { side: Side::Rows, weights: 1, .. })
        ));
        let (a, b) = normalised(&[2.0, 6.0], &[4.0, 4.0], shape).unwrap();
        assert_eq!((a, b), (vec![0.25, 0.75], vec![0.5, 0.5]));
    }
}
