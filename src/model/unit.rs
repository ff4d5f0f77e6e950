//! The section `unit`: the unit of the samples.

use super::read::{length_error, texts, words};
use super::{ModelError, Section, format};

/// The unit of the recordings that a model was fitted to.
///
/// A device that samples in another unit gets the same labels, but a different rms, severity and
/// idle state.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SampleUnit<'a> {
    /// Its name: `g`, `m/s2`, `counts` or another.
    pub name: &'a str,
    /// The sensor's largest value in this unit, if it is known.
    pub full_scale: Option<f32>,
}

impl<'a> SampleUnit<'a> {
    /// Name of standard gravity.
    pub const G: &'static str = "g";
    /// Name of m/s².
    pub const METRES_PER_SECOND_SQUARED: &'static str = "m/s2";
    /// Name of the unit of samples that are the sensor's counts.
    pub const COUNTS: &'static str = "counts";

    fn read(payload: &'a [u8]) -> Result<Self, ModelError> {
        let needs = 4 * format::UNIT_WORDS;
        let (head, text) =
            payload.split_at_checked(needs).ok_or(length_error(Section::Unit, needs, payload))?;
        let &[full_scale] = words(Section::Unit, head, format::UNIT_WORDS)? else {
            return Err(length_error(Section::Unit, needs, payload));
        };
        // The bits of positive floats have the order of the floats, and comparing bits needs no floats.
        if full_scale > f32::MAX.to_bits() {
            return Err(ModelError::OutOfRange { field: "full scale", index: 0 });
        }
        let name = texts(Section::Unit, text, 1)?.get(0).unwrap_or("");
        if name.is_empty() {
            return Err(ModelError::BadText { tag: Section::Unit.tag() });
        }
        let full_scale = (full_scale != 0).then_some(f32::from_bits(full_scale));
        Ok(Self { name, full_scale })
    }
}

/// The unit in the section, if there is one.
pub(super) fn check(payload: Option<&[u8]>) -> Result<Option<SampleUnit<'_>>, ModelError> {
    payload.map(SampleUnit::read).transpose()
}
