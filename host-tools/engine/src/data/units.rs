//! The meaning of the numbers in a recording: g, m/s², or counts of a converter.
//!
//! Features do not depend on the level, so g and m/s² give the same features. Severity, idle rms
//! and the counts of an i16 model do depend on it. And a velocity is not an acceleration at all.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Acceleration of gravity in m/s², for samples in g.
pub const STANDARD_GRAVITY: f64 = 9.806_65;
/// Bits of a count if nothing else is stated.
const USUAL_BITS: u32 = 16;

/// The unit of samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Unit {
    /// Standard gravity.
    G,
    /// m/s².
    MetresPerSecondSquared,
    /// Counts of a converter with this number of bits, including the sign.
    Counts(u32),
    /// Another unit, equal only to itself.
    Other(String),
}

/// Why a unit or a full scale cannot be used.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum UnitError {
    /// The text is not the name of a unit.
    #[error(
        "{0:?} is not a unit: write g, m/s2, counts (of 16 bits) or counts24, or another name of at most 16 letters"
    )]
    Name(String),
    /// The text is not a full scale.
    #[error(
        "{0:?} is not a full scale: write a number above 0, with its unit if the samples have another, as 16 or 16 g"
    )]
    FullScale(String),
    /// A full scale for counts has no unit.
    #[error("a full scale of {0} for counts needs a unit: write it as {0} g, for example")]
    FullScaleOfWhat(f64),
    /// The conversion between two units is not known.
    #[error("{found} cannot be converted to {wanted}{}", counts_remedy(found, wanted))]
    Differ {
        /// The unit that was found.
        found: Unit,
        /// The required unit.
        wanted: Unit,
    },
}

fn counts_remedy(found: &Unit, wanted: &Unit) -> &'static str {
    if [found, wanted].iter().any(|unit| matches!(unit, Unit::Counts(_))) {
        "; for counts, give the full scale in the manifest's full_scale column, as 16 g"
    } else {
        ""
    }
}

impl FromStr for Unit {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let error = || UnitError::Name(text.into());
        let name = text.trim();
        if let Some(bits) = name.strip_prefix("counts") {
            let bits = if bits.is_empty() { Ok(USUAL_BITS) } else { bits.parse() };
            return bits
                .ok()
                .filter(|bits| (8..=32).contains(bits))
                .map(Self::Counts)
                .ok_or_else(error);
        }
        match name {
            "g" => Ok(Self::G),
            "m/s2" | "m/s²" | "m/s^2" => Ok(Self::MetresPerSecondSquared),
            _ if name.is_empty() || name.chars().count() > 16 => Err(error()),
            _ if name.chars().any(char::is_control) || name.parse::<f64>().is_ok() => Err(error()),
            _ => Ok(Self::Other(name.into())),
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::G => f.write_str("g"),
            Self::MetresPerSecondSquared => f.write_str("m/s2"),
            Self::Counts(USUAL_BITS) => f.write_str("counts"),
            Self::Counts(bits) => write!(f, "counts{bits}"),
            Self::Other(name) => f.write_str(name),
        }
    }
}

impl TryFrom<String> for Unit {
    type Error = UnitError;

    fn try_from(text: String) -> Result<Self, UnitError> {
        text.parse()
    }
}

impl From<Unit> for String {
    fn from(unit: Unit) -> Self {
        unit.to_string()
    }
}

impl Unit {
    /// The size of one unit in m/s², if the unit is an acceleration.
    pub fn acceleration(&self) -> Option<f64> {
        match self {
            Self::G => Some(STANDARD_GRAVITY),
            Self::MetresPerSecondSquared => Some(1.0),
            Self::Counts(_) | Self::Other(_) => None,
        }
    }

    /// The factor that converts a number in this unit to `wanted`.
    pub fn factor_to(&self, wanted: &Self) -> Result<f64, UnitError> {
        if self == wanted {
            return Ok(1.0);
        }
        let factor = self.acceleration().zip(wanted.acceleration()).map(|(own, other)| own / other);
        factor.ok_or_else(|| UnitError::Differ { found: self.clone(), wanted: wanted.clone() })
    }
}

/// The largest value of a sensor, as written in a manifest.
#[derive(Debug, Clone, PartialEq)]
pub struct FullScale {
    /// The number, above 0.
    pub value: f64,
    /// Its unit, if one follows the number.
    pub unit: Option<Unit>,
}

impl FromStr for FullScale {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let error = || UnitError::FullScale(text.into());
        let trimmed = text.trim().trim_start_matches('±');
        let end = trimmed.find(char::is_whitespace).unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(end);
        let value = number.parse::<f64>().ok().filter(|x| x.is_finite() && *x > 0.0);
        let unit = match unit.trim() {
            "" => None,
            unit => Some(unit.parse::<Unit>().map_err(|_| error())?),
        };
        if matches!(unit, Some(Unit::Counts(_))) {
            return Err(error());
        }
        Ok(Self { value: value.ok_or_else(error)?, unit })
    }
}

impl fmt::Display for FullScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.unit {
            Some(unit) => write!(f, "{} {unit}", self.value),
            None => write!(f, "{}", self.value),
        }
    }
}

/// How to interpret the samples of a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// Their unit, if known.
    pub unit: Option<Unit>,
    /// The sensor's largest value in this unit.
    pub full_scale: Option<f64>,
    /// Factor that converts the numbers in the file to this unit.
    pub factor: f64,
    /// The largest possible number in the file, if the numbers are counts.
    pub largest: Option<f64>,
}

impl Default for Measure {
    fn default() -> Self {
        Self { unit: None, full_scale: None, factor: 1.0, largest: None }
    }
}

impl Measure {
    /// The measure of a manifest row. Counts with a known full scale take the unit of that full
    /// scale.
    pub fn new(unit: Option<&Unit>, full_scale: Option<&FullScale>) -> Result<Self, UnitError> {
        let plain = Self { unit: unit.cloned(), ..Self::default() };
        let Some(full_scale) = full_scale else { return Ok(plain) };
        let own = full_scale.unit.as_ref();
        match (unit, own) {
            (Some(Unit::Counts(_)), None) => Err(UnitError::FullScaleOfWhat(full_scale.value)),
            (Some(Unit::Counts(bits)), Some(own)) => {
                let largest = f64::from(1_u32 << (bits - 1)) - 1.0;
                Ok(Self {
                    unit: Some(own.clone()),
                    full_scale: Some(full_scale.value),
                    factor: full_scale.value / largest,
                    // The negative side reaches one count further.
                    largest: Some(largest + 1.0),
                })
            }
            (Some(unit), Some(own)) => {
                let value = full_scale.value * own.factor_to(unit)?;
                Ok(Self { full_scale: Some(value), ..plain })
            }
            // The unit of the full scale also applies to samples without a unit.
            (None, own) => {
                let full_scale = Some(full_scale.value);
                Ok(Self { unit: own.cloned(), full_scale, ..plain })
            }
            (Some(_), None) => Ok(Self { full_scale: Some(full_scale.value), ..plain }),
        }
    }

    /// The same measure in `wanted`. A measure without a unit stays as it is. Callers refuse to mix
    /// recordings with and without a unit.
    pub fn in_unit(self, wanted: &Unit) -> Result<Self, UnitError> {
        let Some(unit) = &self.unit else { return Ok(self) };
        let factor = unit.factor_to(wanted)?;
        Ok(Self {
            unit: Some(wanted.clone()),
            full_scale: self.full_scale.map(|value| value * factor),
            factor: self.factor * factor,
            ..self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(unit: &str, full_scale: &str) -> Result<Measure, String> {
        let unit = (!unit.is_empty()).then(|| unit.parse().unwrap());
        let full_scale = (!full_scale.is_empty()).then(|| full_scale.parse().unwrap());
        Measure::new(unit.as_ref(), full_scale.as_ref()).map_err(|error| error.to_string())
    }

    #[test]
    fn units_are_read_back_as_they_were_written() {
        for (text, unit) in [
            ("g", Unit::G),
            ("m/s2", Unit::MetresPerSecondSquared),
            ("counts", Unit::Counts(16)),
            ("counts24", Unit::Counts(24)),
            ("mm/s", Unit::Other("mm/s".into())),
        ] {
            assert_eq!(text.parse(), Ok(unit.clone()));
            assert_eq!(unit.to_string(), text);
        }
        assert_eq!("m/s²".parse(), Ok(Unit::MetresPerSecondSquared));
        for text in ["", " ", "9.81", "counts64", "counts3", "countsx", "a\nb", "seventeen letters"]
        {
            assert!(text.parse::<Unit>().is_err(), "{text:?}");
        }
        for text in ["", "0", "-1", "nan", "inf", "16g g", "16 counts", "g"] {
            assert!(text.parse::<FullScale>().is_err(), "{text:?}");
        }
        assert_eq!("±16 g".parse::<FullScale>().unwrap().to_string(), "16 g");
    }

    #[test]
    fn full_scales_make_units_of_counts() {
        let counts = measure("counts", "16 g").unwrap();
        assert_eq!((counts.unit, counts.full_scale), (Some(Unit::G), Some(16.0)));
        assert_eq!(counts.factor, 16.0 / 32_767.0);
        assert_eq!(counts.largest, Some(32_768.0));
        assert_eq!(measure("counts24", "2 g").unwrap().factor, 2.0 / 8_388_607.0);
        assert_eq!(measure("counts", "").unwrap().unit, Some(Unit::Counts(16)));
        assert_eq!(measure("g", "16").unwrap().full_scale, Some(16.0));
        let other = measure("g", "98.0665 m/s2").unwrap();
        assert!((other.full_scale.unwrap() - 10.0).abs() < 1e-12);
        assert!(measure("counts", "16").unwrap_err().contains("as 16 g"));
        assert!(measure("g", "16 mm/s").unwrap_err().contains("mm/s cannot be converted to g"));
    }

    #[test]
    fn accelerations_are_converted_and_nothing_else() {
        let in_g = measure("g", "2").unwrap().in_unit(&Unit::MetresPerSecondSquared).unwrap();
        assert_eq!(
            (in_g.factor, in_g.full_scale),
            (STANDARD_GRAVITY, Some(2.0 * STANDARD_GRAVITY))
        );
        let error = measure("counts", "").unwrap().in_unit(&Unit::G).unwrap_err().to_string();
        assert!(
            error.contains("counts cannot be converted to g")
                && error.contains("full_scale column"),
            "{error}"
        );
        let velocity = measure("mm/s", "").unwrap().in_unit(&Unit::G).unwrap_err();
        assert!(!velocity.to_string().contains("full_scale"));
    }
}
