//! ln, exp and sqrt, in one place, with their error bounds asserted.
//!
//! Pure Rust, so the host and every Cortex-M compute the same bits. The standard library's versions
//! call the host's C library and would not. sqrt is `libm`'s. exp and ln are our own polynomials
//! (the coefficients of Cephes' `expf` and `logf`): their argument is always in range, so they need
//! no check. Cost of one call on a Cortex-M4F, over the arguments of a mixture
//! (`cargo xtask bench device`):
//!
//! | | ours | `libm` | `micromath` |
//! |---|---|---|---|
//! | exp | 35 instructions, off by 7.0e-8 | 59, 5.9e-8 | 87, 2.3e-3 |
//! | ln | 42 instructions, off by 6.6e-8 | 50, 7.1e-8 | 36, 0.12 |
//!
//! So `micromath` has no place here, not even behind a feature. Its exp takes longer, and its ln
//! would save only a thousandth of a window's instructions.

/// Natural logarithm of a positive, normal number; within 1e-7 relative (or absolute near 1).
///
/// Any other argument gives a meaningless number.
pub fn ln(x: f32) -> f32 {
    // x = 2^e·(1 + f), 1 + f from √½ to √2: subtracting the bits of √½ before taking the exponent
    // moves the boundary there.
    let bits = x.to_bits().wrapping_sub(SQRT_HALF);
    let e = (bits.cast_signed() >> 23) as f32;
    let f = f32::from_bits((bits & 0x007F_FFFF).wrapping_add(SQRT_HALF)) - 1.0;
    let square = f * f;
    let mut p = 7.037_683_6e-2;
    p = p * f - 1.151_461e-1;
    p = p * f + 1.167_699_9e-1;
    p = p * f - 1.242_014_1e-1;
    p = p * f + 1.424_932_3e-1;
    p = p * f - 1.666_805_8e-1;
    p = p * f + 2.000_071_5e-1;
    p = p * f - 2.499_999_4e-1;
    p = p * f + 3.333_333e-1;
    let low = p * f * square + e * LN_2_LOW - 0.5 * square;
    (f + low) + e * LN_2_HIGH
}

/// Exponential; within 1e-7 relative for arguments in −87…0, the range log-sum-exp uses.
///
/// Returns zero below −87. Above 0, results are meaningful only up to 88.
#[expect(clippy::neg_cmp_op_on_partial_ord, reason = "one comparison for −∞ and NaN too")]
pub fn exp(x: f32) -> f32 {
    if !(x >= -87.0) {
        return 0.0;
    }
    // Adding 1.5·2²³ leaves the nearest whole number in the lowest bits.
    let shifted = x * LOG2_E + ROUND;
    let n = shifted - ROUND;
    let f = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    let mut p = 1.987_569_2e-4;
    p = p * f + 1.398_2e-3;
    p = p * f + 8.333_452e-3;
    p = p * f + 4.166_579_6e-2;
    p = p * f + 1.666_666_6e-1;
    p = p * f + 0.5;
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0_f32.to_bits()));
    (p * (f * f) + f + 1.0) * power
}

/// Bits of √½.
const SQRT_HALF: u32 = 0x3F35_04F3;
const LOG2_E: f32 = core::f32::consts::LOG2_E;
/// Upper piece of ln 2. It has few enough bits that a multiple of it is exact.
const LN_2_HIGH: f32 = 0.693_359_4;
/// Lower piece of ln 2.
const LN_2_LOW: f32 = -2.121_944_4e-4;
const ROUND: f32 = 12_582_912.0;

/// Square root, correctly rounded.
pub fn sqrt(x: f32) -> f32 {
    libm::sqrtf(x)
}

#[cfg(test)]
mod tests {
    use super::{exp, ln, sqrt};

    #[test]
    fn sqrt_is_correctly_rounded() {
        for step in 0..2_000_000_u32 {
            let x = f32::from_bits(step * 1063);
            assert_eq!(sqrt(x), f64::from(x).sqrt() as f32, "{x:e}");
        }
    }

    #[test]
    fn ln_keeps_its_bound_over_all_normal_numbers() {
        let mut worst: f64 = 0.0;
        // Every 251st normal f32.
        let bits = f32::MIN_POSITIVE.to_bits()..=f32::MAX.to_bits();
        for x in bits.step_by(251).map(f32::from_bits) {
            let truth = f64::from(x).ln();
            let error = (f64::from(ln(x)) - truth).abs() / truth.abs().max(1.0);
            worst = worst.max(error);
        }
        assert!(worst < 1e-7, "ln is off by {worst:e}");
    }

    #[test]
    fn exp_keeps_its_bound_over_the_range_of_log_sum_exp() {
        let mut worst: f64 = 0.0;
        // Every 61st float from −2⁻²⁶, whose exponential is 1, to −87.
        let bits = (2.0_f32.powi(-26).to_bits()..=87.0_f32.to_bits()).step_by(61);
        for x in bits.map(|bits| -f32::from_bits(bits)) {
            let truth = f64::from(x).exp();
            worst = worst.max((f64::from(exp(x)) - truth).abs() / truth);
        }
        assert_eq!((exp(0.0), exp(-87.1), exp(f32::NEG_INFINITY)), (1.0, 0.0, 0.0));
        assert!(worst < 1e-7, "exp is off by {worst:e}");
    }
}
