//! Tapered segment to its complex spectrum: an FFT in place, in block floating point.
//!
//! This is our own code because no crate has it. Crates with a fixed-point FFT scale every pass by
//! a fixed amount, so a quiet segment drowns in rounding (44 dB at full scale, 7 dB at a hundredth
//! of it). Here a pass stores its numbers unscaled, with all their bits. The next pass knows the
//! largest, and rounds the numbers to 16 bits as it loads them.
//!
//! Passes are radix 4. If the number of points is no power of four, one pass of radix 2 comes
//! first. The passes decimate in time, so input in bit-reversed order gives output in natural
//! order.
//!
//! Bounds: a number that a pass loads is at most 2¹⁶ in each part. A butterfly adds one such number
//! and three that were turned by a twiddle, each at most √2·2¹⁶, in Q12: (1 + 3√2)·2¹⁶·2¹² < 2³¹.

use core::f64::consts::{FRAC_PI_2, TAU};

use super::taper::{Block, magnitude};
use crate::signal::sine;

/// Fraction bits of the twiddles. One more bit here would leave one less for the numbers. The
/// rounding of the numbers (−92 dB of a tone) and of the twiddles (−86 dB) is about equal.
pub(crate) const TWIDDLE_FRACTION: u32 = 12;

/// A complex number.
pub(super) type Complex = [i32; 2];

/// Transforms the `FFT` real numbers of `buffer`, taken as `FFT`/2 complex ones in bit-reversed
/// order, and returns the new scale.
pub fn transform<const FFT: usize>(buffer: &mut [i32; FFT], block: Block) -> Block {
    let (data, _) = buffer.as_chunks_mut::<2>();
    let points = data.len();
    let radix_2_first = points.trailing_zeros() % 2 == 1;
    let (mut block, mut quarter) =
        if radix_2_first { (pass_2(data, block), 2) } else { (pass_4(data, block), 4) };
    let (mut twiddles, _) = Twiddles::<FFT>::TABLE.as_chunks::<6>();
    while 4 * quarter <= points {
        let Some((own, rest)) = twiddles.split_at_checked(quarter) else { break };
        twiddles = rest;
        block = pass(data, own, block);
        quarter *= 4;
    }
    block
}

/// The first pass, radix 2: pairs of neighbours, no twiddles.
fn pass_2(data: &mut [Complex], block: Block) -> Block {
    let (shift, half) = block.shift();
    let mut peak = 0;
    let (pairs, _) = data.as_chunks_mut::<2>();
    for [a, b] in pairs {
        let (x, y) = (load(*a, shift, half), load(*b, shift, half));
        *a = add(x, y);
        *b = subtract(x, y);
        peak |= largest(*a) | largest(*b);
    }
    Block { exponent: block.exponent + shift.cast_signed(), peak }
}

/// The first pass, radix 4: no twiddles.
fn pass_4(data: &mut [Complex], block: Block) -> Block {
    let (shift, half) = block.shift();
    let mut peak = 0;
    let (quads, _) = data.as_chunks_mut::<4>();
    for [a, b, c, d] in quads {
        let x = [*a, *b, *c, *d].map(|x| load(x, shift, half));
        [*a, *b, *c, *d] = butterfly(x);
        peak |= largest(*a) | largest(*b) | largest(*c) | largest(*d);
    }
    Block { exponent: block.exponent + shift.cast_signed(), peak }
}

/// A radix-4 pass with a twiddle triple for each place in a quarter.
fn pass(data: &mut [Complex], twiddles: &[[i16; 6]], block: Block) -> Block {
    let (shift, half) = block.shift();
    let mut peak = 0;
    let quarter = twiddles.len();
    let mut rest = data;
    while let Some((group @ [_, ..], after)) = rest.split_at_mut_checked(4 * quarter) {
        rest = after;
        let (low, high) = group.split_at_mut_checked(2 * quarter).unwrap_or_default();
        let (a, b) = low.split_at_mut_checked(quarter).unwrap_or_default();
        let (c, d) = high.split_at_mut_checked(quarter).unwrap_or_default();
        for ((((a, b), c), d), w) in a.iter_mut().zip(b).zip(c).zip(d).zip(twiddles) {
            let [r1, i1, r2, i2, r3, i3] = w.map(i32::from);
            let [re, im] = load(*a, shift, half);
            [*a, *b, *c, *d] = butterfly([
                [re << TWIDDLE_FRACTION, im << TWIDDLE_FRACTION],
                turn(load(*b, shift, half), [r2, i2]),
                turn(load(*c, shift, half), [r1, i1]),
                turn(load(*d, shift, half), [r3, i3]),
            ]);
            peak |= largest(*a) | largest(*b) | largest(*c) | largest(*d);
        }
    }
    let exponent = block.exponent + shift.cast_signed() - TWIDDLE_FRACTION.cast_signed();
    Block { exponent, peak }
}

/// Two passes of radix 2 in one.
#[inline]
fn butterfly([a, b, c, d]: [Complex; 4]) -> [Complex; 4] {
    let (even, odd) = (add(a, b), subtract(a, b));
    let (sum, difference) = (add(c, d), subtract(c, d));
    // −i times the difference.
    let turned = [difference[1], -difference[0]];
    [add(even, sum), add(odd, turned), subtract(even, sum), subtract(odd, turned)]
}

#[inline]
pub(super) fn load([re, im]: Complex, shift: u32, half: i32) -> Complex {
    // The shift is below 16. The mask saves a check.
    [(re + half) >> (shift & 31), (im + half) >> (shift & 31)]
}

#[inline]
fn turn([re, im]: Complex, [cos, sin]: [i32; 2]) -> Complex {
    [re * cos + im * sin, im * cos - re * sin]
}

#[inline]
fn add(a: Complex, b: Complex) -> Complex {
    [a[0] + b[0], a[1] + b[1]]
}

#[inline]
fn subtract(a: Complex, b: Complex) -> Complex {
    [a[0] - b[0], a[1] - b[1]]
}

#[inline]
fn largest([re, im]: Complex) -> u32 {
    magnitude(re) | magnitude(im)
}

/// The twiddles of an `FFT`-point real transform in Q12, in the order that the passes use them.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct Twiddles<const FFT: usize>;

impl<const FFT: usize> Twiddles<FFT> {
    /// For each pass of quarter h and each j below h: cosine and sine of j, 2j and 3j times
    /// 2π/4h. The passes together have at most `FFT`/6 such rows.
    pub(crate) const TABLE: &'static [i16; FFT] = &Self::table();

    const fn table() -> [i16; FFT] {
        let mut table = [0; FFT];
        let points = FFT / 2;
        let mut quarter = if points.trailing_zeros() % 2 == 1 { 2 } else { 4 };
        let mut at = 0;
        while 4 * quarter <= points {
            let mut j = 0;
            while j < quarter {
                let mut multiple = 1;
                while multiple <= 3 {
                    let angle = TAU * (multiple * j) as f64 / (4 * quarter) as f64;
                    table[at] = rounded(sine_of(angle + FRAC_PI_2));
                    table[at + 1] = rounded(sine_of(angle));
                    at += 2;
                    multiple += 1;
                }
                j += 1;
            }
            quarter *= 4;
        }
        table
    }
}

/// Sine of an angle from 0 to 2½π.
const fn sine_of(angle: f64) -> f64 {
    let angle = if angle >= TAU { angle - TAU } else { angle };
    let (angle, sign) = if angle >= TAU / 2.0 { (angle - TAU / 2.0, -1.0) } else { (angle, 1.0) };
    sign * sine(if angle > FRAC_PI_2 { TAU / 2.0 - angle } else { angle })
}

const fn rounded(x: f64) -> i16 {
    let scaled = x * (1 << TWIDDLE_FRACTION) as f64;
    (if scaled < 0.0 { scaled - 0.5 } else { scaled + 0.5 }) as i16
}
