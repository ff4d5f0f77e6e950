//! The monitor of i16 models.

use heapless::Vec;

use super::capacities::check_shape;
use super::stages::Stages;
use super::{
    AnyClassification, Capacities, IntegerClassification, Place, Progress, Samples, Vacant,
};
use crate::acquisition::SensorFault;
use crate::integer::features::{level_offset, log_bands, standardise};
use crate::integer::spectrum::NO_POWER;
use crate::integer::statistics::IntegerMoments;
use crate::integer::{IntegerClassified, add_segment, classify};
use crate::model::{Encoding, IntegerBody, IntegerModel, ModelError};
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
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntegerMonitor<
    'm,
    const FFT: usize,
    const AXES: usize,
    const DIMS: usize,
    const COMPONENTS: usize,
    const CLASSES: usize,
> {
    /// Empty only inside [`Vacant`].
    model: Place<IntegerModel<'m>>,
    segment: Segment<i16, FFT, AXES>,
    scratch: [i32; FFT],
    band_sums: Vec<u64, DIMS>,
    exponents: [i32; AXES],
    features: Vec<i32, DIMS>,
    x: Vec<i16, DIMS>,
    responsibilities: Vec<u32, COMPONENTS>,
    moments: [IntegerMoments; AXES],
    progress: Progress,
}

impl<
    'm,
    const FFT: usize,
    const AXES: usize,
    const DIMS: usize,
    const COMPONENTS: usize,
    const CLASSES: usize,
> IntegerMonitor<'m, FFT, AXES, DIMS, COMPONENTS, CLASSES>
{
    /// The capacities of this type.
    pub const CAPACITIES: Capacities = Capacities {
        encoding: Encoding::I16,
        samples: Samples::Counts,
        fft: FFT,
        axes: AXES,
        dims: DIMS,
        components: COMPONENTS,
        classes: CLASSES,
    };
    /// Bytes of RAM that a monitor of this type takes; the model stays in flash.
    pub const RAM: usize = size_of::<Self>();
    /// [`IntegerMonitor::RAM`] on a 32-bit device, also when asked on a 64-bit host.
    pub const DEVICE_RAM: usize = Self::CAPACITIES.device_ram();

    /// A monitor without a model, to be started where it lies.
    pub const fn vacant() -> Vacant<Self> {
        Vacant(Self {
            model: Place::Empty,
            segment: Segment::VACANT,
            scratch: [0; FFT],
            band_sums: Vec::new(),
            exponents: [0; AXES],
            features: Vec::new(),
            x: Vec::new(),
            responsibilities: Vec::new(),
            moments: [IntegerMoments::ZERO; AXES],
            progress: Progress::START,
        })
    }

    /// A monitor for `model`. The error names what does not fit it.
    ///
    /// On a device, [`IntegerMonitor::vacant`] takes less stack.
    pub fn new(model: IntegerModel<'m>) -> Result<Self, ModelError> {
        let mut vacant = Self::vacant();
        vacant.start(model)?;
        Ok(vacant.0)
    }
}

impl<
    'm,
    const FFT: usize,
    const AXES: usize,
    const DIMS: usize,
    const COMPONENTS: usize,
    const CLASSES: usize,
> Stages<'m, AXES, CLASSES> for IntegerMonitor<'m, FFT, AXES, DIMS, COMPONENTS, CLASSES>
{
    type Sample = i16;
    type Body = IntegerBody<'m>;
    const CAPACITIES: Capacities = Self::CAPACITIES;

    fn start(&mut self, model: IntegerModel<'m>) -> Result<(), ModelError> {
        const {
            check_shape(FFT, AXES);
            // Keeps the figure that the host prints true.
            assert!(size_of::<usize>() != 4 || Self::RAM == Self::DEVICE_RAM);
        }
        Self::CAPACITIES.check(&model)?;
        self.segment.start(FFT, model.front_end().hop);
        // The capacities were checked above, so these cannot fail.
        let _ = self.band_sums.resize(model.dims(), 0);
        let _ = self.features.resize(model.dims(), 0);
        let _ = self.x.resize(model.dims(), 0);
        let _ = self.responsibilities.resize(model.component_count(), 0);
        self.progress = Progress::START;
        self.model = Place::Taken(model);
        self.restart_sums();
        Ok(())
    }

    #[inline]
    fn take(&mut self, sample: [i16; AXES]) -> bool {
        self.segment.push(sample)
    }

    fn fill<'s>(&mut self, samples: &'s [[i16; AXES]]) -> (bool, &'s [[i16; AXES]]) {
        self.segment.fill(samples)
    }

    fn forget_samples(&mut self) {
        self.segment.clear();
    }

    fn progress(&mut self) -> &mut Progress {
        &mut self.progress
    }

    fn current_model(&self) -> &IntegerModel<'m> {
        self.model.get().unwrap_or(&IntegerModel::VACANT)
    }

    fn current_features(&self) -> &[i32] {
        &self.features
    }

    fn current_responsibilities(&self) -> &[u32] {
        &self.responsibilities
    }

    /// No feature of an i16 model depends on it, and looking at it would take floating point.
    fn keep_shaft_speed(&mut self, _hz: f32) -> Result<(), ShaftSpeedError> {
        Ok(())
    }

    /// Adds band power and moments of the full segment to those of each axis.
    fn add_segment(&mut self) {
        let model = self.model.get().unwrap_or(&IntegerModel::VACANT);
        let front_end = model.front_end();
        // Each sample counts once, however the segments overlap.
        let fresh = if self.progress.segments == 0 { front_end.fft_len } else { front_end.hop };
        let axes = self.band_sums.chunks_exact_mut(front_end.bands().max(1));
        let axes = axes.zip(&mut self.exponents).zip(&mut self.moments);
        for (axis, ((sums, exponent), moments)) in axes.enumerate() {
            let edges = front_end.band_edges;
            match add_segment(&self.segment, axis, edges, &mut self.scratch, sums, exponent) {
                Ok(mean) => moments.add(self.segment.newest_raw(axis, fresh), mean),
                Err(fault) => self.progress.add_fault(fault),
            }
        }
    }

    fn classify(&mut self) -> Result<IntegerClassification<AXES, CLASSES>, SensorFault> {
        let model = self.model.get().unwrap_or(&IntegerModel::VACANT);
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
        standardise(model.scaling(), logs, &mut self.features);

        let mut posterior = Vec::new();
        // `start` checked that the model's classes fit.
        let _ = posterior.resize(model.classes(), 0);
        let IntegerClassified { label, gate_log_likelihood, log_likelihood } = classify(
            model.classifier(),
            model.healthy().unwrap_or(0),
            &self.features,
            &mut self.x,
            &mut self.responsibilities,
            &mut posterior,
        );
        Ok(AnyClassification {
            label,
            gate_log_likelihood,
            log_likelihood,
            posterior,
            statistics,
            severity: None,
        })
    }

    fn restart_sums(&mut self) {
        self.band_sums.fill(0);
        self.exponents = [NO_POWER; AXES];
        self.moments = [IntegerMoments::EMPTY; AXES];
    }
}
