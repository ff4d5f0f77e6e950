//! The section `drft`: the reference of the drift watch, from windows the model was not fitted on.

use super::read::{length_error, words};
use super::{ModelError, Section, format};

/// The reference that the [drift watch](crate::operation::DriftWatch) compares windows with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DriftReference<'a> {
    /// Windows in a block.
    pub block: u32,
    /// Number of neighbouring windows that may depend on one another; the limits allow for it.
    pub correlation: u32,
    /// Smallest mean deviation of the log-likelihoods in a block without drift, in standard
    /// deviations Q8; negative.
    pub deviation_min: i32,
    /// Most unknown windows in a block without drift.
    pub unknown_max: u32,
    /// If nothing has changed, at most one block in this many drifts.
    pub blocks_per_false_alarm: u32,
    /// Number of held-out windows that the reference was taken from.
    pub held_out: u32,
    /// Number of those windows that were unknown.
    pub held_out_unknown: u32,
    /// Mean and spread of each class.
    pub(crate) classes: &'a [u32],
}

/// The log-likelihood of the windows of one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ClassReference {
    /// Mean in nats, Q8, lowered by the possible error of its estimate.
    pub mean: i32,
    /// Standard deviation in nats, Q8, above zero.
    pub spread: u32,
}

impl<'a> DriftReference<'a> {
    /// The reference of a class; `None` if too few of its windows were held out.
    pub fn class(&self, class: usize) -> Option<ClassReference> {
        match self.classes.as_chunks().0.get(class) {
            Some([mean, spread]) if *spread > 0 => {
                Some(ClassReference { mean: mean.cast_signed(), spread: *spread })
            }
            _ => None,
        }
    }

    fn read(payload: &'a [u8], classes: usize) -> Result<Self, ModelError> {
        let count = format::DRIFT_WORDS + 2 * classes;
        let &[
            block,
            correlation,
            deviation_min,
            unknown_max,
            blocks_per_false_alarm,
            held_out,
            held_out_unknown,
            ref classes @ ..,
        ] = words(Section::Drift, payload, count)?
        else {
            return Err(length_error(Section::Drift, 4 * count, payload));
        };
        let deviation_min = deviation_min.cast_signed();
        let limit = -format::MAX_DEVIATION;
        for (field, valid) in [
            ("drift block", (1..=format::MAX_DRIFT_BLOCK).contains(&block)),
            ("drift correlation", (1..=block).contains(&correlation)),
            ("drift deviation", limit < deviation_min && deviation_min < 0),
            ("drift unknown windows", unknown_max <= block),
            ("drift false alarms", blocks_per_false_alarm > 0),
            ("drift held-out windows", held_out > 0 && held_out_unknown <= held_out),
        ] {
            if !valid {
                return Err(ModelError::OutOfRange { field, index: 0 });
            }
        }
        for (index, [mean, spread]) in classes.as_chunks().0.iter().enumerate() {
            // A class without a reference is all zeros.
            if *spread > format::MAX_SPREAD || (*spread == 0 && *mean != 0) {
                return Err(ModelError::OutOfRange { field: "drift reference", index });
            }
        }
        Ok(Self {
            block,
            correlation,
            deviation_min,
            unknown_max,
            blocks_per_false_alarm,
            held_out,
            held_out_unknown,
            classes,
        })
    }
}

/// The reference in the section, if there is one.
pub(super) fn check(
    payload: Option<&[u8]>,
    classes: usize,
) -> Result<Option<DriftReference<'_>>, ModelError> {
    payload.map(|payload| DriftReference::read(payload, classes)).transpose()
}
