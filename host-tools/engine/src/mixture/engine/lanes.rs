//! Vectors of values: the processor's own if they have the length that the sums need, arrays of
//! that length otherwise. Both give the same bits.
//!
//! Whether the compiler turns arrays into vector code depends on the loop around them. The two
//! inner loops of EM cost too much time to depend on that.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use pulp::Simd;
use pulp::bytemuck::cast_slice;

use crate::mixture::sample::Sample;

/// Operations on several values side by side.
pub(in crate::mixture) trait Lanes<T>: Copy {
    /// A vector of values side by side.
    type Vector: Copy;
    /// The whole vectors in `values`; a remainder is left out.
    fn vectors(values: &[T]) -> &[Self::Vector];
    /// The values of a vector.
    fn values(vector: &Self::Vector) -> &[T];
    /// A vector with the same value in every lane.
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
