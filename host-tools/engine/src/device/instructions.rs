//! Estimates the instructions that a model takes on each core.
//!
//! The counts come from `cargo xtask bench device` with the kernel in safe Rust. The formula is
//! linear in the parts of a model: samples, points of the FFT, features, components and classes.
//! The bench compares the formula with every row that it measures, and fails if a row is off by
//! more than [`TOLERANCE`]. Cycles are not counted: a core takes one to three cycles for an
//! instruction, and more if flash is slow.

use rebearing::IntegerModel;
use rebearing::Model;

/// Largest difference between a measured count and the estimate, as a share of the estimate.
pub const TOLERANCE: f64 = 0.1;

/// The encoding of a model's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Floats of 32 bits.
    F32,
    /// Integers of 16 bits.
    I16,
}

impl Encoding {
    /// Its name in the bench and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::I16 => "i16",
        }
    }
}

/// A core, and its instructions for the parts of the work for one window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Core {
    /// Its name in the bench.
    pub name: &'static str,
    /// The encoding of the models that these counts are for.
    pub encoding: Encoding,
    /// Instructions to push one sample in a block, with its share of mean, taper, statistics and
    /// band sums.
    sample: f64,
    /// Instructions of the FFT and the power of its bins, for each point and each factor of two in
    /// the number of points.
    fft: f64,
    /// Instructions for one feature: logarithm and standardisation.
    feature: f64,
    /// Instructions for a mixture, not counting its components.
    mixture: f64,
    /// Instructions for one component: exponential, division and the rest, not counting its
    /// features and classes.
    component: f64,
    /// Instructions for one feature of a component.
    component_feature: f64,
    /// Instructions for one class of a component.
    component_class: f64,
    /// Extra instructions for one component if early drop checks it and drops nothing. Zero for i16
    /// models: they always check, so the counts above include it.
    looked_at: f64,
    /// Extra instructions for one feature with early drop. Zero for i16 models, where the counts
    /// above include it.
    reordered: f64,
}

/// The cores and encodings that were counted.
pub const CORES: [Core; 6] = [
    Core {
        name: "cortex-m4f",
        encoding: Encoding::F32,
        sample: 30.8,
        fft: 3.13,
        feature: 59.4,
        mixture: 510.0,
        component: 64.1,
        component_feature: 5.1,
        component_class: 10.3,
        looked_at: 65.0,
        reordered: 14.0,
    },
    Core {
        name: "cortex-m33",
        encoding: Encoding::F32,
        sample: 30.8,
        fft: 3.13,
        feature: 59.4,
        mixture: 507.0,
        component: 62.9,
        component_feature: 5.1,
        component_class: 10.3,
        looked_at: 65.0,
        reordered: 14.0,
    },
    Core {
        name: "cortex-m0",
        encoding: Encoding::F32,
        sample: 1491.2,
        fft: 242.5,
        feature: 4045.0,
        mixture: 955.0,
        component: 3043.6,
        component_feature: 441.5,
        component_class: 144.0,
        looked_at: 621.0,
        reordered: 43.7,
    },
    Core {
        name: "cortex-m4f",
        encoding: Encoding::I16,
        sample: 82.5,
        fft: 7.7,
        feature: 88.0,
        mixture: 1034.0,
        component: 76.7,
        component_feature: 11.14,
        component_class: 9.6,
        looked_at: 0.0,
        reordered: 0.0,
    },
    Core {
        name: "cortex-m33",
        encoding: Encoding::I16,
        sample: 82.5,
        fft: 7.7,
        feature: 88.0,
        mixture: 1030.0,
        component: 78.7,
        component_feature: 11.14,
        component_class: 9.6,
        looked_at: 0.0,
        reordered: 0.0,
    },
    Core {
        name: "cortex-m0",
        encoding: Encoding::I16,
        sample: 125.0,
        fft: 11.6,
        feature: 226.0,
        mixture: 1960.0,
        component: 129.5,
        component_feature: 13.78,
        component_class: 21.5,
        looked_at: 0.0,
        reordered: 0.0,
    },
];

/// The properties of a model that the work for one window depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Number of segments in a window, of all axes together.
    pub segments: usize,
    /// Points of the FFT.
    pub points: usize,
    /// Number of features.
    pub dims: usize,
    /// Number of components of all mixtures together.
    pub components: usize,
    /// Number of classes.
    pub classes: usize,
    /// Whether the model has an early drop.
    pub leads: bool,
}

impl Shape {
    /// Returns the shape of an f32 model; `None` if it has features of shaft orders, which the
    /// bench does not measure.
    pub fn of(model: &Model<'_>) -> Option<Self> {
        let front_end = model.front_end();
        front_end.orders.is_none().then(|| Self {
            segments: front_end.axes * front_end.segments,
            points: front_end.fft_len,
            dims: model.dims(),
            components: model.components().len(),
            classes: model.classes(),
            leads: model.early_drop().is_some(),
        })
    }

    /// Returns the shape of an i16 model.
    pub fn of_integer(model: &IntegerModel<'_>) -> Self {
        let front_end = model.front_end();
        Self {
            segments: front_end.axes * front_end.segments,
            points: front_end.fft_len,
            dims: model.dims(),
            components: model.component_count(),
            classes: model.classes(),
            leads: true,
        }
    }
}

impl Core {
    /// Returns the cores for models in `encoding`.
    pub fn of(encoding: Encoding) -> impl Iterator<Item = Self> {
        CORES.into_iter().filter(move |core| core.encoding == encoding)
    }

    /// Instructions of one evaluation of a mixture in the worst case: every component has a share,
    /// and none is dropped.
    pub fn mixture(&self, shape: &Shape) -> f64 {
        let [components, dims, classes] =
            [shape.components, shape.dims, shape.classes].map(|count| count as f64);
        let each = self.component + dims * self.component_feature + classes * self.component_class;
        let dropping = components * self.looked_at + dims * self.reordered;
        self.mixture + components * each + if shape.leads { dropping } else { 0.0 }
    }

    /// Instructions for one window in the worst case.
    pub fn decision(&self, shape: &Shape) -> f64 {
        let points = shape.points as f64;
        let segment = points * (self.sample + self.fft * points.max(1.0).log2());
        let features = shape.dims as f64 * self.feature;
        shape.segments as f64 * segment + features + self.mixture(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::{CORES, Core, Encoding, Shape};

    const SMALL: Shape =
        Shape { segments: 1, points: 256, dims: 16, components: 4, classes: 3, leads: false };

    #[test]
    fn more_of_anything_takes_more() {
        let more = [
            Shape { segments: 2, ..SMALL },
            Shape { points: 512, ..SMALL },
            Shape { dims: 17, ..SMALL },
            Shape { components: 5, ..SMALL },
            Shape { classes: 4, ..SMALL },
        ];
        for core in CORES {
            for more in more {
                assert!(core.decision(&more) > core.decision(&SMALL), "{} {more:?}", core.name);
            }
        }
    }

    #[test]
    fn floats_without_a_unit_for_them_take_most_and_integers_least() {
        let on = |encoding, name| {
            let mut cores = Core::of(encoding).filter(|core| core.name == name);
            cores.next().unwrap().decision(&SMALL)
        };
        assert!(on(Encoding::F32, "cortex-m0") > 5.0 * on(Encoding::F32, "cortex-m4f"));
        assert!(on(Encoding::F32, "cortex-m0") > 5.0 * on(Encoding::I16, "cortex-m0"));
    }
}
