//! Weighted moments of rows about a centre per component: what an M-step needs.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use std::ops::Range;

use ndarray::{Array2, ArrayView1, ArrayView2, Axis, linalg::general_mat_mul};
use pulp::Simd;
use rayon::prelude::*;

use super::CovarianceKind;
use super::kernel::moments;
use super::portion::{Fill, PORTION, Portion};
use super::sample::{Rows, Sample};

/// Rows that are worked on together.
pub(super) const TILE: usize = 64;

/// One value for each row of a tile.
pub(super) type Column = [f64; TILE];

/// What is known of each row of a tile from earlier passes: a lower bound on its distance to
/// a component.
pub(super) type Bounds = [f32; TILE];

/// How rows are shared out among components.
pub(super) trait Share<T>: Sync {
    /// Fills the shares of the rows in `range`, a column for each component, and returns the
    /// log-likelihoods of the rows. A column's values beyond the range mean nothing. `bounds`
    /// are those of the last pass, one for each component, or none.
    fn share<S: Simd>(
        &self,
        simd: S,
        rows: &Rows<T>,
        range: Range<usize>,
        bounds: &mut [Bounds],
        shares: &mut [Column],
    ) -> Column;
}

/// All rows to one component.
pub(super) struct Everything;

impl<T: Sample> Share<T> for Everything {
    #[inline(always)]
    fn share<S: Simd>(
        &self,
        _: S,
        _: &Rows<T>,
        _: Range<usize>,
        _: &mut [Bounds],
        shares: &mut [Column],
    ) -> Column {
        shares.fill([1.0; TILE]);
        [0.0; TILE]
    }
}

/// Weighted sums that an M-step needs; moments are about a centre per component, which keeps
/// variances free of cancellation.
pub(super) struct Statistics {
    /// Sum of weighted log-likelihoods.
    pub log_likelihood: f64,
    /// Sum of weighted responsibilities of each component.
    pub counts: Vec<f64>,
    /// K × d sums of `r(x − centre)`.
    pub first: Array2<f64>,
    /// Sums of squares: K × d of `r(x − centre)²`; K·d × d of outer products when full; empty when tied.
    pub second: Array2<f64>,
}

impl Statistics {
    pub(super) fn zeros(components: usize, dimensions: usize, kind: CovarianceKind) -> Self {
        let second = match kind {
            CovarianceKind::Diagonal | CovarianceKind::Spherical => (components, dimensions),
            CovarianceKind::Tied => (0, 0),
            CovarianceKind::Full => (components * dimensions, dimensions),
        };
        Self {
            log_likelihood: 0.0,
            counts: vec![0.0; components],
            first: Array2::zeros((components, dimensions)),
            second: Array2::zeros(second),
        }
    }
}

/// Dimensions that one task sums, of one component.
const BLOCK: usize = 512;
/// With fewer dimensions than this, summing a row is no dearer than finding out whether its
/// share has changed.
const WORTH_COMPARING: usize = 128;
/// Rows whose moments are summed in the data's own precision before the sums go to f64.
const BATCH: usize = 64;

/// Sums some dimensions of a component's moments, compiled for the instructions found at run
/// time.
struct Sum<'a, T> {
    rows: &'a Rows<'a, T>,
    portions: &'a [Portion<T>],
    component: usize,
    /// All of the component's rows, not only those whose shares have changed.
    anew: bool,
    dimensions: Range<usize>,
    centre: &'a [T],
    first: &'a mut [f64],
    /// Empty where no squares are wanted.
    second: &'a mut [f64],
}

impl<T: Sample> pulp::WithSimd for Sum<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<Instructions: Simd>(self, _: Instructions) {
        let mut members = Vec::new();
        for portion in self.portions {
            if self.anew {
                members.extend_from_slice(portion.members(self.component));
            } else {
                portion.changes(self.component, &mut members);
            }
        }
        let mut batch: Vec<(&[T], T)> = Vec::with_capacity(BATCH);
        for members in members.chunks(BATCH) {
            batch.clear();
            for &(row, share) in members {
                batch.push((&self.rows.row(row)[self.dimensions.clone()], share));
            }
            moments(&batch, self.centre, self.first, self.second);
        }
    }
}

/// Moments and the places they are summed in, kept from one pass over the rows to the next.
///
/// Rows are shared out portion by portion, then moments are summed component by component: no
/// two tasks add to the same sum. Where responsibilities are nearly one-hot, few shares change
/// from one pass to the next, and only those rows are looked at; sums are made anew only when a
/// component has moved so far from its centre that digits would be lost.
pub(super) struct Moments<T> {
    kind: CovarianceKind,
    /// What moments are about, K × d.
    pub centres: Array2<f64>,
    /// The same in the precision of the data, without any loss; empty before the first pass.
    rounded: Vec<T>,
    portions: Vec<Portion<T>>,
    statistics: Statistics,
}

impl<T: Sample> Moments<T> {
    /// `bounded`: bounds are kept for each row and component.
    pub(super) fn new(
        rows: &Rows<T>,
        components: usize,
        kind: CovarianceKind,
        bounded: bool,
    ) -> Self {
        let dimensions = rows.dimensions();
        let portions = rows.len().div_ceil(PORTION);
        Self {
            kind,
            centres: Array2::zeros((components, dimensions)),
            rounded: Vec::new(),
            portions: (0..portions).map(|_| Portion::new(components, bounded)).collect(),
            statistics: Statistics::zeros(components, dimensions, kind),
        }
    }

    /// Sums the moments of all rows, shared out by `share`, about `means` or what has stayed
    /// close to them.
    pub(super) fn sum(
        &mut self,
        rows: &Rows<T>,
        means: ArrayView2<f64>,
        share: &impl Share<T>,
    ) -> &Statistics {
        let arch = pulp::Arch::new();
        self.portions.par_iter_mut().enumerate().for_each(|(i, portion)| {
            let range = i * PORTION..rows.len().min((i + 1) * PORTION);
            arch.dispatch(Fill { rows, range, share, portion });
        });
        let anew: Vec<bool> = (0..means.nrows()).map(|k| self.centre(k, means.row(k))).collect();
        let (portions, rounded) = (&self.portions, &self.rounded);
        let statistics = &mut self.statistics;
        statistics.log_likelihood = portions.iter().map(|portion| portion.log_likelihood).sum();
        statistics.counts.fill(0.0);
        for portion in portions {
            for (count, own) in statistics.counts.iter_mut().zip(&portion.counts) {
                *count += own;
            }
        }
        let dimensions = rows.dimensions();
        let squares = matches!(self.kind, CovarianceKind::Diagonal | CovarianceKind::Spherical);
        let (Some(first), Some(second)) =
            (statistics.first.as_slice_mut(), statistics.second.as_slice_mut())
        else {
            unreachable!("moments are in standard layout");
        };
        // A block of dimensions of one component each, with its sums.
        let blocks = (0..statistics.counts.len()).flat_map(|component| {
            (0..dimensions).step_by(BLOCK).map(move |from| (component, from))
        });
        let mut tasks = Vec::new();
        let (mut first, mut second) = (first, if squares { second } else { &mut [] });
        for (component, from) in blocks {
            let dimensions = from..dimensions.min(from + BLOCK);
            let (own_first, rest) = first.split_at_mut(dimensions.len());
            let (own_second, more) = second.split_at_mut(dimensions.len().min(second.len()));
            (first, second) = (rest, more);
            tasks.push((component, dimensions, own_first, own_second));
        }
        tasks.into_par_iter().for_each(|(component, block, first, second)| {
            let at = component * dimensions;
            let centre = &rounded[at + block.start..at + block.end];
            arch.dispatch(Sum {
                rows,
                portions,
                component,
                anew: anew[component],
                dimensions: block,
                centre,
                first,
                second,
            });
        });
        if self.kind == CovarianceKind::Full {
            self.sum_outer_products(rows);
        }
        &self.statistics
    }

    /// Puts the centre of component `k` at its mean and its sums at zero, if it was too far
    /// away; whether it was.
    fn centre(&mut self, k: usize, mean: ArrayView1<f64>) -> bool {
        let dimensions = mean.len();
        let first_pass = self.rounded.len() <= k * dimensions;
        let far = || match self.kind {
            CovarianceKind::Diagonal | CovarianceKind::Spherical => {
                // An empty component may have been put anywhere.
                let count = self.statistics.counts[k].max(1.0);
                let places = mean.iter().zip(self.centres.row(k));
                // More than half of the mean square is the step: a digit would be lost.
                places.zip(self.statistics.second.row(k)).any(|((mean, centre), second)| {
                    2.0 * (mean - centre) * (mean - centre) * count > *second
                })
            }
            CovarianceKind::Tied => false,
            CovarianceKind::Full => true,
        };
        if !first_pass && dimensions >= WORTH_COMPARING && !far() {
            return false;
        }
        self.rounded.resize(self.rounded.len().max((k + 1) * dimensions), T::ZERO);
        let centre = &mut self.rounded[k * dimensions..(k + 1) * dimensions];
        for ((centre, rounded), mean) in self.centres.row_mut(k).iter_mut().zip(centre).zip(mean) {
            *rounded = T::from_f64(*mean);
            *centre = (*rounded).into();
        }
        self.statistics.first.row_mut(k).fill(0.0);
        if self.kind != CovarianceKind::Full && !self.statistics.second.is_empty() {
            self.statistics.second.row_mut(k).fill(0.0);
        }
        true
    }

    fn sum_outer_products(&mut self, rows: &Rows<T>) {
        let dimensions = rows.dimensions();
        let (portions, centres) = (&self.portions, &self.rounded);
        self.statistics.second.fill(0.0);
        let blocks = self.statistics.second.axis_chunks_iter_mut(Axis(0), dimensions);
        let blocks: Vec<_> = blocks.zip(centres.chunks_exact(dimensions)).enumerate().collect();
        blocks.into_par_iter().for_each(|(k, (mut block, centre))| {
            let mut scaled = Vec::with_capacity(BATCH * dimensions);
            let members: Vec<_> = portions.iter().flat_map(|portion| portion.members(k)).collect();
            for batch in members.chunks(BATCH) {
                scaled.clear();
                for &&(row, share) in batch {
                    let root = share.into().sqrt();
                    let row = rows.row(row).iter().zip(centre);
                    scaled.extend(row.map(|(&x, &c)| root * (x.into() - c.into())));
                }
                if let Ok(scaled) = ArrayView2::from_shape((batch.len(), dimensions), &scaled) {
                    general_mat_mul(1.0, &scaled.t(), &scaled, 1.0, &mut block);
                }
            }
        });
    }

    /// The sums of the last pass.
    pub(super) fn total(&self) -> &Statistics {
        &self.statistics
    }
}
