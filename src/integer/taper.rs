//! A segment of counts to a tapered block in the order that the FFT needs.
//!
//! The mean is removed exactly, and the block is brought to full width before the taper. Every
//! sample goes straight to its bit-reversed place, which saves the FFT a pass of its own.

use core::f64::consts::FRAC_PI_2;

use crate::acquisition::SensorFault;
use crate::signal::Segment;
use crate::signal::sine;

/// Fraction bits of the taper.
const TAPER_FRACTION: u32 = 14;
/// Bits, without the sign, of samples before the taper and of values before each pass of the FFT.
/// The 16 + 14 bits of a product fit in an `i32`.
pub(super) const BLOCK_BITS: u32 = 16;

/// The scale of a block of numbers: each stands for itself times 2^`exponent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Block {
    /// The exponent.
    pub exponent: i32,
    /// The magnitudes of all numbers, or-ed together. It has as many bits as the largest one.
    pub peak: u32,
}

impl Block {
    /// Returns how far to shift the block's numbers right so that they have at most 16 bits, and
    /// what to add before so that they are rounded. A number may then be 2¹⁶ itself.
    pub(super) fn shift(self) -> (u32, i32) {
        let shift = bits(self.peak).saturating_sub(BLOCK_BITS);
        (shift, (1 << shift) >> 1)
    }
}

pub(super) fn bits(x: u32) -> u32 {
    u32::BITS - x.leading_zeros()
}

/// Returns the magnitude of a number, or one less if it is negative: all bits but the sign.
pub(super) fn magnitude(x: i32) -> u32 {
    (x ^ (x >> 31)).cast_unsigned()
}

/// A segment's scale and mean after the taper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Tapered {
    /// Scale of the block, in units of 1/FFT of a count.
    pub block: Block,
    /// Mean of the segment, rounded to a count.
    pub mean: i32,
}

/// Writes the segment of `axis` to `out`, mean removed and tapered by the Hann window. Its pairs of
/// samples are in bit-reversed order.
///
/// Fails if the segment does not vary at all. The segment must have `FFT` samples.
pub fn taper<const FFT: usize, const AXES: usize>(
    segment: &Segment<i16, FFT, AXES>,
    axis: usize,
    out: &mut [i32; FFT],
) -> Result<Tapered, SensorFault> {
    let (older, newer) = segment.halves(axis);
    let first = older.first().map_or(0, |x| i32::from(*x));
    let (mut sum, mut smallest, mut largest) = (0, 0, 0);
    // `for_each` goes through one piece after the other. `for` would check at every sample which
    // piece it is in.
    older.iter().chain(newer).for_each(|x| {
        // |difference| < 2¹⁶, so the sum over 4096 stays below 2²⁸.
        let difference = i32::from(*x) - first;
        sum += difference;
        smallest = smallest.min(difference);
        largest = largest.max(difference);
    });
    if smallest == largest {
        return Err(SensorFault::Flat);
    }
    // A sample minus the mean, times FFT, is a whole number below 2²⁸.
    let log_points = FFT.trailing_zeros();
    let deviation = |difference: i32| (difference << log_points) - sum;
    let peak = magnitude(deviation(largest)) | magnitude(deviation(smallest));
    let right = bits(peak).saturating_sub(BLOCK_BITS);
    let left = BLOCK_BITS.saturating_sub(bits(peak));
    let half = (1 << right) >> 1;

    let (pairs, _) = out.as_chunks_mut::<2>();
    let top = pairs.len() >> 1;
    let mut place = 0;
    let mut peak = 0;
    let mut write = |[x0, x1]: [i16; 2], [w0, w1]: &[u16; 2]| {
        // At most 2¹⁶ times 2¹⁴.
        let tapered = |x: i16, w: u16| {
            (((deviation(i32::from(x) - first) << left) + half) >> right) * i32::from(w)
        };
        let pair = [tapered(x0, *w0), tapered(x1, *w1)];
        peak |= magnitude(pair[0]) | magnitude(pair[1]);
        if let Some(slot) = pairs.get_mut(place) {
            *slot = pair;
        }
        // Counts up with the bits in reverse: the carry runs to the right.
        let mut carry = top;
        while place & carry != 0 {
            place ^= carry;
            carry >>= 1;
        }
        place |= carry;
    };
    // One piece after the other. Between them is the pair with one sample from each piece, if there
    // is one.
    let (taper, _) = Taper::<FFT>::TABLE.as_chunks::<2>();
    let (older, odd) = older.as_chunks::<2>();
    let (across, newer) = newer.split_at_checked(odd.len()).unwrap_or_default();
    let (taper_older, taper) = taper.split_at_checked(older.len()).unwrap_or_default();
    older.iter().zip(taper_older).for_each(|(x, w)| write(*x, w));
    let (taper_across, taper) = taper.split_at_checked(odd.len()).unwrap_or_default();
    for ((x0, x1), w) in odd.iter().zip(across).zip(taper_across) {
        write([*x0, *x1], w);
    }
    newer.as_chunks::<2>().0.iter().zip(taper).for_each(|(x, w)| write(*x, w));
    let exponent = right.cast_signed() - left.cast_signed() - TAPER_FRACTION.cast_signed();
    let mean = first + ((sum + (1 << log_points >> 1)) >> log_points);
    Ok(Tapered { block: Block { exponent, peak }, mean })
}

/// The periodic Hann window of `FFT` points in Q14, computed at compile time.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Taper<const FFT: usize>;

impl<const FFT: usize> Taper<FFT> {
    /// w(n) = sin²(πn/FFT), rounded.
    pub const TABLE: &'static [u16; FFT] = &Self::table();

    const fn table() -> [u16; FFT] {
        let mut table = [0; FFT];
        let mut n = 0;
        while n < FFT {
            let folded = if n > FFT / 2 { FFT - n } else { n };
            let s = sine(2.0 * FRAC_PI_2 * folded as f64 / FFT as f64);
            table[n] = (s * s * (1 << TAPER_FRACTION) as f64 + 0.5) as u16;
            n += 1;
        }
        table
    }
}
