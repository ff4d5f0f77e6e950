//! The body of an f32 model: scaling, classifier, severity.

use super::raw;
use super::read_severity::{self, SeverityNumbers};
use super::{Body, Floats, Model};
use crate::classify::{Classifier, Component, EarlyDrop, Gate, Mixture};
use crate::signal::{SeverityParameters, Statistics};

/// The part of a model file that the f32 encoding has of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FloatBody<'a> {
    pub(super) shift: &'a [f32],
    pub(super) scale: &'a [f32],
    pub(super) classifier: Classifier<'a>,
    pub(super) severity: Option<&'a SeverityNumbers>,
}

impl<'a> Body<'a> for FloatBody<'a> {
    type Numbers = Floats;

    fn components(&self) -> usize {
        self.classifier.constants.len()
    }

    fn has_severity(&self) -> bool {
        self.severity.is_some()
    }

    fn counts_per_unit(&self) -> Option<f32> {
        None
    }

    fn gate_log_likelihood_min(&self) -> Option<f32> {
        self.classifier.gate.map(|gate| gate.log_likelihood_min)
    }

    fn log_likelihood_min(&self) -> f32 {
        self.classifier.log_likelihood_min
    }

    fn raw_feature(&self, place: usize, z: f32) -> (usize, i16) {
        let shift = self.shift.get(place).copied().unwrap_or(0.0);
        let scale = self.scale.get(place).copied().unwrap_or(1.0);
        // The standardisation undone, to a few units in the last place of an f32.
        (place, raw::from_nats(z / scale + shift))
    }

    fn decibels(&self, feature: usize, features: &[f32], statistics: &Statistics) -> u8 {
        let at = |numbers: &[f32]| numbers.get(feature).copied().unwrap_or(1.0);
        // The standardisation undone.
        let ln = at(features) / at(self.scale) + at(self.shift) + statistics.level;
        raw::decibels_of_ln(ln)
    }
}

impl<'a> Model<'a> {
    /// The model of a monitor that was not started.
    pub(crate) const VACANT: Self = Self::vacant(FloatBody {
        shift: &[],
        scale: &[],
        classifier: Classifier {
            constants: &[],
            whitening: &[],
            labels: &[],
            log_likelihood_min: 0.0,
            gate: None,
            early_drop: None,
        },
        severity: None,
    });

    /// Subtracted from each feature.
    pub fn shift(&self) -> &'a [f32] {
        self.body().shift
    }

    /// Multiplied with each feature after the shift.
    pub fn scale(&self) -> &'a [f32] {
        self.body().scale
    }

    /// The gate, if the model has one.
    pub fn gate(&self) -> Option<Gate> {
        self.body().classifier.gate
    }

    /// The early drop, if the model has one. The components then have their features in its order.
    pub fn early_drop(&self) -> Option<EarlyDrop<'a>> {
        self.body().classifier.early_drop
    }

    /// Components in file order: those of the gate, then those that tell classes apart.
    pub fn components(&self) -> impl ExactSizeIterator<Item = Component<'a>> + use<'a> {
        let (dims, classifier) = (self.dims(), self.body().classifier);
        let rows = classifier.whitening.chunks_exact((2 * dims).max(1));
        classifier.constants.iter().zip(rows).map(move |(constant, whitening)| {
            let (scale, offset) = whitening.split_at_checked(dims).unwrap_or((&[], &[]));
            Component { constant: *constant, scale, offset }
        })
    }

    /// All components as one mixture, in file order.
    pub fn mixture(&self) -> Mixture<'a> {
        let Classifier { constants, whitening, .. } = self.body().classifier;
        Mixture::new(constants, whitening, self.dims())
    }

    /// The numbers that turn features into a label.
    pub fn classifier(&self) -> &Classifier<'a> {
        &self.body().classifier
    }

    /// Label table: a row of class probabilities per component.
    pub fn labels(&self) -> &'a [f32] {
        self.body().classifier.labels
    }

    /// Log-likelihood threshold of the components that are not the gate's. A window below it is
    /// [`Label::UnknownFault`](crate::Label) behind a gate and [`Label::Unknown`](crate::Label)
    /// without one.
    pub fn log_likelihood_min(&self) -> f32 {
        self.body().classifier.log_likelihood_min
    }

    /// How severity is measured, if the model says so.
    pub fn severity(&self) -> Option<SeverityParameters> {
        self.body().severity.map(read_severity::parameters)
    }
}
