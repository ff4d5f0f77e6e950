//! The parts of a source that carry labels. They need no front end.

use super::Source;
use crate::mixture::LabelledMixture;

/// The parts of a source that carry labels to a target: a mixture, and the units that it is in.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// Mixture over the standardised features.
    pub mixture: &'a LabelledMixture,
    /// Subtracted from each feature.
    pub shift: &'a [f32],
    /// Multiplied with each feature after the shift.
    pub scale: &'a [f32],
    /// Index of the class for a healthy machine.
    pub healthy: Option<usize>,
}

impl Source {
    /// The parts that carry labels.
    pub fn parts(&self) -> Parts<'_> {
        let Self { mixture, shift, scale, healthy, .. } = self;
        Parts { mixture, shift, scale, healthy: *healthy }
    }
}
