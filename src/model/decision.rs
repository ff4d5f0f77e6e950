//! The section `dcsn`: what a decision goes by. The same words in both encodings, and read
//! without a floating-point operation.

use super::parse::{length_error, words};
use super::{ModelError, format};
use crate::decision::{IdleRms, Parameters, Rms};

/// The words of a decision section that was checked.
pub(crate) type DecisionWords = [u32; format::DECISION_WORDS];

/// Checks the section; the words are kept and not the parameters, which take more RAM.
pub(super) fn check(
    payload: Option<&[u8]>,
    integers: bool,
) -> Result<Option<&DecisionWords>, ModelError> {
    let Some(payload) = payload else { return Ok(None) };
    let words: &DecisionWords = words(format::DECISION, payload, format::DECISION_WORDS)?
        .first_chunk()
        .ok_or(length_error(format::DECISION, 4 * format::DECISION_WORDS, payload))?;
    let [_, raise, clear, _, _, _, flags, below, until] = *words;
    let out_of_range = |field| Err(ModelError::OutOfRange { field, index: 0 });
    if raise > u32::from(u16::MAX) {
        return out_of_range("raise threshold");
    }
    if clear > u32::from(u16::MAX) {
        return out_of_range("clear threshold");
    }
    if flags & !(format::DECISION_HOLD | format::DECISION_IDLE) != 0 {
        return out_of_range("decision flags");
    }
    if flags & format::DECISION_IDLE == 0 && (below, until) != (0, 0) {
        return out_of_range("idle rms");
    }
    // An f32 model has floats here, which from zero up are in the order of their bits.
    if !integers && below.max(until) >= f32::INFINITY.to_bits() {
        return out_of_range("idle rms");
    }
    parameters(Some(words)).check()?;
    Ok(Some(words))
}

/// The parameters that the words of a section stand for.
pub(crate) fn parameters(words: Option<&DecisionWords>) -> Parameters {
    let Some(words) = words else { return Parameters::DEFAULT };
    let [average, raise, clear, delay, settle, fault_windows, flags, below, until] = *words;
    // The words of an f32 model are compared as they stand, like counts.
    let idle = IdleRms { below: Rms::of_counts(below), until: Rms::of_counts(until) };
    Parameters {
        average,
        raise: raise as u16,
        clear: clear as u16,
        delay,
        settle,
        fault_windows,
        hold: flags & format::DECISION_HOLD != 0,
        idle: Some(idle).filter(|_| flags & format::DECISION_IDLE != 0),
    }
}
