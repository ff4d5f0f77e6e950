//! Plans between samples and the barycentric map (Courty, Flamary, Tuia, Rakotomamonjy 2017).

use ndarray::{Array2, ArrayRef2, Axis};

use super::{BaselineError, Carried, Samples, Settings, uniform};
use crate::transport::{self, Plan, cost::squared_distances};

/// Moves each source sample to the plan's barycentre of its target samples:
/// `x_i ↦ Σ_j P_ij y_j / Σ_j P_ij`.
///
/// A row without mass has no barycentre and gives NaN. Plans with held marginals have no such row.
pub fn barycentric(plan: &ArrayRef2<f64>, target: &ArrayRef2<f64>) -> Array2<f64> {
    let mass = plan.sum_axis(Axis(1)).insert_axis(Axis(1));
    plan.dot(target) / mass
}

/// The barycentric map of the exact plan under the squared distance.
pub(super) fn exact(samples: &Samples, _: &Settings) -> Carried {
    let cost = squared_distances(&samples.source, &samples.pool);
    let (a, b) = (uniform(samples.source.nrows()), uniform(samples.pool.nrows()));
    let plan = transport::exact::solve(&a, &b, &cost, &transport::exact::Options::default())?;
    Ok((barycentric(&plan.plan, &samples.pool), 0.0))
}

/// The barycentric map of the entropic plan under the squared distance.
pub(super) fn sinkhorn(samples: &Samples, settings: &Settings) -> Carried {
    let cost = squared_distances(&samples.source, &samples.pool);
    let (a, b) = (uniform(cost.nrows()), uniform(cost.ncols()));
    let plan = entropic(&a, &b, &cost, settings.epsilon)?;
    Ok((barycentric(&plan.plan, &samples.pool), 0.0))
}

/// The entropic plan, to a tolerance at which the barycentres no longer visibly move.
pub(super) fn entropic(
    a: &[f64],
    b: &[f64],
    cost: &Array2<f64>,
    epsilon: f64,
) -> Result<Plan, BaselineError> {
    let options = transport::sinkhorn::Options {
        epsilon,
        tolerance: 1e-6,
        ..transport::sinkhorn::Options::default()
    };
    Ok(transport::sinkhorn::solve(a, b, cost, &options)?)
}
