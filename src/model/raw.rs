//! Features before standardisation: nats for snapshots, decibels for report lines.

use crate::integer::features::SCALE_FRACTION;
use crate::integer::math::LOG2_FRACTION;

/// Fraction bits of a raw feature in nats.
pub const FRACTION_BITS: u32 = 10;

/// 10/ln 10: a natural logarithm to decibels.
const DECIBELS: f32 = 4.342_945;
/// Decibels that are added before they are cut to a byte.
pub const DECIBELS_OFFSET: u8 = 128;

/// A feature in nats, rounded; NaN, which no monitor gives, counts as zero.
pub(super) fn from_nats(nats: f32) -> i16 {
    let scaled = nats * (1 << FRACTION_BITS) as f32;
    // The cast cuts the fraction off, and what is beyond an i16.
    (scaled + if scaled < 0.0 { -0.5 } else { 0.5 }) as i16
}

/// A standardised feature of the integer line back to log2 in Q16.
///
/// Bounds: |z| < 2³¹ and a fraction of 24 bits, so that an `i64` holds the product.
pub(super) fn raw_log2(z: i32, shift: i32, scale: i32) -> i32 {
    const FRACTION: u32 = LOG2_FRACTION + SCALE_FRACTION;
    let scale = i64::from(scale.max(1));
    let product = i64::from(z) << FRACTION;
    let rounded = (product + scale / 2).checked_div_euclid(scale).unwrap_or(0);
    let raw = rounded.saturating_add(i64::from(shift));
    raw.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

/// A feature in log2 Q16 to nats, rounded and cut off.
pub(super) fn from_log2(log2: i32) -> i16 {
    /// ln 2 in Q16.
    const LN_2: i64 = 45_426;
    const SHIFT: u32 = 32 - FRACTION_BITS;
    let nats = (i64::from(log2) * LN_2 + (1 << SHIFT >> 1)) >> SHIFT;
    nats.clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i16
}

/// A natural logarithm of a mean square in decibels, plus the offset, rounded and cut to a byte.
pub(super) fn decibels_of_ln(ln: f32) -> u8 {
    (DECIBELS * ln + f32::from(DECIBELS_OFFSET) + 0.5) as u8
}

/// A log2 of a mean square, in Q16, in decibels, plus the offset, rounded and cut to a byte.
pub(super) fn decibels_of_log2(log2: i32) -> u8 {
    /// 10·log10 2 in Q16.
    const DECIBELS_Q16: i64 = 197_283;
    let decibels = (i64::from(log2) * DECIBELS_Q16 + (1 << 31)) >> 32;
    (decibels + i64::from(DECIBELS_OFFSET)).clamp(0, 255) as u8
}

#[cfg(test)]
mod tests {
    use super::{decibels_of_ln, decibels_of_log2, from_log2, from_nats, raw_log2};

    #[test]
    fn features_are_rounded_and_cut_off() {
        let written = [0.0, 0.000_49, -0.000_49, 1.0, -27.64, 40.0, -40.0, f32::NAN];
        let read = [0, 1, -1, 1024, -28303, i16::MAX, i16::MIN, 0];
        assert_eq!(written.map(from_nats), read);
        for log2 in (-3_000_000..3_000_000).step_by(977) {
            let nats = f64::from(log2) / 65536.0 * core::f64::consts::LN_2;
            let exact = nats.clamp(-32.0, 32.0 - 1.0 / 1024.0);
            assert!((f64::from(from_log2(log2)) / 1024.0 - exact).abs() < 0.000_6, "{log2}");
        }
    }

    #[test]
    fn both_logarithms_give_the_same_decibels() {
        for log2 in (-40 << 16..40 << 16).step_by(1111) {
            let ln = log2 as f32 / 65536.0 * core::f32::consts::LN_2;
            let (of_log2, of_ln) = (decibels_of_log2(log2), decibels_of_ln(ln));
            assert!(of_log2.abs_diff(of_ln) <= 1, "{log2}: {of_log2} {of_ln}");
        }
        assert_eq!((decibels_of_log2(i32::MAX), decibels_of_log2(i32::MIN)), (255, 0));
        assert_eq!(decibels_of_log2(0), 128);
    }

    #[test]
    fn standardisation_is_undone() {
        for (shift, scale) in [(0, 1 << 20), (-300_000, 700_000), (900_000, i32::MAX)] {
            for raw in (-1_000_000..1_000_000_i32).step_by(12_345) {
                let z = (i64::from(raw - shift) * i64::from(scale) + (1 << 23)) >> 24;
                let step = (1 << 24) / i64::from(scale) + 1;
                let found = raw_log2(z as i32, shift, scale);
                assert!(i64::from((found - raw).abs()) <= step, "{found} {raw}");
            }
        }
        assert_eq!(raw_log2(i32::MAX, i32::MAX, 1), i32::MAX);
    }
}
