//! The plane in which features are shown.
//!
//! It comes from a weighted principal component analysis of the source's component means, in the
//! source's standardised features. It is the plane in which these components differ most. The
//! target has no part in it, so the picture of the target is not an artefact of the fit.

use nalgebra::{DMatrix, SymmetricEigen};
use ndarray::{Array1, Array2, Axis};

use super::components::Drawn;
use crate::source::Source;

/// Number of points in an ellipse.
const POINTS: usize = 48;
/// Distance between an ellipse and its mean, in standard deviations.
pub(super) const SIGMAS: f64 = 2.0;

/// A plane in standardised features.
#[derive(Debug, Clone)]
pub(super) struct Plane {
    shift: Array1<f64>,
    scale: Array1<f64>,
    centre: Array1<f64>,
    /// Two rows of length one, at right angles.
    axes: Array2<f64>,
    /// Share of the spread of the source's component means that lies in the plane.
    pub(super) share: f64,
}

impl Plane {
    /// Returns the plane of a source.
    pub(super) fn of(source: &Source) -> Self {
        let mixture = &source.mixture.mixture;
        let centre = mixture.means.t().dot(&mixture.weights);
        let mut spread = &mixture.means - &centre;
        for (mut row, weight) in spread.rows_mut().into_iter().zip(&mixture.weights) {
            row *= weight.sqrt();
        }
        // There are far fewer components than features, so this takes their Gram matrix, which has
        // the same axes.
        let gram = spread.dot(&spread.t());
        let gram = DMatrix::from_fn(gram.nrows(), gram.ncols(), |i, j| gram[[i, j]]);
        let eigen = SymmetricEigen::new(gram);
        let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
        order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]));
        let total: f64 = eigen.eigenvalues.iter().map(|value| value.max(0.0)).sum();
        let mut axes = Array2::zeros((2, centre.len()));
        let mut shown = 0.0;
        for (row, index) in order.into_iter().take(2).enumerate() {
            let value = eigen.eigenvalues[index].max(0.0);
            // Two components differ in only one direction; the rest is rounding.
            if value <= 1e-9 * total {
                continue;
            }
            shown += value;
            let weights: Array1<f64> = eigen.eigenvectors.column(index).iter().copied().collect();
            axes.row_mut(row).assign(&signed(spread.t().dot(&weights)));
        }
        for row in 0..2 {
            complete(&mut axes, row);
        }
        let wide = |values: &[f32]| values.iter().map(|x| f64::from(*x)).collect();
        let share = if total > 0.0 { shown / total } else { 0.0 };
        Self { shift: wide(&source.shift), scale: wide(&source.scale), centre, axes, share }
    }

    /// Returns the point in the plane of features that are not standardised.
    pub(super) fn point(&self, x: &Array1<f64>) -> (f64, f64) {
        let z = (x - &self.shift) * &self.scale - &self.centre;
        let at = self.axes.dot(&z);
        (at[0], at[1])
    }

    /// Returns the outline of a component.
    pub(super) fn ellipse(&self, component: &Drawn) -> Vec<(f64, f64)> {
        let variances = &component.variances * &self.scale.mapv(|scale| scale * scale);
        let moment = |i: usize, j: usize| (&self.axes.row(i) * &self.axes.row(j)).dot(&variances);
        let (xx, xy, yy) = (moment(0, 0), moment(0, 1), moment(1, 1));
        // Cholesky's factor turns a circle into the ellipse.
        let a = xx.max(0.0).sqrt();
        let b = if a > 0.0 { xy / a } else { 0.0 };
        let c = (yy - b * b).max(0.0).sqrt();
        let centre = self.point(&component.mean);
        (0..=POINTS)
            .map(|i| {
                let angle = std::f64::consts::TAU * i as f64 / POINTS as f64;
                let (x, y) = (SIGMAS * libm::cos(angle), SIGMAS * libm::sin(angle));
                (centre.0 + a * x, centre.1 + b * x + c * y)
            })
            .collect()
    }
}

/// Scales an axis to length one and makes its largest number positive, so that the picture does not
/// depend on a sign.
fn signed(axis: Array1<f64>) -> Array1<f64> {
    let largest = axis.iter().fold(0.0_f64, |most, x| if x.abs() > most.abs() { *x } else { most });
    let length =
        axis.dot(&axis).sqrt().max(f64::MIN_POSITIVE) * if largest < 0.0 { -1.0 } else { 1.0 };
    axis / length
}

/// If the components do not give this axis, fills it with the feature that has the smallest part in
/// the axes so far.
fn complete(axes: &mut Array2<f64>, row: usize) {
    if axes.row(row).dot(&axes.row(row)) > 0.5 {
        return;
    }
    let seen = axes.map_axis(Axis(0), |column| column.dot(&column));
    let Some(feature) = (0..seen.len()).min_by(|a, b| seen[*a].total_cmp(&seen[*b])) else {
        return;
    };
    let mut axis = Array1::zeros(axes.ncols());
    axis[feature] = 1.0;
    let other = axes.row(1 - row).to_owned();
    let along = other.dot(&axis);
    axis.scaled_add(-along, &other);
    axes.row_mut(row).assign(&signed(axis));
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::adapt::reference::Reference;
    use crate::adapt::reference::tests::source;
    use crate::report::components::of_source;

    #[test]
    fn the_plane_holds_the_spread_of_the_components() {
        let source = source();
        let plane = Plane::of(&source);
        assert!((plane.share - 1.0).abs() < 1e-9, "two features, two axes: {}", plane.share);
        let dots = plane.axes.dot(&plane.axes.t());
        assert!((&dots - &Array2::<f64>::eye(2)).iter().all(|x| x.abs() < 1e-9), "{dots}");
        // Distances between means are kept.
        let drawn = of_source(&Reference::new(&source).unwrap());
        let at: Vec<(f64, f64)> = drawn.iter().map(|d| plane.point(&d.mean)).collect();
        let means = &source.mixture.mixture.means;
        let apart = &means.row(0) - &means.row(1);
        let shown = (at[0].0 - at[1].0).hypot(at[0].1 - at[1].1);
        assert!((shown - apart.dot(&apart).sqrt()).abs() < 1e-6, "{shown}");
        // Every point of an ellipse is two standard deviations away, whatever the direction.
        let variances = array![1.0, 1.0] / plane.scale.mapv(|scale| scale * scale);
        let round = Drawn { variances, ..drawn[0].clone() };
        for (x, y) in plane.ellipse(&round) {
            let radius = (x - at[0].0).hypot(y - at[0].1);
            assert!((radius - SIGMAS).abs() < 1e-9, "{radius}");
        }
    }

    #[test]
    fn two_components_leave_an_axis_to_be_filled() {
        let mut axes = array![[0.6, 0.8, 0.0], [0.0, 0.0, 0.0]];
        complete(&mut axes, 1);
        assert_eq!(axes.row(1), array![0.0, 0.0, 1.0]);
    }
}
