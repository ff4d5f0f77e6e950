//! Values side by side: the processor's own vectors where they have the length that the sums
//! are laid out for, arrays of that length elsewhere. Either gives the same bits.
//!
//! The compiler makes vector code of arrays when it likes the look of the loop around them;
//! the two inner loops of EM are too dear to depend on that.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use pulp::Simd;
use pulp::bytemuck::cast_slice;

use crate::mixture::sample::Sample;

/// How values are taken side by side.
pub(in crate::mixture) trait Lanes<T>: Copy {
    /// Values side by side.
    type Vector: Copy;
    /// As many vectors as `values` has whole ones.
    fn vectors(values: &[T]) -> &[Self::Vector];
    /// The values of a vector.
    fn values(vector: &Self::Vector) -> &[T];
    /// The same value everywhere.
    fn splat(self, value: T) -> Self::Vector;
    /// `a · b + c` with one rounding.
    fn fused(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
}

/// Arrays of L values.
#[derive(Clone, Copy)]
pub(in crate::mixture) struct Array<const L: usize>;

impl<T: Sample, const L: usize> Lanes<T> for Array<L> {
    type Vector = [T; L];

    #[inline(always)]
    fn vectors(values: &[T]) -> &[[T; L]] {
        values.as_chunks().0
    }

    #[inline(always)]
    fn values(vector: &[T; L]) -> &[T] {
        vector
    }

    #[inline(always)]
    fn splat(self, value: T) -> [T; L] {
        [value; L]
    }

    #[inline(always)]
    fn fused(self, a: [T; L], b: [T; L], mut c: [T; L]) -> [T; L] {
        for l in 0..L {
            c[l] = a[l].fused(b[l], c[l]);
        }
        c
    }
}

/// The vectors of the processor.
#[derive(Clone, Copy)]
pub(in crate::mixture) struct Native<S>(pub S);

macro_rules! native {
    ($t:ty, $vector:ident, $as_simd:ident, $splat:ident, $mul_add:ident) => {
        impl<S: Simd> Lanes<$t> for Native<S> {
            type Vector = S::$vector;

            #[inline(always)]
            fn vectors(values: &[$t]) -> &[S::$vector] {
                S::$as_simd(values).0
            }

            #[inline(always)]
            fn values(vector: &S::$vector) -> &[$t] {
                cast_slice(std::slice::from_ref(vector))
            }

            #[inline(always)]
            fn splat(self, value: $t) -> S::$vector {
                self.0.$splat(value)
            }

            #[inline(always)]
            fn fused(self, a: S::$vector, b: S::$vector, c: S::$vector) -> S::$vector {
                self.0.$mul_add(a, b, c)
            }
        }
    };
}
native!(f32, f32s, as_simd_f32s, splat_f32s, mul_add_f32s);
native!(f64, f64s, as_simd_f64s, splat_f64s, mul_add_f64s);
