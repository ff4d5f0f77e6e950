//! The sums that EM spends its time in.
//!
//! They are plain loops over arrays of fixed length with fused multiply-add, in an order that
//! does not depend on the machine, so that the same data give the same bits everywhere. The
//! compiler makes vector code of them when they are inlined into a [`pulp::WithSimd`]
//! implementation, which is compiled once for each instruction set and chosen at run time.
//! Without FMA in hardware they still give the same bits, slowly.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use super::sample::Sample;

/// Rows that [`squares`] takes at a time: as many accumulators as hide the latency of an FMA
/// and fit the registers.
pub(super) const ROWS: usize = 8;

/// Dimensions summed in the data's own precision before the sum goes to f64.
const BLOCK: usize = 64;

/// `Σ (x·scale + shift)²` of eight rows and L components, component by component into `out`.
/// `packed` has L scales and L shifts for each dimension.
///
/// Lanes are components, so nothing is summed across lanes, and each parameter that is loaded
/// serves eight rows: this runs at the FMA units' speed, not at the memory's.
#[inline(always)]
pub(super) fn squares<T: Sample, const L: usize>(
    x: [&[T]; ROWS],
    packed: &[T],
    out: &mut [[f64; ROWS]],
) {
    let (vectors, _) = packed.as_chunks::<L>();
    let (parameters, _) = vectors.as_chunks::<2>();
    let mut totals = [[0.0; L]; ROWS];
    for (block, parameters) in parameters.chunks(BLOCK).enumerate() {
        let x = part(x, block * BLOCK, parameters.len());
        let mut sums = [[T::ZERO; L]; ROWS];
        for (j, [scale, shift]) in parameters.iter().enumerate() {
            for r in 0..ROWS {
                let value = x[r][j];
                for l in 0..L {
                    let t = value.fused(scale[l], shift[l]);
                    sums[r][l] = t.fused(t, sums[r][l]);
                }
            }
        }
        for (totals, sums) in totals.iter_mut().zip(&sums) {
            for (total, &sum) in totals.iter_mut().zip(sums) {
                *total += sum.into();
            }
        }
    }
    for (l, out) in out.iter_mut().enumerate().take(L) {
        for r in 0..ROWS {
            out[r] = totals[r][l];
        }
    }
}

/// `Σ (x·scale + shift)²` of eight rows and one component; lanes are L dimensions side by side.
#[inline(always)]
pub(super) fn squares_of_one<T: Sample, const L: usize>(
    x: [&[T]; ROWS],
    scale: &[T],
    shift: &[T],
) -> [f64; ROWS] {
    let mut totals = [[0.0; L]; ROWS];
    for (block, (scale, shift)) in scale.chunks(BLOCK).zip(shift.chunks(BLOCK)).enumerate() {
        let x = part(x, block * BLOCK, scale.len());
        let (scales, scale_rest) = scale.as_chunks::<L>();
        let (shifts, shift_rest) = shift.as_chunks::<L>();
        let mut vectors: [&[[T; L]]; ROWS] = [&[]; ROWS];
        for (vectors, x) in vectors.iter_mut().zip(&x) {
            *vectors = &x.as_chunks::<L>().0[..scales.len()];
        }
        let mut sums = [[T::ZERO; L]; ROWS];
        for (c, (scale, shift)) in scales.iter().zip(shifts).enumerate() {
            for r in 0..ROWS {
                let x = vectors[r][c];
                for l in 0..L {
                    let t = x[l].fused(scale[l], shift[l]);
                    sums[r][l] = t.fused(t, sums[r][l]);
                }
            }
        }
        for (j, (scale, &shift)) in scale_rest.iter().zip(shift_rest).enumerate() {
            for r in 0..ROWS {
                let t = x[r][scales.len() * L + j].fused(*scale, shift);
                sums[r][0] = t.fused(t, sums[r][0]);
            }
        }
        for (totals, sums) in totals.iter_mut().zip(&sums) {
            add(totals, sums);
        }
    }
    let mut squares = [0.0; ROWS];
    for (square, totals) in squares.iter_mut().zip(&totals) {
        *square = totals.iter().sum();
    }
    squares
}

/// The same part of each row.
#[inline(always)]
fn part<T>(mut x: [&[T]; ROWS], from: usize, count: usize) -> [&[T]; ROWS] {
    for x in &mut x {
        *x = &x[from..from + count];
    }
    x
}

/// Adds `Σ w(x − centre)` over weighted rows to `first` and `Σ w(x − centre)²` to `second`
/// (where it is not empty), W dimensions at a time.
///
/// The sums of a few dozen rows are held in registers in the data's own precision and reach
/// f64 once.
#[inline(always)]
pub(super) fn moments<T: Sample, const W: usize>(
    rows: &[(&[T], T)],
    centre: &[T],
    first: &mut [f64],
    second: &mut [f64],
) {
    let (centres, rest) = centre.as_chunks::<W>();
    for (block, centre) in centres.iter().enumerate() {
        let from = block * W;
        let mut a = [T::ZERO; W];
        let mut b = [T::ZERO; W];
        for (x, weight) in rows {
            let x = &x[from..from + W];
            for i in 0..W {
                let t = x[i].minus(centre[i]);
                let share = weight.times(t);
                a[i] = a[i].plus(share);
                b[i] = share.fused(t, b[i]);
            }
        }
        add(&mut first[from..from + W], &a);
        if let Some(second) = second.get_mut(from..from + W) {
            add(second, &b);
        }
    }
    for (i, &centre) in rest.iter().enumerate() {
        let j = centres.len() * W + i;
        let (mut a, mut b) = (T::ZERO, T::ZERO);
        for (x, weight) in rows {
            let t = x[j].minus(centre);
            let share = weight.times(t);
            a = a.plus(share);
            b = share.fused(t, b);
        }
        first[j] += a.into();
        if let Some(second) = second.get_mut(j) {
            *second += b.into();
        }
    }
}

#[inline(always)]
fn add<T: Sample>(totals: &mut [f64], sums: &[T]) {
    for (total, &sum) in totals.iter_mut().zip(sums) {
        *total += sum.into();
    }
}

/// `eˣ` for `x` from −700 to 700, to two units in the last place: `2ⁿ·eʳ` with `|r| ≤ ½ ln 2`
/// and thirteen terms of the Taylor series. Unlike the library's it has no branch and becomes
/// vector code.
#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    // ln 2 in two parts, the first with zeros at its end, so that n·HIGH is exact.
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

/// Dimensions that are summed side by side where there is one row and one component.
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

#[cfg(test)]
mod tests {
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
