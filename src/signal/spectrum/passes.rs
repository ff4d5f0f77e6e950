//! The passes of a complex FFT in place, all but the last: radix 4 and radix 8.
//!
//! Decimation in time with the input in natural order. Each pass splits a block of points into four
//! or eight blocks. The number of a block, bit-reversed, is the frequency that it leads to. All
//! points of a block are turned (multiplied) by the same twiddles. The first block of a pass is not
//! turned at all.

#![allow(clippy::inline_always, reason = "called in loops over all points")]

use core::f32::consts::FRAC_1_SQRT_2;

use super::Complex;
use super::twiddles::{FIRST_ROWS, Row};

/// Transforms M points, a power of two from 16 to 2048, up to the last pass of radix 2.
///
/// Afterwards, the points 2r and 2r + 1 hold the transforms of the even and the odd points, at the
/// frequency that is r bit-reversed.
pub(super) fn transform(data: &mut [Complex], rows: &[Row]) {
    let mut length = data.len();
    // Radix 4 once or twice, if the points are not 2·8ⁿ. It comes first, where it has few twiddles.
    while length >= 4 && length.ilog2() % 3 != 1 {
        pass_4(data, length);
        length /= 4;
    }
    // A length of 1024 is reached only with all points in one block.
    if length == 1024 {
        plain_8(data);
        length = 128;
    }
    if length == 128 {
        pass_8::<128>(data, rows);
        length = 16;
    }
    if length == 16 {
        pass_8::<16>(data, rows);
    }
}

/// A radix-4 pass over at most four blocks of `length` points.
fn pass_4(mut data: &mut [Complex], length: usize) {
    for (block, row) in FIRST_ROWS.iter().enumerate() {
        let Some((points, rest)) = data.split_at_mut_checked(length) else { return };
        if block == 0 {
            plain_4(points);
        } else {
            turned_4(points, row);
        }
        data = rest;
    }
}

/// A radix-8 pass over blocks of `POINTS` points.
fn pass_8<const POINTS: usize>(data: &mut [Complex], rows: &[Row]) {
    let (blocks, _) = data.as_chunks_mut::<POINTS>();
    if let ([first, blocks @ ..], [_, rows @ ..]) = (blocks, rows) {
        plain_8(first);
        turned_8(blocks, rows);
    }
}

/// Radix-8 butterflies of several blocks, with a row of twiddles for each block.
///
/// The outer loop goes over the places, the inner one over the blocks. A loop over the places of
/// one block could share its twiddles, but they would not fit into the registers together with the
/// points.
#[inline(never)]
fn turned_8<const POINTS: usize>(blocks: &mut [[Complex; POINTS]], rows: &[Row]) {
    let s = POINTS / 8;
    for i in 0..s {
        for (x, w) in blocks.iter_mut().zip(rows) {
            let turned = |j: usize| multiply(x[i + j * s], w[j]);
            let y = butterfly_8([
                x[i],
                turned(1),
                turned(2),
                turned(3),
                turned(4),
                turned(5),
                turned(6),
                turned(7),
            ]);
            for (j, y) in y.into_iter().enumerate() {
                x[i + j * s] = y;
            }
        }
    }
}

/// A radix-4 block without twiddles.
#[inline(never)]
fn plain_4(points: &mut [Complex]) {
    let Some([a, b, c, d]) = quarters(points) else { return };
    for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
        [*a, *b, *c, *d] = butterfly_4([*a, *b, *c, *d]);
    }
}

/// A radix-4 block with twiddles.
#[inline(never)]
fn turned_4(points: &mut [Complex], [_, _, w1, _, w2, _, w3, _]: &Row) {
    let Some([a, b, c, d]) = quarters(points) else { return };
    for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
        [*a, *b, *c, *d] =
            butterfly_4([*a, multiply(*b, *w1), multiply(*c, *w2), multiply(*d, *w3)]);
    }
}

fn quarters(points: &mut [Complex]) -> Option<[&mut [Complex]; 4]> {
    let (low, high) = points.split_at_mut_checked(points.len() / 2)?;
    let (a, b) = low.split_at_mut_checked(low.len() / 2)?;
    let (c, d) = high.split_at_mut_checked(high.len() / 2)?;
    Some([a, b, c, d])
}

/// A radix-8 block without twiddles.
#[inline(never)]
fn plain_8(points: &mut [Complex]) {
    let Some((low, high)) = points.split_at_mut_checked(points.len() / 2) else { return };
    let (Some([a, b, c, d]), Some([e, f, g, h])) = (quarters(low), quarters(high)) else { return };
    // Two at a time, to save instructions for addresses.
    let [a, b, c, d, e, f, g, h] =
        [a, b, c, d, e, f, g, h].map(|eighth| eighth.as_chunks_mut::<2>().0);
    let low = a.iter_mut().zip(b).zip(c).zip(d);
    let high = e.iter_mut().zip(f).zip(g).zip(h);
    for ((((a, b), c), d), (((e, f), g), h)) in low.zip(high) {
        [a[0], b[0], c[0], d[0], e[0], f[0], g[0], h[0]] =
            butterfly_8([a[0], b[0], c[0], d[0], e[0], f[0], g[0], h[0]]);
        [a[1], b[1], c[1], d[1], e[1], f[1], g[1], h[1]] =
            butterfly_8([a[1], b[1], c[1], d[1], e[1], f[1], g[1], h[1]]);
    }
}

/// Returns the transform of four points, in the order 0, 2, 1, 3.
#[inline(always)]
fn butterfly_4([a, b, c, d]: [Complex; 4]) -> [Complex; 4] {
    let (even, odd) = (add(a, c), subtract(a, c));
    let (sum, difference) = (add(b, d), subtract(b, d));
    [
        add(even, sum),
        subtract(even, sum),
        add_turned(odd, difference),
        subtract_turned(odd, difference),
    ]
}

/// Returns the transform of eight points, in the order 0, 4, 2, 6, 1, 5, 3, 7.
#[inline(always)]
fn butterfly_8([a, b, c, d, e, f, g, h]: [Complex; 8]) -> [Complex; 8] {
    let [y0, y4, y2, y6] = butterfly_4([add(a, e), add(b, f), add(c, g), add(d, h)]);
    let (a, b, c, d) = (subtract(a, e), subtract(b, f), subtract(c, g), subtract(d, h));
    let (even_1, even_3) = (add_turned(a, c), subtract_turned(a, c));
    let (odd_1, odd_3) = (add_turned(b, d), subtract_turned(b, d));
    // Turned backwards by one and by three eighths of a whole turn.
    let odd_1 = [(odd_1[0] + odd_1[1]) * FRAC_1_SQRT_2, (odd_1[1] - odd_1[0]) * FRAC_1_SQRT_2];
    let odd_3 = [(odd_3[1] - odd_3[0]) * FRAC_1_SQRT_2, (odd_3[0] + odd_3[1]) * FRAC_1_SQRT_2];
    [
        y0,
        y4,
        y2,
        y6,
        add(even_1, odd_1),
        subtract(even_1, odd_1),
        [even_3[0] + odd_3[0], even_3[1] - odd_3[1]],
        [even_3[0] - odd_3[0], even_3[1] + odd_3[1]],
    ]
}

#[inline(always)]
pub(super) fn multiply([re, im]: Complex, [cos, sin]: Complex) -> Complex {
    [re * cos - im * sin, im * cos + re * sin]
}

#[inline(always)]
pub(super) fn add(a: Complex, b: Complex) -> Complex {
    [a[0] + b[0], a[1] + b[1]]
}

#[inline(always)]
pub(super) fn subtract(a: Complex, b: Complex) -> Complex {
    [a[0] - b[0], a[1] - b[1]]
}

/// a − i·b
#[inline(always)]
fn add_turned(a: Complex, b: Complex) -> Complex {
    [a[0] + b[1], a[1] - b[0]]
}

/// a + i·b
#[inline(always)]
fn subtract_turned(a: Complex, b: Complex) -> Complex {
    [a[0] - b[1], a[1] + b[0]]
}
