//! What a window is called, class posterior and MAP class.

/// What a window is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Label {
    /// The class with the largest posterior, as an index into the model's class names.
    Class(usize),
    /// The mixture explains the window worse than the model's log-likelihood threshold:
    /// nothing like it was in the recordings that the model was fitted from.
    Unknown,
    /// The gate says that the machine is not healthy, and the model cannot say what it has:
    /// the fault is like none that the model was fitted from, or the model has no fault types.
    UnknownFault,
}

/// Class posterior `Σ r(k) ν(k, ·)` over the components: `labels` holds a row of `posterior.len()` per component.
pub fn posterior(responsibilities: &[f32], labels: &[f32], posterior: &mut [f32]) {
    posterior.fill(0.0);
    // A row of no classes would make chunks of nothing; the model always has one.
    let classes = posterior.len().max(1);
    for (r, row) in responsibilities.iter().zip(labels.chunks_exact(classes)) {
        // Most components have no share, and would add zeros.
        if *r == 0.0 {
            continue;
        }
        for (p, label) in posterior.iter_mut().zip(row) {
            *p += r * label;
        }
    }
}

/// Index of the largest posterior; the lowest index where several are equal.
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
