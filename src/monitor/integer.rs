//! The stages of i16 models.

use heapless::Vec;

use super::line::{Line, Measured, Stages, set_length};
use crate::acquisition::SensorFault;
use crate::integer::features::{level_offset, log_bands, standardise};
use crate::integer::spectrum::NO_POWER;
use crate::integer::statistics::IntegerMoments;
use crate::integer::{IntegerClassified, add_segment, classify};
use crate::model::{IntegerModel, Integers};
use crate::signal::{Segment, ShaftSpeedError};

/// Takes counts and finds a label for each window, in fixed memory and without a floating-point
/// operation: [`Monitor`](crate::Monitor) for i16 models.
///
/// `FFT` and `AXES` must be the model's; features, components and classes are capacities.
/// [`monitor!`](crate::monitor!) gives them names, and `rebearing inspect` prints the smallest type
/// for a model. The methods are those of [`AnyMonitor`](super::AnyMonitor).
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1-i16.rbm") } }
/// use rebearing::{AnyMonitor, IntegerModel, IntegerMonitor, include_model};
///
/// let model = IntegerModel::parse(include_model!(path!()))?;
/// let mut monitor = IntegerMonitor::<256, 1, 4, 4, 3>::new(model)?;
/// # let mut findings = 0;
/// for n in 0..2000_i32 {
///     // Counts, as they come from the sensor.
///     if let Some(finding) = monitor.push([(n * 7919 % 1000) as i16]) {
///         println!("{:?}", finding.result);
///         # findings += 1;
///     }
/// }
/// # assert!(findings > 0);
/// # Ok::<(), rebearing::ModelError>(())
/// ```
pub type IntegerMonitor<
    'm,
    const FFT: usize,
    const AXES: usize,
    const DIMS: usize,
    const COMPONENTS: usize,
    const CLASSES: usize,
> = Line<'m, i16, IntegerStages<FFT, AXES, DIMS>, FFT, AXES, DIMS, COMPONENTS, CLASSES>;

/// The memory of the stages in integers.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntegerStages<const FFT: usize, const AXES: usize, const DIMS: usize> {
    scratch: [i32; FFT],
    band_sums: Vec<u64, DIMS>,
    exponents: [i32; AXES],
    /// The features as the mixture takes them: limited, or their direction.
    x: Vec<i16, DIMS>,
    moments: [IntegerMoments; AXES],
}

impl<const FFT: usize, const AXES: usize, const DIMS: usize> Stages<i16, FFT, AXES>
    for IntegerStages<FFT, AXES, DIMS>
{
    type Numbers = Integers;
    const VACANT: Self = Self {
        scratch: [0; FFT],
        band_sums: Vec::new(),
        exponents: [0; AXES],
        x: Vec::new(),
        moments: [IntegerMoments::ZERO; AXES],
    };

    fn vacant_model<'m>() -> &'m IntegerModel<'m> {
        &IntegerModel::VACANT
    }

    fn start(&mut self, model: &IntegerModel<'_>) {
        set_length(&mut self.band_sums, model.dims());
        set_length(&mut self.x, model.dims());
    }

    /// No feature of an i16 model depends on the speed, and looking at it would take floating point.
    fn set_shaft_speed(&mut self, _: &IntegerModel<'_>, _: f32) -> Result<(), ShaftSpeedError> {
        Ok(())
    }

    /// Adds band power and moments of the full segment to those of each axis.
    fn add_segment(
        &mut self,
        model: &IntegerModel<'_>,
        segment: &Segment<i16, FFT, AXES>,
        fresh: usize,
    ) -> Result<(), SensorFault> {
        let front_end = model.front_end();
        let axes = self.band_sums.chunks_exact_mut(front_end.bands().max(1));
        let axes = axes.zip(&mut self.exponents).zip(&mut self.moments);
        for (axis, ((sums, exponent), moments)) in axes.enumerate() {
            let edges = front_end.band_edges;
            let mean = add_segment(segment, axis, edges, &mut self.scratch, sums, exponent)?;
            moments.add(segment.newest_raw(axis, fresh), mean);
        }
        Ok(())
    }

    fn features(
        &mut self,
        model: &IntegerModel<'_>,
        features: &mut [i32],
    ) -> Result<Measured<Integers, AXES>, SensorFault> {
        let front_end = model.front_end();
        let bands = front_end.bands().max(1);
        let offset = level_offset(front_end.fft_len, front_end.segments);
        let mut statistics = [IntegerMoments::EMPTY.statistics(0); AXES];
        // The FFT's memory is free now, and holds the features before they are put in order.
        let logs = self.scratch.get_mut(..model.dims()).unwrap_or_default();
        let axes = self.band_sums.chunks_exact(bands).zip(logs.chunks_exact_mut(bands));
        let axes = axes.zip(&self.exponents).zip(&self.moments).zip(&mut statistics);
        for ((((sums, logs), exponent), moments), statistics) in axes {
            let mean = log_bands(sums, logs)?;
            // An exponent lies in −100…100, far inside Q16.
            *statistics = moments.statistics(mean + (exponent << 16) + offset);
        }
        standardise(model.scaling(), logs, features);
        Ok(Measured { statistics, severity: None })
    }

    fn label(
        &mut self,
        model: &IntegerModel<'_>,
        features: &[i32],
        responsibilities: &mut [u32],
        posterior: &mut [u16],
    ) -> IntegerClassified {
        let (healthy, x) = (model.healthy().unwrap_or(0), &mut self.x);
        classify(model.classifier(), healthy, features, x, responsibilities, posterior)
    }

    fn restart(&mut self) {
        self.band_sums.fill(0);
        self.exponents = [NO_POWER; AXES];
        self.moments = [IntegerMoments::EMPTY; AXES];
    }
}
