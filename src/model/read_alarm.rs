//! The section `dcsn`: parameters of the alarm. Both encodings have the same words, which are read
//! without a floating-point operation.

use super::read::{length_error, words};
use super::{AlarmParameters, Encoding, IdleRms, ModelError, Rms, Section, format};

/// The words of an alarm section that was checked.
pub(crate) type AlarmWords = [u32; format::ALARM_WORDS];

/// Checks the section. Keeps its words instead of the parameters, which take more RAM.
pub(super) fn check(
    payload: Option<&[u8]>,
    encoding: Encoding,
) -> Result<Option<&AlarmWords>, ModelError> {
    let Some(payload) = payload else { return Ok(None) };
    let words: &AlarmWords = words(Section::Alarm, payload, format::ALARM_WORDS)?
        .first_chunk()
        .ok_or(length_error(Section::Alarm, 4 * format::ALARM_WORDS, payload))?;
    let [_, raise, clear, _, _, _, flags, below, until] = *words;
    let out_of_range = |field| Err(ModelError::OutOfRange { field, index: 0 });
    if raise > u32::from(u16::MAX) {
        return out_of_range("raise threshold");
    }
    if clear > u32::from(u16::MAX) {
        return out_of_range("clear threshold");
    }
    if flags & !(format::ALARM_HOLD | format::ALARM_IDLE) != 0 {
        return out_of_range("alarm flags");
    }
    if flags & format::ALARM_IDLE == 0 && (below, until) != (0, 0) {
        return out_of_range("idle rms");
    }
    // An f32 model has floats here. From zero up, their bits have the order of the floats.
    if encoding == Encoding::F32 && below.max(until) >= f32::INFINITY.to_bits() {
        return out_of_range("idle rms");
    }
    parameters(Some(words)).check()?;
    Ok(Some(words))
}

/// The parameters that the words of a section stand for.
pub(crate) fn parameters(words: Option<&AlarmWords>) -> AlarmParameters {
    let Some(words) = words else { return AlarmParameters::DEFAULT };
    let [average, raise, clear, delay, settle, fault_windows, flags, below, until] = *words;
    // The words of an f32 model are compared as bits, like counts.
    let idle = IdleRms { below: Rms::of_counts(below), until: Rms::of_counts(until) };
    AlarmParameters {
        average,
        raise: raise as u16,
        clear: clear as u16,
        delay,
        settle,
        fault_windows,
        hold: flags & format::ALARM_HOLD != 0,
        idle: Some(idle).filter(|_| flags & format::ALARM_IDLE != 0),
    }
}
