//! What a model takes on each core, estimated from instruction counts.
//!
//! The counts are those of `cargo xtask bench device` with the kernel in safe Rust, and the formula
//! is linear in what a model has: samples, points of the FFT, features, components and classes. The
//! bench compares it with every row that it measures, and fails if one is further off than
//! [`TOLERANCE`]. Cycles are not counted: a core takes one to three of them for an instruction, and
//! more where flash is slow.

use rebearing::IntegerModel;
use rebearing::Model;

/// How far a measured count may be from the estimate, as a share of it.
pub const TOLERANCE: f64 = 0.1;

/// How a model's numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Floats of 32 bits.
    F32,
    /// Integers of 16 bits.
    I16,
}

impl Encoding {
    /// The name that the bench and the command line give it.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::I16 => "i16",
        }
    }
}

/// A core, and its instructions for the parts of a decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Core {
    /// The name that the bench gives it.
    pub name: &'static str,
    /// The models that this is about.
    pub encoding: Encoding,
    /// Pushing a sample in a block, its share of mean, taper and statistics, and of the band sums.
    sample: f64,
    /// The FFT and the power of its bins, for a point and each power of two in their number.
    fft: f64,
    /// A feature: logarithm and standardisation.
    feature: f64,
    /// A mixture, beside its components.
    mixture: f64,
    /// A component: exponential, division and the rest beside its features and classes.
    component: f64,
    /// A component's feature.
    component_feature: f64,
    /// A component's class.
    component_class: f64,
    /// What looking for components to drop, and dropping none, adds for a component
    looked_at: f64,
    /// and for a feature; in an i16 model, which always looks, part of the above.
    reordered: f64,
}

/// The cores that there are counts of, and the encodings.
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

/// What of a model the work for a decision depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Segments of a decision, those of all axes together.
    pub segments: usize,
    /// Points of the FFT.
    pub points: usize,
    /// Features.
    pub dims: usize,
    /// Components of all mixtures together.
    pub components: usize,
    /// Classes.
    pub classes: usize,
    /// Whether the model drops components by its leading features.
    pub leads: bool,
}

impl Shape {
    /// Of an f32 model; `None` for one with features of shaft orders, which the bench does not
    /// measure.
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

    /// Of an i16 model.
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
    /// The cores for models in `encoding`.
    pub fn of(encoding: Encoding) -> impl Iterator<Item = Self> {
        CORES.into_iter().filter(move |core| core.encoding == encoding)
    }

    /// Instructions of one evaluation of a mixture at worst: every component has a share, and none
    /// is dropped.
    pub fn mixture(&self, shape: &Shape) -> f64 {
        let [components, dims, classes] =
            [shape.components, shape.dims, shape.classes].map(|count| count as f64);
        let each = self.component + dims * self.component_feature + classes * self.component_class;
        let dropping = components * self.looked_at + dims * self.reordered;
        self.mixture + components * each + if shape.leads { dropping } else { 0.0 }
    }

    /// Instructions of a decision at worst.
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
