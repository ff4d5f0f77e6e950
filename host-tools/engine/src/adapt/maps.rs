//! Maps that carry source samples to the target, built from a plan between two mixtures.
//!
//! Between two Gaussians the optimal map is affine, `T_kl`. The plan tells which of these maps
//! apply to a sample. There are three ways to combine them: [`ComponentMaps::weighted`]
//! (`T_weight`), [`ComponentMaps::mean`] (`T_mean`) and [`ComponentMaps::random`] (`T_rand`). The
//! last two follow Delon and Desolneux (2020).
#![allow(
    clippy::needless_pass_by_value,
    reason = "array views are pointers; they go by value, as in ndarray itself"
)]

use nalgebra::{Cholesky, DMatrix, DVector, SymmetricEigen};
use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2, ArrayView1, ArrayView2, Axis};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use thiserror::Error;

use crate::mixture::{Covariance, InvalidMixture, Mixture, Sample};

/// Rows whose densities are in memory at once.
const BLOCK: usize = 8192;

/// Smallest share of a plan's row that is worth a map.
const NEGLIGIBLE: f64 = 1e-3;

/// Why there is no map.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MapError {
    /// The shape of the plan does not match the mixtures.
    #[error(
        "the plan is {rows} × {columns} for {source_components} source and {target_components} target components"
    )]
    Shape {
        /// Number of rows of the plan.
        rows: usize,
        /// Number of columns of the plan.
        columns: usize,
        /// Number of components of the source mixture.
        source_components: usize,
        /// Number of components of the target mixture.
        target_components: usize,
    },
    /// The plan moves no mass from a component that has weight.
    #[error("the plan moves no mass; there is nothing to map along")]
    Empty,
    /// A source covariance has no inverse, so no map starts from it.
    #[error(
        "the covariance of source component {component} is singular; raise the variance floor, or shrink it towards its diagonal"
    )]
    Singular {
        /// Component, counted from 0.
        component: usize,
    },
    /// No plan entry of a component reaches the threshold.
    #[error("no entry of the plan's row {component} reaches the threshold {threshold}; lower it")]
    Threshold {
        /// Source component, counted from 0.
        component: usize,
        /// The given threshold.
        threshold: f64,
    },
    /// A mixture or the samples cannot be used.
    #[error(transparent)]
    Mixture(#[from] InvalidMixture),
}

/// The optimal map between two Gaussians, `x ↦ A (x − μ_S) + μ_T`.
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianMap {
    linear: Linear,
    from: DVector<f64>,
    to: DVector<f64>,
}

#[derive(Debug, Clone, PartialEq)]
enum Linear {
    Diagonal(DVector<f64>),
    Full(DMatrix<f64>),
}

impl GaussianMap {
    /// The map between Gaussians with independent dims, `x ↦ σ_T/σ_S ⊙ (x − μ_S) + μ_T`.
    ///
    /// Returns `None` if a source deviation is zero and the target's is not: no map widens a point.
    pub fn diagonal(
        (source_mean, source_variances): (&ArrayRef1<f64>, &ArrayRef1<f64>),
        (target_mean, target_variances): (&ArrayRef1<f64>, &ArrayRef1<f64>),
    ) -> Option<Self> {
        let scale: Option<Vec<f64>> = source_variances
            .iter()
            .zip(target_variances)
            .map(|(&s, &t)| if s > 0.0 { Some((t / s).sqrt()) } else { (t <= 0.0).then_some(1.0) })
            .collect();
        Some(Self {
            linear: Linear::Diagonal(DVector::from_vec(scale?)),
            from: vector(source_mean),
            to: vector(target_mean),
        })
    }

    /// The map between Gaussians with full covariances, `A = Σ_S^-½ (Σ_S^½ Σ_T Σ_S^½)^½ Σ_S^-½`.
    /// Returns `None` if the source covariance is singular.
    ///
    /// A is computed as `L⁻ᵀ (Lᵀ Σ_T L)^½ L⁻¹` with `Σ_S = L Lᵀ`. This is the only positive matrix
    /// with `A Σ_S A = Σ_T`, and it takes one eigendecomposition, not two.
    pub fn full(
        (source_mean, source_covariance): (&ArrayRef1<f64>, &ArrayRef2<f64>),
        (target_mean, target_covariance): (&ArrayRef1<f64>, &ArrayRef2<f64>),
    ) -> Option<Self> {
        let source = matrix(source_covariance);
        let target = matrix(target_covariance);
        let l = Cholesky::new(source)?.unpack();
        let inner = l.tr_mul(&target) * &l;
        let dims = inner.nrows();
        let eigen = SymmetricEigen::try_new(inner, f64::EPSILON, 100 * dims.max(10))?;
        // (Lᵀ Σ_T L)^½ = V Λ^½ Vᵀ, so A = W Λ^½ Wᵀ with W = L⁻ᵀ V.
        let w = l.transpose().solve_upper_triangular(&eigen.eigenvectors)?;
        let mut scaled = w.clone();
        for (mut column, value) in scaled.column_iter_mut().zip(&eigen.eigenvalues) {
            column *= value.max(0.0).sqrt();
        }
        let linear = scaled * w.transpose();
        linear.iter().all(|v| v.is_finite()).then(|| Self {
            linear: Linear::Full(linear),
            from: vector(source_mean),
            to: vector(target_mean),
        })
    }

    /// `W A` for a matrix W: coefficients for mapped samples, as coefficients for the samples.
    pub(super) fn pulled(&self, coefficients: &Array2<f64>) -> Array2<f64> {
        match &self.linear {
            Linear::Diagonal(scale) => {
                let scale = ArrayView1::from(scale.as_slice());
                coefficients * &scale
            }
            Linear::Full(a) => coefficients.dot(&Array2::from_shape_fn(a.shape(), |at| a[at])),
        }
    }

    /// The image of the origin.
    pub(super) fn offset(&self) -> Array1<f64> {
        self.apply(&vec![0.0; self.from.len()]).into()
    }

    /// Maps a sample.
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        let centred = DVector::from_iterator(x.len(), x.iter().zip(&self.from).map(|(x, m)| x - m));
        let mapped = match &self.linear {
            Linear::Diagonal(scale) => scale.component_mul(&centred),
            Linear::Full(a) => a * centred,
        };
        mapped.iter().zip(&self.to).map(|(x, m)| x + m).collect()
    }
}

/// Mapped samples. One source sample may appear at several places.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedSamples {
    /// The mapped samples, one per row.
    pub samples: Array2<f64>,
    /// The weight of each mapped sample.
    pub weights: Array1<f64>,
    /// The source row of each mapped sample.
    pub origin: Vec<usize>,
}

/// The maps between all pairs of components that a plan joins.
pub struct ComponentMaps<'a> {
    source: &'a Mixture,
    /// For each source component, the mass and the map of each plan entry.
    maps: Vec<Vec<(f64, GaussianMap)>>,
}

impl<'a> ComponentMaps<'a> {
    /// The map `T_kl` for every positive entry of the plan, from source (rows) to target (columns).
    pub fn new(
        source: &'a Mixture,
        target: &Mixture,
        plan: &ArrayRef2<f64>,
    ) -> Result<Self, MapError> {
        source.validate()?;
        target.validate()?;
        let (source_components, target_components) = (source.components(), target.components());
        if plan.dim() != (source_components, target_components) {
            let (rows, columns) = plan.dim();
            return Err(MapError::Shape { rows, columns, source_components, target_components });
        }
        if source.dimensions() != target.dimensions() {
            return Err(InvalidMixture::Dimensions {
                found: target.dimensions(),
                expected: source.dimensions(),
            }
            .into());
        }
        let mut maps = Vec::with_capacity(source_components);
        for (component, row) in plan.outer_iter().enumerate() {
            let mut from_here = Vec::new();
            for (l, &mass) in row.iter().enumerate() {
                // A component without weight has no density, so it cannot be chosen.
                if mass > 0.0 && source.weights[component] > 0.0 {
                    let map = between(source, component, target, l)
                        .ok_or(MapError::Singular { component })?;
                    from_here.push((mass, map));
                }
            }
            maps.push(from_here);
        }
        if maps.iter().all(Vec::is_empty) {
            return Err(MapError::Empty);
        }
        Ok(Self { source, maps })
    }

    /// The same maps without the entries of the plan below a thousandth of their row. An entropic
    /// plan joins each component with every other one, most of them by next to nothing.
    #[must_use]
    pub fn without_negligible(mut self) -> Self {
        for from_here in &mut self.maps {
            let least = NEGLIGIBLE * from_here.iter().map(|(mass, _)| mass).sum::<f64>();
            from_here.retain(|(mass, _)| *mass >= least);
        }
        self
    }

    /// `T_weight`: maps each sample from its likeliest component k to every l with plan entry
    /// `ω_kl ≥ threshold`, with weight `ω_kl`.
    pub fn weighted<T: Sample>(
        &self,
        x: ArrayView2<'_, T>,
        threshold: f64,
    ) -> Result<WeightedSamples, MapError> {
        let components = self.likeliest(x)?;
        let (mut samples, mut weights, mut origin) = (Vec::new(), Vec::new(), Vec::new());
        for (row, (x, component)) in x.outer_iter().zip(components).enumerate() {
            let before = origin.len();
            let x: Vec<f64> = x.iter().map(|&v| v.into()).collect();
            for (mass, map) in self.maps[component].iter().filter(|(mass, _)| *mass >= threshold) {
                samples.extend(map.apply(&x));
                weights.push(*mass);
                origin.push(row);
            }
            if origin.len() == before {
                return Err(MapError::Threshold { component, threshold });
            }
        }
        let dims = self.source.dimensions();
        let mut carried = Array2::zeros((origin.len(), dims));
        carried.iter_mut().zip(samples).for_each(|(to, from)| *to = from);
        Ok(WeightedSamples { samples: carried, weights: weights.into(), origin })
    }

    /// The likeliest source component of each row.
    pub(super) fn likeliest<T: Sample>(
        &self,
        x: ArrayView2<'_, T>,
    ) -> Result<Vec<usize>, MapError> {
        let mut components = Vec::with_capacity(x.nrows());
        for block in x.axis_chunks_iter(Axis(0), BLOCK) {
            let densities = self.source.log_densities(block)?;
            components.extend(densities.outer_iter().map(|row| likeliest(row.iter().copied())));
        }
        Ok(components)
    }

    /// The mass and the map of each plan entry of a source component.
    pub(super) fn from(&self, component: usize) -> &[(f64, GaussianMap)] {
        &self.maps[component]
    }

    /// `T_mean`: the mean of `T_kl(x)` under the probabilities `∝ ω_kl N_k(x)`.
    pub fn mean<T: Sample>(&self, x: ArrayView2<'_, T>) -> Result<Array2<f64>, MapError> {
        self.combine(x, |probabilities, maps, x| {
            let mut mean = vec![0.0; x.len()];
            for (&p, map) in probabilities.iter().zip(maps) {
                // A probability this small cannot change the sum in f64, so its map is skipped.
                if p > f64::EPSILON / 16.0 {
                    mean.iter_mut().zip(map.apply(x)).for_each(|(m, t)| *m += p * t);
                }
            }
            mean
        })
    }

    /// `T_rand`: `T_kl(x)` for one pair (k, l) drawn with probability `∝ ω_kl N_k(x)`.
    pub fn random<T: Sample>(
        &self,
        x: ArrayView2<'_, T>,
        seed: u64,
    ) -> Result<Array2<f64>, MapError> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        self.combine(x, |probabilities, maps, x| {
            let mut left: f64 = rng.random();
            // Rounding may leave a little at the end. The likeliest pair gets it.
            let drawn = probabilities.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            let drawn = drawn.unwrap_or_else(|| likeliest(probabilities.iter().copied()));
            maps[drawn].apply(x)
        })
    }

    /// Maps each row by `combine(probabilities, maps, row)`.
    fn combine<T: Sample>(
        &self,
        x: ArrayView2<'_, T>,
        mut combine: impl FnMut(&[f64], &[&GaussianMap], &[f64]) -> Vec<f64>,
    ) -> Result<Array2<f64>, MapError> {
        let densities = self.source.log_densities(x)?;
        let maps: Vec<&GaussianMap> = self.maps.iter().flatten().map(|(_, map)| map).collect();
        let mut mapped = Array2::zeros(x.dim());
        for ((x, densities), mut out) in
            x.outer_iter().zip(densities.outer_iter()).zip(mapped.outer_iter_mut())
        {
            // ln ω_kl N_k(x), computed from ln π_k N_k(x).
            let mut logs = Vec::with_capacity(maps.len());
            for (k, from_here) in self.maps.iter().enumerate() {
                let log_density = densities[k] - self.source.weights[k].ln();
                logs.extend(from_here.iter().map(|(mass, _)| log_density + mass.ln()));
            }
            let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut probabilities: Vec<f64> = logs.iter().map(|l| (l - largest).exp()).collect();
            let sum: f64 = probabilities.iter().sum();
            for p in &mut probabilities {
                *p /= sum;
            }
            let x: Vec<f64> = x.iter().map(|&v| v.into()).collect();
            out.iter_mut()
                .zip(combine(&probabilities, &maps, &x))
                .for_each(|(to, from)| *to = from);
        }
        Ok(mapped)
    }
}

/// `T_kl` for one pair of components. The map is full if one of the two covariances is.
fn between(source: &Mixture, k: usize, target: &Mixture, l: usize) -> Option<GaussianMap> {
    let (source_mean, target_mean) = (source.means.row(k), target.means.row(l));
    match (variances(source, k), variances(target, l)) {
        (Some(s), Some(t)) => GaussianMap::diagonal((&source_mean, &s), (&target_mean, &t)),
        _ => GaussianMap::full(
            (&source_mean, &covariance(source, k)),
            (&target_mean, &covariance(target, l)),
        ),
    }
}

/// The variances of a component, if its dims are independent.
fn variances(mixture: &Mixture, k: usize) -> Option<Array1<f64>> {
    match &mixture.covariance {
        Covariance::Diagonal(variances) => Some(variances.row(k).to_owned()),
        Covariance::Spherical(variances) => {
            Some(Array1::from_elem(mixture.dimensions(), variances[k]))
        }
        Covariance::Tied(_) | Covariance::Full(_) => None,
    }
}

fn covariance(mixture: &Mixture, k: usize) -> Array2<f64> {
    match &mixture.covariance {
        Covariance::Tied(matrix) => matrix.clone(),
        Covariance::Full(matrices) => matrices.index_axis(Axis(0), k).to_owned(),
        Covariance::Diagonal(_) | Covariance::Spherical(_) => {
            Array2::from_diag(&variances(mixture, k).unwrap_or_default())
        }
    }
}

/// The index of the largest value; the first one among equals.
pub(crate) fn likeliest(values: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (index, value) in values.enumerate() {
        if value > best.1 {
            best = (index, value);
        }
    }
    best.0
}

fn vector(v: &ArrayRef1<f64>) -> DVector<f64> {
    DVector::from_iterator(v.len(), v.iter().copied())
}

fn matrix(m: &ArrayRef2<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(m.nrows(), m.ncols(), |i, j| f64::midpoint(m[[i, j]], m[[j, i]]))
}
