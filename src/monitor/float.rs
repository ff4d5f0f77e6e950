//! The monitor of f32 models.

use heapless::Vec;

use super::capacities::check_shape;
use super::stages::Stages;
use super::{AnyClassification, Capacities, Classification, Place, Progress, Samples, Vacant};
use crate::acquisition::{Sample, SensorFault};
use crate::classify::{Classified, classify};
use crate::features::{add_tapered, bands, log_blocks};
use crate::model::{Encoding, FloatBody, Model, ModelError};
use crate::signal::severity::add_velocity;
use crate::signal::statistics::Moments;
use crate::signal::{FrontEnd, Segment, Severity, SeverityParameters, ShaftSpeedError, Spectrum};

/// Takes samples and finds a label for each window, in fixed memory.
///
/// The type's parameters are capacities: sample type, FFT points, axes, features, components,
/// classes. A model may use fewer, but `AXES` must match. [`monitor!`](crate::monitor!) gives them
/// names, and `rebearing inspect` prints the smallest type for a model. The methods are those of
/// [`AnyMonitor`](super::AnyMonitor).
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1.rbm") } }
/// use rebearing::{AnyMonitor, Label, Model, Monitor, include_model};
///
/// let model = Model::parse(include_model!(path!()))?;
/// let mut monitor = Monitor::<f32, 256, 1, 4, 3, 3>::new(model)?;
/// # let mut labels = 0;
/// for n in 0..2000 {
///     // One sample of each axis, at the model's rate.
///     let Some(finding) = monitor.push([(n as f32 * 0.7).sin()]) else { continue };
///     match finding.result {
///         Ok(found) => match found.label {
///             Label::Class(class) => println!("{:?}", model.class_name(class)),
///             Label::Unknown | Label::UnknownFault => println!("no class that is known"),
///         },
///         Err(fault) => println!("no label: {fault}"),
///     }
///     # labels += 1;
/// }
/// # assert!(labels > 0);
/// # Ok::<(), rebearing::ModelError>(())
/// ```
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Monitor<
    'm,
    S,
    const FFT: usize,
    const AXES: usize,
    const DIMS: usize,
    const COMPONENTS: usize,
    const CLASSES: usize,
> {
    /// Empty only inside [`Vacant`].
    model: Place<Model<'m>>,
    segment: Segment<S, FFT, AXES>,
    scratch: [f32; FFT],
    /// Holds the direction of the features once their sums have been used.
    band_sums: Vec<f32, DIMS>,
    features: Vec<f32, DIMS>,
    responsibilities: Vec<f32, COMPONENTS>,
    moments: [Moments; AXES],
    /// Sums for the velocity, if the model measures it.
    velocity_sums: [f32; AXES],
    /// Zero if it is not known.
    shaft_hz: f32,
    progress: Progress,
}

impl<
    'm,
    S: Sample,
    const FFT: usize,
    const AXES: usize,
    const DIMS: usize,
    const COMPONENTS: usize,
    const CLASSES: usize,
> Monitor<'m, S, FFT, AXES, DIMS, COMPONENTS, CLASSES>
{
    /// The capacities of this type.
    pub const CAPACITIES: Capacities = Capacities {
        encoding: Encoding::F32,
        samples: Samples::of::<S>(),
        fft: FFT,
        axes: AXES,
        dims: DIMS,
        components: COMPONENTS,
        classes: CLASSES,
    };
    /// Bytes of RAM that a monitor of this type takes; the model stays in flash.
    pub const RAM: usize = size_of::<Self>();
    /// [`Monitor::RAM`] on a 32-bit device, also when asked on a 64-bit host.
    pub const DEVICE_RAM: usize = Self::CAPACITIES.device_ram();

    /// A monitor without a model, to be started where it lies.
    pub const fn vacant() -> Vacant<Self> {
        Vacant(Self {
            model: Place::Empty,
            segment: Segment::VACANT,
            scratch: [0.0; FFT],
            band_sums: Vec::new(),
            features: Vec::new(),
            responsibilities: Vec::new(),
            moments: [Moments::EMPTY; AXES],
            velocity_sums: [0.0; AXES],
            shaft_hz: 0.0,
            progress: Progress::START,
        })
    }

    /// A monitor for `model`. The error names the capacity that is too small for it.
    ///
    /// On a device, [`Monitor::vacant`] takes less stack.
    pub fn new(model: Model<'m>) -> Result<Self, ModelError> {
        let mut vacant = Self::vacant();
        vacant.start(model)?;
        Ok(vacant.0)
    }
}

impl<
    'm,
    S: Sample,
    const FFT: usize,
    const AXES: usize,
    const DIMS: usize,
    const COMPONENTS: usize,
    const CLASSES: usize,
> Stages<'m, AXES, CLASSES> for Monitor<'m, S, FFT, AXES, DIMS, COMPONENTS, CLASSES>
{
    type Sample = S;
    type Body = FloatBody<'m>;
    const CAPACITIES: Capacities = Self::CAPACITIES;

    fn start(&mut self, model: Model<'m>) -> Result<(), ModelError> {
        const {
            check_shape(FFT, AXES);
            // Keeps the figure that the host prints true.
            assert!(size_of::<usize>() != 4 || Self::RAM == Self::DEVICE_RAM);
        }
        Self::CAPACITIES.check(&model)?;
        let front_end = model.front_end();
        self.segment.start(front_end.fft_len, front_end.hop);
        // The capacities were checked above, so these cannot fail.
        let _ = self.band_sums.resize(model.dims(), 0.0);
        let _ = self.features.resize(model.dims(), 0.0);
        let _ = self.responsibilities.resize(model.component_count(), 0.0);
        self.progress = Progress::START;
        self.shaft_hz = 0.0;
        self.model = Place::Taken(model);
        self.restart_sums();
        Ok(())
    }

    #[inline]
    fn take(&mut self, sample: [S; AXES]) -> bool {
        self.segment.push(sample)
    }

    fn fill<'s>(&mut self, samples: &'s [[S; AXES]]) -> (bool, &'s [[S; AXES]]) {
        self.segment.fill(samples)
    }

    fn forget_samples(&mut self) {
        self.segment.clear();
    }

    fn progress(&mut self) -> &mut Progress {
        &mut self.progress
    }

    fn current_model(&self) -> &Model<'m> {
        self.model.get().unwrap_or(&Model::VACANT)
    }

    fn current_features(&self) -> &[f32] {
        &self.features
    }

    fn current_responsibilities(&self) -> &[f32] {
        &self.responsibilities
    }

    fn keep_shaft_speed(&mut self, hz: f32) -> Result<(), ShaftSpeedError> {
        self.shaft_hz = 0.0;
        self.current_model().front_end().check_shaft_speed(hz)?;
        self.shaft_hz = hz;
        Ok(())
    }

    /// Adds band power and moments of the full segment to those of each axis.
    fn add_segment(&mut self) {
        let model = self.model.get().unwrap_or(&Model::VACANT);
        let front_end = model.front_end();
        let shaft_hz = Some(self.shaft_hz).filter(|hz| *hz > 0.0);
        let features = front_end.axis_features().max(1);
        // Each sample counts once, however the segments overlap.
        let fresh = if self.progress.segments == 0 { front_end.fft_len } else { front_end.hop };
        let severity = model.severity().map(|severity| severity.bins(front_end));
        let axes = self.band_sums.chunks_exact_mut(features).zip(&mut self.moments);
        let axes = axes.zip(&mut self.velocity_sums);
        for (axis, ((sums, moments), velocity)) in axes.enumerate() {
            let scratch = &mut self.scratch;
            let segment = &self.segment;
            let look = |spectrum: Spectrum<'_>| {
                if let Some(bins) = severity {
                    add_velocity(velocity, bins, spectrum);
                }
            };
            let added = segment.taper_and_measure(axis, fresh, scratch).and_then(|piece| {
                moments.add(&piece);
                add_tapered(segment, axis, front_end, shaft_hz, scratch, sums, look)
            });
            if let Err(fault) = added {
                self.progress.add_fault(fault);
            }
        }
    }

    fn classify(&mut self) -> Result<Classification<AXES, CLASSES>, SensorFault> {
        let model = self.model.get().unwrap_or(&Model::VACANT);
        let front_end = model.front_end();
        let per_axis = front_end.axis_features().max(1);
        let mut statistics = [Moments::EMPTY.statistics(0.0); AXES];
        let sums = self.band_sums.chunks_exact(per_axis);
        let axes = sums.zip(self.features.chunks_exact_mut(per_axis)).zip(&self.moments);
        for (((sums, features), moments), statistics) in axes.zip(&mut statistics) {
            let level = log_blocks(front_end, sums, features)?;
            *statistics = moments.statistics(level);
        }
        let severity = match model.severity() {
            Some(parameters) => Some(severity(&parameters, front_end, &self.velocity_sums)?),
            None => None,
        };
        bands::standardise(&mut self.features, model.shift(), model.scale());

        let mut posterior = Vec::new();
        // `start` checked that the model's classes fit.
        let _ = posterior.resize(model.classes(), 0.0);
        let Classified { label, gate_log_likelihood, log_likelihood } = classify(
            model.classifier(),
            model.healthy().unwrap_or(0),
            &self.features,
            &mut self.band_sums,
            &mut self.responsibilities,
            &mut posterior,
        );
        Ok(AnyClassification {
            label,
            gate_log_likelihood,
            log_likelihood,
            posterior,
            statistics,
            severity,
        })
    }

    fn restart_sums(&mut self) {
        self.band_sums.fill(0.0);
        self.moments = [Moments::EMPTY; AXES];
        self.velocity_sums = [0.0; AXES];
    }
}

/// Velocity of each axis from its sum; an error if it is not finite.
fn severity<const AXES: usize>(
    parameters: &SeverityParameters,
    front_end: &FrontEnd<'_>,
    sums: &[f32; AXES],
) -> Result<Severity<AXES>, SensorFault> {
    let velocity = sums.map(|sum| parameters.velocity(sum, front_end));
    let mut largest = 0.0;
    for axis in velocity {
        if !axis.is_finite() {
            return Err(SensorFault::OutOfRange);
        }
        if axis > largest {
            largest = axis;
        }
    }
    Ok(Severity { velocity, zone: parameters.zone(largest) })
}
