//! log2 and 2^−x of integers, by tables that are computed at compile time.
//!
//! This is our own code because the fixed-point crates with these functions either panic outside
//! their range or loop once per bit. Here a table and one multiplication are enough.

/// Fraction bits of [`log2`].
pub(crate) const LOG2_FRACTION: u32 = 16;
/// Maximum number of fraction bits that [`exp2_negative`] uses.
pub(crate) const EXP2_FRACTION: u32 = 12;
/// Fraction bits of the result of [`exp2_negative`].
pub(crate) const WEIGHT_FRACTION: u32 = 30;

/// Number of table intervals, as a power of two.
const INTERVAL_BITS: u32 = 6;
const INTERVALS: usize = 1 << INTERVAL_BITS;

/// log2 of x in Q16, within 6e-5. x = 0 gives the same as x = 1.
///
/// The result lies in 0…64·2¹⁶, so an `i32` has room for sums of 500 of them.
pub fn log2(x: u64) -> i32 {
    let x = x.max(1);
    let zeros = x.leading_zeros();
    // The leading one is bit 31. The next 6 bits choose the interval, 16 more the place in it.
    let mantissa = (x << zeros >> 32) as u32;
    let interval = (mantissa >> (31 - INTERVAL_BITS)) as usize % INTERVALS;
    let place = mantissa >> (15 - INTERVAL_BITS) & 0xffff;
    let [low, high] = LOG2[interval];
    // high − low is below 2¹¹: the product is below 2²⁷.
    let fraction = low + (((high - low) * place + 0x8000) >> 16);
    (((63 - zeros) << LOG2_FRACTION) + fraction).cast_signed()
}

/// Returns 2^(−x·2^−`fraction_bits`) in Q30, rounded down, with a relative error below 5e-5.
///
/// The result is zero exactly if x exceeds 30·2^`fraction_bits`.
///
/// `fraction_bits` above 12 count as 12.
pub fn exp2_negative(x: u32, fraction_bits: u32) -> u32 {
    let fraction_bits = fraction_bits.min(EXP2_FRACTION);
    let whole = x >> fraction_bits;
    if whole > WEIGHT_FRACTION {
        return 0;
    }
    let fraction = ((x << (EXP2_FRACTION - fraction_bits)) & ((1 << EXP2_FRACTION) - 1)) as usize;
    // Both factors are at most 2¹⁵. Their product is 2³⁰ only for a fraction of zero.
    let coarse = EXP2_COARSE[fraction >> INTERVAL_BITS];
    let fine = EXP2_FINE[fraction % INTERVALS];
    (u32::from(coarse) * u32::from(fine)) >> whole
}

/// log2(1 + i/64) and log2(1 + (i + 1)/64) in Q16.
static LOG2: [[u32; 2]; INTERVALS] = {
    let mut table = [[0; 2]; INTERVALS];
    let mut i = 0;
    while i < INTERVALS {
        table[i] = [log2_entry(i), log2_entry(i + 1)];
        i += 1;
    }
    table
};

/// 2^(−i/64) in Q15.
static EXP2_COARSE: [u16; INTERVALS] = exp2_table(INTERVALS as f64);
/// 2^(−i/4096) in Q15.
static EXP2_FINE: [u16; INTERVALS] = exp2_table((INTERVALS * INTERVALS) as f64);

const fn log2_entry(i: usize) -> u32 {
    // ln(1 + f) = 2·artanh(f/(2 + f)), a series whose terms shrink at least ninefold.
    let f = i as f64 / INTERVALS as f64;
    let y = f / (2.0 + f);
    let mut power = y;
    let mut sum = 0.0;
    let mut k = 1.0;
    while k < 41.0 {
        sum += power / k;
        power *= y * y;
        k += 2.0;
    }
    (2.0 * sum * core::f64::consts::LOG2_E * 65536.0 + 0.5) as u32
}

const fn exp2_table(steps: f64) -> [u16; INTERVALS] {
    let mut table = [0; INTERVALS];
    let mut i = 0;
    while i < INTERVALS {
        let x = -(i as f64) / steps * core::f64::consts::LN_2;
        let mut term = 1.0;
        let mut sum = 1.0;
        let mut k = 1.0;
        while k < 24.0 {
            term *= x / k;
            sum += term;
            k += 1.0;
        }
        table[i] = (sum * 32768.0 + 0.5) as u16;
        i += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{exp2_negative, log2};

    #[test]
    fn log2_keeps_its_bound_over_all_exponents() {
        let mut worst: f64 = 0.0;
        for shift in 0..64_u32 {
            for step in 0..4096_u64 {
                let x = ((1 << 63) | (step << 51) | (step * 77)) >> shift;
                let exact = (x as f64).log2();
                worst = worst.max((f64::from(log2(x)) / 65536.0 - exact).abs());
            }
        }
        assert!(worst < 6e-5, "log2 is off by {worst:e}");
        assert_eq!([log2(0), log2(1), log2(2), log2(1 << 63)], [0, 0, 1 << 16, 63 << 16]);
    }

    #[test]
    fn log2_never_falls() {
        let mut before = 0;
        for x in (1..1 << 20).chain((0..1 << 16).map(|i| (1 << 40) + (i << 26))) {
            let log = log2(x);
            assert!(log >= before, "{x}");
            before = log;
        }
    }

    #[test]
    fn exp2_keeps_its_bound_and_ends_in_zero() {
        let mut worst: f64 = 0.0;
        for fraction_bits in 0..=12 {
            for x in 0..=31_u32 << fraction_bits {
                let exact = (-f64::from(x) / f64::from(1 << fraction_bits)).exp2();
                let weight = exp2_negative(x, fraction_bits);
                let error = (f64::from(weight) * 2_f64.powi(-30) - exact).abs();
                // Rounding down takes up to one unit of Q30.
                worst = worst.max((error - 2_f64.powi(-30)) / exact);
                assert_eq!(weight == 0, x > 30 << fraction_bits, "{x}");
            }
            assert_eq!(exp2_negative(0, fraction_bits), 1 << 30);
            assert_eq!(exp2_negative(u32::MAX, fraction_bits), 0);
        }
        assert!(worst < 5e-5, "exp2 is off by {worst:e}");
    }
}
