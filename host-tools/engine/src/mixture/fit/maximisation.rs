//! M-step: turns weighted moments into a mixture, and moves components that lost their samples.

use std::cell::OnceCell;

use ndarray::{Array1, Array2, Array3, Axis, s};
use rayon::prelude::*;

use crate::mixture::engine::moments::{Moments, Statistics};
use crate::mixture::engine::share::Everything;
use crate::mixture::sample::{Rows, Sample};
use crate::mixture::{Covariance, CovarianceKind, Mixture};

/// The parts that stay the same through all iterations: the rows, and their own mean and
/// covariance.
pub(in crate::mixture) struct Background<'a, T> {
    rows: &'a Rows<'a, T>,
    kind: CovarianceKind,
    variance_floor: f64,
    /// Computed on demand, because few fits need it.
    whole: OnceCell<Whole>,
}

/// Moments of all rows.
struct Whole {
    mean: Array1<f64>,
    /// Covariance about the mean, of the requested kind, without the floor.
    covariance: Array2<f64>,
}

impl<'a, T: Sample> Background<'a, T> {
    pub(in crate::mixture) fn new(
        rows: &'a Rows<'a, T>,
        kind: CovarianceKind,
        variance_floor: f64,
    ) -> Self {
        Self { rows, kind, variance_floor, whole: OnceCell::new() }
    }

    fn whole(&self) -> &Whole {
        self.whole.get_or_init(|| {
            let kind = match self.kind {
                CovarianceKind::Tied | CovarianceKind::Full => CovarianceKind::Full,
                CovarianceKind::Diagonal | CovarianceKind::Spherical => CovarianceKind::Diagonal,
            };
            // First the moments about the origin, only to get the mean; then the moments about the
            // mean.
            let origin = Array2::zeros((1, self.rows.dimensions()));
            let mut about_origin = Moments::new(self.rows, 1, CovarianceKind::Tied, false);
            let sums = about_origin.sum(self.rows, origin.view(), &Everything);
            let mean = &sums.first / sums.counts[0];
            let mut about_mean = Moments::new(self.rows, 1, kind, false);
            about_mean.sum(self.rows, mean.view(), &Everything);
            let sums = about_mean.total();
            let step = &sums.first.row(0) / sums.counts[0];
            let mut covariance = &sums.second / sums.counts[0];
            match kind {
                CovarianceKind::Full => subtract_outer_product(&mut covariance, &step, 1.0),
                _ => covariance.zip_mut_with(&step, |v, s| *v = (*v - s * s).max(0.0)),
            }
            Whole { mean: &about_mean.centres.row(0) + &step, covariance }
        })
    }

    /// Variance of a column.
    fn variance(&self, j: usize) -> f64 {
        match self.kind {
            CovarianceKind::Diagonal | CovarianceKind::Spherical => self.whole().covariance[[0, j]],
            CovarianceKind::Tied | CovarianceKind::Full => self.whole().covariance[[j, j]],
        }
    }

    /// Mean of the columns' variances.
    pub(in crate::mixture) fn mean_variance(&self) -> f64 {
        let columns = self.rows.dimensions();
        (0..columns).map(|j| self.variance(j)).sum::<f64>() / columns as f64
    }

    /// The mixture that maximises the likelihood for the given moments. Components without samples
    /// keep their centre and get the covariance of all rows.
    pub(in crate::mixture) fn maximise(&self, moments: &Moments<T>) -> Mixture {
        let (statistics, centres) = (moments.total(), &moments.centres);
        let (components, dimensions) = centres.dim();
        let counts = Array1::from(statistics.counts.clone());
        let total = counts.sum();
        let weights = &counts / total;
        let mut means = centres.clone();
        rows_in_parallel(&mut means, |k, mean| {
            if counts[k] > 0.0 {
                for (mean, sum) in mean.iter_mut().zip(statistics.first.row(k)) {
                    *mean += sum / counts[k];
                }
            }
        });
        let covariance = match self.kind {
            CovarianceKind::Diagonal => Covariance::Diagonal(self.variances(statistics)),
            CovarianceKind::Spherical => {
                let variances = self.variances(statistics);
                Covariance::Spherical(variances.sum_axis(Axis(1)) / dimensions as f64)
            }
            CovarianceKind::Tied => {
                // Within = total − between. The total never changes.
                let mut within = self.whole().covariance.clone();
                for (mean, &weight) in means.outer_iter().zip(&weights) {
                    let step = &mean - &self.whole().mean;
                    subtract_outer_product(&mut within, &step, weight);
                }
                self.floor(&mut within);
                Covariance::Tied(within)
            }
            CovarianceKind::Full => {
                let mut matrices = Array3::zeros((components, dimensions, dimensions));
                for (k, mut matrix) in matrices.outer_iter_mut().enumerate() {
                    let mut own = if counts[k] > 0.0 {
                        let rows = s![k * dimensions..(k + 1) * dimensions, ..];
                        let mut own = &statistics.second.slice(rows) / counts[k];
                        let step = &statistics.first.row(k) / counts[k];
                        subtract_outer_product(&mut own, &step, 1.0);
                        own
                    } else {
                        self.whole().covariance.clone()
                    };
                    self.floor(&mut own);
                    matrix.assign(&own);
                }
                Covariance::Full(matrices)
            }
        };
        Mixture { weights, means, covariance }
    }

    fn variances(&self, statistics: &Statistics) -> Array2<f64> {
        let floor = self.variance_floor;
        let mut variances = statistics.second.clone();
        rows_in_parallel(&mut variances, |k, variances| {
            let count = statistics.counts[k];
            for (variance, sum) in variances.iter_mut().zip(statistics.first.row(k)) {
                let step = sum / count;
                *variance = (*variance / count - step * step).max(0.0) + floor;
            }
        });
        for (mut variances, count) in variances.outer_iter_mut().zip(&statistics.counts) {
            if *count <= 0.0 {
                variances.assign(&(&self.whole().covariance.row(0) + floor));
            }
        }
        variances
    }

    fn floor(&self, matrix: &mut Array2<f64>) {
        matrix.diag_mut().mapv_inplace(|v| v + self.variance_floor);
    }

    /// Moves the components in `lost` to the rows with the smallest likelihoods, each with the
    /// covariance of all rows and an equal share of the weight.
    pub(in crate::mixture) fn reseed(
        &self,
        mixture: &mut Mixture,
        lost: &[usize],
        likelihoods: &Array1<f64>,
    ) {
        let rows = self.rows;
        let mut order: Vec<(f64, usize)> =
            likelihoods.iter().copied().zip(0..).filter(|&(_, i)| rows.weight(i) > 0.0).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let share = 1.0 / mixture.weights.len() as f64;
        for (&k, &(_, i)) in lost.iter().zip(&order) {
            let row: Array1<f64> = rows.row(i).iter().map(|&x| x.into()).collect();
            mixture.means.row_mut(k).assign(&row);
            mixture.weights[k] = share;
            match &mut mixture.covariance {
                Covariance::Diagonal(v) => {
                    v.row_mut(k).assign(&(&self.whole().covariance.row(0) + self.variance_floor));
                }
                Covariance::Spherical(v) => {
                    v[k] = self.whole().covariance.sum() / rows.dimensions() as f64
                        + self.variance_floor;
                }
                Covariance::Tied(_) => {}
                Covariance::Full(m) => {
                    let mut own = self.whole().covariance.clone();
                    self.floor(&mut own);
                    m.index_axis_mut(Axis(0), k).assign(&own);
                }
            }
        }
        let total = mixture.weights.sum();
        mixture.weights /= total;
    }
}

/// `matrix −= weight · step stepᵀ`.
fn subtract_outer_product(matrix: &mut Array2<f64>, step: &Array1<f64>, weight: f64) {
    for (mut row, a) in matrix.outer_iter_mut().zip(step) {
        row.scaled_add(-weight * a, step);
    }
}

/// Number of values that is worth a task of its own.
const TASK: usize = 1 << 14;

/// Calls `work` on each row of a matrix, in parallel.
fn rows_in_parallel(matrix: &mut Array2<f64>, work: impl Fn(usize, &mut [f64]) + Sync) {
    let columns = matrix.ncols();
    if let Some(values) = matrix.as_slice_mut() {
        let rows = values.par_chunks_mut(columns).enumerate();
        rows.with_min_len(TASK.div_ceil(columns)).for_each(|(k, row)| work(k, row));
    }
}
