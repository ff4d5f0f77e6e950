//! Weighted moments of rows about a centre per component: what an M-step needs.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use std::ops::Range;

use ndarray::{Array2, ArrayView2, linalg::general_mat_mul, s};
use rayon::prelude::*;

use super::CovarianceKind;
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
    fn share(
        &self,
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
    fn share(
        &self,
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

    fn clear(&mut self) {
        self.log_likelihood = 0.0;
        self.counts.fill(0.0);
        self.first.fill(0.0);
        self.second.fill(0.0);
    }

    fn merge(&mut self, other: &Self) {
        self.log_likelihood += other.log_likelihood;
        for (a, b) in self.counts.iter_mut().zip(&other.counts) {
            *a += b;
        }
        self.first += &other.first;
        self.second += &other.second;
    }

    /// Adds weighted rows to component `k`.
    #[inline(always)]
    fn add<T: Sample>(&mut self, k: usize, rows: &[(&[T], T)], centre: &[T], kind: CovarianceKind) {
        let dimensions = centre.len();
        let (Some(first), Some(second)) = (self.first.as_slice_mut(), self.second.as_slice_mut())
        else {
            unreachable!("moments are in standard layout");
        };
        let at = k * dimensions..(k + 1) * dimensions;
        let second = match kind {
            CovarianceKind::Diagonal | CovarianceKind::Spherical => &mut second[at.clone()],
            CovarianceKind::Tied | CovarianceKind::Full => &mut [],
        };
        T::moments(rows, centre, &mut first[at], second);
        if kind == CovarianceKind::Full {
            self.add_outer_products(k, rows, centre);
        }
    }

    #[inline(never)]
    fn add_outer_products<T: Sample>(&mut self, k: usize, rows: &[(&[T], T)], centre: &[T]) {
        let dimensions = centre.len();
        let mut scaled = Vec::with_capacity(rows.len() * dimensions);
        for &(x, weight) in rows {
            let root = weight.into().sqrt();
            scaled.extend(x.iter().zip(centre).map(|(&x, &c)| root * (x.into() - c.into())));
        }
        if let Ok(scaled) = ArrayView2::from_shape((rows.len(), dimensions), &scaled) {
            let mut block = self.second.slice_mut(s![k * dimensions..(k + 1) * dimensions, ..]);
            general_mat_mul(1.0, &scaled.t(), &scaled, 1.0, &mut block);
        }
    }
}

/// Rows that one task takes at a time. It depends on the problem alone, never on the number of
/// threads, so that sums are made in the same order everywhere; and it is large enough that
/// the moments of all tasks together stay small beside the data.
fn chunk_rows(rows: usize, components: usize, kind: CovarianceKind) -> usize {
    let tasks = if kind == CovarianceKind::Full { 4 } else { 16 };
    rows.div_ceil(tasks).max(16 * components).max(256)
}

/// One task's rows and the sums over them, compiled for the instructions found at run time.
struct Chunk<'a, T, S> {
    rows: &'a Rows<'a, T>,
    range: Range<usize>,
    centres: &'a [T],
    kind: CovarianceKind,
    share: &'a S,
    part: &'a mut Part,
}

/// A task's sums, and what it remembers of its rows.
struct Part {
    statistics: Statistics,
    /// For each tile and component, or empty.
    bounds: Vec<Bounds>,
}

impl<T: Sample, S: Share<T>> pulp::WithSimd for Chunk<'_, T, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<Instructions: pulp::Simd>(self, _: Instructions) {
        let dimensions = self.rows.dimensions();
        let components = self.centres.len() / dimensions;
        let Part { statistics, bounds } = self.part;
        statistics.clear();
        let mut bounds = bounds.chunks_exact_mut(components);
        let mut shares = vec![[0.0; TILE]; components];
        let mut members = Vec::with_capacity(TILE);
        for from in self.range.clone().step_by(TILE) {
            let range = from..self.range.end.min(from + TILE);
            let bounds = bounds.next().unwrap_or_default();
            let likelihoods = self.share.share(self.rows, range.clone(), bounds, &mut shares);
            let mut weights = [0.0; TILE];
            for ((i, weight), likelihood) in range.clone().zip(&mut weights).zip(&likelihoods) {
                *weight = self.rows.weight(i);
                statistics.log_likelihood += *weight * likelihood;
            }
            let centres = self.centres.chunks_exact(dimensions);
            for (k, (shares, centre)) in shares.iter().zip(centres).enumerate() {
                if shares.iter().copied().fold(0.0, f64::max) <= 0.0 {
                    continue;
                }
                members.clear();
                let mut count = 0.0;
                for ((i, share), weight) in range.clone().zip(shares).zip(&weights) {
                    let share = share * weight;
                    if share > 0.0 {
                        count += share;
                        members.push((self.rows.row(i), T::from_f64(share)));
                    }
                }
                if !members.is_empty() {
                    statistics.counts[k] += count;
                    statistics.add(k, &members, centre, self.kind);
                }
            }
        }
    }
}

/// Moments and the places they are summed in, kept from one pass over the rows to the next.
pub(super) struct Moments {
    kind: CovarianceKind,
    /// Rows of each task.
    size: usize,
    /// The centres of the last pass, K × d: rounded to the precision of the data.
    pub centres: Array2<f64>,
    /// The sums of each task; the first holds those of all after a pass.
    parts: Vec<Part>,
}

impl Moments {
    /// `bounded`: bounds are kept for each row and component.
    pub(super) fn new<T: Sample>(
        rows: &Rows<T>,
        components: usize,
        kind: CovarianceKind,
        bounded: bool,
    ) -> Self {
        let (n, d) = (rows.len(), rows.dimensions());
        let size = chunk_rows(n, components, kind);
        let bounds = if bounded { size.div_ceil(TILE) * components } else { 0 };
        let part = |_| Part {
            statistics: Statistics::zeros(components, d, kind),
            bounds: vec![[0.0; TILE]; bounds],
        };
        Self {
            kind,
            size,
            centres: Array2::zeros((components, d)),
            parts: (0..n.div_ceil(size)).map(part).collect(),
        }
    }

    /// Sums the moments of all rows about `centres`, the rows shared out by `share`.
    pub(super) fn sum<T: Sample>(
        &mut self,
        rows: &Rows<T>,
        centres: ArrayView2<f64>,
        share: &impl Share<T>,
    ) {
        let (kind, size) = (self.kind, self.size);
        let rounded: Vec<T> = centres.iter().map(|&c| T::from_f64(c)).collect();
        for (centre, &rounded) in self.centres.iter_mut().zip(&rounded) {
            *centre = rounded.into();
        }
        let arch = pulp::Arch::new();
        self.parts.par_iter_mut().enumerate().for_each(|(i, part)| {
            let range = i * size..rows.len().min((i + 1) * size);
            arch.dispatch(Chunk { rows, range, centres: &rounded, kind, share, part });
        });
        if let Some((sum, others)) = self.parts.split_first_mut() {
            for part in others {
                sum.statistics.merge(&part.statistics);
            }
        }
    }

    /// The sums of the last pass.
    pub(super) fn total(&self) -> &Statistics {
        &self.parts[0].statistics
    }
}
