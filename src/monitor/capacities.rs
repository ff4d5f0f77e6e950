//! The capacities of a monitor's type: what a model may need at most.

use crate::acquisition::Sample;
use crate::integer::statistics::IntegerMoments;
use crate::model::{AnyModel, Body, Encoding, ModelError, Numbers, SampleUnit};
use crate::signal::statistics::Moments;

/// The samples that a monitor takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Samples {
    /// `f32`, in the unit of the model's recordings.
    Floats,
    /// `i16`, the sensor's counts.
    Counts,
}

impl Samples {
    /// The samples of type `S`.
    pub const fn of<S: Sample>() -> Self {
        if S::COUNTS { Self::Counts } else { Self::Floats }
    }

    const fn size(self) -> usize {
        match self {
            Self::Floats => 4,
            Self::Counts => 2,
        }
    }
}

/// The capacities of a monitor's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Capacities {
    /// Encoding of its models.
    pub encoding: Encoding,
    /// Its samples.
    pub samples: Samples,
    /// Most points of the FFT; in i16 encoding exactly so many.
    pub fft: usize,
    /// Axes, exactly.
    pub axes: usize,
    /// Most features.
    pub dims: usize,
    /// Most components.
    pub components: usize,
    /// Most classes.
    pub classes: usize,
}

impl Capacities {
    /// Checks that a monitor of this type can run `model`. The error names what does not fit.
    pub fn check<'m, B: Body<'m>>(&self, model: &AnyModel<'m, B>) -> Result<(), ModelError> {
        let found = B::Numbers::ENCODING;
        if found != self.encoding {
            return Err(ModelError::WrongEncoding { found });
        }
        let (front_end, exact) = (model.front_end(), self.encoding == Encoding::I16);
        for (what, needs, holds, exact) in [
            ("axes", front_end.axes, self.axes, true),
            ("FFT points", front_end.fft_len, self.fft, exact),
            ("features", model.dims(), self.dims, false),
            ("components", model.component_count(), self.components, false),
            ("classes", model.classes(), self.classes, false),
        ] {
            if needs > holds || (exact && needs != holds) {
                return Err(ModelError::DoesNotFit { what, needs, holds });
            }
        }
        self.check_unit(model)
    }

    /// Refuses an f32 model that measures in another unit than counts, if the samples are counts.
    ///
    /// Labels do not depend on the unit. Severity and the idle state do, and would be silently
    /// wrong.
    fn check_unit<'m, B: Body<'m>>(&self, model: &AnyModel<'m, B>) -> Result<(), ModelError> {
        let measures = model.body().has_severity() || model.alarm().idle.is_some();
        let in_counts = || model.unit().is_some_and(|unit| unit.name == SampleUnit::COUNTS);
        match (self.encoding, self.samples) {
            (Encoding::F32, Samples::Counts) if measures && !in_counts() => {
                Err(ModelError::NotInCounts)
            }
            _ => Ok(()),
        }
    }

    /// RAM of such a monitor on a 32-bit device, by the same sum as its fields.
    ///
    /// Both monitors assert at compile time, on 32-bit targets, that this is their size. Capacities
    /// that no device has, as a damaged descriptor may give them, count as 2²⁰, and axes as 16.
    pub const fn device_ram(&self) -> usize {
        // So that no sum or product overflows: 4·2²⁰·16 and the like stay below 2³².
        let Self { fft, axes, dims, components, .. } = *self;
        let [fft, dims, components] =
            [capped(fft, 1 << 20), capped(dims, 1 << 20), capped(components, 1 << 20)];
        let axes = capped(axes, 16);
        // Each buffer carries its length.
        let (state, stages) = match self.encoding {
            Encoding::F32 => {
                // With the sum that velocity is made of.
                let moments = (size_of::<Moments>() + 4) * axes;
                (204, 4 * fft + moments + (4 + 4 * dims))
            }
            Encoding::I16 => {
                let moments = (size_of::<IntegerMoments>() + size_of::<i32>()) * axes;
                let narrow = (4 + 2 * dims).next_multiple_of(4);
                // The sums of power want a multiple of eight bytes.
                (212, (4 * fft + moments + (8 + 8 * dims) + narrow).next_multiple_of(8))
            }
        };
        // State is the view of the model and the counters of segment and monitor.
        let segment = self.samples.size() * fft * axes;
        let ram = state + segment + stages + (4 + 4 * dims) + (4 + 4 * components);
        match self.encoding {
            Encoding::F32 => ram,
            Encoding::I16 => ram.next_multiple_of(8),
        }
    }
}

const fn capped(number: usize, most: usize) -> usize {
    if number < most { number } else { most }
}

/// Stops the compiler at a monitor that no model fits.
pub(super) const fn check_shape(fft: usize, axes: usize) {
    assert!(axes >= 1 && axes <= 3, "a sensor has one to three axes");
    assert!(fft.is_power_of_two() && fft >= 256 && fft <= 4096, "FFT is 256 to 4096 points");
}
