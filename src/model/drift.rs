//! The section `drft`: how a model's own machine looked to it, on windows that it was not fitted on.

use super::read::{length_error, words};
use super::{ModelError, Section, format};

/// What the [drift watch](crate::operation::DriftWatch) compares the device's windows with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DriftReference<'a> {
    /// Windows in a block.
    pub block: u32,
    /// Windows over which these may depend on one another; the limits allow for it.
    pub correlation: u32,
    /// Smallest mean deviation of a block's log-likelihoods that is no drift, in standard
    /// deviations Q8; below zero.
    pub deviation_min: i32,
    /// Most unknown windows of a block that are no drift.
    pub unknown_max: u32,
    /// At most one block in this many drifts where nothing has changed.
    pub blocks_per_false_alarm: u32,
    /// Windows that the values were taken from.
    pub held_out: u32,
    /// Those of them that were unknown.
    pub held_out_unknown: u32,
    /// Mean and spread of each class.
    pub(crate) classes: &'a [u32],
}

/// The log-likelihood of a class' windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ClassReference {
    /// Mean in nats, Q8, lowered by what its estimate may be off.
    pub mean: i32,
    /// Standard deviation in nats, Q8, above zero.
    pub spread: u32,
}

impl<'a> DriftReference<'a> {
    /// The reference of a class; `None` where too few windows of it were held out.
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
            // A class without a reference has one form only.
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
