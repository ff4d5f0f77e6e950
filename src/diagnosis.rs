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
/// Writes the responsibility of each component and the probability of each class; `direction`
/// is room for as many numbers as `z` has. Components that are not asked get zero. A window
/// that the gate calls healthy has the posterior one there; a fault in a model without fault
/// types has a posterior of zeros.
pub fn diagnose(
    model: &Model<'_>,
    z: &[f32],
    direction: &mut [f32],
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
    let mut x = z;
    let mut gate_log_likelihood = None;
    if let Some(gate) = gate {
        gate_mixture.log_densities(z, gate_scores);
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
        if gate.direction {
            write_direction(z, direction);
            x = direction;
        }
    }
    if scores.is_empty() {
        let label = Label::UnknownFault;
        return Diagnosis { label, gate_log_likelihood, log_likelihood: None };
    }
    types.log_densities(x, scores);
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

/// Writes u = √d·z/‖z‖, whose root mean square is one whatever the size of `z`.
///
/// A `z` of zero, or so small that its square is no normal number, has no direction and
/// gives zeros.
pub fn write_direction(z: &[f32], u: &mut [f32]) {
    let mut square = 0.0;
    for z in z {
        square += z * z;
    }
    // Two roots, because their quotient cannot overflow where that of the squares can.
    let root = math::sqrt(z.len() as f32);
    let factor = if square.is_normal() { root / math::sqrt(square) } else { 0.0 };
    for (u, z) in u.iter_mut().zip(z) {
        *u = z * factor;
    }
}

#[cfg(test)]
mod tests {
    use super::write_direction;

    #[test]
    fn size_goes_and_shape_stays() {
        let mut small = [0.0; 4];
        let mut large = [0.0; 4];
        write_direction(&[3e-9, 0.0, -4e-9, 0.0], &mut small);
        write_direction(&[3e9, 0.0, -4e9, 0.0], &mut large);
        for (u, exact) in [small, large].iter().flat_map(|u| u.iter().zip([1.2, 0.0, -1.6, 0.0])) {
            assert!((u - exact).abs() < 1e-6, "{u} {exact}");
        }
    }

    #[test]
    fn nothing_has_no_direction() {
        let mut u = [7.0; 3];
        write_direction(&[0.0; 3], &mut u);
        assert_eq!(u, [0.0; 3]);
        write_direction(&[1e-30, -1e-30, 0.0], &mut u);
        assert_eq!(u, [0.0; 3]);
        // The smallest square that counts.
        write_direction(&[1.1e-19, 0.0, 0.0], &mut u);
        assert!((u[0] - 3.0_f32.sqrt()).abs() < 1e-6, "{}", u[0]);
    }
}
