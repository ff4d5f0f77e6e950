//! `InfoOT`: transport that also maximises mutual information (Chuang, Jegelka, Alvarez-Melis 2023).
//!
//! The fused form is `min_P Σ P·D − λ I(P)` with an entropy term. D holds the distances between
//! samples. I is the mutual information of the joint distribution P, under a Gaussian kernel
//! density. As in the authors' solver, each iteration is an entropic plan for D − λ∇I at the plan
//! before.

use ndarray::{Array1, Array2, ArrayRef2, Axis};

use super::otda::{barycentric as to_barycentre, entropic};
use super::{BaselineError, Carried, Samples, Settings, uniform};
use crate::progress::pulse;
use crate::transport::cost::squared_distances;

/// Settings of `InfoOT`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InfoOtOptions {
    /// Bandwidth of the kernels, relative to the spread of each domain.
    pub bandwidth: f64,
    /// Weight λ of the mutual information, relative to the mean distance between the domains.
    pub information: f64,
    /// Weight of the entropy, in the same unit.
    pub epsilon: f64,
    /// Largest number of iterations.
    pub iterations: usize,
    /// Sum of changes of the plan at which the iterations stop.
    pub tolerance: f64,
}

impl Default for InfoOtOptions {
    /// The authors' weights (λ = 100, entropy 1, on features about 50 apart) in relative units.
    fn default() -> Self {
        Self { bandwidth: 0.5, information: 2.0, epsilon: 0.02, iterations: 50, tolerance: 1e-4 }
    }
}

/// A solved problem: the plan, and the kernels for the conditional map.
#[derive(Debug, Clone, PartialEq)]
pub struct InfoOt {
    /// The plan between source (rows) and target samples (columns).
    pub plan: Array2<f64>,
    source_kernel: Array2<f64>,
    target_kernel: Array2<f64>,
}

impl InfoOt {
    /// The plan between the rows of `source` and `target`, all with the same weight.
    ///
    /// The kernel between source samples of different classes is zero. The authors add a large
    /// constant to such distances, with the same effect.
    pub fn solve(
        source: &ArrayRef2<f64>,
        labels: &[usize],
        target: &ArrayRef2<f64>,
        options: &InfoOtOptions,
    ) -> Result<Self, BaselineError> {
        check(options)?;
        let mut source_kernel = kernel(source, options.bandwidth);
        for ((i, j), value) in source_kernel.indexed_iter_mut() {
            if labels[i] != labels[j] {
                *value = 0.0;
            }
        }
        let target_kernel = kernel(target, options.bandwidth);
        let mut distances = squared_distances(source, target).mapv_into(f64::sqrt);
        let mean = distances.mean().unwrap_or(0.0);
        if mean > 0.0 {
            distances /= mean;
        }
        let (m, n) = distances.dim();
        let marginals = outer(&density(&source_kernel), &density(&target_kernel));
        let (a, b) = (uniform(m), uniform(n));
        let mut plan = Array2::from_elem((m, n), 1.0 / (m * n) as f64);
        for _ in 0..options.iterations {
            pulse();
            let joint = source_kernel.dot(&plan).dot(&target_kernel);
            // ∇I = ln(f_xy / f_x f_y) + K_x (P / f_xy) K_y. The kernels are symmetric.
            let spread = source_kernel.dot(&ratio(&plan, &joint)).dot(&target_kernel);
            // Densities that underflow give no information. The smallest positive number keeps
            // their logarithm finite.
            let logs = ratio(&joint, &marginals).mapv_into(|r| r.max(f64::MIN_POSITIVE).ln());
            let cost = &distances - &((logs + spread) * options.information);
            let largest = cost.iter().fold(0.0_f64, |most, c| most.max(c.abs()));
            let epsilon = options.epsilon / if largest > 0.0 { largest } else { 1.0 };
            let next = entropic(&a, &b, &cost, epsilon)?.plan;
            let change: f64 = next.iter().zip(&plan).map(|(x, y)| (x - y).abs()).sum();
            plan = next;
            if change < options.tolerance {
                break;
            }
        }
        Ok(Self { plan, source_kernel, target_kernel })
    }

    /// The source samples moved to the barycentres of the plan.
    pub fn barycentric(&self, target: &ArrayRef2<f64>) -> Array2<f64> {
        to_barycentre(&self.plan, target)
    }

    /// The source samples moved to the mean of the target under the conditional density:
    /// `x_i ↦ Σ_j w_ij y_j / Σ_j w_ij` with `w_ij = f_xy(i, j) / f_x(i) f_y(j)`.
    pub fn conditional(&self, target: &ArrayRef2<f64>) -> Array2<f64> {
        let joint = self.source_kernel.dot(&self.plan).dot(&self.target_kernel);
        let marginals = outer(&density(&self.source_kernel), &density(&self.target_kernel));
        to_barycentre(&ratio(&joint, &marginals), target)
    }
}

/// The source samples moved by the conditional map.
pub(super) fn conditional(samples: &Samples, settings: &Settings) -> Carried {
    let solved = solve(samples, settings)?;
    Ok((solved.conditional(&samples.pool), 0.0))
}

/// The source samples moved by the barycentric map.
pub(super) fn barycentric(samples: &Samples, settings: &Settings) -> Carried {
    let solved = solve(samples, settings)?;
    Ok((solved.barycentric(&samples.pool), 0.0))
}

fn solve(samples: &Samples, settings: &Settings) -> Result<InfoOt, BaselineError> {
    InfoOt::solve(&samples.source, &samples.labels, &samples.pool, &settings.infoot)
}

fn check(options: &InfoOtOptions) -> Result<(), BaselineError> {
    for (name, value) in [("bandwidth", options.bandwidth), ("epsilon", options.epsilon)] {
        if !(value.is_finite() && value > 0.0) {
            return Err(BaselineError::Setting { name, value, allowed: "positive and finite" });
        }
    }
    let value = options.information;
    if !(value.is_finite() && value >= 0.0) {
        let (name, allowed) = ("information", "finite and not negative");
        return Err(BaselineError::Setting { name, value, allowed });
    }
    Ok(())
}

/// Gaussian kernel between all rows. Its width is relative to the rows' spread √(mean d² / 2).
fn kernel(x: &ArrayRef2<f64>, bandwidth: f64) -> Array2<f64> {
    let distances = squared_distances(x, x);
    let variance = distances.mean().unwrap_or(0.0) / 2.0;
    let width = bandwidth * bandwidth * variance;
    // Equal rows have no spread and are completely alike.
    distances.mapv_into(|d| if width > 0.0 { (-d / width / 2.0).exp() } else { 1.0 })
}

/// Kernel density at each row.
fn density(kernel: &Array2<f64>) -> Array1<f64> {
    kernel.sum_axis(Axis(1)) / kernel.ncols() as f64
}

fn outer(x: &Array1<f64>, y: &Array1<f64>) -> Array2<f64> {
    Array2::from_shape_fn((x.len(), y.len()), |(i, j)| x[i] * y[j])
}

/// The ratio entry by entry; zero over zero is zero.
fn ratio(x: &Array2<f64>, y: &Array2<f64>) -> Array2<f64> {
    let mut ratio = x.clone();
    ratio.zip_mut_with(y, |x, &y| *x = if y > 0.0 { *x / y } else { 0.0 });
    ratio
}
