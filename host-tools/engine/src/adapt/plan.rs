//! The plan between the components of two mixtures.

use ndarray::Array2;
use serde::Serialize;
use thiserror::Error;

use crate::mixture::Mixture;
use crate::transport::cost::{self, CostError};
use crate::transport::relaxed::{self, Marginal};
use crate::transport::{TransportError, exact, sinkhorn};

/// Marginal error of an entropic plan. It is far below any useful precision of a label's
/// probability. More digits would take many thousand more iterations.
const TOLERANCE: f64 = 1e-6;

/// The method of finding the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Linear program with both marginals held.
    Exact,
    /// Entropic plan with both marginals held.
    Sinkhorn,
    /// Entropic plan with the target held. The source's class shares may adjust to the target's.
    Relaxed,
}

/// Settings of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanSettings {
    /// The method of finding the plan.
    pub solver: Solver,
    /// Weight of the entropy, relative to the largest cost.
    pub epsilon: f64,
    /// How strongly the relaxed solver keeps the source's shares, relative to the largest cost.
    pub tau: f64,
}

impl Default for PlanSettings {
    /// Relaxed. A pool never has exactly the source's shares. A plan that must keep them gives the
    /// surplus of one class to another. A plan that hardly keeps them leaves out classes as soon as
    /// the target has moved. Both constants were examined on CWRU and UESTC, clean and with white
    /// noise, and on simulated machines. The results hold for epsilon from 0.001 to 0.004 and tau
    /// from 0.7 to 0.85.
    fn default() -> Self {
        Self { solver: Solver::Relaxed, epsilon: 2e-3, tau: 0.8 }
    }
}

/// A plan and its cost.
#[derive(Debug, Clone)]
pub struct ComponentPlan {
    /// Mass from each source component (row) to each target component.
    pub plan: Array2<f64>,
    /// Squared mixture-Wasserstein distance, which is the cost of the plan.
    pub mw2_squared: f64,
    /// Whether an entropic plan did not converge and the exact plan replaces it.
    pub fell_back: bool,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PlanError {
    /// The components cannot be compared.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// Transport failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
}

/// The plan from the components of `source` to those of `target`.
pub fn between(
    source: &Mixture,
    target: &Mixture,
    settings: &PlanSettings,
) -> Result<ComponentPlan, PlanError> {
    let costs = cost::component_costs(source, target)?;
    let (a, b) = (source.weights.to_vec(), target.weights.to_vec());
    let exact = || exact::solve(&a, &b, &costs, &exact::Options::default());
    let PlanSettings { epsilon, tau, .. } = *settings;
    let entropic = match settings.solver {
        Solver::Exact => exact(),
        Solver::Sinkhorn => {
            let options = sinkhorn::Options { epsilon, tolerance: TOLERANCE, ..Default::default() };
            sinkhorn::solve(&a, &b, &costs, &options)
        }
        Solver::Relaxed => {
            let rows = Marginal::Relaxed(tau);
            let options =
                relaxed::Options { rows, epsilon, tolerance: TOLERANCE, ..Default::default() };
            relaxed::solve(&a, &b, &costs, &options)
        }
    };
    // For nearly separate clusters the iteration can take very long. The exact plan always
    // terminates, and for such clusters it is nearly the same.
    let (plan, fell_back) = match entropic {
        Err(TransportError::NotConverged { .. }) => (exact()?, true),
        plan => (plan?, false),
    };
    Ok(ComponentPlan { plan: plan.plan, mw2_squared: plan.cost, fell_back })
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, array};

    use super::*;
    use crate::mixture::Covariance;

    fn mixture(weights: Array1<f64>, means: Array2<f64>) -> Mixture {
        let variances = Array2::from_elem(means.dim(), 0.01);
        Mixture { weights, means, covariance: Covariance::Diagonal(variances) }
    }

    /// Three classes, all moved a little. The target has one of them twice as often.
    #[test]
    fn a_relaxed_plan_gives_way_to_the_shares_of_the_target() {
        let source = mixture(array![1.0, 1.0, 1.0] / 3.0, array![[0.0], [4.0], [8.0]]);
        let target = mixture(array![0.5, 0.25, 0.25], array![[0.5], [4.5], [8.5]]);
        let relaxed = between(&source, &target, &PlanSettings::default()).unwrap();
        let exact = PlanSettings { solver: Solver::Exact, ..PlanSettings::default() };
        let exact = between(&source, &target, &exact).unwrap();
        let own = |plan: &ComponentPlan| plan.plan.diag().sum();
        assert!(own(&relaxed) > own(&exact) + 0.1, "{} {}", relaxed.plan, exact.plan);
        // Both plans hold the target's shares.
        let column = relaxed.plan.column(0).sum();
        assert!((column - 0.5).abs() < 1e-4, "{column}");
        assert!(!relaxed.fell_back);
    }
}
