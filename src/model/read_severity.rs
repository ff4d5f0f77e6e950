//! The section `sevr`: unit, band and limits of severity. Models in floats only.

use zerocopy::FromBytes;

use super::read::length_error;
use super::{ModelError, Section, format};
use crate::signal::{FrontEnd, SeverityParameters};

/// The numbers of a severity section that was checked.
pub(crate) type SeverityNumbers = [f32; format::SEVERITY_WORDS];

/// Checks the section; the numbers stay where they lie.
pub(super) fn check<'a>(
    payload: Option<&'a [u8]>,
    front_end: &FrontEnd<'_>,
) -> Result<Option<&'a SeverityNumbers>, ModelError> {
    let Some(payload) = payload else { return Ok(None) };
    let numbers = SeverityNumbers::ref_from_bytes(payload)
        .map_err(|_| length_error(Section::Severity, 4 * format::SEVERITY_WORDS, payload))?;
    let SeverityParameters { low_hz, high_hz, unit, limits: [b, c, d] } = parameters(numbers);
    let bin_hz = front_end.rate_hz / front_end.fft_len as f32;
    let checks = [
        // Below two bins, a line cannot be separated from the mean of its segment. Comparisons with
        // NaN are false, so NaN is refused everywhere.
        ("lower end of the severity band", low_hz >= format::SEVERITY_BINS * bin_hz),
        ("upper end of the severity band", high_hz > low_hz && high_hz <= 0.5 * front_end.rate_hz),
        ("severity unit", unit.is_normal() && unit > 0.0 && unit <= format::MAX_UNIT),
        ("severity limits", b > 0.0 && c > b && d > c && d <= format::MAX_VELOCITY),
    ];
    for (field, holds) in checks {
        if !holds {
            return Err(ModelError::OutOfRange { field, index: 0 });
        }
    }
    Ok(Some(numbers))
}

/// The parameters that the numbers of a section stand for.
pub(crate) fn parameters(numbers: &SeverityNumbers) -> SeverityParameters {
    let [low_hz, high_hz, unit, b, c, d] = *numbers;
    SeverityParameters { low_hz, high_hz, unit, limits: [b, c, d] }
}
