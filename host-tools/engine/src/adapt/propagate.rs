//! Carries labels from source components to target components along a transport plan.

use ndarray::{Array2, ArrayRef2, Axis};
use thiserror::Error;

/// Why labels cannot be propagated.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum PropagateError {
    /// The plan and the label table have different numbers of rows.
    #[error(
        "the plan has {plan} rows for {labels} labelled source components; they must be the same components"
    )]
    Shape {
        /// Number of rows of the plan.
        plan: usize,
        /// Number of rows of the label table.
        labels: usize,
    },
    /// An entry is negative or not finite.
    #[error("{what} at row {row}, column {column} is {value}; it must be finite and not negative")]
    Value {
        /// `plan` or `label`.
        what: &'static str,
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// The plan moves no mass, or only from components without any label.
    #[error("the plan moves no labelled mass; there is nothing to propagate")]
    Empty,
}

/// The label table of the target, `K_T × C`: `ν_T = ωᵀ ν_S / π_T`. Each row sums to one.
///
/// Rows are divided by the mass that the plan actually brings. So they are distributions even if
/// the plan's marginals hold only to a tolerance, or by design not at all (relaxed and partial
/// plans). A target component that receives no mass gets the class distribution of the whole plan:
/// nothing is known about it beyond the classes that were transported. Its weight is zero if the
/// plan is balanced.
///
/// ```
/// use ndarray::array;
/// use rebearing_host::adapt::propagate::propagate;
///
/// // Components of the source are healthy and inner race; the target has three.
/// let labels = array![[1.0, 0.0], [0.0, 1.0]];
/// let plan = array![[0.25, 0.125, 0.0], [0.0, 0.125, 0.5]];
/// assert_eq!(propagate(&plan, &labels)?, array![[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]);
/// # Ok::<(), rebearing_host::adapt::propagate::PropagateError>(())
/// ```
pub fn propagate(
    plan: &ArrayRef2<f64>,
    source_labels: &ArrayRef2<f64>,
) -> Result<Array2<f64>, PropagateError> {
    if plan.nrows() != source_labels.nrows() {
        return Err(PropagateError::Shape { plan: plan.nrows(), labels: source_labels.nrows() });
    }
    for (what, table) in [("plan", plan), ("label", source_labels)] {
        if let Some(((row, column), &value)) =
            table.indexed_iter().find(|(_, v)| !v.is_finite() || **v < 0.0)
        {
            return Err(PropagateError::Value { what, row, column, value });
        }
    }
    let mut labels = plan.t().dot(source_labels);
    let mut prior = labels.sum_axis(Axis(0));
    let total = prior.sum();
    if total <= 0.0 {
        return Err(PropagateError::Empty);
    }
    prior /= total;
    for mut row in labels.outer_iter_mut() {
        let mass = row.sum();
        if mass > 0.0 {
            row /= mass;
        } else {
            row.assign(&prior);
        }
    }
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn a_component_takes_the_labels_of_the_mass_it_gets() {
        let plan = array![[0.3, 0.0, 0.1], [0.0, 0.2, 0.4]];
        let labels = array![[1.0, 0.0], [0.25, 0.75]];
        let target = propagate(&plan, &labels).unwrap();
        let expected = array![[1.0, 0.0], [0.25, 0.75], [0.4, 0.6]];
        assert!((&target - &expected).iter().all(|d| d.abs() < 1e-15), "{target}");
    }

    #[test]
    fn a_component_without_mass_gets_the_prior() {
        let plan = array![[0.25, 0.0], [0.75, 0.0]];
        let labels = array![[1.0, 0.0], [0.0, 1.0]];
        let target = propagate(&plan, &labels).unwrap();
        assert_eq!(target, array![[0.25, 0.75], [0.25, 0.75]]);
    }

    #[test]
    fn what_cannot_be_propagated_is_named() {
        let labels = array![[1.0, 0.0], [0.0, 1.0]];
        assert_eq!(
            propagate(&array![[1.0]], &labels),
            Err(PropagateError::Shape { plan: 1, labels: 2 })
        );
        assert_eq!(propagate(&array![[0.0], [0.0]], &labels), Err(PropagateError::Empty));
        assert!(matches!(
            propagate(&array![[1.0], [f64::NAN]], &labels),
            Err(PropagateError::Value { what: "plan", row: 1, column: 0, .. })
        ));
    }
}
