//! M-step: weighted moments to a mixture, and components that lost their samples to new places.

use ndarray::{Array1, Array2, Array3, Axis, s};

use super::moments::{Everything, Moments};
use super::sample::{Rows, Sample};
use super::{Covariance, CovarianceKind, Mixture};

/// What stays the same through all iterations: the data's own mean and covariance.
pub(super) struct Background {
    kind: CovarianceKind,
    variance_floor: f64,
    /// Mean of all rows.
    mean: Array1<f64>,
    /// Covariance of all rows about their mean, of the wanted kind, without the floor.
    covariance: Array2<f64>,
}

impl Background {
    pub(super) fn new<T: Sample>(
        rows: &Rows<T>,
        kind: CovarianceKind,
        variance_floor: f64,
    ) -> Self {
        let one = match kind {
            CovarianceKind::Tied | CovarianceKind::Full => CovarianceKind::Full,
            CovarianceKind::Diagonal | CovarianceKind::Spherical => CovarianceKind::Diagonal,
        };
        // About the origin for the mean alone, then about the mean.
        let origin = Array2::zeros((1, rows.dimensions()));
        let mut about_origin = Moments::new(rows, 1, CovarianceKind::Tied, false);
        about_origin.sum(rows, origin.view(), &Everything);
        let sums = about_origin.total();
        let mean = &sums.first / sums.counts[0];
        let mut about_mean = Moments::new(rows, 1, one, false);
        about_mean.sum(rows, mean.view(), &Everything);
        let sums = about_mean.total();
        let step = &sums.first.row(0) / sums.counts[0];
        let mut covariance = &sums.second / sums.counts[0];
        match one {
            CovarianceKind::Full => subtract_outer_product(&mut covariance, &step, 1.0),
            _ => covariance.zip_mut_with(&step, |v, s| *v = (*v - s * s).max(0.0)),
        }
        let mean = &about_mean.centres.row(0) + &step;
        Self { kind, variance_floor, mean, covariance }
    }

    /// Variance of a column.
    fn variance(&self, j: usize) -> f64 {
        match self.kind {
            CovarianceKind::Diagonal | CovarianceKind::Spherical => self.covariance[[0, j]],
            CovarianceKind::Tied | CovarianceKind::Full => self.covariance[[j, j]],
        }
    }

    /// Variance of the columns, mean over all.
    pub(super) fn mean_variance(&self) -> f64 {
        let columns = self.mean.len();
        (0..columns).map(|j| self.variance(j)).sum::<f64>() / columns as f64
    }

    /// The mixture that maximises the likelihood for the given moments.
    /// Components without samples keep their centre and get the covariance of all rows.
    pub(super) fn maximise(&self, moments: &Moments) -> Mixture {
        let (statistics, centres) = (moments.total(), &moments.centres);
        let (components, dimensions) = centres.dim();
        let counts = Array1::from(statistics.counts.clone());
        let total = counts.sum();
        let weights = &counts / total;
        let mut steps = statistics.first.clone();
        for (mut step, &count) in steps.outer_iter_mut().zip(&counts) {
            if count > 0.0 {
                step /= count;
            }
        }
        let means = centres + &steps;
        let covariance = match self.kind {
            CovarianceKind::Diagonal => {
                Covariance::Diagonal(self.variances(&statistics.second, &steps, &counts))
            }
            CovarianceKind::Spherical => {
                let variances = self.variances(&statistics.second, &steps, &counts);
                Covariance::Spherical(variances.sum_axis(Axis(1)) / dimensions as f64)
            }
            CovarianceKind::Tied => {
                // Within = total − between; the total never changes.
                let mut within = self.covariance.clone();
                for (mean, &weight) in means.outer_iter().zip(&weights) {
                    let step = &mean - &self.mean;
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
                        subtract_outer_product(&mut own, &steps.row(k).to_owned(), 1.0);
                        own
                    } else {
                        self.covariance.clone()
                    };
                    self.floor(&mut own);
                    matrix.assign(&own);
                }
                Covariance::Full(matrices)
            }
        };
        Mixture { weights, means, covariance }
    }

    fn variances(
        &self,
        second: &Array2<f64>,
        steps: &Array2<f64>,
        counts: &Array1<f64>,
    ) -> Array2<f64> {
        let mut variances = second.clone();
        for ((mut row, step), &count) in
            variances.outer_iter_mut().zip(steps.outer_iter()).zip(counts)
        {
            if count > 0.0 {
                for (v, s) in row.iter_mut().zip(step) {
                    *v = (*v / count - s * s).max(0.0) + self.variance_floor;
                }
            } else {
                row.assign(&(&self.covariance.row(0) + self.variance_floor));
            }
        }
        variances
    }

    fn floor(&self, matrix: &mut Array2<f64>) {
        matrix.diag_mut().mapv_inplace(|v| v + self.variance_floor);
    }

    /// Moves the components in `lost` to the rows with the smallest likelihoods, each with the
    /// covariance of all rows and an equal share of the weight.
    pub(super) fn reseed<T: Sample>(
        &self,
        mixture: &mut Mixture,
        lost: &[usize],
        rows: &Rows<T>,
        likelihoods: &Array1<f64>,
    ) {
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
                    v.row_mut(k).assign(&(&self.covariance.row(0) + self.variance_floor));
                }
                Covariance::Spherical(v) => {
                    v[k] = self.covariance.sum() / rows.dimensions() as f64 + self.variance_floor;
                }
                Covariance::Tied(_) => {}
                Covariance::Full(m) => {
                    let mut own = self.covariance.clone();
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
