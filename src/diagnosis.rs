//! Standardised features to a label: gate, direction, mixture, posterior.
//!
//! With a gate the question is asked in two steps. The gate, a mixture of the healthy
//! machine, says healthy or not; only what is not healthy goes to the other components,
//! which tell the fault types apart. A fault of a new machine rarely has the size of the
//! source's, but often its shape, so these may look at the direction of the deviation from
//! healthy alone. Without a gate the one mixture tells all classes apart.

use crate::label::{self, Label};
use crate::model::Model;
use crate::{math, mixture};

/// What a decision window is called, and how well each mixture explains it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Diagnosis {
    /// The class, or what is unknown.
    pub label: Label,
    /// Log-likelihood under the gate; `None` without one.
    pub gate_log_likelihood: Option<f32>,
    /// Log-likelihood under the other components; `None` where they were not asked, because
    /// the window is healthy or there are none.
    pub log_likelihood: Option<f32>,
}

/// Evaluates `model` on the standardised features `z`.
///
/// Writes the responsibility of each component and the probability of each class; `room` is for
/// as many numbers as `z` has. Components that are not asked get zero. A window that the gate
/// calls healthy has the posterior one there; a fault in a model without fault types has a
/// posterior of zeros.
pub fn diagnose(
    model: &Model<'_>,
    z: &[f32],
    room: &mut [f32],
    responsibilities: &mut [f32],
    posterior: &mut [f32],
) -> Diagnosis {
    responsibilities.fill(0.0);
    posterior.fill(0.0);
    let gate = model.gate();
    let gate_components = gate.map_or(0, |gate| gate.components);
    let (gate_scores, scores) =
        responsibilities.split_at_mut_checked(gate_components).unwrap_or_default();
    let (gate_mixture, types) = model.mixture().split_at(gate_components);
    // What the components are evaluated at stands in `room` unless it is `z` itself.
    let lead = model.lead();
    if let Some(lead) = lead {
        mixture::reorder(z, lead.order, room);
    }
    let mut direction = false;
    let mut gate_log_likelihood = None;
    if let Some(gate) = gate {
        let x = if lead.is_some() { &*room } else { z };
        gate_mixture.log_densities(x, gate_scores);
        let log_likelihood = mixture::responsibilities(gate_scores);
        gate_log_likelihood = Some(log_likelihood);
        if log_likelihood >= gate.log_likelihood_min {
            let healthy = model.healthy().unwrap_or(0);
            if let Some(p) = posterior.get_mut(healthy) {
                *p = 1.0;
            }
            let label = Label::Class(healthy);
            return Diagnosis { label, gate_log_likelihood, log_likelihood: None };
        }
        direction = gate.direction;
    }
    if scores.is_empty() {
        let label = Label::UnknownFault;
        return Diagnosis { label, gate_log_likelihood, log_likelihood: None };
    }
    if direction {
        if lead.is_none() {
            for (x, z) in room.iter_mut().zip(z) {
                *x = *z;
            }
        }
        take_direction(room);
    }
    let x = if direction || lead.is_some() { &*room } else { z };
    match lead {
        Some(lead) => types.leading_log_densities(x, lead.features, scores),
        None => types.log_densities(x, scores),
    }
    let log_likelihood = mixture::responsibilities(scores);
    let labels = model.labels().get(gate_components * posterior.len()..).unwrap_or(&[]);
    label::posterior(scores, labels, posterior);
    let label = if log_likelihood >= model.log_likelihood_min() {
        Label::Class(label::map_class(posterior))
    } else if gate.is_some() {
        Label::UnknownFault
    } else {
        Label::Unknown
    };
    Diagnosis { label, gate_log_likelihood, log_likelihood: Some(log_likelihood) }
}

/// Turns `z` into u = √d·z/‖z‖, whose root mean square is one whatever the size of `z`.
///
/// A `z` of zero, or so small that its square is no normal number, has no direction and
/// gives zeros.
pub fn take_direction(z: &mut [f32]) {
    let mut square = 0.0;
    for z in z.iter() {
        square += z * z;
    }
    // Two roots, because their quotient cannot overflow where that of the squares can.
    let root = math::sqrt(z.len() as f32);
    let factor = if square.is_normal() { root / math::sqrt(square) } else { 0.0 };
    for z in z {
        *z *= factor;
    }
}

#[cfg(test)]
mod tests {
    use super::take_direction;

    #[test]
    fn size_goes_and_shape_stays() {
        for size in [1e-9, 1e9] {
            let mut u = [3.0 * size, 0.0, -4.0 * size, 0.0];
            take_direction(&mut u);
            for (u, exact) in u.iter().zip([1.2, 0.0, -1.6, 0.0]) {
                assert!((u - exact).abs() < 1e-6, "{u} {exact}");
            }
        }
    }

    #[test]
    fn nothing_has_no_direction() {
        for nothing in [[0.0; 3], [1e-30, -1e-30, 0.0]] {
            let mut u = nothing;
            take_direction(&mut u);
            assert_eq!(u, [0.0; 3]);
        }
        // The smallest square that counts.
        let mut u = [1.1e-19, 0.0, 0.0];
        take_direction(&mut u);
        assert!((u[0] - 3.0_f32.sqrt()).abs() < 1e-6, "{}", u[0]);
    }
}
