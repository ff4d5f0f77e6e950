//! Windows of both machines in the plane, with the components of their mixtures.

use std::f64::consts::TAU;

use anyhow::{Context, Result};
use nalgebra::{DMatrix, SymmetricEigen};
use ndarray::{Array1, Array2, ArrayRef1, Axis};
use plotters::prelude::*;
use rebearing_host::mixture::{Covariance, LabelledMixture};

use super::canvas::{Area, FONT, GREY, TITLE, colour, key, svg};
use super::story::{Story, likeliest};

/// Every n-th window is drawn.
const EVERY: usize = 7;

/// How a panel shows a window: its place, the colour of its label, and whether the label is wrong.
struct Window {
    at: (f64, f64),
    colour: RGBColor,
    wrong: bool,
}

pub(super) fn draw(story: &Story) -> Result<String> {
    let Story { known, new, source, adaptation } = story;
    let plane = Plane::of(&source.mixture)?;
    let carried = adaptation.mixture.as_ref().context("no mixture was carried over")?;
    let [x_known, x_new] = [known, new].map(|machine| source.standardise(&machine.features.x));
    let posterior = |mixture: &LabelledMixture, x: &Array2<f32>| -> Result<Array2<f64>> {
        Ok(mixture.mixture.responsibilities(x.view())?.dot(&mixture.labels))
    };
    let before = likeliest(&posterior(&source.mixture, &x_new)?);
    let after = likeliest(&posterior(carried, &x_new)?);
    let windows = |x: &Array2<f32>, called: Option<&[usize]>, truth: &[usize]| -> Vec<Window> {
        let rows = (0..x.nrows()).step_by(EVERY);
        let window = |row: usize| Window {
            at: plane.place(&x.row(row).mapv(f64::from)),
            colour: called.map_or(GREY, |called| colour(called[row])),
            wrong: called.is_some_and(|called| called[row] != truth[row]),
        };
        rows.map(window).collect()
    };
    let wrong = |called: &[usize]| {
        let wrong = called.iter().zip(&new.truth).filter(|(called, truth)| called != truth).count();
        100.0 * wrong as f64 / called.len() as f64
    };
    let panels = [
        (
            "motor-a: windows and components by label".to_owned(),
            windows(&x_known, Some(&known.truth), &known.truth),
            Some((&source.mixture, true)),
        ),
        (
            "motor-b: windows and components, no labels".to_owned(),
            windows(&x_new, None, &new.truth),
            Some((carried, false)),
        ),
        (
            format!("motor-b as motor-a's model calls it: {:.1} % wrong (×)", wrong(&before)),
            windows(&x_new, Some(&before), &new.truth),
            Some((&source.mixture, true)),
        ),
        (
            format!("motor-b with labels along the plan: {:.1} % wrong (×)", wrong(&after)),
            windows(&x_new, Some(&after), &new.truth),
            Some((carried, true)),
        ),
    ];
    let everything: Vec<(f64, f64)> =
        panels.iter().flat_map(|(_, windows, _)| windows.iter().map(|window| window.at)).collect();
    let range = |of: fn(&(f64, f64)) -> f64| {
        let values = everything.iter().map(of);
        values.clone().fold(f64::INFINITY, f64::min) - 1.0
            ..values.fold(f64::NEG_INFINITY, f64::max) + 1.0
    };
    let (x_range, y_range) = (range(|at| at.0), range(|at| at.1));

    svg(860, |area| {
        let (top, rest) = area.split_vertically(30);
        let names = source.classes.iter().enumerate();
        let names: Vec<_> = names.map(|(class, name)| (name.clone(), colour(class))).collect();
        key(&top, (20, 15), &names)?;
        for (panel, (title, windows, mixture)) in rest.split_evenly((2, 2)).iter().zip(&panels) {
            let ranges = (x_range.clone(), y_range.clone());
            plane.panel(panel, title, ranges, windows, *mixture)?;
        }
        Ok(())
    })
}

/// The plane in which the class means of the source are farthest apart.
struct Plane {
    axes: [Array1<f64>; 2],
}

impl Plane {
    fn of(source: &LabelledMixture) -> Result<Self> {
        let weights = |class: usize| &source.mixture.weights * &source.labels.column(class);
        let means: Vec<Array1<f64>> = (0..source.labels.ncols())
            .map(|class| source.mixture.means.t().dot(&weights(class)) / weights(class).sum())
            .collect();
        let dims = source.mixture.means.ncols();
        let rows: Vec<f64> = means.iter().flatten().copied().collect();
        let means = Array2::from_shape_vec((means.len(), dims), rows)?;
        let centred = &means - &means.mean_axis(Axis(0)).context("no class")?;
        let scatter = centred.t().dot(&centred);
        let eigen = SymmetricEigen::new(DMatrix::from_fn(dims, dims, |i, j| scatter[[i, j]]));
        let mut order: Vec<usize> = (0..dims).collect();
        order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]));
        let axis = |rank: usize| {
            let axis = Array1::from_iter(eigen.eigenvectors.column(order[rank]).iter().copied());
            // An eigenvector has no sign, so its largest entry is made positive.
            let largest =
                axis.iter().fold(0.0_f64, |most, x| if x.abs() > most.abs() { *x } else { most });
            axis * largest.signum()
        };
        Ok(Self { axes: [axis(0), axis(1)] })
    }

    fn place(&self, x: &ArrayRef1<f64>) -> (f64, f64) {
        (self.axes[0].dot(x), self.axes[1].dot(x))
    }

    /// Returns the curve two standard deviations around a component.
    fn ellipse(&self, mixture: &LabelledMixture, component: usize) -> Result<Vec<(f64, f64)>> {
        let Covariance::Diagonal(variances) = &mixture.mixture.covariance else {
            anyhow::bail!("the mixture is not diagonal");
        };
        let variance = variances.row(component);
        let entry = |i: usize, j: usize| (&self.axes[i] * &self.axes[j] * variance).sum();
        // The Cholesky factor of the 2 × 2 covariance maps a circle to the ellipse.
        let (xx, xy, yy): (f64, f64, f64) = (entry(0, 0), entry(0, 1), entry(1, 1));
        let (a, b) = (xx.sqrt(), xy / xx.sqrt());
        let c = (yy - b * b).max(0.0).sqrt();
        let centre = self.place(&mixture.mixture.means.row(component));
        Ok((0..=48)
            .map(|step| {
                let (sin, cos) = (TAU * f64::from(step) / 48.0).sin_cos();
                (centre.0 + 2.0 * a * cos, centre.1 + 2.0 * (b * cos + c * sin))
            })
            .collect())
    }

    fn panel(
        &self,
        area: &Area<'_>,
        title: &str,
        (x, y): (std::ops::Range<f64>, std::ops::Range<f64>),
        windows: &[Window],
        mixture: Option<(&LabelledMixture, bool)>,
    ) -> Result<()> {
        let mut chart =
            ChartBuilder::on(area).caption(title, TITLE).margin(8).build_cartesian_2d(x, y)?;
        chart.configure_mesh().disable_mesh().disable_axes().label_style(FONT).draw()?;
        let dot = |window: &Window| Circle::new(window.at, 2, window.colour.mix(0.6).filled());
        chart.draw_series(windows.iter().filter(|window| !window.wrong).map(dot))?;
        let cross = |window: &Window| Cross::new(window.at, 3, window.colour.stroke_width(1));
        chart.draw_series(windows.iter().filter(|window| window.wrong).map(cross))?;
        if let Some((mixture, labelled)) = mixture {
            let classes = likeliest(&mixture.labels);
            for (component, class) in classes.iter().enumerate() {
                let line = if labelled { colour(*class) } else { BLACK };
                let curve = self.ellipse(mixture, component)?;
                chart.draw_series(LineSeries::new(curve, line.stroke_width(2)))?;
            }
        }
        Ok(())
    }
}
