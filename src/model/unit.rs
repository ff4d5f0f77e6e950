//! The section `unit`: what a sample stands for.

use super::format;
use super::optional::optional;
use super::parse::{length_error, texts, words};
use super::{Model, ModelError};
use crate::integer::IntegerModel;

/// The unit of the recordings that a model was fitted to. A device that samples in another one
/// gets the same labels, but another rms, severity and idle state.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SampleUnit<'a> {
    /// Its name: `g`, `m/s2`, `counts` or another.
    pub name: &'a str,
    /// The sensor's largest value in this unit, where that is known.
    pub full_scale: Option<f32>,
}

impl<'a> SampleUnit<'a> {
    fn read(payload: &'a [u8]) -> Result<Self, ModelError> {
        let needs = 4 * format::UNIT_WORDS;
        let (head, text) =
            payload.split_at_checked(needs).ok_or(length_error(format::UNIT, needs, payload))?;
        let &[full_scale] = words(format::UNIT, head, format::UNIT_WORDS)? else {
            return Err(length_error(format::UNIT, needs, payload));
        };
        // Positive floats are in the order of their bits, and a chip without floats reads this.
        if full_scale > f32::MAX.to_bits() {
            return Err(ModelError::OutOfRange { field: "full scale", index: 0 });
        }
        let name = texts(format::UNIT, text, 1)?.get(0).unwrap_or("");
        if name.is_empty() {
            return Err(ModelError::BadText { tag: format::UNIT });
        }
        let full_scale = (full_scale != 0).then_some(f32::from_bits(full_scale));
        Ok(Self { name, full_scale })
    }
}

/// The unit in a file, if it has one.
pub(super) fn unit(bytes: &[u8]) -> Result<Option<SampleUnit<'_>>, ModelError> {
    match optional(bytes, format::UNIT)? {
        Some(payload) => SampleUnit::read(payload).map(Some),
        None => Ok(None),
    }
}

impl<'a> Model<'a> {
    /// What a sample stands for, if the model says it.
    pub fn unit(&self) -> Option<SampleUnit<'a>> {
        // Checked when the file was parsed.
        unit(self.bytes()).unwrap_or(None)
    }
}

impl<'a> IntegerModel<'a> {
    /// What the recordings were in, if the model says it; the device's samples are counts.
    pub fn unit(&self) -> Option<SampleUnit<'a>> {
        // Checked when the file was parsed.
        unit(self.bytes()).unwrap_or(None)
    }
}
