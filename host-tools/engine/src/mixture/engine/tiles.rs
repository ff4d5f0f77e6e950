//! Values for each row and component, tile by tile: densities, responsibilities, distances.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use std::ops::Range;

use ndarray::{Array1, Array2, ArrayRef2};
use pulp::Simd;
use rayon::prelude::*;

use super::expectation::{Evaluator, NotPositiveDefinite, normalise};
use super::share::{Column, Known, Shares, TILE};
use super::squares::{self, all_squares};
use crate::mixture::Mixture;
use crate::mixture::sample::{Rows, Sample};
use crate::progress::pulse;

/// Distance below the best component, in nats, beyond which a responsibility is lost in rounding.
const BEYOND_ROUNDING: f64 = 40.0;

/// Log densities `ln π_k N_k(x)`, n × K.
pub(in crate::mixture) fn log_densities<T: Sample>(
    mixture: &Mixture,
    rows: &Rows<T>,
) -> Result<Array2<f64>, NotPositiveDefinite> {
    let evaluator = Evaluator::new(mixture, None)?;
    Ok(table(rows, mixture.components(), &LogDensities(&evaluator)))
}

/// Responsibilities, n × K. Values that would be lost in the rounding of one are zero.
pub(in crate::mixture) fn responsibilities<T: Sample>(
    mixture: &Mixture,
    rows: &Rows<T>,
) -> Result<Array2<f64>, NotPositiveDefinite> {
    let evaluator = Evaluator::new(mixture, None)?;
    Ok(table(rows, mixture.components(), &Responsibilities(&evaluator)))
}

/// The log-likelihood of each row.
pub(in crate::mixture) fn log_likelihoods<T: Sample>(
    mixture: &Mixture,
    rows: &Rows<T>,
) -> Result<Array1<f64>, NotPositiveDefinite> {
    let evaluator = Evaluator::new(mixture, None)?;
    let arch = pulp::Arch::new();
    let tiles: Vec<Column> = tiles(rows.len())
        .map(|range| {
            let mut shares = Shares::new(mixture.components());
            let (fill, shares) = (&Responsibilities(&evaluator), &mut shares);
            arch.dispatch(Tile { rows, range, fill, shares })
        })
        .collect();
    Ok(tiles.into_iter().flatten().take(rows.len()).collect())
}

/// The squared distance between every row of `x` and every row of `y`.
///
/// It is computed from differences. The expansion into squares and products would lose distances
/// that are small against the rows' norms, and these matter most for transport.
pub(crate) fn squared_distances(x: &ArrayRef2<f64>, y: &ArrayRef2<f64>) -> Array2<f64> {
    if x.is_empty() || y.is_empty() {
        return Array2::zeros((x.nrows(), y.nrows()));
    }
    let x = x.as_standard_layout();
    let Some(rows) = Rows::new(x.view(), None) else {
        unreachable!("the matrix was just put in standard layout");
    };
    let y = y.as_standard_layout();
    let Some(places) = y.as_slice() else {
        unreachable!("the matrix was just put in standard layout");
    };
    let minus_one = vec![-1.0; y.ncols()];
    table(&rows, y.nrows(), &Distances { places, minus_one })
}

/// The row range of each tile.
fn tiles(rows: usize) -> impl IndexedParallelIterator<Item = Range<usize>> {
    (0..rows.div_ceil(TILE))
        .into_par_iter()
        .inspect(|_| pulse())
        .map(move |tile| tile * TILE..rows.min((tile + 1) * TILE))
}

/// A value for each row and component, n × K; zero for absent components.
fn table<T: Sample>(rows: &Rows<T>, components: usize, fill: &impl Fill<T>) -> Array2<f64> {
    let mut out = Array2::zeros((rows.len(), components));
    let arch = pulp::Arch::new();
    if let Some(out) = out.as_slice_mut() {
        let tiles = tiles(rows.len()).zip(out.par_chunks_mut((TILE * components).max(1)));
        tiles.for_each(|(range, out)| {
            let mut shares = Shares::new(components);
            arch.dispatch(Tile { rows, range, fill, shares: &mut shares });
            for (r, out) in out.chunks_exact_mut(components).enumerate() {
                for &k in &shares.present {
                    out[k] = shares.columns[k][r];
                }
            }
        });
    }
    out
}

/// A computation on one tile.
trait Fill<T>: Sync {
    /// Fills the columns of components. Returns the rows' log-likelihoods if it computes them.
    fn fill<S: Simd>(
        &self,
        simd: S,
        rows: &Rows<T>,
        range: Range<usize>,
        out: &mut Shares,
    ) -> Column;
}

struct LogDensities<'a, T>(&'a Evaluator<T>);

impl<T: Sample> Fill<T> for LogDensities<'_, T> {
    #[inline(always)]
    fn fill<S: Simd>(
        &self,
        simd: S,
        rows: &Rows<T>,
        range: Range<usize>,
        out: &mut Shares,
    ) -> Column {
        self.0.densities(simd, rows, range, f64::INFINITY, Known::default(), out);
        [0.0; TILE]
    }
}

struct Responsibilities<'a, T>(&'a Evaluator<T>);

impl<T: Sample> Fill<T> for Responsibilities<'_, T> {
    #[inline(always)]
    fn fill<S: Simd>(
        &self,
        simd: S,
        rows: &Rows<T>,
        range: Range<usize>,
        out: &mut Shares,
    ) -> Column {
        self.0.densities(simd, rows, range, BEYOND_ROUNDING, Known::default(), out);
        normalise(out, BEYOND_ROUNDING)
    }
}

/// Computes `(x·(−1) + y)²`, so that places serve as shifts without a copy.
struct Distances<'a> {
    places: &'a [f64],
    minus_one: Vec<f64>,
}

impl Fill<f64> for Distances<'_> {
    #[inline(always)]
    fn fill<S: Simd>(
        &self,
        simd: S,
        rows: &Rows<f64>,
        range: Range<usize>,
        out: &mut Shares,
    ) -> Column {
        let dimensions = self.minus_one.len();
        let place = |k: usize| &self.places[k * dimensions..(k + 1) * dimensions];
        let tile = squares::Tile { rows, range };
        all_squares(simd, &tile, |k| (&self.minus_one[..], place(k)), out.all());
        [0.0; TILE]
    }
}

/// One tile, compiled for the instructions found at run time.
struct Tile<'a, T, F> {
    rows: &'a Rows<'a, T>,
    range: Range<usize>,
    fill: &'a F,
    shares: &'a mut Shares,
}

impl<T: Sample, F: Fill<T>> pulp::WithSimd for Tile<'_, T, F> {
    type Output = Column;

    #[inline(always)]
    fn with_simd<Instructions: Simd>(self, simd: Instructions) -> Column {
        self.fill.fill(simd, self.rows, self.range, self.shares)
    }
}
