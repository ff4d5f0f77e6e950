//! What a fitted mixture says about data: densities, likelihoods, responsibilities.

use ndarray::{Array1, Array2, ArrayView2, Axis};

use super::em::first_not_finite;
use super::expectation::{Evaluator, NotPositiveDefinite};
use super::linear::inverse_factor;
use super::sample::{Rows, Sample};
use super::{Covariance, CovarianceKind, InvalidMixture, Mixture};

impl Covariance {
    /// Which shape the covariances have.
    pub fn kind(&self) -> CovarianceKind {
        match self {
            Self::Diagonal(_) => CovarianceKind::Diagonal,
            Self::Spherical(_) => CovarianceKind::Spherical,
            Self::Tied(_) => CovarianceKind::Tied,
            Self::Full(_) => CovarianceKind::Full,
        }
    }
}

impl Mixture {
    /// Number of components K.
    pub fn components(&self) -> usize {
        self.means.nrows()
    }

    /// Number of dimensions d.
    pub fn dimensions(&self) -> usize {
        self.means.ncols()
    }

    /// Free parameters, as information criteria count them.
    pub fn parameters(&self) -> usize {
        let (k, d) = self.means.dim();
        let covariance = match self.covariance {
            Covariance::Diagonal(_) => k * d,
            Covariance::Spherical(_) => k,
            Covariance::Tied(_) => d * (d + 1) / 2,
            Covariance::Full(_) => k * d * (d + 1) / 2,
        };
        covariance + k * d + k - 1
    }

    /// Whether this is a mixture: shapes agree, weights sum to one (to 1e-9), covariances are
    /// positive definite.
    pub fn validate(&self) -> Result<(), InvalidMixture> {
        let (components, dimensions) = self.means.dim();
        if components == 0 || dimensions == 0 {
            return Err(InvalidMixture::Empty { components, dimensions });
        }
        let shape = |what, found: &[usize], expected: &[usize]| {
            if found == expected {
                return Ok(());
            }
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            Err(InvalidMixture::Shape { what, found: found.join(" × "), components, dimensions })
        };
        shape("weights", self.weights.shape(), &[components])?;
        if let Some(component) = self.weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
            return Err(InvalidMixture::Weight { component, value: self.weights[component] });
        }
        let sum = self.weights.sum();
        if (sum - 1.0).abs() > 1e-9 {
            return Err(InvalidMixture::WeightSum { sum });
        }
        if let Some((component, dimension, value)) = first_not_finite(self.means.view()) {
            return Err(InvalidMixture::Mean { component, dimension, value });
        }
        match &self.covariance {
            Covariance::Diagonal(variances) => {
                shape("covariance", variances.shape(), &[components, dimensions])?;
                check_variances(variances.indexed_iter().map(|((k, _), v)| (k, *v)))
            }
            Covariance::Spherical(variances) => {
                shape("covariance", variances.shape(), &[components])?;
                check_variances(variances.iter().copied().enumerate())
            }
            Covariance::Tied(matrix) => {
                shape("covariance", matrix.shape(), &[dimensions, dimensions])?;
                check_matrix(0, matrix.view())
            }
            Covariance::Full(matrices) => {
                let expected = [components, dimensions, dimensions];
                shape("covariance", matrices.shape(), &expected)?;
                matrices
                    .axis_iter(Axis(0))
                    .enumerate()
                    .try_for_each(|(k, matrix)| check_matrix(k, matrix))
            }
        }
    }

    /// Log densities `ln π_k N_k(x)` of each row under each component, n × K.
    pub fn log_densities<T: Sample>(
        &self,
        x: ArrayView2<T>,
    ) -> Result<Array2<f64>, InvalidMixture> {
        if x.ncols() != self.dimensions() {
            return Err(InvalidMixture::Dimensions {
                found: x.ncols(),
                expected: self.dimensions(),
            });
        }
        if let Some((row, column, value)) = first_not_finite(x) {
            return Err(InvalidMixture::NotFinite { row, column, value });
        }
        self.validate()?;
        let x = x.as_standard_layout();
        let Some(rows) = Rows::new(x.view(), None) else {
            unreachable!("the matrix was just put in standard layout");
        };
        let evaluator = Evaluator::new(self).map_err(|NotPositiveDefinite(component)| {
            InvalidMixture::NotPositiveDefinite { component }
        })?;
        Ok(evaluator.log_densities(&rows))
    }

    /// Log-likelihood `ln p(x)` of each row.
    pub fn log_likelihoods<T: Sample>(
        &self,
        x: ArrayView2<T>,
    ) -> Result<Array1<f64>, InvalidMixture> {
        let mut densities = self.log_densities(x)?;
        Ok(normalise_rows(&mut densities))
    }

    /// Responsibilities of each component for each row, n × K; rows sum to one.
    pub fn responsibilities<T: Sample>(
        &self,
        x: ArrayView2<T>,
    ) -> Result<Array2<f64>, InvalidMixture> {
        let mut densities = self.log_densities(x)?;
        normalise_rows(&mut densities);
        Ok(densities)
    }
}

/// Log densities to responsibilities in place, row by row; the log-likelihoods are returned.
pub(super) fn normalise_rows(densities: &mut Array2<f64>) -> Array1<f64> {
    densities.outer_iter_mut().filter_map(|row| row.into_slice().map(normalise)).collect()
}

/// Log densities of one row to responsibilities in place; the row's log-likelihood is returned.
fn normalise(row: &mut [f64]) -> f64 {
    let best = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for value in row.iter_mut() {
        *value = (*value - best).exp();
        sum += *value;
    }
    for value in row {
        *value /= sum;
    }
    best + sum.ln()
}

fn check_variances(variances: impl Iterator<Item = (usize, f64)>) -> Result<(), InvalidMixture> {
    for (component, value) in variances {
        if !value.is_finite() || value <= 0.0 {
            return Err(InvalidMixture::Variance { component, value });
        }
    }
    Ok(())
}

fn check_matrix(component: usize, matrix: ArrayView2<f64>) -> Result<(), InvalidMixture> {
    let scale = matrix.diag().iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    let symmetric =
        matrix.indexed_iter().all(|((i, j), v)| (v - matrix[[j, i]]).abs() <= 1e-9 * scale);
    if symmetric && inverse_factor(matrix).is_some() {
        return Ok(());
    }
    Err(InvalidMixture::NotPositiveDefinite { component })
}
