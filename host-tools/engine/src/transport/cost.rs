//! Squared Wasserstein-2 distances between the components of two mixtures.

use nalgebra::DMatrix;
use ndarray::{Array2, ArrayRef2, Axis};
use rayon::prelude::*;
use thiserror::Error;

use crate::mixture::{self, Covariance, Mixture};
use crate::progress::pulse;

/// Why component costs cannot be computed.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CostError {
    /// The mixtures have different dimensions.
    #[error("source components have {source_dims} dims, target components {target_dims}")]
    Dims {
        /// Dims of the source.
        source_dims: usize,
        /// Dims of the target.
        target_dims: usize,
    },
    /// The covariance array does not fit the means.
    #[error(
        "the {which} mixture's covariance array does not fit its {components} means of {dims} dims"
    )]
    Shape {
        /// `source` or `target`.
        which: &'static str,
        /// Number of components of the means.
        components: usize,
        /// Number of dims of the means.
        dims: usize,
    },
    /// A mean or covariance entry is infinite or not a number, or a variance is negative.
    #[error(
        "{which} component {component} has a mean or covariance that is not finite, or a negative variance"
    )]
    Value {
        /// `source` or `target`.
        which: &'static str,
        /// Component, counted from 0.
        component: usize,
    },
    /// The eigenvalues of a covariance could not be computed.
    #[error(
        "the covariance of {which} component {component} has no eigenvalues to working precision"
    )]
    Eigen {
        /// `source` or `target`.
        which: &'static str,
        /// Component, counted from 0.
        component: usize,
    },
}

/// `W2²` between each source and each target component, `K_S × K_T`.
///
/// For diagonal and spherical covariances: `‖μ_S−μ_T‖² + ‖σ_S−σ_T‖²`. If at least one side is full
/// or tied: `‖μ_S−μ_T‖² + Tr(Σ_S + Σ_T − 2(Σ_S^½ Σ_T Σ_S^½)^½)`. Singular covariances are allowed.
///
/// ```
/// use ndarray::array;
/// use rebearing_host::mixture::{Covariance, Mixture};
/// use rebearing_host::transport::cost::component_costs;
///
/// let one = |mean: f64, variance: f64| Mixture {
///     weights: array![1.0],
///     means: array![[mean]],
///     covariance: Covariance::Diagonal(array![[variance]]),
/// };
/// // Means 3 apart, standard deviations 1 and 2.
/// assert_eq!(component_costs(&one(0.0, 1.0), &one(3.0, 4.0))?, array![[9.0 + 1.0]]);
/// # Ok::<(), rebearing_host::transport::cost::CostError>(())
/// ```
pub fn component_costs(source: &Mixture, target: &Mixture) -> Result<Array2<f64>, CostError> {
    let (source_dims, target_dims) = (source.means.ncols(), target.means.ncols());
    if source_dims != target_dims {
        return Err(CostError::Dims { source_dims, target_dims });
    }
    check(source, "source")?;
    check(target, "target")?;
    let means = squared_distances(&source.means, &target.means);
    if let (Some(s), Some(t)) = (deviations(source), deviations(target)) {
        return Ok(means + squared_distances(&s, &t));
    }
    let sources = factors(source, "source")?;
    let targets = factors(target, "target")?;
    let covariances = by_rows(means.dim(), |k, row| {
        for (cost, t) in row.iter_mut().zip(&targets) {
            pulse();
            *cost = bures(&sources[k], t);
        }
    });
    Ok(means + covariances)
}

/// The squared distance between every row of `x` and every row of `y`.
///
/// It is computed from differences. The expansion into squares and products would lose distances
/// that are small against the rows' norms, and these matter most for transport.
pub fn squared_distances(x: &ArrayRef2<f64>, y: &ArrayRef2<f64>) -> Array2<f64> {
    mixture::squared_distances(x, y)
}

/// A matrix with rows that are filled in parallel.
fn by_rows(shape: (usize, usize), fill: impl Fn(usize, &mut [f64]) + Sync) -> Array2<f64> {
    let mut matrix = Array2::zeros(shape);
    if let Some(entries) = matrix.as_slice_mut() {
        entries.par_chunks_mut(shape.1.max(1)).enumerate().for_each(|(i, row)| fill(i, row));
    }
    matrix
}

/// Checks shapes and values. `which` names the mixture in errors.
fn check(mixture: &Mixture, which: &'static str) -> Result<(), CostError> {
    let (components, dims) = mixture.means.dim();
    let fits = match &mixture.covariance {
        Covariance::Diagonal(variances) => variances.dim() == (components, dims),
        Covariance::Spherical(variances) => variances.len() == components,
        Covariance::Tied(matrix) => matrix.dim() == (dims, dims),
        Covariance::Full(matrices) => matrices.dim() == (components, dims, dims),
    };
    if !fits {
        return Err(CostError::Shape { which, components, dims });
    }
    let variance_ok = |v: &f64| v.is_finite() && *v >= 0.0;
    let component_ok = |component: usize| {
        let covariance_ok = match &mixture.covariance {
            Covariance::Diagonal(variances) => variances.row(component).iter().all(variance_ok),
            Covariance::Spherical(variances) => variance_ok(&variances[component]),
            Covariance::Tied(matrix) => {
                matrix.iter().all(|v| v.is_finite()) && matrix.diag().iter().all(variance_ok)
            }
            Covariance::Full(matrices) => {
                let matrix = matrices.index_axis(Axis(0), component);
                matrix.iter().all(|v| v.is_finite()) && matrix.diag().iter().all(variance_ok)
            }
        };
        covariance_ok && mixture.means.row(component).iter().all(|v| v.is_finite())
    };
    match (0..components).into_par_iter().find_first(|&component| !component_ok(component)) {
        Some(component) => Err(CostError::Value { which, component }),
        None => Ok(()),
    }
}

/// Standard deviations, K × d, or `None` for full and tied covariances.
fn deviations(mixture: &Mixture) -> Option<Array2<f64>> {
    match &mixture.covariance {
        Covariance::Diagonal(variances) => Some(by_rows(variances.dim(), |k, row| {
            for (deviation, variance) in row.iter_mut().zip(variances.row(k)) {
                *deviation = variance.sqrt();
            }
        })),
        Covariance::Spherical(variances) => {
            let deviations = variances.mapv(f64::sqrt).insert_axis(Axis(1));
            Some(deviations.broadcast(mixture.means.dim())?.to_owned())
        }
        Covariance::Tied(_) | Covariance::Full(_) => None,
    }
}

/// A covariance as `F Fᵀ`, with its trace.
struct Factor {
    factor: DMatrix<f64>,
    trace: f64,
}

/// The factors of a mixture's covariances.
fn factors(mixture: &Mixture, which: &'static str) -> Result<Vec<Factor>, CostError> {
    let (components, dims) = mixture.means.dim();
    let diagonal = |deviation: &dyn Fn(usize) -> f64| Factor {
        factor: DMatrix::from_fn(dims, dims, |i, j| if i == j { deviation(i) } else { 0.0 }),
        trace: (0..dims).map(|i| deviation(i) * deviation(i)).sum(),
    };
    match &mixture.covariance {
        Covariance::Diagonal(variances) => {
            Ok((0..components).map(|k| diagonal(&|i| variances[[k, i]].sqrt())).collect())
        }
        Covariance::Spherical(variances) => {
            Ok((0..components).map(|k| diagonal(&|_| variances[k].sqrt())).collect())
        }
        // There is one matrix for all, but the factor is computed for each component. This costs
        // little against the K_S · K_T singular value decompositions.
        Covariance::Tied(matrix) => (0..components).map(|k| factor(matrix, which, k)).collect(),
        Covariance::Full(matrices) => (0..components)
            .into_par_iter()
            .map(|k| factor(&matrices.index_axis(Axis(0), k), which, k))
            .collect(),
    }
}

/// `F = V Λ^½` of a covariance. Eigenvalues that are negative because of rounding become zero.
fn factor(
    covariance: &ArrayRef2<f64>,
    which: &'static str,
    component: usize,
) -> Result<Factor, CostError> {
    let dims = covariance.nrows();
    let matrix =
        DMatrix::from_fn(dims, dims, |i, j| f64::midpoint(covariance[[i, j]], covariance[[j, i]]));
    let trace = matrix.trace();
    let eigen = nalgebra::SymmetricEigen::try_new(matrix, f64::EPSILON, 100 * dims.max(10))
        .ok_or(CostError::Eigen { which, component })?;
    let mut factor = eigen.eigenvectors;
    for (mut column, value) in factor.column_iter_mut().zip(&eigen.eigenvalues) {
        column *= value.max(0.0).sqrt();
    }
    Ok(Factor { factor, trace })
}

/// `Tr(Σ_S + Σ_T − 2(Σ_S^½ Σ_T Σ_S^½)^½)`.
///
/// The last trace is the sum of the singular values of `F_Sᵀ F_T`. This way keeps full precision
/// for singular covariances; square roots of eigenvalues would not.
fn bures(source: &Factor, target: &Factor) -> f64 {
    let cross = source.factor.tr_mul(&target.factor);
    let nuclear: f64 = cross.singular_values().iter().sum();
    (source.trace + target.trace - 2.0 * nuclear).max(0.0)
}
