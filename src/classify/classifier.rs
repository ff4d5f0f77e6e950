//! Standardised features to a label: gate, direction, mixture, posterior.
//!
//! With a gate there are two steps. The gate is a mixture of the healthy machine and says healthy
//! or not. Only windows that are not healthy go to the other components, which tell the fault
//! types apart. A fault of a new machine rarely has the size of the source's, but often its shape.
//! So these components may look only at the direction of the deviation from healthy. Without a
//! gate, one mixture tells all classes apart.

use super::label::{self, Label};
use super::mixture::{self, Mixture};
use crate::math;

/// The part of a model that tells healthy from faulty, before any fault type is considered.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Gate {
    /// Number of components of the gate. They come first in the model and are the mixture of the
    /// healthy machine.
    pub components: usize,
    /// A window with at least this log-likelihood under them is healthy.
    pub log_likelihood_min: f32,
    /// Whether the other components take the direction √d·z/‖z‖ of the standardised
    /// features z instead of z itself.
    pub direction: bool,
}

/// How a model leaves components out before all features are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct EarlyDrop<'a> {
    /// Number of features on which all components but the gate's are scored before any is dropped.
    pub features: usize,
    /// The feature at each place of the model's order.
    pub order: &'a [u32],
}

/// One diagonal Gaussian of the mixture, whitened.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Component<'a> {
    /// ln weight − ½·dims·ln 2π − Σ ln σ.
    pub constant: f32,
    /// 1/σ per feature, in the order of [`EarlyDrop`] if the model has one.
    pub scale: &'a [f32],
    /// −μ/σ per feature.
    pub offset: &'a [f32],
}

/// The numbers that turn features into a label, as they lie in the model file.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Classifier<'a> {
    /// The constant of each component; those of the gate come first.
    pub constants: &'a [f32],
    /// Per component: `dims` scales, then `dims` offsets.
    pub whitening: &'a [f32],
    /// A row of class probabilities per component.
    pub labels: &'a [f32],
    /// A window with a log-likelihood below this is unknown.
    pub log_likelihood_min: f32,
    /// The gate, if the model has one.
    pub gate: Option<Gate>,
    /// The early drop, if the model has one.
    pub early_drop: Option<EarlyDrop<'a>>,
}

/// The label of a window, and how well each mixture explains it in log-likelihoods of type `L`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AnyClassified<L> {
    /// The class, or what is unknown.
    pub label: Label,
    /// Log-likelihood under the gate, in nats (Q8 in integers); `None` without a gate.
    pub gate_log_likelihood: Option<L>,
    /// Log-likelihood under the other components, in nats (Q8 in integers). `None` if the gate
    /// called the window healthy or there are no other components.
    pub log_likelihood: Option<L>,
}

/// The label of a window and its log-likelihoods in floats.
pub type Classified = AnyClassified<f32>;

/// Classifies a window by its standardised features `z`.
///
/// Writes the responsibility of each component and the probability of each class. `room` holds as
/// many numbers as `z`. Components that are not evaluated get zero. If the gate calls the window
/// healthy, the class `healthy` gets probability one. A fault in a model without fault types has a
/// posterior of zeros.
pub fn classify(
    classifier: &Classifier<'_>,
    healthy: usize,
    z: &[f32],
    room: &mut [f32],
    responsibilities: &mut [f32],
    posterior: &mut [f32],
) -> Classified {
    responsibilities.fill(0.0);
    posterior.fill(0.0);
    let gate = classifier.gate;
    let gate_components = gate.map_or(0, |gate| gate.components);
    let (gate_scores, scores) =
        responsibilities.split_at_mut_checked(gate_components).unwrap_or_default();
    let (gate_mixture, types) =
        Mixture::new(classifier.constants, classifier.whitening, z.len()).split_at(gate_components);
    // `room` holds the point where components are evaluated, unless that is `z` itself.
    let early_drop = classifier.early_drop;
    if let Some(early_drop) = early_drop {
        mixture::reorder(z, early_drop.order, room);
    }
    let mut direction = false;
    let mut gate_log_likelihood = None;
    if let Some(gate) = gate {
        let x = if early_drop.is_some() { &*room } else { z };
        gate_mixture.log_densities(x, gate_scores);
        let log_likelihood = mixture::responsibilities(gate_scores);
        gate_log_likelihood = Some(log_likelihood);
        if log_likelihood >= gate.log_likelihood_min {
            if let Some(p) = posterior.get_mut(healthy) {
                *p = 1.0;
            }
            let label = Label::Class(healthy);
            return Classified { label, gate_log_likelihood, log_likelihood: None };
        }
        direction = gate.direction;
    }
    if scores.is_empty() {
        let label = Label::UnknownFault;
        return Classified { label, gate_log_likelihood, log_likelihood: None };
    }
    if direction {
        if early_drop.is_none() {
            for (x, z) in room.iter_mut().zip(z) {
                *x = *z;
            }
        }
        take_direction(room);
    }
    let x = if direction || early_drop.is_some() { &*room } else { z };
    match early_drop {
        Some(early_drop) => types.log_densities_with_early_drop(x, early_drop.features, scores),
        None => types.log_densities(x, scores),
    }
    let log_likelihood = mixture::responsibilities(scores);
    let labels = classifier.labels.get(gate_components * posterior.len()..).unwrap_or(&[]);
    label::posterior(scores, labels, posterior);
    let label = if log_likelihood >= classifier.log_likelihood_min {
        Label::Class(label::map_class(posterior))
    } else if gate.is_some() {
        Label::UnknownFault
    } else {
        Label::Unknown
    };
    Classified { label, gate_log_likelihood, log_likelihood: Some(log_likelihood) }
}

/// Turns `z` into its direction u = √d·z/‖z‖. The root mean square of u is one, whatever the size
/// of `z`.
///
/// If `z` is zero, or so small that its square is not a normal number, it has no direction and
/// becomes zeros.
pub fn take_direction(z: &mut [f32]) {
    let mut square = 0.0;
    for z in z.iter() {
        square += z * z;
    }
    // Two roots: their quotient cannot overflow, but the quotient of the squares can.
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
