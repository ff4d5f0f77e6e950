//! The last pass, together with the power of the real segment: no complex spectrum is ever stored.
//!
//! The segment of N samples was transformed as M = N/2 complex numbers, with the even samples in
//! the real parts and the odd ones in the imaginary parts. Let Z be their transform, X the
//! transform of the segment, and W = e^(−2πi·k/N). Then 2X(k) = (Z(k) + Z*(M − k)) − iW·(Z(k) −
//! Z*(M − k)), and 2X*(M − k) is the same with a plus. The last pass of radix 2 makes Z(k) and
//! Z(k + M/2) from two neighbours, and Z(M/2 − k) and Z(M − k) from two others. These four bins
//! need only each other.

#![allow(clippy::inline_always, reason = "called in loops over all bins")]

use core::mem;

use super::Complex;
use super::passes::{add, multiply, subtract};
use super::twiddles::Pair;

/// Replaces the result of the passes by the power 4·|X|² of each bin, in the real parts and in
/// bit-reversed order. DC comes first and has Nyquist in its imaginary part.
pub(super) fn last_pass(data: &mut [Complex], pairs: &[Pair]) {
    let (twos, _) = data.as_chunks_mut::<2>();
    let [first, second, rest @ ..] = twos else { return };
    let [zero, half] = [add(first[0], first[1]), subtract(first[0], first[1])];
    let [dc, nyquist] = [zero[0] + zero[1], zero[0] - zero[1]].map(|x| 4.0 * (x * x));
    *first = [[dc, nyquist], [4.0 * square(half), 0.0]];

    let Some(([[_, u]], mut pairs)) = pairs.split_first_chunk() else { return };
    // Bins M/4 and 3M/4 need only each other. The last pass turns by −i there.
    let [a, b] = *second;
    let [low, high] = powers([a[0] + b[1], a[1] - b[0]], [a[0] - b[1], a[1] + b[0]], *u);
    *second = [[low, 0.0], [high, 0.0]];

    // Among numbers of one length, bit-reversed, the mirror image of a bin is at its mirrored
    // place.
    let mut rest = rest;
    let mut half = 1;
    while let Some((block, after)) = rest.split_at_mut_checked(2 * half) {
        let (low, high) = block.split_at_mut_checked(half).unwrap_or_default();
        let (own, others) = pairs.split_at_checked(half).unwrap_or_default();
        for ((low, high), pair) in low.iter_mut().zip(high.iter_mut().rev()).zip(own) {
            four_bins(low, high, *pair);
        }
        rest = after;
        pairs = others;
        half *= 2;
    }
}

/// Returns |2X(1) + X(0)|² from the result of the passes. Call it before [`last_pass`], which
/// leaves only the powers of both.
pub(super) fn first(data: &[Complex], pairs: &[Pair]) -> f32 {
    let (twos, _) = data.as_chunks::<2>();
    // Bin 1 is at the first place of the last block of `last_pass`, its mirror image at the last
    // place.
    let places = (twos.first(), twos.get(twos.len() / 2), twos.last(), pairs.get(twos.len() / 4));
    let (Some(zero), Some(low), Some(high), Some([t, u])) = places else { return 0.0 };
    let zero = add(zero[0], zero[1]);
    let z = add(low[0], multiply(low[1], *t));
    let y = add(high[0], multiply(high[1], [t[0], -t[1]]));
    let (sum, difference) = parts(z, y);
    let [re, im] = multiply(difference, *u);
    square([sum[0] + im + (zero[0] + zero[1]), sum[1] - re])
}

/// The last pass for the bins k, k + M/2 (`low`) and M/2 − k, M − k (`high`).
#[inline(always)]
fn four_bins(low: &mut [Complex; 2], high: &mut [Complex; 2], [t, u]: Pair) {
    let turned = multiply(low[1], t);
    let (z, z_half) = (add(low[0], turned), subtract(low[0], turned));
    // The mirror image turns by −T*.
    let turned = multiply(high[1], [t[0], -t[1]]);
    let (y, y_half) = (subtract(high[0], turned), add(high[0], turned));
    [low[0][0], high[1][0]] = powers(z, y_half, u);
    // A quarter turn further: −iU instead of U.
    let (sum, difference) = parts(z_half, y);
    let turned = multiply(difference, u);
    low[1][0] = square(subtract(sum, turned));
    high[0][0] = square(add(sum, turned));
}

/// |2X(k)|² and |2X(M − k)|² from Z(k), Z(M − k) and e^(−2πi·k/N).
#[inline(always)]
fn powers(z: Complex, y: Complex, u: Complex) -> [f32; 2] {
    let (sum, difference) = parts(z, y);
    let [re, im] = multiply(difference, u);
    // Times −i.
    [square([sum[0] + im, sum[1] - re]), square([sum[0] - im, sum[1] + re])]
}

/// Z + Y* and Z − Y*.
#[inline(always)]
fn parts(z: Complex, y: Complex) -> (Complex, Complex) {
    ([z[0] + y[0], z[1] - y[1]], [z[0] - y[0], z[1] + y[1]])
}

#[inline(always)]
fn square([re, im]: Complex) -> f32 {
    re * re + im * im
}

/// Sorts the real parts of 16 or more points from bit-reversed order into natural order.
///
/// A point's number has two bits in front, some in the middle and two at the end. The sixteen
/// points with one middle change places with the sixteen that have this middle reversed. So one bit
/// reversal serves sixteen points.
pub(super) fn sort(data: &mut [Complex]) {
    let (low, high) = data.split_at_mut_checked(data.len() / 2).unwrap_or_default();
    let (a, b) = low.split_at_mut_checked(low.len() / 2).unwrap_or_default();
    let (c, d) = high.split_at_mut_checked(high.len() / 2).unwrap_or_default();
    let [a, b, c, d] = [a, b, c, d].map(|quarter| quarter.as_chunks_mut::<4>().0);
    let middles = a.len();
    let shift = usize::BITS - middles.max(1).ilog2();
    for middle in 0..middles {
        let backwards = middle.reverse_bits().unbounded_shr(shift);
        if middle < backwards {
            let at = [middle, backwards];
            let (Ok([a, a2]), Ok([b, b2]), Ok([c, c2]), Ok([d, d2])) = (
                a.get_disjoint_mut(at),
                b.get_disjoint_mut(at),
                c.get_disjoint_mut(at),
                d.get_disjoint_mut(at),
            ) else {
                return;
            };
            exchange(&mut [a, b, c, d], &mut [a2, b2, c2, d2]);
        } else if middle == backwards {
            let (Some(a), Some(b), Some(c), Some(d)) =
                (a.get_mut(middle), b.get_mut(middle), c.get_mut(middle), d.get_mut(middle))
            else {
                return;
            };
            transpose(&mut [a, b, c, d]);
        }
    }
}

/// Two bits reversed.
const BACKWARDS: [usize; 4] = [0, 2, 1, 3];

/// Swaps the rows of each with the columns of the other.
#[inline(always)]
fn exchange(x: &mut [&mut [Complex; 4]; 4], y: &mut [&mut [Complex; 4]; 4]) {
    for i in 0..4 {
        for j in 0..4 {
            mem::swap(&mut x[i][BACKWARDS[j]][0], &mut y[j][BACKWARDS[i]][0]);
        }
    }
}

/// Swaps rows and columns.
#[inline(always)]
fn transpose(x: &mut [&mut [Complex; 4]; 4]) {
    for i in 0..4 {
        for j in 0..i {
            let (own, other) = (x[i][BACKWARDS[j]][0], x[j][BACKWARDS[i]][0]);
            x[i][BACKWARDS[j]][0] = other;
            x[j][BACKWARDS[i]][0] = own;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sort;
    use std::vec::Vec;

    #[test]
    fn sorting_reads_every_number_backwards() {
        for bits in 4..=11 {
            let backwards = |k: u32| k.reverse_bits() >> (32 - bits);
            let mut data: Vec<[f32; 2]> =
                (0..1 << bits).map(|place| [backwards(place) as f32, -1.0]).collect();
            sort(&mut data);
            for (place, point) in data.iter().enumerate() {
                assert_eq!(*point, [place as f32, -1.0], "{bits} bits");
            }
        }
    }
}
