//! Dense linear algebra of covariance matrices.

use nalgebra::{Cholesky, DMatrix};
use ndarray::{Array2, ArrayView2};

/// Returns `L⁻ᵀ` with `Σ = L Lᵀ`, and `ln det Σ`. With it, `‖(x − μ)·L⁻ᵀ‖²` is the squared
/// Mahalanobis distance. Returns `None` if Σ is not positive definite.
pub(in crate::mixture) fn inverse_factor(matrix: ArrayView2<f64>) -> Option<(Array2<f64>, f64)> {
    let d = matrix.nrows();
    let factor = Cholesky::new(DMatrix::from_fn(d, d, |i, j| matrix[[i, j]]))?.unpack();
    let log_det: f64 = 2.0 * factor.diagonal().iter().map(|v| v.ln()).sum::<f64>();
    let inverse = factor.solve_lower_triangular(&DMatrix::identity(d, d))?;
    log_det.is_finite().then(|| (Array2::from_shape_fn((d, d), |(i, j)| inverse[(j, i)]), log_det))
}
