//! Feature values as they lie in memory, and the sums over them that EM spends its time in.
//!
//! Sums run over a fixed number of lanes with fused multiply-add, whatever the vector
//! instructions of the machine, so that the same data give the same bits everywhere.
//! Callers wrap whole passes in [`pulp::Arch::dispatch`], which is why everything here is
//! inlined: only then is it compiled with the instructions found at run time.
#![allow(
    clippy::inline_always,
    reason = "a kernel that is not inlined into the dispatched closure is compiled for the baseline processor"
)]

use ndarray::ArrayView2;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A feature value: `f32` or `f64`, used where it lies, never copied to another precision.
pub trait Sample: sealed::Sealed + Copy + Send + Sync + Into<f64> + 'static {
    /// Zero.
    const ZERO: Self;
    /// The nearest value of this type.
    fn from_f64(value: f64) -> Self;
    /// `self · a + b` with one rounding.
    #[must_use]
    fn fused(self, a: Self, b: Self) -> Self;
    /// `self − other`.
    #[must_use]
    fn minus(self, other: Self) -> Self;
}

macro_rules! sample {
    ($t:ty) => {
        impl Sample for $t {
            const ZERO: Self = 0.0;
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn fused(self, a: Self, b: Self) -> Self {
                self.mul_add(a, b)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }
        }
    };
}
sample!(f32);
sample!(f64);

/// Values that are summed side by side; one or two registers of the common vector units.
const LANES: usize = 16;
/// Values summed in the data's own precision before the sum goes to f64.
pub(super) const BLOCK: usize = 64;

/// `Σ (x·scale − shift)²` over at most [`BLOCK`] values.
#[inline(always)]
fn block_scaled<T: Sample>(x: &[T], scale: &[T], shift: &[T]) -> f64 {
    let mut lanes = [T::ZERO; LANES];
    let (xs, x_rest) = x.as_chunks::<LANES>();
    let (ss, s_rest) = scale.as_chunks::<LANES>();
    let (ms, m_rest) = shift.as_chunks::<LANES>();
    for ((x, s), m) in xs.iter().zip(ss).zip(ms) {
        for i in 0..LANES {
            let t = x[i].fused(s[i], m[i]);
            lanes[i] = t.fused(t, lanes[i]);
        }
    }
    let mut sum = total(&lanes);
    for ((&x, &s), &m) in x_rest.iter().zip(s_rest).zip(m_rest) {
        let t: f64 = x.fused(s, m).into();
        sum += t * t;
    }
    sum
}

/// The sum of the lanes, pairwise.
#[inline(always)]
fn total<T: Sample>(lanes: &[T; LANES]) -> f64 {
    let mut sums = [0.0; LANES / 2];
    for i in 0..LANES / 2 {
        sums[i] = lanes[i].into() + lanes[i + LANES / 2].into();
    }
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

/// `Σ (x·scale + shift)²`, given up once it exceeds `limit`: what is returned is then a
/// lower bound above `limit`.
#[inline(always)]
pub(super) fn scaled_square<T: Sample>(x: &[T], scale: &[T], shift: &[T], limit: f64) -> f64 {
    let mut sum = 0.0;
    for ((x, s), m) in x.chunks(BLOCK).zip(scale.chunks(BLOCK)).zip(shift.chunks(BLOCK)) {
        sum += block_scaled(x, s, m);
        if sum > limit {
            break;
        }
    }
    sum
}

/// `Σ (x − y)²`, given up once it exceeds `limit`: what is returned is then a lower bound
/// above `limit`.
#[inline(always)]
pub(super) fn squared_distance<T: Sample>(x: &[T], y: &[T], limit: f64) -> f64 {
    let mut sum = 0.0;
    for (x, y) in x.chunks(BLOCK).zip(y.chunks(BLOCK)) {
        let mut lanes = [T::ZERO; LANES];
        let (xs, x_rest) = x.as_chunks::<LANES>();
        let (ys, y_rest) = y.as_chunks::<LANES>();
        for (x, y) in xs.iter().zip(ys) {
            for i in 0..LANES {
                let t = x[i].minus(y[i]);
                lanes[i] = t.fused(t, lanes[i]);
            }
        }
        sum += total(&lanes);
        for (&x, &y) in x_rest.iter().zip(y_rest) {
            let t: f64 = x.minus(y).into();
            sum += t * t;
        }
        if sum > limit {
            break;
        }
    }
    sum
}

/// Adds `weight·(x − centre)` to `first` and `weight·(x − centre)²` to `second`.
#[inline(always)]
pub(super) fn add_moments<T: Sample>(
    x: &[T],
    centre: &[f64],
    weight: f64,
    first: &mut [f64],
    second: &mut [f64],
) {
    for (((&x, &c), f), s) in x.iter().zip(centre).zip(first).zip(second) {
        let t = x.into() - c;
        let w = weight * t;
        *f += w;
        *s = w.mul_add(t, *s);
    }
}

/// Adds `weight·(x − centre)` to `first`.
#[inline(always)]
pub(super) fn add_first_moment<T: Sample>(x: &[T], centre: &[f64], weight: f64, first: &mut [f64]) {
    for ((&x, &c), f) in x.iter().zip(centre).zip(first) {
        *f = weight.mul_add(x.into() - c, *f);
    }
}

/// Rows of a feature matrix, all or a selection, with their weights.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, T> {
    /// The whole matrix, row by row.
    values: &'a [T],
    dimensions: usize,
    /// Which rows, in order; `None`: all.
    selection: Option<&'a [usize]>,
    /// Weight of each row of the whole matrix; `None`: one each.
    weights: Option<&'a [f64]>,
}

impl<'a, T: Sample> Rows<'a, T> {
    /// All rows of a matrix in standard layout; `None` where the layout is another.
    pub(super) fn new(x: ArrayView2<'a, T>, weights: Option<&'a [f64]>) -> Option<Self> {
        let dimensions = x.ncols();
        let values = x.to_slice()?;
        Some(Self { values, dimensions, selection: None, weights })
    }

    /// The rows `selection` of the whole matrix.
    pub(super) fn select(self, selection: &'a [usize]) -> Self {
        Self { selection: Some(selection), ..self }
    }

    pub(super) fn len(&self) -> usize {
        self.selection.map_or(self.values.len() / self.dimensions, <[usize]>::len)
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    #[inline(always)]
    fn index(&self, i: usize) -> usize {
        self.selection.map_or(i, |s| s[i])
    }

    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> &'a [T] {
        let start = self.index(i) * self.dimensions;
        &self.values[start..start + self.dimensions]
    }

    #[inline(always)]
    pub(super) fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[self.index(i)])
    }

    pub(super) fn total_weight(&self) -> f64 {
        (0..self.len()).map(|i| self.weight(i)).sum()
    }
}
