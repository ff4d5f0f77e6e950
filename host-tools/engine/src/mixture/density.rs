//! Evaluates a fitted mixture on data: densities, likelihoods, responsibilities.

use ndarray::{Array1, Array2, ArrayView2, Axis};
use rayon::prelude::*;

use super::engine::expectation::NotPositiveDefinite;
use super::engine::linear::inverse_factor;
use super::engine::tiles;
use super::fit::check::first_not_finite;
use super::sample::{Rows, Sample};
use super::{Covariance, CovarianceKind, InvalidMixture, Mixture};

impl Covariance {
    /// The shape of the covariances.
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

    /// Number of free parameters, as information criteria count them.
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

    /// Checks that this is a valid mixture: shapes agree, weights sum to one (to 1e-9), covariances
    /// are positive definite.
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
                (0..components)
                    .into_par_iter()
                    .try_for_each(|k| check_variances(variances.row(k).iter().map(|v| (k, *v))))
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
        self.evaluate(x, tiles::log_densities)
    }

    /// Log-likelihood `ln p(x)` of each row.
    pub fn log_likelihoods<T: Sample>(
        &self,
        x: ArrayView2<T>,
    ) -> Result<Array1<f64>, InvalidMixture> {
        self.evaluate(x, tiles::log_likelihoods)
    }

    /// Responsibilities of each component for each row, n × K; rows sum to one. Values below e⁻⁴⁰
    /// are zero: adding one of them to one would not change it.
    pub fn responsibilities<T: Sample>(
        &self,
        x: ArrayView2<T>,
    ) -> Result<Array2<f64>, InvalidMixture> {
        self.evaluate(x, tiles::responsibilities)
    }

    /// Checks the mixture and the rows, then runs `compute` on them.
    fn evaluate<T: Sample, R>(
        &self,
        x: ArrayView2<T>,
        compute: impl Fn(&Self, &Rows<T>) -> Result<R, NotPositiveDefinite>,
    ) -> Result<R, InvalidMixture> {
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
        compute(self, &rows).map_err(|NotPositiveDefinite(component)| {
            InvalidMixture::NotPositiveDefinite { component }
        })
    }
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
