//! How a firmware samples: what a model's numbers must agree with.
//!
//! A model may fit a monitor and still be wrong for the board. A window that takes longer than the
//! watchdog waits restarts the board for ever. A model for another rate calls every window unknown.
//! Counts of another full scale give another rms. [`Sampling::check`] refuses all three before the
//! model is used, so that the model in the other slot is.
//!
//! Nothing here is a floating-point operation, so that a chip without floats links none.

use crate::model::{AnyModel, Body, ModelError, SampleUnit};

/// Two numbers agree if they differ by at most one part in this many: 2 %.
///
/// A rate that is off by 2 % moves every line of the spectrum by 2 %. The lines at the top move
/// most, by less than one of 32 equal bands, which is 3.1 % of the top frequency wide. Nominal rates
/// are rounded and the oscillators of sensors scatter, by less than that. Two sensors of different
/// rate differ by far more.
const PARTS: u64 = 50;
/// Fraction bits of the fixed-point numbers here.
const FRACTION: u32 = 20;
/// The largest count, plus one.
const COUNTS: u64 = 1 << 15;

/// How a firmware samples. A field of zero means that any model will do.
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1.rbm") } }
/// use rebearing::monitor::Sampling;
/// use rebearing::{Model, ModelError, include_model};
///
/// // A sensor of 26.7 kHz, counts up to 16 g, and a watchdog that bites after 8 s.
/// const SAMPLING: Sampling =
///     Sampling { rate_hz: 26_667.0, longest_window_ms: 4_000, full_scale_g: 16.0 };
///
/// // A model for 20 kHz.
/// let model = Model::parse(include_model!(path!()))?;
/// assert!(matches!(SAMPLING.check(&model), Err(ModelError::OtherRate { .. })));
/// assert!(Sampling { rate_hz: 0.0, ..SAMPLING }.check(&model).is_ok());
/// # Ok::<(), rebearing::ModelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Sampling {
    /// Samples a second of each axis; 0 if they come at the model's rate, whatever it is.
    pub rate_hz: f32,
    /// Longest window in milliseconds; 0 if a window may take any time. A firmware that feeds its
    /// watchdog when a window is done gives half the watchdog's time: one window may be lost to a
    /// gap.
    pub longest_window_ms: u32,
    /// Acceleration in g of the largest count; 0 if it is not known or samples are not counts.
    pub full_scale_g: f32,
}

impl Sampling {
    /// Any model will do: samples come at the model's rate and in its unit, and nobody waits.
    pub const ANY: Self = Self { rate_hz: 0.0, longest_window_ms: 0, full_scale_g: 0.0 };

    /// Checks that `model` is made for samples like these. The error names both figures.
    ///
    /// The full scale is compared if the model takes counts and says how many make a g or m/s².
    pub fn check<'m, B: Body<'m>>(&self, model: &AnyModel<'m, B>) -> Result<(), ModelError> {
        let model_hz = model.front_end().rate_hz;
        let any_rate = self.rate_hz.to_bits() == 0;
        if !self.takes_rate(model_hz) {
            return Err(ModelError::OtherRate { model_hz, firmware_hz: self.rate_hz });
        }
        let rate_hz = if any_rate { model_hz } else { self.rate_hz };
        let window_ms = milliseconds(model.front_end().window_len(), rate_hz);
        if self.longest_window_ms != 0 && window_ms > self.longest_window_ms {
            let longest_ms = self.longest_window_ms;
            return Err(ModelError::WindowTooLong { window_ms, longest_ms });
        }
        self.check_full_scale(model)
    }

    /// Returns true if samples come at the rate of such a model.
    pub fn takes_rate(&self, model_hz: f32) -> bool {
        self.rate_hz.to_bits() == 0 || agree(fixed(self.rate_hz), fixed(model_hz))
    }

    /// Labels do not depend on the full scale. The rms and the idle state do, and would be silently
    /// wrong.
    fn check_full_scale<'m, B: Body<'m>>(&self, model: &AnyModel<'m, B>) -> Result<(), ModelError> {
        let Some(counts_per_unit) = model.body().counts_per_unit() else { return Ok(()) };
        // m/s² to g, in 10⁻⁵.
        let unit = match model.unit().map(|unit| unit.name) {
            Some(SampleUnit::G) => 100_000,
            Some(SampleUnit::METRES_PER_SECOND_SQUARED) => 980_665,
            _ => return Ok(()),
        };
        let full_scale = fixed(self.full_scale_g);
        let Some(expected) = (COUNTS << (2 * FRACTION)).checked_div(full_scale) else {
            return Ok(());
        };
        let found = fixed(counts_per_unit).saturating_mul(unit) / 100_000;
        if agree(found, expected) {
            return Ok(());
        }
        Err(ModelError::OtherFullScale {
            counts_per_g: whole(expected),
            model_counts_per_g: whole(found),
        })
    }
}

/// A number from zero up with 20 fraction bits; the largest number for NaN and all that is beyond.
fn fixed(number: f32) -> u64 {
    let bits = number.to_bits();
    let (exponent, fraction) = (bits >> 23, u64::from(bits & 0x7f_ffff));
    // The number is mantissa·2^(exponent − 150). Denormal numbers are zero here.
    let mantissa = fraction | 1 << 23;
    match exponent.checked_sub(150 - FRACTION) {
        Some(left @ 0..=39) => mantissa << left,
        Some(_) => u64::MAX,
        None => mantissa.checked_shr(150 - FRACTION - exponent).unwrap_or(0),
    }
}

fn agree(found: u64, expected: u64) -> bool {
    found.abs_diff(expected) <= expected / PARTS
}

/// The time of so many samples at a rate, rounded up.
fn milliseconds(samples: usize, rate_hz: f32) -> u32 {
    // A window has at most 2²⁸ samples, so the product is below 2⁵⁸.
    let thousands = (samples as u64).saturating_mul(1000 << FRACTION);
    let rate = fixed(rate_hz).max(1);
    let rounded = thousands.saturating_add(rate - 1).checked_div(rate);
    whole_or_most(rounded)
}

fn whole(fixed: u64) -> u32 {
    whole_or_most(Some(fixed >> FRACTION))
}

fn whole_or_most(number: Option<u64>) -> u32 {
    number.and_then(|number| u32::try_from(number).ok()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::string::ToString;
    use std::vec::Vec;

    use zerocopy::IntoBytes;

    use super::{Sampling, fixed, milliseconds};
    use crate::model::{ModelError, Section, format};
    use crate::{IntegerModel, Model, Monitor};

    static GOLDEN: &[u8] = crate::include_model!("../../tests/golden/model-v1.rbm");
    static INTEGER: &[u8] = crate::include_model!("../../tests/golden/model-v1-i16.rbm");

    /// A board with an IIS3DWB.
    const BOARD: Sampling =
        Sampling { rate_hz: 26_667.0, longest_window_ms: 4_000, full_scale_g: 16.0 };

    /// The words of a model file with one word of a section replaced, and more words at its end.
    fn changed(golden: &[u8], section: Section, word: usize, value: u32, more: &[u32]) -> Vec<u32> {
        let words = golden.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
        let mut words: Vec<u32> = words.collect();
        let tag = u32::from_le_bytes(section.tag());
        let at = words.iter().position(|word| *word == tag).unwrap() + 2;
        words[at + word] = value;
        words.extend(more);
        words[2] = 4 * words.len() as u32;
        words[3] = format::crc32(words.as_bytes());
        words
    }

    /// A model at this rate with so many segments in a window.
    fn check(sampling: &Sampling, rate_hz: f32, segments: u32) -> Result<(), ModelError> {
        let words = changed(GOLDEN, Section::FrontEnd, 0, rate_hz.to_bits(), &[]);
        let words = changed(words.as_bytes(), Section::FrontEnd, 3, segments, &[]);
        let model = Model::parse(words.as_bytes()).unwrap();
        // The monitor itself takes any of them.
        assert!(Monitor::<f32, 256, 1, 4, 3, 3>::new(model).is_ok());
        sampling.check(&model)
    }

    /// An i16 model with so many counts in a unit of this name.
    fn check_unit(sampling: &Sampling, counts: f32, unit: &str) -> Result<(), ModelError> {
        let mut name = [0; 4];
        name[..unit.len()].copy_from_slice(unit.as_bytes());
        let (tag, length) = (u32::from_le_bytes(Section::Unit.tag()), unit.len() as u32);
        let section = [tag, 12, 0, length, u32::from_le_bytes(name)];
        let words = changed(INTEGER, Section::Integer, 0, counts.to_bits(), &section);
        sampling.check(&IntegerModel::parse(words.as_bytes()).unwrap())
    }

    #[test]
    fn a_model_for_another_rate_is_refused() {
        for rate in [26_667.0, 26_700.0, 26_150.0, 27_200.0] {
            assert_eq!(check(&BOARD, rate, 2), Ok(()), "{rate}");
        }
        for rate in [20_000.0, 26_100.0, 27_250.0, 25_600.0, 1e-3, 1e9] {
            let refused = ModelError::OtherRate { model_hz: rate, firmware_hz: 26_667.0 };
            assert_eq!(check(&BOARD, rate, 2), Err(refused), "{rate}");
        }
        let words = check(&BOARD, 12_800.5, 2).unwrap_err().to_string();
        assert!(words.contains("12800.50 Hz") && words.contains("26667 Hz"), "{words}");
        let any = Sampling { rate_hz: 0.0, ..BOARD };
        assert_eq!(check(&any, 20_000.0, 2), Ok(()));
    }

    #[test]
    fn a_window_longer_than_the_watchdog_waits_is_refused() {
        // 256 points and a hop of 128: 4000 ms are 106668 samples.
        assert_eq!(check(&BOARD, 26_667.0, 832), Ok(()));
        let refused = ModelError::WindowTooLong { window_ms: 4_004, longest_ms: 4_000 };
        assert_eq!(check(&BOARD, 26_667.0, 833), Err(refused));
        // The most that the format allows, at 26.7 kHz: five minutes.
        let longest = check(&BOARD, 26_667.0, 65_536).unwrap_err();
        assert_eq!(longest, ModelError::WindowTooLong { window_ms: 314_574, longest_ms: 4_000 });
        assert!(longest.to_string().contains("314574 ms"), "{longest}");
        // A firmware at any rate counts by the model's.
        let any = Sampling { rate_hz: 0.0, ..BOARD };
        assert_eq!(check(&any, 20_000.0, 624), Ok(()));
        assert!(check(&any, 20_000.0, 625).is_err());
        assert!(check(&any, 1e-3, 2).is_err());
        assert_eq!(check(&Sampling::ANY, 1e-3, 65_536), Ok(()));
    }

    #[test]
    fn counts_of_another_full_scale_are_refused() {
        let board = Sampling { rate_hz: 0.0, ..BOARD };
        // 16 g as 32768 and as 32767 counts, and in m/s².
        for (counts, unit) in [(2048.0, "g"), (32_767.0 / 16.0, "g"), (208.84, "m/s2")] {
            assert_eq!(check_unit(&board, counts, unit), Ok(()), "{counts} {unit}");
        }
        let error = check_unit(&board, 16_384.0, "g").unwrap_err();
        let refused = ModelError::OtherFullScale { counts_per_g: 2048, model_counts_per_g: 16_384 };
        assert_eq!(error, refused);
        assert!(error.to_string().contains("--full-scale, 16 g"), "{error}");
        for (counts, unit) in [(208.84, "g"), (2048.0, "m/s2"), (f32::MAX, "g"), (1e-38, "g")] {
            assert!(check_unit(&board, counts, unit).is_err(), "{counts} {unit}");
        }
        // Nothing to compare with.
        assert_eq!(check_unit(&board, 5.0, "mm/s"), Ok(()));
        assert_eq!(check_unit(&Sampling::ANY, 5.0, "g"), Ok(()));
        assert_eq!(check(&BOARD, 26_667.0, 2), Ok(()));
    }

    #[test]
    fn fixed_numbers_are_the_floats() {
        for x in [0.001_f32, 0.5, 1.0, 9.81, 16.0, 12_800.0, 26_667.0, 51_200.0, 1e9, 8e12] {
            let error = fixed(x) as f64 / f64::from(1 << 20) / f64::from(x) - 1.0;
            assert!(error.abs() < 1e-3, "{x}: {error}");
        }
        assert_eq!((fixed(0.0), fixed(1e-45), fixed(f32::MIN_POSITIVE)), (0, 0, 0));
        assert_eq!([f32::NAN, f32::INFINITY, 1e30, -1.0].map(fixed), [u64::MAX; 4]);
    }

    #[test]
    fn times_are_rounded_up_and_cut_off() {
        assert_eq!(milliseconds(384, 20_000.0), 20);
        assert_eq!(milliseconds(20_000, 20_000.0), 1000);
        // 65536 segments of 2048 points, half overlapped, at 26.7 kHz: 42 minutes.
        assert_eq!(milliseconds(2048 + 1024 * 65_535, 26_667.0), 2_516_590);
        assert_eq!(milliseconds(1 << 28, 1e-3), u32::MAX);
        assert_eq!(milliseconds(usize::MAX, 0.0), u32::MAX);
    }
}
