//! Weighted moments of rows about one centre per component, for the M-step.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use std::mem::take;
use std::ops::Range;
use std::slice::from_ref;

use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut1, Axis, linalg::general_mat_mul};
use pulp::Simd;
use rayon::prelude::*;

use super::kernel::moments;
use super::portion::{Fill, Portion};
use super::share::{Share, TILE};
use crate::mixture::CovarianceKind;
use crate::mixture::sample::{Rows, Sample};
use crate::progress::pulse;

/// Weighted sums for the M-step. Moments are about one centre per component, which keeps variances
/// free of cancellation.
pub(in crate::mixture) struct Statistics {
    /// Sum of weighted log-likelihoods.
    pub log_likelihood: f64,
    /// Sum of weighted responsibilities of each component.
    pub counts: Vec<f64>,
    /// K × d sums of `r(x − centre)`.
    pub first: Array2<f64>,
    /// Sums of squares: K × d of `r(x − centre)²`; K·d × d of outer products if full; empty if
    /// tied.
    pub second: Array2<f64>,
}

impl Statistics {
    pub(in crate::mixture) fn zeros(
        components: usize,
        dimensions: usize,
        kind: CovarianceKind,
    ) -> Self {
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

/// Number of rows in one task. It depends only on the problem, never on the number of threads, so
/// sums are made in the same order everywhere.
const PORTION: usize = 2 * TILE;
/// Up to this many component-dimensions (32 KiB of sums), each portion has its own sums.
const OWN_SUMS: usize = 2048;
/// Number of portions in that case: each is an eighth of all rows.
const LARGE_PORTIONS: usize = 8;
/// Most rows in such a portion: their shares still fit the second-level cache.
const LARGEST: usize = 2048;
/// Number of dimensions of one component that one task sums.
const BLOCK: usize = 512;
/// With fewer dimensions than this, summing a row costs no more than finding out whether its share
/// has changed.
const WORTH_COMPARING: usize = 128;
/// Number of values that is worth a task of its own.
const TASK: usize = 1 << 14;
/// Number of rows whose moments are summed in the data's own precision before the sums go to f64.
const BATCH: usize = 64;

/// The storage for a component's moments: its centre, exact and in the data's precision, its first
/// moments and its mean.
type Place<'a, T> =
    ((ArrayViewMut1<'a, f64>, &'a mut [T]), (ArrayViewMut1<'a, f64>, ArrayView1<'a, f64>));

/// Sums some dimensions of a component's moments. It is compiled for the instructions found at run
/// time.
struct Sum<'a, T> {
    rows: &'a Rows<'a, T>,
    portions: &'a [Portion<T>],
    component: usize,
    /// Whether to sum all of the component's rows, not only those whose shares have changed.
    anew: bool,
    dimensions: Range<usize>,
    centre: &'a [T],
    first: &'a mut [f64],
    /// Empty if no squares are needed.
    second: &'a mut [f64],
}

impl<T: Sample> pulp::WithSimd for Sum<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<Instructions: Simd>(self, _: Instructions) {
        let mut members = Vec::new();
        for portion in self.portions {
            if self.anew {
                members.extend(portion.members(self.component));
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

/// Sums the moments of a portion's rows into its own sums.
fn sum_portion<T: Sample>(rows: &Rows<T>, centres: &[T], portion: &mut Portion<T>) {
    let (mut first, mut second) = (take(&mut portion.first), take(&mut portion.second));
    first.fill(0.0);
    second.fill(0.0);
    let arch = pulp::Arch::new();
    let dimensions = rows.dimensions();
    let mut seconds = second.chunks_exact_mut(dimensions);
    let sums = first.chunks_exact_mut(dimensions).zip(centres.chunks_exact(dimensions));
    for (component, (first, centre)) in sums.enumerate() {
        arch.dispatch(Sum {
            rows,
            portions: from_ref(portion),
            component,
            anew: true,
            dimensions: 0..dimensions,
            centre,
            first,
            second: seconds.next().unwrap_or_default(),
        });
    }
    (portion.first, portion.second) = (first, second);
}

fn add(totals: &mut [f64], values: &[f64]) {
    for (total, value) in totals.iter_mut().zip(values) {
        *total += value;
    }
}

/// Adds the moments of all portions to the sums, component by component.
fn sum_components<T: Sample>(
    rows: &Rows<T>,
    centres: &[T],
    portions: &[Portion<T>],
    anew: &[bool],
    mut first: &mut [f64],
    mut second: &mut [f64],
) {
    let dimensions = rows.dimensions();
    // Each task is a block of dimensions of one component, with its sums.
    let mut tasks = Vec::new();
    for component in 0..anew.len() {
        for from in (0..dimensions).step_by(BLOCK) {
            let block = from..dimensions.min(from + BLOCK);
            let (own_first, rest) = first.split_at_mut(block.len());
            let (own_second, more) = second.split_at_mut(block.len().min(second.len()));
            (first, second) = (rest, more);
            tasks.push((component, block, own_first, own_second));
        }
    }
    let arch = pulp::Arch::new();
    tasks.into_par_iter().for_each(|(component, block, first, second)| {
        pulse();
        let at = component * dimensions;
        arch.dispatch(Sum {
            rows,
            portions,
            component,
            anew: anew[component],
            centre: &centres[at + block.start..at + block.end],
            dimensions: block,
            first,
            second,
        });
    });
}

/// Moments and their storage, kept from one pass over the rows to the next.
///
/// Rows are shared out portion by portion, then moments are summed component by component, so no
/// two tasks add to the same sum. If responsibilities are nearly one-hot, few shares change from
/// one pass to the next, and only those rows are read. The sums of a component start anew only if
/// it has moved so far from its centre that digits would be lost.
pub(in crate::mixture) struct Moments<T> {
    kind: CovarianceKind,
    /// The centres of the moments, K × d.
    pub centres: Array2<f64>,
    /// The centres in the precision of the data, without any loss; empty before the first pass.
    rounded: Vec<T>,
    portions: Vec<Portion<T>>,
    /// Whether portions have their own sums.
    own_sums: bool,
    statistics: Statistics,
}

impl<T: Sample> Moments<T> {
    /// Storage for these rows. If `bounded`, bounds are kept for each row and component.
    pub(in crate::mixture) fn new(
        rows: &Rows<T>,
        components: usize,
        kind: CovarianceKind,
        bounded: bool,
    ) -> Self {
        let dimensions = rows.dimensions();
        let statistics = Statistics::zeros(components, dimensions, kind);
        let own_sums = dimensions < WORTH_COMPARING
            && components * dimensions <= OWN_SUMS
            && kind != CovarianceKind::Full;
        let large = rows.len().div_ceil(LARGE_PORTIONS).next_multiple_of(TILE);
        let size = if own_sums { large.clamp(PORTION, LARGEST) } else { PORTION };
        let compared = dimensions >= WORTH_COMPARING;
        let new = |from: usize| {
            let range = from..rows.len().min(from + size);
            let mut portion = Portion::new(range, components, bounded, compared);
            if own_sums {
                portion.first = vec![0.0; statistics.first.len()];
                portion.second = vec![0.0; statistics.second.len()];
            }
            portion
        };
        let portions = (0..rows.len()).step_by(size).map(new).collect();
        let centres = Array2::zeros((components, dimensions));
        Self { kind, centres, rounded: Vec::new(), portions, own_sums, statistics }
    }

    /// Sums the moments of all rows, shared out by `share`. The moments are about `means`, or about
    /// older centres that are still close to them.
    pub(in crate::mixture) fn sum(
        &mut self,
        rows: &Rows<T>,
        means: ArrayView2<f64>,
        share: &impl Share<T>,
    ) -> &Statistics {
        let anew = self.centre(means);
        let arch = pulp::Arch::new();
        let rounded = &self.rounded;
        self.portions.par_iter_mut().for_each_init(Vec::new, |room, portion| {
            pulse();
            arch.dispatch(Fill { rows, share, portion, room });
            if !portion.first.is_empty() {
                sum_portion(rows, rounded, portion);
            }
        });
        let statistics = &mut self.statistics;
        statistics.log_likelihood = self.portions.iter().map(|p| p.log_likelihood).sum();
        statistics.counts.fill(0.0);
        for portion in &self.portions {
            add(&mut statistics.counts, &portion.counts);
        }
        let (Some(first), Some(second)) =
            (statistics.first.as_slice_mut(), statistics.second.as_slice_mut())
        else {
            unreachable!("moments are in standard layout");
        };
        if self.own_sums {
            for portion in &self.portions {
                add(first, &portion.first);
                add(second, &portion.second);
            }
        } else {
            let squares = matches!(self.kind, CovarianceKind::Diagonal | CovarianceKind::Spherical);
            let second = if squares { second } else { &mut [] };
            sum_components(rows, rounded, &self.portions, &anew, first, second);
        }
        if self.kind == CovarianceKind::Full {
            self.sum_outer_products(rows);
        }
        &self.statistics
    }

    /// Moves centres that are too far from their means to the means, and sets the sums of these
    /// components to zero. Returns which components it moved.
    fn centre(&mut self, means: ArrayView2<f64>) -> Vec<bool> {
        let (components, dimensions) = means.dim();
        let first_pass = self.rounded.is_empty();
        self.rounded.resize(components * dimensions, T::ZERO);
        let (kind, statistics) = (self.kind, &mut self.statistics);
        let squares = matches!(kind, CovarianceKind::Diagonal | CovarianceKind::Spherical);
        let second = statistics.second.as_slice_mut().filter(|_| squares).unwrap_or_default();
        let mut seconds = second.chunks_exact_mut(dimensions);
        let places: Vec<_> = (self.centres.outer_iter_mut())
            .zip(self.rounded.chunks_exact_mut(dimensions))
            .zip(statistics.first.outer_iter_mut().zip(means.outer_iter()))
            .map(|place| (place, seconds.next().unwrap_or_default()))
            .collect();
        let counts = &statistics.counts;
        let place = |(k, place)| {
            let (((mut centre, rounded), (mut first, mean)), second): (Place<T>, &mut [f64]) =
                place;
            let far = || match kind {
                CovarianceKind::Diagonal | CovarianceKind::Spherical => {
                    // An empty component may have been moved anywhere.
                    let count = f64::max(counts[k], 1.0);
                    // If the step is more than half of the mean square, a digit would be lost.
                    mean.iter().zip(&centre).zip(&*second).any(|((mean, centre), second)| {
                        2.0 * (mean - centre) * (mean - centre) * count > *second
                    })
                }
                CovarianceKind::Tied => false,
                CovarianceKind::Full => true,
            };
            let anew = first_pass || dimensions < WORTH_COMPARING || far();
            if anew {
                for ((centre, rounded), mean) in centre.iter_mut().zip(rounded).zip(mean) {
                    *rounded = T::from_f64(*mean);
                    *centre = (*rounded).into();
                }
                first.fill(0.0);
                second.fill(0.0);
            }
            anew
        };
        let least = TASK.div_ceil(dimensions);
        places.into_par_iter().enumerate().with_min_len(least).map(place).collect()
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
                for &(row, share) in batch {
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
    pub(in crate::mixture) fn total(&self) -> &Statistics {
        &self.statistics
    }
}
