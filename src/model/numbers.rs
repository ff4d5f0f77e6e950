//! The two ways in which models and findings write their numbers.

use core::fmt::Debug;

use super::{Body, Decimal, Encoding, FloatBody, IntegerBody, Places, Rms, probability};
use crate::integer::IntegerStatistics;
use crate::signal::Statistics;

/// Part of a model or a finding: it is copied, printed and compared.
#[cfg(not(feature = "defmt"))]
pub trait Number: Copy + Debug + PartialEq {}
/// Part of a model or a finding: it is copied, printed and compared.
#[cfg(feature = "defmt")]
pub trait Number: Copy + Debug + PartialEq + defmt::Format {}

impl Number for f32 {}
impl Number for i32 {}
impl Number for u32 {}
impl Number for u16 {}
impl Number for Statistics {}
impl Number for IntegerStatistics {}
impl Number for FloatBody<'_> {}
impl Number for IntegerBody<'_> {}
impl Number for Floats {}
impl Number for Integers {}

/// How models and findings write their numbers: [`Floats`] or [`Integers`].
///
/// Everything around a monitor is written once for both, by these conversions.
pub trait Numbers: Number + private::Sealed + 'static {
    /// Encoding of the model files.
    const ENCODING: Encoding;
    /// The part of a model that depends on its encoding.
    type Body<'m>: Body<'m, Numbers = Self> + 'm;
    /// A standardised feature.
    type Feature: Number + Default;
    /// The share of a component in a window.
    type Responsibility: Number + Default;
    /// The probability of a class.
    type Probability: Number + Default;
    /// A log-likelihood.
    type LogLikelihood: Number;
    /// Level, rms, kurtosis and crest factor of an axis.
    type Statistics: Number;

    /// A probability in Q15; `None` for NaN and infinity.
    fn q15(p: Self::Probability) -> Option<u16>;
    /// A log-likelihood in nats Q8, cut off at the range of an `i32`; `None` for NaN.
    fn nats_q8(log_likelihood: Self::LogLikelihood) -> Option<i32>;
    /// The rms of an axis; `None` if it is negative or not finite.
    fn rms(statistics: &Self::Statistics) -> Option<Rms>;
    /// A probability in thousandths, rounded.
    fn permille(p: Self::Probability) -> u32;
    /// A log-likelihood in nats as a decimal number; `None` for NaN.
    fn nats(log_likelihood: Self::LogLikelihood, places: Places) -> Option<Decimal>;
    /// The rms of an axis as a decimal number; `None` for NaN.
    fn rms_decimal(statistics: &Self::Statistics, places: Places) -> Option<Decimal>;
    /// The exact bits of a probability.
    fn probability_bits(p: Self::Probability) -> u32;
    /// The exact bits of a log-likelihood.
    fn log_likelihood_bits(log_likelihood: Self::LogLikelihood) -> u32;
    /// The exact bits of level, rms, kurtosis and crest factor.
    fn statistics_bits(statistics: &Self::Statistics) -> [u32; 4];
}

/// `f32` throughout, for chips with a floating-point unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Floats;

/// Integers throughout, for chips without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Integers;

mod private {
    pub trait Sealed {}
    impl Sealed for super::Floats {}
    impl Sealed for super::Integers {}
}

impl Numbers for Floats {
    const ENCODING: Encoding = Encoding::F32;
    type Body<'m> = FloatBody<'m>;
    type Feature = f32;
    type Responsibility = f32;
    type Probability = f32;
    type LogLikelihood = f32;
    type Statistics = Statistics;

    fn q15(p: f32) -> Option<u16> {
        p.is_finite().then(|| probability(p))
    }

    fn nats_q8(nats: f32) -> Option<i32> {
        // A cast cuts to the range of an i32.
        (!nats.is_nan()).then_some((nats * 256.0) as i32)
    }

    fn rms(statistics: &Statistics) -> Option<Rms> {
        Rms::of_samples(statistics.rms)
    }

    fn permille(p: f32) -> u32 {
        (1e3 * p + 0.5) as u32
    }

    fn nats(nats: f32, places: Places) -> Option<Decimal> {
        Decimal::of_f32(nats, places)
    }

    fn rms_decimal(statistics: &Statistics, places: Places) -> Option<Decimal> {
        Decimal::of_f32(statistics.rms, places)
    }

    fn probability_bits(p: f32) -> u32 {
        p.to_bits()
    }

    fn log_likelihood_bits(nats: f32) -> u32 {
        nats.to_bits()
    }

    fn statistics_bits(statistics: &Statistics) -> [u32; 4] {
        let Statistics { level, rms, kurtosis, crest } = *statistics;
        [level, rms, kurtosis, crest].map(f32::to_bits)
    }
}

impl Numbers for Integers {
    const ENCODING: Encoding = Encoding::I16;
    type Body<'m> = IntegerBody<'m>;
    type Feature = i32;
    type Responsibility = u32;
    type Probability = u16;
    type LogLikelihood = i32;
    type Statistics = IntegerStatistics;

    fn q15(p: u16) -> Option<u16> {
        Some(p)
    }

    fn nats_q8(nats: i32) -> Option<i32> {
        Some(nats)
    }

    fn rms(statistics: &IntegerStatistics) -> Option<Rms> {
        Some(Rms::of_counts(statistics.rms))
    }

    fn permille(p: u16) -> u32 {
        (1000 * u32::from(p) + (1 << 14)) >> 15
    }

    fn nats(nats: i32, places: Places) -> Option<Decimal> {
        Some(Decimal::of_q8(nats < 0, nats.unsigned_abs(), places))
    }

    fn rms_decimal(statistics: &IntegerStatistics, places: Places) -> Option<Decimal> {
        Some(Decimal::of_q8(false, statistics.rms, places))
    }

    fn probability_bits(p: u16) -> u32 {
        u32::from(p)
    }

    fn log_likelihood_bits(nats: i32) -> u32 {
        nats.cast_unsigned()
    }

    fn statistics_bits(statistics: &IntegerStatistics) -> [u32; 4] {
        let IntegerStatistics { level, rms, kurtosis, crest } = *statistics;
        [level.cast_unsigned(), rms, kurtosis, crest]
    }
}
