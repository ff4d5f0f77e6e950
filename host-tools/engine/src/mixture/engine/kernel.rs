//! The sums in which EM spends its time.
//!
//! They are plain loops over arrays of fixed length with fused multiply-add. Their order does not
//! depend on the machine, so the same data give the same bits everywhere. The compiler turns them
//! into vector code when they are inlined into a [`pulp::WithSimd`] implementation. That code is
//! compiled once for each instruction set and chosen at run time. Without FMA in hardware the bits
//! are the same, but the sums are slow.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use super::lanes::Lanes;
use super::share::{Column, TILE};
use crate::mixture::sample::Sample;

/// The largest number of lanes of any sample type.
const MOST_LANES: usize = 8;

/// Number of dimensions summed in the data's own precision, in lanes, before the sum goes to f64.
const STRETCH: usize = 256;

/// Adds `Σ (x·scale + shift)²` of a tile's rows under one component to its column. `x` has the
/// values of all rows of the tile side by side, dimension by dimension.
///
/// Lanes are rows, so nothing is summed across lanes, and each loaded parameter serves eight
/// vectors. The speed limit is the FMA units, not the memory. A tile has `PARTS` times eight
/// vectors.
#[inline(always)]
pub(in crate::mixture) fn squares<T: Sample, V: Lanes<T>, const PARTS: usize>(
    lanes: V,
    x: &[T],
    scale: &[T],
    shift: &[T],
    out: &mut Column,
) {
    let (octets, _) = V::vectors(x).as_chunks::<8>();
    let (dimensions, _) = octets.as_chunks::<PARTS>();
    for (part, out) in out.chunks_exact_mut(TILE / PARTS).enumerate() {
        let mut sums = [lanes.splat(T::ZERO); 8];
        for (x, (&scale, &shift)) in dimensions.iter().zip(scale.iter().zip(shift)) {
            let (scale, shift) = (lanes.splat(scale), lanes.splat(shift));
            for v in 0..8 {
                let t = lanes.fused(x[part][v], scale, shift);
                sums[v] = lanes.fused(t, t, sums[v]);
            }
        }
        for (out, sums) in out.chunks_exact_mut(TILE / PARTS / 8).zip(&sums) {
            add(out, V::values(sums));
        }
    }
}

/// `Σ (x·scale + shift)²` of R rows and one component. Lanes are neighbouring dimensions. A row's
/// sum does not depend on the number of rows.
#[inline(always)]
pub(in crate::mixture) fn squares_of_one<T: Sample, V: Lanes<T>, const R: usize>(
    lanes: V,
    x: [&[T]; R],
    scale: &[T],
    shift: &[T],
) -> [f64; R] {
    let mut totals = [[0.0; MOST_LANES]; R];
    for (block, (scale, shift)) in scale.chunks(STRETCH).zip(shift.chunks(STRETCH)).enumerate() {
        let x = part(x, block * STRETCH, scale.len());
        let (scales, shifts) = (V::vectors(scale), V::vectors(shift));
        let mut vectors = [scales; R];
        for (vectors, x) in vectors.iter_mut().zip(x) {
            *vectors = &V::vectors(x)[..scales.len()];
        }
        let mut sums = [lanes.splat(T::ZERO); R];
        for (c, (&scale, &shift)) in scales.iter().zip(shifts).enumerate() {
            for r in 0..R {
                let t = lanes.fused(vectors[r][c], scale, shift);
                sums[r] = lanes.fused(t, t, sums[r]);
            }
        }
        for r in 0..R {
            let values = V::values(&sums[r]);
            let done = scales.len() * values.len();
            add(&mut totals[r], values);
            let rest = x[r][done..].iter().zip(&scale[done..]).zip(&shift[done..]);
            for ((&x, &scale), &shift) in rest {
                let t: f64 = x.fused(scale, shift).into();
                totals[r][0] += t * t;
            }
        }
    }
    let mut squares = [0.0; R];
    for (square, t) in squares.iter_mut().zip(&totals) {
        *square = ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]));
    }
    squares
}

/// The same part of each row.
#[inline(always)]
fn part<T, const R: usize>(mut x: [&[T]; R], from: usize, count: usize) -> [&[T]; R] {
    for x in &mut x {
        *x = &x[from..from + count];
    }
    x
}

/// Adds `Σ w(x − centre)` over weighted rows to `first`, and `Σ w(x − centre)²` to `second` unless
/// it is empty.
///
/// Rows are read from end to end, four at a time, which suits the memory. The sums of a batch of
/// rows stay in the first-level cache in the data's own precision and go to f64 once.
#[inline(always)]
pub(in crate::mixture) fn moments<T: Sample>(
    rows: &[(&[T], T)],
    centre: &[T],
    first: &mut [f64],
    second: &mut [f64],
) {
    let (quartets, rest) = rows.as_chunks::<4>();
    for (block, centre) in centre.chunks(SUMS).enumerate() {
        let at = block * SUMS..block * SUMS + centre.len();
        let (mut a, mut b) = ([T::ZERO; SUMS], [T::ZERO; SUMS]);
        for quartet in quartets {
            add_moments(quartet.map(|(x, w)| (&x[at.clone()], w)), centre, &mut a, &mut b);
        }
        for &(x, w) in rest {
            add_moments([(&x[at.clone()], w)], centre, &mut a, &mut b);
        }
        add(&mut first[at.clone()], &a);
        if let Some(second) = second.get_mut(at) {
            add(second, &b);
        }
    }
}

/// Number of dimensions whose moments are summed side by side in [`moments`].
const SUMS: usize = 128;

#[inline(always)]
fn add_moments<T: Sample, const R: usize>(
    rows: [(&[T], T); R],
    centre: &[T],
    a: &mut [T; SUMS],
    b: &mut [T; SUMS],
) {
    let count = centre.len();
    let rows = rows.map(|(x, w)| (&x[..count], w));
    let (a, b) = (&mut a[..count], &mut b[..count]);
    for i in 0..count {
        for (x, w) in &rows {
            let t = x[i].minus(centre[i]);
            let share = w.times(t);
            a[i] = a[i].plus(share);
            b[i] = share.fused(t, b[i]);
        }
    }
}

#[inline(always)]
fn add<T: Sample>(totals: &mut [f64], sums: &[T]) {
    for (total, &sum) in totals.iter_mut().zip(sums) {
        *total += sum.into();
    }
}

/// `eˣ` for `x` from −700 to 700, to two units in the last place: `2ⁿ·eʳ` with `|r| ≤ ½ ln 2` and
/// thirteen terms of the Taylor series. Unlike the library's function it has no branch and becomes
/// vector code.
#[inline(always)]
pub(in crate::mixture) fn exp(x: f64) -> f64 {
    // ln 2 in two parts. The first part ends in zero bits, so that n·HIGH is exact.
    const HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEE0_0000);
    const LOW: f64 = 1.908_214_929_270_587_7e-10;
    // Adding this leaves an integer in the low bits of the significand.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    const TERMS: [f64; 14] = {
        let mut terms = [1.0; 14];
        let mut i = 1;
        while i < 14 {
            terms[i] = terms[i - 1] / i as f64;
            i += 1;
        }
        terms
    };
    let shifted = x.mul_add(std::f64::consts::LOG2_E, SHIFT);
    let n = shifted - SHIFT;
    let r = n.mul_add(-LOW, n.mul_add(-HIGH, x));
    let mut sum = TERMS[13];
    for i in (0..13).rev() {
        sum = sum.mul_add(r, TERMS[i]);
    }
    sum * f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

/// `ln x` for normal `x > 0`, to two units in the last place of the result or of one, whichever is
/// larger: `n ln 2 + 2 artanh s` with `s = (m − 1)/(m + 1)`, `m` from √½ to √2, and eleven terms of
/// the series. Unlike the library's function it has no branch and becomes vector code.
#[inline(always)]
pub(in crate::mixture) fn ln(x: f64) -> f64 {
    const TERMS: [f64; 11] = {
        let mut terms = [2.0; 11];
        let mut i = 1;
        while i < 11 {
            terms[i] = 2.0 / (2 * i + 1) as f64;
            i += 1;
        }
        terms
    };
    // The bits of √½. The exponent is counted from there.
    const ROOT: u64 = 0x3FE6_A09E_667F_3BCD;
    // Setting an integer in the low bits of this significand adds it to the value.
    const SHIFT: u64 = 0x4330_0000_0000_0000;
    let above = x.to_bits().wrapping_sub(ROOT).wrapping_add(1023 << 52);
    let n = f64::from_bits(SHIFT | (above >> 52)) - (f64::from_bits(SHIFT) + 1023.0);
    let m = f64::from_bits((above & ((1 << 52) - 1)) + ROOT);
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let mut sum = TERMS[10];
    for i in (0..10).rev() {
        sum = sum.mul_add(square, TERMS[i]);
    }
    n.mul_add(std::f64::consts::LN_2, s * sum)
}

/// `Σ ln v`, with one logarithm for eight values: their product is taken first if no digits are
/// lost.
pub(in crate::mixture) fn log_product(values: &[f64]) -> f64 {
    let (octets, rest) = values.as_chunks::<8>();
    let apart = |values: &[f64]| values.iter().map(|v| v.ln()).sum::<f64>();
    let octet = |octet: &[f64; 8]| {
        let product: f64 = octet.iter().product();
        // A partial product can leave the range of normal numbers and come back only with factors
        // beyond these.
        let tame = octet.iter().all(|v| (1e-38..=1e38).contains(v));
        if tame { product.ln() } else { apart(octet) }
    };
    octets.iter().map(octet).sum::<f64>() + apart(rest)
}

/// Number of dimensions summed side by side for one row and one component.
const LANES: usize = 16;

/// The sum of the lanes, pairwise.
#[inline(always)]
fn total<T: Sample>(lanes: &[T; LANES]) -> f64 {
    let mut sums = [0.0; LANES / 2];
    for i in 0..LANES / 2 {
        sums[i] = lanes[i].into() + lanes[i + LANES / 2].into();
    }
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

/// `Σ (x − y)²`. It stops once the sum exceeds `limit` and then returns a lower bound above
/// `limit`.
#[inline(always)]
pub(in crate::mixture) fn squared_distance<T: Sample>(x: &[T], y: &[T], limit: f64) -> f64 {
    let mut sum = 0.0;
    for (x, y) in x.chunks(STRETCH).zip(y.chunks(STRETCH)) {
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

#[cfg(test)]
mod tests {
    #[test]
    fn a_product_has_the_logarithm_of_its_factors() {
        for factor in [1e-300, 1e-38, 0.5, 1.0, 3.0, 1e38, 1e300] {
            let values = vec![factor; 21];
            let expected = 21.0 * f64::ln(factor);
            let error = (super::log_product(&values) - expected).abs();
            assert!(error <= 1e-13 * expected.abs(), "{factor}: {error}");
        }
    }

    #[test]
    fn ln_is_exact_to_two_units_in_the_last_place() {
        let mut worst: f64 = 0.0;
        for i in 0..200_000 {
            for x in [
                1.0 + f64::from(i) * 1e-5,
                f64::from(i + 1) * 0.37,
                f64::exp(f64::from(i) * 0.007 - 700.0),
            ] {
                let expected = x.ln();
                worst = worst.max((super::ln(x) - expected).abs() / expected.abs().max(1.0));
            }
        }
        assert!(worst <= 2.0 * f64::EPSILON, "{worst}");
        assert!(super::ln(1.0) == 0.0);
    }

    #[test]
    fn exp_is_exact_to_two_units_in_the_last_place() {
        let mut worst: f64 = 0.0;
        for i in -70_000..=70_000 {
            let x = f64::from(i) * 0.01;
            let expected = x.exp();
            worst = worst.max(((super::exp(x) - expected) / expected).abs());
        }
        assert!(worst <= 2.0 * f64::EPSILON, "{worst}");
        assert!((super::exp(0.0) - 1.0).abs() < f64::EPSILON);
    }
}
