//! Feature values in memory.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use ndarray::ArrayView2;

/// A feature value: `f32` or `f64`. It is used in place and never copied to another precision.
pub trait Sample: arithmetic::Arithmetic {}
impl Sample for f32 {}
impl Sample for f64 {}

/// The arithmetic that the sums need. The module is private, so no other type can be a [`Sample`].
mod arithmetic {
    use pulp::Simd;

    use crate::mixture::engine::kernel;
    use crate::mixture::engine::lanes::{Array, Native};
    use crate::mixture::engine::share::{Column, TILE};

    pub trait Arithmetic: Copy + PartialEq + Send + Sync + Into<f64> + 'static {
        const ZERO: Self;
        /// The nearest value of this type.
        fn from_f64(value: f64) -> Self;
        /// Whether this is neither NaN nor infinite.
        fn finite(self) -> bool;
        /// `self · a + b` with one rounding.
        fn fused(self, a: Self, b: Self) -> Self;
        /// `self − other`.
        fn minus(self, other: Self) -> Self;
        /// Distance below the best component, in nats, beyond which a responsibility is lost in the
        /// rounding of a sum near one. It includes a margin of a factor of twenty: e⁻²⁰ ≈ 2·10⁻⁹,
        /// e⁻⁴⁰ ≈ 4·10⁻¹⁸.
        const NEGLIGIBLE: f64;
        /// `self + other`.
        fn plus(self, other: Self) -> Self;
        /// `self · other`.
        fn times(self, other: Self) -> Self;
        /// [`kernel::squares`] with one row per lane.
        fn squares<S: Simd>(simd: S, x: &[Self], scale: &[Self], shift: &[Self], out: &mut Column);
        /// [`kernel::squares_of_one`] with one dimension per lane.
        fn squares_of_one<S: Simd, const R: usize>(
            simd: S,
            x: [&[Self]; R],
            scale: &[Self],
            shift: &[Self],
        ) -> [f64; R];
    }

    macro_rules! arithmetic {
        ($t:ty, $lanes:literal, $native:ident, $negligible:literal) => {
            impl Arithmetic for $t {
                const ZERO: Self = 0.0;
                const NEGLIGIBLE: f64 = $negligible;
                #[inline(always)]
                fn from_f64(value: f64) -> Self {
                    value as Self
                }
                #[inline(always)]
                fn finite(self) -> bool {
                    self.is_finite()
                }
                #[inline(always)]
                fn fused(self, a: Self, b: Self) -> Self {
                    self.mul_add(a, b)
                }
                #[inline(always)]
                fn minus(self, other: Self) -> Self {
                    self - other
                }
                #[inline(always)]
                fn plus(self, other: Self) -> Self {
                    self + other
                }
                #[inline(always)]
                fn times(self, other: Self) -> Self {
                    self * other
                }
                #[inline(always)]
                fn squares<S: Simd>(
                    simd: S,
                    x: &[Self],
                    scale: &[Self],
                    shift: &[Self],
                    out: &mut Column,
                ) {
                    const PARTS: usize = TILE / 8 / $lanes;
                    if S::$native == $lanes {
                        kernel::squares::<_, _, PARTS>(Native(simd), x, scale, shift, out);
                    } else {
                        kernel::squares::<_, _, PARTS>(Array::<$lanes>, x, scale, shift, out);
                    }
                }
                #[inline(always)]
                fn squares_of_one<S: Simd, const R: usize>(
                    simd: S,
                    x: [&[Self]; R],
                    scale: &[Self],
                    shift: &[Self],
                ) -> [f64; R] {
                    if S::$native == $lanes {
                        kernel::squares_of_one(Native(simd), x, scale, shift)
                    } else {
                        kernel::squares_of_one(Array::<$lanes>, x, scale, shift)
                    }
                }
            }
        };
    }
    arithmetic!(f32, 8, F32_LANES, 20.0);
    arithmetic!(f64, 4, F64_LANES, 40.0);
}

/// Rows of a feature matrix, all or a selection, with their weights.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, T> {
    /// The whole matrix, row by row.
    values: &'a [T],
    dimensions: usize,
    /// The selected row numbers, in order; `None` means all rows.
    selection: Option<&'a [usize]>,
    /// Weight of each row of the whole matrix; `None` means one each.
    weights: Option<&'a [f64]>,
}

impl<'a, T: Sample> Rows<'a, T> {
    /// All rows of a matrix in standard layout; `None` if the layout is another.
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

    /// The row number in the whole matrix of row `i` here.
    #[inline(always)]
    pub(super) fn index(&self, i: usize) -> usize {
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
