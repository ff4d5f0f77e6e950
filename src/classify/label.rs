//! The label of a window, the class posterior and the MAP class.

/// The label of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Label {
    /// The class with the largest posterior, as an index into the model's class names.
    Class(usize),
    /// The window's log-likelihood under the mixture is below the model's threshold. The recordings
    /// that the model was fitted from hold nothing like it.
    Unknown,
    /// The gate says that the machine is not healthy, but the model cannot name the fault. The
    /// fault is unlike any that the model was fitted from, or the model has no fault types.
    UnknownFault,
}

/// Writes the class posterior `Σ r(k) ν(k, ·)` over the components. `labels` holds a row of
/// `posterior.len()` numbers per component.
pub fn posterior(responsibilities: &[f32], labels: &[f32], posterior: &mut [f32]) {
    posterior.fill(0.0);
    // A chunk must not be empty. A model always has at least one class.
    let classes = posterior.len().max(1);
    for (r, row) in responsibilities.iter().zip(labels.chunks_exact(classes)) {
        // Most components have no share and would add only zeros.
        if *r == 0.0 {
            continue;
        }
        for (p, label) in posterior.iter_mut().zip(row) {
            *p += r * label;
        }
    }
}

/// Returns the index of the largest posterior; the lowest index if several are equal.
pub fn map_class(posterior: &[f32]) -> usize {
    let mut best = 0;
    let mut largest = f32::NEG_INFINITY;
    for (class, p) in posterior.iter().enumerate() {
        if *p > largest {
            largest = *p;
            best = class;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::{map_class, posterior};

    #[test]
    fn components_share_their_labels() {
        let mut p = [0.0; 3];
        posterior(&[0.25, 0.75], &[1.0, 0.0, 0.0, 0.0, 0.5, 0.5], &mut p);
        assert_eq!(p, [0.25, 0.375, 0.375]);
        assert_eq!(map_class(&p), 1, "a tie goes to the lower index");
    }
}
