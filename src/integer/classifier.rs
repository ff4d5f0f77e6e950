//! Features to a label: gate, direction, mixture, posterior, as in the `f32` line.

use super::mixture::{self, Likelihood, MAX_FEATURE};
use super::part::{IntegerPart, padded};
use super::taper::bits;
use crate::classify::{AnyClassified, Label};

/// Fraction bits of a probability.
pub(crate) const PROBABILITY_FRACTION: u32 = 15;
/// Probability one.
pub const ONE: u16 = 1 << PROBABILITY_FRACTION;

/// The gate's numbers in an i16 model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct GateSettings {
    /// Number of components of the gate. They come first in the model and are the mixture of the
    /// healthy machine.
    pub components: usize,
    /// Fraction bits of the gate's energies.
    pub fraction_bits: u8,
    /// Largest log density of any gate component, in units of energies.
    pub top: i32,
    /// A window with at least this log-likelihood, in nats Q8, is healthy.
    pub log_likelihood_min: i32,
    /// Whether the other components take the direction of the features.
    pub direction: bool,
}

/// The numbers that turn features into a label, as they lie in the model file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntegerClassifier<'a> {
    /// Energy of each component at its mean; those of the gate come first.
    pub energies: &'a [u32],
    /// Per component: means, then scales, each padded to a whole number of words.
    pub parameters: &'a [i16],
    /// A row of class probabilities in Q15 per component.
    pub labels: &'a [u16],
    /// A window with a log-likelihood below this, in nats Q8, is unknown.
    pub log_likelihood_min: i32,
    /// Number of features on which all components are scored before any is dropped; zero drops
    /// none.
    pub early_drop: usize,
    /// Fraction bits of energies, which are logarithms to base 2.
    pub fraction_bits: u32,
    /// Largest log density of any component, at its mean, in units of energies.
    pub top: i32,
    /// The gate, if the model has one.
    pub gate: Option<GateSettings>,
}

/// The part of a model that says healthy or not.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntegerGate<'a> {
    /// The mixture of the healthy machine.
    pub part: IntegerPart<'a>,
    /// A window with at least this log-likelihood, in nats Q8, is healthy.
    pub log_likelihood_min: i32,
    /// Whether the other components take the direction of the features.
    pub direction: bool,
}

impl<'a> IntegerClassifier<'a> {
    /// The gate for `dims` features, if the model has one.
    pub fn gate(&self, dims: usize) -> Option<IntegerGate<'a>> {
        self.gate.map(|gate| IntegerGate {
            part: IntegerPart {
                fraction_bits: u32::from(gate.fraction_bits),
                top: gate.top,
                ..self.parts(dims).0
            },
            log_likelihood_min: gate.log_likelihood_min,
            direction: gate.direction,
        })
    }

    /// The mixture of `dims` features that tells the classes apart, if the model has one.
    pub fn classes_part(&self, dims: usize) -> Option<IntegerPart<'a>> {
        Some(self.parts(dims).1).filter(|part| !part.is_empty())
    }

    /// Returns the components of the gate, and the others.
    fn parts(&self, dims: usize) -> (IntegerPart<'a>, IntegerPart<'a>) {
        let split = self.gate.map_or(0, |gate| gate.components);
        let row = 2 * padded(dims);
        let energies = self.energies.split_at_checked(split).unwrap_or((&[], &[]));
        let parameters = self.parameters.split_at_checked(split * row).unwrap_or((&[], &[]));
        let part = |energies, parameters| IntegerPart {
            energies,
            parameters,
            dims,
            early_drop: self.early_drop,
            fraction_bits: self.fraction_bits,
            top: self.top,
        };
        (part(energies.0, parameters.0), part(energies.1, parameters.1))
    }
}

/// The label of a window and its log-likelihoods in nats Q8.
pub type IntegerClassified = AnyClassified<i32>;

/// Classifies a window by its standardised features `z`.
///
/// Writes the responsibility of each component in Q30 and the probability of each class in Q15. `x`
/// has room for as many numbers as `z`. Components that are not evaluated get zero. If the gate
/// calls the window healthy, the class `healthy` gets probability one. A fault in a model without
/// fault types has a posterior of zeros.
pub fn classify(
    classifier: &IntegerClassifier<'_>,
    healthy: usize,
    z: &[i32],
    x: &mut [i16],
    responsibilities: &mut [u32],
    posterior: &mut [u16],
) -> IntegerClassified {
    responsibilities.fill(0);
    posterior.fill(0);
    let gate = classifier.gate(z.len());
    let gate_components = gate.map_or(0, |gate| gate.part.len());
    let (gate_scores, scores) =
        responsibilities.split_at_mut_checked(gate_components).unwrap_or_default();
    let mut gate_log_likelihood = None;
    write_limited(z, x);
    if let Some(gate) = gate {
        let found = evaluate(&gate.part, x, gate_scores);
        gate_log_likelihood = Some(found.log_likelihood);
        if found.log_likelihood >= gate.log_likelihood_min {
            if let Some(p) = posterior.get_mut(healthy) {
                *p = ONE;
            }
            let label = Label::Class(healthy);
            return IntegerClassified { label, gate_log_likelihood, log_likelihood: None };
        }
        if gate.direction {
            write_direction(z, x);
        }
    }
    let Some(part) = classifier.classes_part(z.len()).filter(|_| !scores.is_empty()) else {
        let label = Label::UnknownFault;
        return IntegerClassified { label, gate_log_likelihood, log_likelihood: None };
    };
    let found = evaluate(&part, x, scores);
    let labels = classifier.labels.get(gate_components * posterior.len()..).unwrap_or(&[]);
    let class = write_posterior(scores, labels, posterior);
    let label = if found.log_likelihood >= classifier.log_likelihood_min {
        Label::Class(class)
    } else if gate.is_some() {
        Label::UnknownFault
    } else {
        Label::Unknown
    };
    IntegerClassified { label, gate_log_likelihood, log_likelihood: Some(found.log_likelihood) }
}

/// Evaluates one mixture: energies, weights, responsibilities.
fn evaluate(part: &IntegerPart<'_>, x: &[i16], scores: &mut [u32]) -> Likelihood {
    mixture::energies_with_early_drop(part, x, scores);
    let found = mixture::weights(part, scores);
    normalise(scores, found.total);
    found
}

/// Divides weights in Q30 by their sum `total`, rounded down, in place.
///
/// This takes one division, and one multiplication per weight. `total` is at least 2³⁰, because the
/// largest weight is one, and at most 2⁴². So its reciprocal in Q60 has 18 to 30 bits.
pub fn normalise(weights: &mut [u32], total: u64) {
    let reciprocal = (1 << 60) / total.max(1 << 30);
    for weight in weights {
        // Most are zero and cost nothing.
        if *weight > 0 {
            *weight = ((u64::from(*weight) * reciprocal) >> 30) as u32;
        }
    }
}

/// Writes the posterior `Σ r(k)·ν(k, ·)` in Q15 and returns the class with the largest one; the
/// first if several are equal.
///
/// `labels` holds a row of `posterior.len()` numbers per component. Bounds: responsibilities sum to
/// at most 2³⁰ and labels are at most 2¹⁵.
pub fn write_posterior(responsibilities: &[u32], labels: &[u16], posterior: &mut [u16]) -> usize {
    let classes = posterior.len().max(1);
    let mut best = 0;
    let mut largest = 0;
    for (class, p) in posterior.iter_mut().enumerate() {
        let mut sum = 0_u64;
        for (r, row) in responsibilities.iter().zip(labels.chunks_exact(classes)) {
            // Most responsibilities and labels are zero, and a 64-bit product is a call on a
            // Cortex-M0.
            match row.get(class) {
                Some(label) if *r > 0 && *label > 0 => sum += u64::from(*r) * u64::from(*label),
                _ => (),
            }
        }
        if sum > largest {
            largest = sum;
            best = class;
        }
        *p = ((sum + (1 << 29)) >> 30) as u16;
    }
    best
}

/// Writes z, limited to ±16383. The host chose the unit so that a window beyond this is below every
/// threshold of the model.
pub fn write_limited(z: &[i32], x: &mut [i16]) {
    for (x, z) in x.iter_mut().zip(z) {
        *x = (*z).clamp(-MAX_FEATURE, MAX_FEATURE) as i16;
    }
}

/// Writes u = 16383·z/‖z‖: the direction √d·z/‖z‖ in units of √d/16383.
///
/// A `z` of zeros has no direction and gives zeros. Bounds: z is shifted to 15 bits, so squares are
/// at most 2³⁰ and their sum over 768 dimensions is below 2⁴⁰.
pub fn write_direction(z: &[i32], u: &mut [i16]) {
    let peak = z.iter().fold(0, |peak, z| peak | z.unsigned_abs());
    // Small vectors are shifted up to 15 bits, large ones down.
    let left = 15_u32.saturating_sub(bits(peak));
    let right = bits(peak).saturating_sub(15);
    let normal = |z: i32| (z << left) >> right;
    let mut square = 0_u64;
    for z in z {
        square += u64::from(normal(*z).unsigned_abs().pow(2));
    }
    // ‖z‖ in Q8, at least 2²²; the factor is below 2²⁷.
    let norm = (square << 16).isqrt();
    let factor = ((MAX_FEATURE as u64) << 32).checked_div(norm).unwrap_or(0);
    for (u, z) in u.iter_mut().zip(z) {
        let product = i64::from(normal(*z)) * factor.cast_signed();
        *u = ((product + (1 << 23)) >> 24) as i16;
    }
}
