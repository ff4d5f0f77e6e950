//! The twiddles of the transform's passes, computed at compile time.
//!
//! A pass works on the blocks that the passes before it left. Block b of any pass turns by powers
//! of e^(−2πi·f(b)/8). The digits of f(b) after the binary point are the bits of b, the lowest
//! first: 0, ½, ¼, ¾, ⅛, … So every pass, and every shorter transform, uses the front of the same
//! table.

use core::f64::consts::FRAC_PI_2;

use super::Complex;
use crate::signal::sine;

/// The powers 0 to 7 of a block's twiddle.
pub(super) type Row = [Complex; 8];

/// The twiddles of four bins in the last pass: e^(−2πi·f/2) and e^(−2πi·f/4).
pub(super) type Pair = [Complex; 2];

/// The twiddles of real transforms of up to `FFT` points, in 4·`FFT` bytes of flash.
pub(super) struct Twiddles<const FFT: usize>;

impl<const FFT: usize> Twiddles<FFT> {
    /// The first half holds rows, the second half pairs.
    const TABLE: &'static [f32; FFT] = &Self::table();

    /// A row for each block of a radix-8 pass.
    pub(super) fn rows() -> &'static [Row] {
        let (rows, _) = Self::TABLE.split_at_checked(FFT / 2).unwrap_or_default();
        rows.as_chunks().0.as_chunks().0
    }

    /// The pair of block 1, then the pairs of blocks 2, 4, 5, 8, 9, 10, 11, 16, …: the first half
    /// of every power of two. The other half is its mirror image.
    pub(super) fn pairs() -> &'static [Pair] {
        let (_, pairs) = Self::TABLE.split_at_checked(FFT / 2).unwrap_or_default();
        pairs.as_chunks().0.as_chunks().0
    }

    const fn table() -> [f32; FFT] {
        let mut table = [0.0; FFT];
        let half = FFT / 2;
        let mut at = 0;
        while at + 1 < half {
            [table[at], table[at + 1]] = turn(reversed(at / 16) * (at / 2 % 8) as u64, 3);
            at += 2;
        }
        at = 0;
        while half + at + 1 < FFT {
            let index = at / 4;
            let block = if index == 0 { 1 } else { index + (1 << index.ilog2()) };
            let halvings = if at % 4 == 0 { 1 } else { 2 };
            [table[half + at], table[half + at + 1]] = turn(reversed(block), halvings);
            at += 2;
        }
        table
    }
}

/// The first four rows. A radix-4 pass needs no more, and a table for few points has fewer.
pub(super) static FIRST_ROWS: [Row; 4] = first_rows();

const fn first_rows() -> [Row; 4] {
    let mut rows = [[[0.0; 2]; 8]; 4];
    let mut at = 0;
    while at < 32 {
        rows[at / 8][at % 8] = turn(reversed(at / 8) * (at % 8) as u64, 3);
        at += 1;
    }
    rows
}

/// f(b) in units of 2⁻³².
const fn reversed(block: usize) -> u64 {
    (block as u32).reverse_bits() as u64
}

/// e^(−2πi·x) with x = `fraction`/2³²/2^`halvings`, both parts the f32 nearest to the exact value.
const fn turn(fraction: u64, halvings: u32) -> Complex {
    let whole = 1 << (32 + halvings);
    let (quadrant, rest) = (4 * fraction / whole % 4, 4 * fraction % whole);
    let sin = sine(FRAC_PI_2 * rest as f64 / whole as f64) as f32;
    let cos = sine(FRAC_PI_2 * (whole - rest) as f64 / whole as f64) as f32;
    match quadrant {
        0 => [cos, -sin],
        1 => [-sin, -cos],
        2 => [-cos, sin],
        _ => [sin, cos],
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRST_ROWS, Twiddles};
    use core::f64::consts::TAU;

    /// e^(−2πi·`numerator`/`denominator`) by the standard library, rounded to f32. The library's
    /// angles are rounded, so its zeros are not quite zero.
    fn exact(numerator: u64, denominator: u64) -> [f32; 2] {
        let angle = TAU * (numerator % denominator) as f64 / denominator as f64;
        [angle.cos(), -angle.sin()].map(|x| if x.abs() < 1e-15 { 0.0 } else { x as f32 })
    }

    /// The fraction with the bits of `block` after the binary point, the lowest first, in units of
    /// 2⁻¹².
    fn backwards(block: usize) -> u64 {
        (0..12).map(|bit| (block as u64 >> bit & 1) << (11 - bit)).sum()
    }

    #[test]
    fn every_twiddle_is_the_rounded_exact_value() {
        let rows = Twiddles::<4096>::rows();
        assert_eq!(rows.len(), 128);
        assert_eq!(&rows[..4], &FIRST_ROWS);
        for (block, row) in rows.iter().enumerate() {
            for (power, w) in row.iter().enumerate() {
                let expected = exact(backwards(block) * power as u64, 8 << 12);
                assert_eq!(*w, expected, "block {block}, power {power}");
            }
        }
        let pairs = Twiddles::<4096>::pairs();
        assert_eq!(pairs.len(), 512);
        // The blocks with numbers that start with 10 in binary, after block 1.
        let blocks = (2..1024_usize).filter(|block| block >> (block.ilog2() - 1) == 0b10);
        for (block, pair) in [1].into_iter().chain(blocks).zip(pairs) {
            let expected = [2, 4].map(|by| exact(backwards(block), by << 12));
            assert_eq!(*pair, expected, "block {block}");
        }
    }

    #[test]
    fn a_shorter_table_is_the_front_of_a_longer_one() {
        assert_eq!(Twiddles::<256>::rows(), &Twiddles::<4096>::rows()[..8]);
        assert_eq!(Twiddles::<256>::pairs(), &Twiddles::<4096>::pairs()[..32]);
        // `FFT` need not be a power of two.
        assert_eq!(Twiddles::<259>::rows(), &Twiddles::<4096>::rows()[..8]);
        assert_eq!(Twiddles::<259>::pairs(), &Twiddles::<4096>::pairs()[..32]);
    }
}
