//! What a model takes on each core, estimated from instruction counts.
//!
//! The counts are those of `cargo xtask bench device`, of the kernel in safe Rust, and the formula
//! is linear in what a model has: samples, points of the FFT, features, components and classes.
//! A test compares rows of the bench with the formula and fails if one is further off than
//! [`TOLERANCE`]. Cycles are not counted: a core takes one to three of them for an instruction,
//! and more where flash is slow.

use rebearing::Model;

/// How far a measured count may be from the estimate, as a share of it.
pub const TOLERANCE: f64 = 0.2;

/// A core, and its instructions for the parts of a decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Core {
    /// The name that the bench gives it.
    pub name: &'static str,
    /// Pushing a sample, its share of mean, taper and statistics, and of the band sums.
    sample: f64,
    /// The FFT, for a point and each power of two in their number.
    fft: f64,
    /// A feature: logarithm and standardisation.
    feature: f64,
    /// A component: exponential, division and the rest beside its features and classes.
    component: f64,
    /// A component's feature.
    component_feature: f64,
    /// A component's class.
    component_class: f64,
}

/// The cores that there are counts of.
pub const CORES: [Core; 1] = [Core {
    name: "cortex-m4f",
    sample: 64.7,
    fft: 4.8,
    feature: 60.0,
    component: 118.0,
    component_feature: 4.9,
    component_class: 6.0,
}];

impl Core {
    /// Instructions of one evaluation of a mixture at worst: every component has a share.
    pub fn mixture(&self, components: usize, dims: usize, classes: usize) -> f64 {
        let features = dims as f64 * self.component_feature;
        components as f64 * (features + self.component + classes as f64 * self.component_class)
    }

    /// Instructions of one segment of `points` samples of one axis.
    pub fn segment(&self, points: usize) -> f64 {
        points as f64 * (self.sample + self.fft * f64::from(points.max(1).ilog2()))
    }

    /// Instructions of a decision at worst; `None` for a model with features of shaft orders,
    /// which the bench does not measure.
    pub fn decision(&self, model: &Model<'_>) -> Option<f64> {
        let front_end = model.front_end();
        if front_end.orders.is_some() {
            return None;
        }
        let segments = (front_end.axes * front_end.segments) as f64;
        let mixture = self.mixture(model.components().len(), model.dims(), model.classes());
        // Dropping components early takes a quarter more at worst (`crate::lead`).
        let mixture = if model.lead().is_some() { 1.25 * mixture } else { mixture };
        let features = self.feature * model.dims() as f64;
        Some(segments * self.segment(front_end.fft_len) + features + mixture)
    }
}

#[cfg(test)]
mod tests {
    use super::{CORES, TOLERANCE};

    /// Rows of `cargo xtask bench device`: the safe kernel on the Cortex-M4F, five classes.
    #[test]
    fn the_formula_is_near_what_was_measured() {
        let measured = [
            (10, 16, 2481.0),
            (20, 32, 6067.0),
            (40, 64, 18_280.0),
            (40, 128, 31_160.0),
            (100, 128, 77_435.0),
            (10, 1024, 53_920.0),
        ];
        for (components, dims, instructions) in measured {
            let estimate = CORES[0].mixture(components, dims, 5);
            let off = (instructions - estimate) / estimate;
            assert!(off.abs() < TOLERANCE, "{components}, {dims}: {estimate} {instructions}");
        }
        // The whole of a window of 2048 samples with 32 features and 40 components.
        let whole = CORES[0].segment(2048) + 32.0 * CORES[0].feature + CORES[0].mixture(40, 32, 5);
        assert!(((243_000.0 - whole) / whole).abs() < TOLERANCE, "{whole}");
    }
}
