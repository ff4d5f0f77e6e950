//! Numbers as the registers have them, without a floating-point operation: chips that run i16 models
//! have no unit for them.

/// Bits of an f32 after the point.
const MANTISSA: u32 = 23;

/// Hundredths of `x`, rounded, at most 65534; `None` if it is negative or not a number.
pub(super) fn hundredths(x: f32) -> Option<u16> {
    let bits = x.to_bits();
    if bits > f32::INFINITY.to_bits() {
        return None;
    }
    let exponent = bits >> MANTISSA;
    let fraction = bits & ((1 << MANTISSA) - 1);
    // Numbers below the smallest normal one are zero hundredths.
    let mantissa = u64::from(if exponent == 0 { 0 } else { fraction | 1 << MANTISSA });
    // x = mantissa · 2^(exponent − 150). From 2^10 on, hundredths are too many for a register.
    let most = u16::MAX - 1;
    if exponent >= 127 + 10 {
        return Some(most);
    }
    // Numbers below 2^-17 are zero hundredths; so the shift stays below 64.
    let right = 150_u32.saturating_sub(exponent);
    if right > 40 {
        return Some(0);
    }
    let scaled = (mantissa * 100 + (1_u64 << right >> 1)) >> right;
    Some(scaled.min(u64::from(most)) as u16)
}

/// The bits of the f32 next to `q8`/256, towards zero.
pub(super) fn f32_bits_of_q8(q8: u32) -> u32 {
    let Some(top) = q8.checked_ilog2() else { return 0 };
    // The leading one goes to bit 23, and is then left out.
    let mantissa = ((u64::from(q8) << MANTISSA) >> top) as u32 & ((1 << MANTISSA) - 1);
    (127 + top - 8) << MANTISSA | mantissa
}

/// A probability in Q15 as 0 to 10000.
pub(super) fn ten_thousandths(q15: u16) -> u16 {
    let rounded = (u32::from(q15) * 10_000 + (1 << 14)) >> 15;
    rounded.min(10_000) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hundredths_are_those_of_floats() {
        for n in 0..100_000_u32 {
            let x = n as f32 * 0.006_37;
            let expected = ((f64::from(x) * 100.0 + 0.5).floor()).min(65_534.0) as u16;
            assert_eq!(hundredths(x), Some(expected), "{x}");
        }
        for (x, expected) in [
            (0.0, Some(0)),
            (1e-40, Some(0)),
            (0.004_9, Some(0)),
            (0.005_1, Some(1)),
            (655.33, Some(65_533)),
            (655.36, Some(65_534)),
            (1023.9, Some(65_534)),
            (1e30, Some(65_534)),
            (f32::INFINITY, Some(65_534)),
            (f32::NAN, None),
            (-1.0, None),
        ] {
            assert_eq!(hundredths(x), expected, "{x}");
        }
    }

    #[test]
    fn q8_is_the_float_towards_zero() {
        for q8 in (0..1 << 24).step_by(97).chain([1, 255, 256, (1 << 24) - 1]) {
            assert_eq!(f32::from_bits(f32_bits_of_q8(q8)), q8 as f32 / 256.0);
        }
        let largest = f32::from_bits(f32_bits_of_q8(u32::MAX));
        assert!(largest < 16_777_216.0 && largest > 16_777_214.0, "{largest}");
    }

    #[test]
    fn a_probability_is_at_most_ten_thousand() {
        let pairs = [(0, 0), (1 << 14, 5000), (1 << 15, 10_000), (u16::MAX, 10_000)];
        for (q15, expected) in pairs {
            assert_eq!(ten_thousandths(q15), expected);
        }
    }
}
