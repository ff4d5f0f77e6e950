//! The plan between the components of two mixtures.

use ndarray::Array2;
use serde::Serialize;
use thiserror::Error;

use crate::mixture::Mixture;
use crate::transport::cost::{self, CostError};
use crate::transport::relaxed::{self, Marginal};
use crate::transport::{TransportError, exact, sinkhorn};

/// Marginal error of an entropic plan: far below what a label's probability is worth, and
/// reached where the last digits would take many thousand iterations more.
const TOLERANCE: f64 = 1e-6;

/// How the plan is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Linear program, both marginals held.
    Exact,
    /// Entropic, both marginals held.
    Sinkhorn,
    /// Entropic, the target held; the source's class shares may give way to the target's.
    Relaxed,
}

/// Settings of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanSettings {
    /// How it is found.
    pub solver: Solver,
    /// Weight of the entropy, relative to the largest cost.
    pub epsilon: f64,
    /// How strongly the relaxed solver holds the source's shares, relative to the largest cost.
    pub tau: f64,
}

impl Default for PlanSettings {
    /// Relaxed: a pool never has exactly the shares of the source, and a plan that is held to them
    /// hands the surplus of one class to another; one that is hardly held leaves classes out as
    /// soon as the target lies elsewhere. Both constants were looked at on CWRU and UESTC, clean
    /// and with white noise, and on simulated machines; the results hold for epsilon from 0.001 to
    /// 0.004 and tau from 0.7 to 0.85.
    fn default() -> Self {
        Self { solver: Solver::Relaxed, epsilon: 2e-3, tau: 0.8 }
    }
}

/// A plan and the costs that it was made for.
#[derive(Debug, Clone)]
pub struct ComponentPlan {
    /// Mass from each source component (row) to each target component.
    pub plan: Array2<f64>,
    /// Squared mixture-Wasserstein distance: the cost of the plan.
    pub mw2_squared: f64,
    /// Whether an entropic plan did not converge and the exact one stands in for it.
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
    // Nearly separate clusters can take the iteration very long; the exact plan always ends, and
    // for such clusters it is nearly the same.
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

    /// Three classes, of which the target has one twice as often; all moved a little.
    #[test]
    fn a_relaxed_plan_gives_way_to_the_shares_of_the_target() {
        let source = mixture(array![1.0, 1.0, 1.0] / 3.0, array![[0.0], [4.0], [8.0]]);
        let target = mixture(array![0.5, 0.25, 0.25], array![[0.5], [4.5], [8.5]]);
        let relaxed = between(&source, &target, &PlanSettings::default()).unwrap();
        let exact = PlanSettings { solver: Solver::Exact, ..PlanSettings::default() };
        let exact = between(&source, &target, &exact).unwrap();
        let own = |plan: &ComponentPlan| plan.plan.diag().sum();
        assert!(own(&relaxed) > own(&exact) + 0.1, "{} {}", relaxed.plan, exact.plan);
        // The target is held by either.
        let column = relaxed.plan.column(0).sum();
        assert!((column - 0.5).abs() < 1e-4, "{column}");
        assert!(!relaxed.fell_back);
    }
}
