//! Numbers with a fixed number of decimal places, made without code that can panic.

/// Digits behind the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Places {
    /// Two digits.
    Two,
    /// Three digits.
    Three,
    /// Six digits.
    Six,
}

impl Places {
    /// Number of digits.
    pub fn digits(self) -> usize {
        match self {
            Self::Two => 2,
            Self::Three => 3,
            Self::Six => 6,
        }
    }

    /// Units of the last digit in one.
    fn unit(self) -> u32 {
        match self {
            Self::Two => 100,
            Self::Three => 1000,
            Self::Six => 1_000_000,
        }
    }
}

/// A rounded number: sign, whole part, and the digits behind the point as one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Decimal {
    /// Whether the number is below zero.
    pub negative: bool,
    /// The part before the point.
    pub whole: u32,
    /// The digits behind the point.
    pub rest: u32,
}

impl Decimal {
    /// A float; `None` for NaN. Magnitudes beyond a `u32` are cut off.
    pub(crate) fn of_f32(number: f32, places: Places) -> Option<Self> {
        if number.is_nan() {
            return None;
        }
        let unit = places.unit();
        let magnitude = number.abs() + 0.5 / unit as f32;
        // Casts round down, and cut off.
        let whole = magnitude as u32;
        let rest = ((magnitude - whole as f32) * unit as f32) as u32;
        Some(Self { negative: number < 0.0, whole, rest: rest.min(unit - 1) })
    }

    /// A float that is not negative, without a floating-point operation: integer monitors print some
    /// too. NaN gives `None`; magnitudes beyond a `u32` are cut off.
    pub(crate) fn of_magnitude(number: f32, places: Places) -> Option<Self> {
        let bits = number.to_bits() & 0x7fff_ffff;
        if bits > f32::INFINITY.to_bits() {
            return None;
        }
        let (exponent, fraction) = (bits >> 23, u64::from(bits & 0x7f_ffff));
        let unit = u64::from(places.unit());
        // The number is mantissa·2^(exponent − 150). Bounds: 2²⁴·10⁶ is below 2⁴⁴.
        let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 23 };
        let scaled = mantissa * unit;
        let rounded = match 150_u32.checked_sub(exponent.max(1)) {
            // Shifts of 64 and more leave nothing.
            Some(right) if right > 0 => {
                (scaled + (1 << (right - 1).min(60))).checked_shr(right).unwrap_or(0)
            }
            _ => scaled << (exponent - 150).min(19),
        };
        let whole = rounded.checked_div(unit).unwrap_or(0);
        let rest = rounded.checked_rem(unit).unwrap_or(0) as u32;
        Some(match u32::try_from(whole) {
            Ok(whole) if exponent <= 169 => Self { negative: false, whole, rest },
            _ => Self { negative: false, whole: u32::MAX, rest: places.unit() - 1 },
        })
    }

    /// A number with 8 fraction bits.
    pub(crate) fn of_q8(negative: bool, magnitude: u32, places: Places) -> Self {
        Self::of_fraction(negative, magnitude, 8, places)
    }

    /// A probability with 15 fraction bits.
    pub(crate) fn of_q15(p: u16, places: Places) -> Self {
        Self::of_fraction(false, u32::from(p), 15, places)
    }

    /// Bounds: a magnitude below 2³² times a unit below 2²⁰ fits a `u64`.
    fn of_fraction(negative: bool, magnitude: u32, bits: u32, places: Places) -> Self {
        let unit = u64::from(places.unit());
        let rounded = (u64::from(magnitude) * unit + (1 << bits >> 1)) >> bits;
        let whole = rounded.checked_div(unit).unwrap_or(0) as u32;
        let rest = rounded.checked_rem(unit).unwrap_or(0) as u32;
        Self { negative, whole, rest }
    }
}

#[cfg(test)]
mod tests {
    use super::{Decimal, Places};

    #[test]
    fn fractions_and_floats_agree() {
        for magnitude in (0..1 << 22).step_by(77) {
            let exact = magnitude as f32 / 256.0;
            let of_f32 = Decimal::of_f32(exact, Places::Two).unwrap();
            let of_q8 = Decimal::of_q8(false, magnitude, Places::Two);
            let value = |d: Decimal| d.whole * 100 + d.rest;
            assert!(value(of_f32).abs_diff(value(of_q8)) <= 1, "{exact}: {of_f32:?} {of_q8:?}");
        }
        for number in [0.0, 1e-30, 0.000_4, 0.005, 1.0, 2.675, 12_000.0, 20_000.5, 51_200.0, 3e9] {
            let exact = Decimal::of_magnitude(number, Places::Two).unwrap();
            let value = f64::from(exact.whole) + f64::from(exact.rest) / 100.0;
            let error = (value - f64::from(number)).abs();
            assert!(error <= 0.005_000_1, "{number}: {exact:?}");
        }
        assert_eq!(Decimal::of_magnitude(1e12, Places::Two).map(|d| d.whole), Some(u32::MAX));
        assert_eq!(Decimal::of_magnitude(f32::NAN, Places::Two), None);
        let half = Decimal { negative: true, whole: 0, rest: 500 };
        assert_eq!(Decimal::of_q8(true, 128, Places::Three), half);
        assert_eq!(Decimal::of_f32(-0.5, Places::Three), Some(half));
        assert_eq!(Decimal::of_q15(1 << 15, Places::Six).whole, 1);
        assert_eq!(Decimal::of_f32(f32::NAN, Places::Two), None);
        assert_eq!(Decimal::of_q8(false, u32::MAX, Places::Six).whole, (1 << 24) - 1);
    }
}
