//! Features to a label: gate, direction, mixture, posterior, as in the `f32` line.

use super::mixture::{self, Likelihood, MAX_FEATURE};
use super::model::{IntegerModel, IntegerPart};
use super::window::bits;
use crate::label::Label;

/// Fraction bits of a probability.
pub const PROBABILITY_FRACTION: u32 = 15;
/// Probability one.
pub const ONE: u16 = 1 << PROBABILITY_FRACTION;

/// What a decision window is called, and how well each mixture explains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntegerDiagnosis {
    /// The class, or what is unknown.
    pub label: Label,
    /// Log-likelihood under the gate in nats, Q8; `None` without one.
    pub gate_log_likelihood: Option<i32>,
    /// Log-likelihood under the other components in nats, Q8; `None` where they were not
    /// asked, because the window is healthy or there are none.
    pub log_likelihood: Option<i32>,
}

/// Evaluates `model` on the standardised features `z`.
///
/// Writes the responsibility of each component in Q30 and the probability of each class in
/// Q15; `x` is room for as many numbers as `z` has. Components that are not asked get zero. A
/// window that the gate calls healthy has the posterior one there; a fault in a model without
/// fault types has a posterior of zeros.
pub fn diagnose(
    model: &IntegerModel<'_>,
    z: &[i32],
    x: &mut [i16],
    responsibilities: &mut [u32],
    posterior: &mut [u16],
) -> IntegerDiagnosis {
    responsibilities.fill(0);
    posterior.fill(0);
    let gate = model.gate();
    let gate_components = gate.map_or(0, |gate| gate.part.len());
    let (gate_scores, scores) =
        responsibilities.split_at_mut_checked(gate_components).unwrap_or_default();
    let mut gate_log_likelihood = None;
    write_limited(z, x);
    if let Some(gate) = gate {
        let found = evaluate(&gate.part, x, gate_scores);
        gate_log_likelihood = Some(found.log_likelihood);
        if found.log_likelihood >= gate.log_likelihood_min {
            let healthy = model.healthy().unwrap_or(0);
            if let Some(p) = posterior.get_mut(healthy) {
                *p = ONE;
            }
            let label = Label::Class(healthy);
            return IntegerDiagnosis { label, gate_log_likelihood, log_likelihood: None };
        }
        if gate.direction {
            write_direction(z, x);
        }
    }
    let Some(part) = model.classes_part().filter(|_| !scores.is_empty()) else {
        let label = Label::UnknownFault;
        return IntegerDiagnosis { label, gate_log_likelihood, log_likelihood: None };
    };
    let found = evaluate(&part, x, scores);
    let labels = model.labels().get(gate_components * posterior.len()..).unwrap_or(&[]);
    let class = write_posterior(scores, labels, posterior);
    let label = if found.log_likelihood >= model.log_likelihood_min() {
        Label::Class(class)
    } else if gate.is_some() {
        Label::UnknownFault
    } else {
        Label::Unknown
    };
    IntegerDiagnosis { label, gate_log_likelihood, log_likelihood: Some(found.log_likelihood) }
}

/// Energies, weights and responsibilities of one mixture.
fn evaluate(part: &IntegerPart<'_>, x: &[i16], scores: &mut [u32]) -> Likelihood {
    mixture::energies_abandoning(part, x, scores);
    let found = mixture::weights(part, scores);
    normalise(scores, found.total);
    found
}

/// Divides weights in Q30 by their sum `total`, rounded down, in place.
///
/// By one division and a multiplication each: `total` is at least 2³⁰, as the largest weight is
/// one, and at most 2⁴², so that its reciprocal in Q60 has 18 to 30 bits.
pub fn normalise(weights: &mut [u32], total: u64) {
    let reciprocal = (1 << 60) / total.max(1 << 30);
    for weight in weights {
        // Most are zero and cost nothing.
        if *weight > 0 {
            *weight = ((u64::from(*weight) * reciprocal) >> 30) as u32;
        }
    }
}

/// Writes the posterior `Σ r(k)·ν(k, ·)` in Q15 and gives the class where it is largest, the
/// first of equals; `labels` holds a row of `posterior.len()` per component.
///
/// Bounds: responsibilities sum to at most 2³⁰ and labels are at most 2¹⁵.
pub fn write_posterior(responsibilities: &[u32], labels: &[u16], posterior: &mut [u16]) -> usize {
    let classes = posterior.len().max(1);
    let mut best = 0;
    let mut largest = 0;
    for (class, p) in posterior.iter_mut().enumerate() {
        let mut sum = 0_u64;
        for (r, row) in responsibilities.iter().zip(labels.chunks_exact(classes)) {
            // Most of both are zero, and a product of 64 bits is a call on a Cortex-M0.
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

/// Writes z with what is beyond ±16383 cut off: the host chose the unit so that such a window
/// is below every threshold that the model has.
pub fn write_limited(z: &[i32], x: &mut [i16]) {
    for (x, z) in x.iter_mut().zip(z) {
        *x = (*z).clamp(-MAX_FEATURE, MAX_FEATURE) as i16;
    }
}

/// Writes u = 16383·z/‖z‖: the direction √d·z/‖z‖ in units of √d/16383.
///
/// A `z` of zeros has no direction and gives zeros. Bounds: z is shifted to 15 bits, so that
/// squares are at most 2³⁰ and their sum over 768 dimensions below 2⁴⁰.
pub fn write_direction(z: &[i32], u: &mut [i16]) {
    let peak = z.iter().fold(0, |peak, z| peak | z.unsigned_abs());
    // Small vectors are brought up, large ones down, to 15 bits.
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
