//! The body of an i16 model: scaling and classifier.

use super::{Body, IntegerModel, Integers, raw};
use crate::integer::{
    IntegerClassifier, IntegerGate, IntegerPart, IntegerScaling, IntegerStatistics,
};

/// The part of a model file that the i16 encoding has of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntegerBody<'a> {
    /// The bits of an `f32`: nothing on the device computes with it.
    pub(super) counts_per_unit: u32,
    pub(super) scaling: IntegerScaling<'a>,
    pub(super) classifier: IntegerClassifier<'a>,
}

impl<'a> Body<'a> for IntegerBody<'a> {
    type Numbers = Integers;

    fn components(&self) -> usize {
        self.classifier.energies.len()
    }

    fn has_severity(&self) -> bool {
        false
    }

    fn counts_per_unit(&self) -> Option<f32> {
        Some(f32::from_bits(self.counts_per_unit))
    }

    fn gate_log_likelihood_min(&self) -> Option<i32> {
        self.classifier.gate.map(|gate| gate.log_likelihood_min)
    }

    fn log_likelihood_min(&self) -> i32 {
        self.classifier.log_likelihood_min
    }

    fn raw_feature(&self, place: usize, z: i32) -> (usize, i16) {
        let IntegerScaling { order, .. } = self.scaling;
        let feature = order.get(place).map_or(place, |feature| *feature as usize);
        (feature, raw::from_log2(self.raw_log2(place, z)))
    }

    fn decibels(&self, feature: usize, features: &[i32], statistics: &IntegerStatistics) -> u8 {
        let place = self.scaling.order.iter().position(|each| *each as usize == feature);
        let Some(place) = place else { return 0 };
        let z = features.get(place).copied().unwrap_or(0);
        raw::decibels_of_log2(self.raw_log2(place, z).saturating_add(statistics.level))
    }
}

impl IntegerBody<'_> {
    /// The standardised feature `z` at a place of the model's order, as log2 in Q16.
    fn raw_log2(&self, place: usize, z: i32) -> i32 {
        let shift = self.scaling.shift.get(place).copied().unwrap_or(0);
        let scale = self.scaling.scale.get(place).copied().unwrap_or(1);
        raw::raw_log2(z, shift, scale)
    }
}

impl<'a> IntegerModel<'a> {
    /// The model of a monitor that was not started.
    pub(crate) const VACANT: Self = Self::vacant(IntegerBody {
        counts_per_unit: 0,
        scaling: IntegerScaling { order: &[], shift: &[], scale: &[] },
        classifier: IntegerClassifier {
            energies: &[],
            parameters: &[],
            labels: &[],
            log_likelihood_min: 0,
            early_drop: 0,
            fraction_bits: 0,
            top: 0,
            gate: None,
        },
    });

    /// Counts that one unit of the recordings makes. The recordings became counts by this factor,
    /// and the sensor of the device should give the same.
    pub fn counts_per_unit(&self) -> f32 {
        f32::from_bits(self.body().counts_per_unit)
    }

    /// Order, shift and scale of each feature.
    pub fn scaling(&self) -> &IntegerScaling<'a> {
        &self.body().scaling
    }

    /// The numbers that turn features into a label.
    pub fn classifier(&self) -> &IntegerClassifier<'a> {
        &self.body().classifier
    }

    /// The gate, if the model has one.
    pub fn gate(&self) -> Option<IntegerGate<'a>> {
        self.classifier().gate(self.dims())
    }

    /// The mixture that tells the classes apart, if the model has one.
    pub fn classes_part(&self) -> Option<IntegerPart<'a>> {
        self.classifier().classes_part(self.dims())
    }

    /// Label table in Q15: a row of class probabilities per component.
    pub fn labels(&self) -> &'a [u16] {
        self.classifier().labels
    }

    /// Log-likelihood threshold, in nats Q8, of the components that are not the gate's. A window
    /// below it is unknown.
    pub fn log_likelihood_min(&self) -> i32 {
        self.classifier().log_likelihood_min
    }
}
