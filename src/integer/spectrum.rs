//! Complex spectrum to the power of each bin, and bins to bands.
//!
//! A real segment of N samples was transformed as N/2 complex numbers. Here the two halves are
//! separated, bin k together with bin N/2 − k, and the power replaces the numbers.

use super::taper::{Block, Taper};
use super::transform::{Complex, TWIDDLE_FRACTION, load};

/// Power of 2X is kept in units of 2⁵, so the largest, 2³⁶, fits in a `u32`.
const POWER_SHIFT: u32 = 5;

/// Power spectrum of a real segment of N samples: bins 0 (DC) to N/2 (Nyquist).
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntegerSpectrum<'b> {
    /// The first pair holds DC and Nyquist, every other pair the power of a bin and a zero.
    bins: &'b [Complex],
    /// A power p stands for p·2^`exponent`.
    pub exponent: i32,
}

impl<'b> IntegerSpectrum<'b> {
    /// Replaces the complex numbers of a transformed `buffer` by the power of each bin.
    ///
    /// Bounds: parts of Z are at most 2¹⁶. Let A = Z(k) + Z*(N/2 − k) and B = Z(k) − Z*(N/2 − k).
    /// Then |2X(k)| = |A − iWB| ≤ 2¹⁸, and in Q12 at most 2³⁰.
    pub fn power<const FFT: usize>(buffer: &'b mut [i32; FFT], block: Block) -> Self {
        let (shift, half) = block.shift();
        let (data, _) = buffer.as_chunks_mut::<2>();
        let quarter = FFT / 4;
        if let Some((first, rest)) = data.split_first_mut() {
            let [re, im] = load(*first, shift, half);
            // 2·(re ± im) as a power of 2X.
            *first = [square([2 * (re + im), 0]), square([2 * (re - im), 0])];
            let (low, high) = rest.split_at_mut_checked(quarter - 1).unwrap_or_default();
            // 1 − 2·sin²(πk/N) = cos(2πk/N); a quarter of the table back, it is the sine.
            let taper = Taper::<FFT>::TABLE;
            let cosines = taper.get(1..quarter).unwrap_or_default();
            let middle = high.split_first_mut().map(|(middle, high)| {
                let bins = low.iter_mut().zip(high.iter_mut().rev());
                for ((a, b), (c, s)) in bins.zip(cosines.iter().zip(cosines.iter().rev())) {
                    let [cos, sin] =
                        [*c, *s].map(|w| (1 << TWIDDLE_FRACTION) - ((i32::from(w) + 1) >> 1));
                    let x = load(*a, shift, half);
                    let y = load(*b, shift, half);
                    let sum = [x[0] + y[0], x[1] - y[1]].map(|x| x << TWIDDLE_FRACTION);
                    let difference = [x[0] - y[0], x[1] + y[1]];
                    // −i·W·B with W = cos − i·sin.
                    let turned = [
                        difference[1] * cos - difference[0] * sin,
                        -(difference[0] * cos + difference[1] * sin),
                    ];
                    let rounded = |x: i32| (x + (1 << TWIDDLE_FRACTION >> 1)) >> TWIDDLE_FRACTION;
                    *a = [square([sum[0] + turned[0], sum[1] + turned[1]].map(rounded)), 0];
                    *b = [square([sum[0] - turned[0], sum[1] - turned[1]].map(rounded)), 0];
                }
                middle
            });
            if let Some(middle) = middle {
                *middle = [square(load(*middle, shift, half).map(|x| 2 * x)), 0];
            }
        }
        // X is half of 2X, and its power has that factor twice.
        let exponent = 2 * (block.exponent + shift.cast_signed() - 1) + POWER_SHIFT.cast_signed();
        Self { bins: data, exponent }
    }

    /// Number of bins, N/2 + 1.
    pub fn len(&self) -> usize {
        if self.bins.is_empty() { 0 } else { self.bins.len() + 1 }
    }

    /// Returns true if there are no bins.
    pub fn is_empty(&self) -> bool {
        self.bins.is_empty()
    }

    /// Power summed over the bins `low..high`; at most 2³²·2¹¹.
    pub fn band_power(&self, low: usize, high: usize) -> u64 {
        let Some([dc, nyquist]) = self.bins.first() else { return 0 };
        let last = self.bins.len();
        let mut power = 0;
        if low == 0 && high > 0 {
            power += u64::from(dc.cast_unsigned());
        }
        for [bin, _] in self.bins.get(low.max(1)..high.min(last)).unwrap_or(&[]) {
            power += u64::from(bin.cast_unsigned());
        }
        if low <= last && high > last {
            power += u64::from(nyquist.cast_unsigned());
        }
        power
    }
}

/// re² + im² in units of 2⁵, for parts up to 2¹⁸, as the bits of a `u32`.
///
/// Squares of numbers with more than 15 bits would not fit in 32 bits. Large numbers lose three
/// bits first. Small ones lose none, so quiet bins keep their digits.
#[inline]
fn square([re, im]: Complex) -> i32 {
    let squares = |re: i32, im: i32| re.unsigned_abs().pow(2) + im.unsigned_abs().pow(2);
    let power = if re.unsigned_abs() | im.unsigned_abs() < 1 << 15 {
        (squares(re, im) + (1 << POWER_SHIFT >> 1)) >> POWER_SHIFT
    } else {
        // The parts are eight times smaller, so the power is 64 times smaller, and 2 = 64/32.
        squares(re >> 3, im >> 3) << 1
    };
    power.cast_signed()
}

/// Adds band powers with exponent `exponent` to sums with exponent `of_sums`. The finer of the two
/// loses the bits that the other does not have.
///
/// Sums without power have the exponent [`NO_POWER`].
pub fn add_aligned(
    sums: &mut [u64],
    of_sums: &mut i32,
    powers: impl Iterator<Item = u64>,
    exponent: i32,
) {
    let coarser = exponent.saturating_sub(*of_sums);
    let of_power = of_sums.saturating_sub(exponent).clamp(0, 63).cast_unsigned();
    if coarser > 0 {
        for sum in sums.iter_mut() {
            *sum >>= coarser.min(63);
        }
        *of_sums = exponent;
    }
    // A power is below 2⁴³ and there are at most 2¹⁶ segments.
    for (sum, power) in sums.iter_mut().zip(powers) {
        *sum += power >> of_power;
    }
}

/// Exponent of sums before anything is added to them.
pub const NO_POWER: i32 = i32::MIN;
