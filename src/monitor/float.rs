//! The stages of f32 models.

use heapless::Vec;

use super::line::{Line, Measured, Stages, set_length};
use crate::acquisition::{Sample, SensorFault};
use crate::classify::{Classified, classify};
use crate::features::{add_tapered, bands, log_blocks};
use crate::model::{Floats, Model};
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
pub type Monitor<
    'm,
    S,
    const FFT: usize,
    const AXES: usize,
    const DIMS: usize,
    const COMPONENTS: usize,
    const CLASSES: usize,
> = Line<'m, S, FloatStages<FFT, AXES, DIMS>, FFT, AXES, DIMS, COMPONENTS, CLASSES>;

/// The memory of the stages in floats.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FloatStages<const FFT: usize, const AXES: usize, const DIMS: usize> {
    scratch: [f32; FFT],
    /// Holds the direction of the features once their sums have been used.
    band_sums: Vec<f32, DIMS>,
    moments: [Moments; AXES],
    /// Sums for the velocity, if the model measures it.
    velocity_sums: [f32; AXES],
    /// Zero if it is not known.
    shaft_hz: f32,
}

impl<S: Sample, const FFT: usize, const AXES: usize, const DIMS: usize> Stages<S, FFT, AXES>
    for FloatStages<FFT, AXES, DIMS>
{
    type Numbers = Floats;
    const VACANT: Self = Self {
        scratch: [0.0; FFT],
        band_sums: Vec::new(),
        moments: [Moments::EMPTY; AXES],
        velocity_sums: [0.0; AXES],
        shaft_hz: 0.0,
    };

    fn vacant_model<'m>() -> &'m Model<'m> {
        &Model::VACANT
    }

    fn start(&mut self, model: &Model<'_>) {
        set_length(&mut self.band_sums, model.dims());
        self.shaft_hz = 0.0;
    }

    fn set_shaft_speed(&mut self, model: &Model<'_>, hz: f32) -> Result<(), ShaftSpeedError> {
        self.shaft_hz = 0.0;
        model.front_end().check_shaft_speed(hz)?;
        self.shaft_hz = hz;
        Ok(())
    }

    /// Adds band power and moments of the full segment to those of each axis.
    fn add_segment(
        &mut self,
        model: &Model<'_>,
        segment: &Segment<S, FFT, AXES>,
        fresh: usize,
    ) -> Result<(), SensorFault> {
        let front_end = model.front_end();
        let shaft_hz = Some(self.shaft_hz).filter(|hz| *hz > 0.0);
        let features = front_end.axis_features().max(1);
        let severity = model.severity().map(|severity| severity.bins(front_end));
        let axes = self.band_sums.chunks_exact_mut(features).zip(&mut self.moments);
        let axes = axes.zip(&mut self.velocity_sums);
        for (axis, ((sums, moments), velocity)) in axes.enumerate() {
            let scratch = &mut self.scratch;
            let look = |spectrum: Spectrum<'_>| {
                if let Some(bins) = severity {
                    add_velocity(velocity, bins, spectrum);
                }
            };
            let piece = segment.taper_and_measure(axis, fresh, scratch)?;
            moments.add(&piece);
            add_tapered(segment, axis, front_end, shaft_hz, scratch, sums, look)?;
        }
        Ok(())
    }

    fn features(
        &mut self,
        model: &Model<'_>,
        features: &mut [f32],
    ) -> Result<Measured<Floats, AXES>, SensorFault> {
        let front_end = model.front_end();
        let per_axis = front_end.axis_features().max(1);
        let mut statistics = [Moments::EMPTY.statistics(0.0); AXES];
        let sums = self.band_sums.chunks_exact(per_axis);
        let axes = sums.zip(features.chunks_exact_mut(per_axis)).zip(&self.moments);
        for (((sums, features), moments), statistics) in axes.zip(&mut statistics) {
            let level = log_blocks(front_end, sums, features)?;
            *statistics = moments.statistics(level);
        }
        let severity = match model.severity() {
            Some(parameters) => Some(severity(&parameters, front_end, &self.velocity_sums)?),
            None => None,
        };
        bands::standardise(features, model.shift(), model.scale());
        Ok(Measured { statistics, severity })
    }

    fn label(
        &mut self,
        model: &Model<'_>,
        features: &[f32],
        responsibilities: &mut [f32],
        posterior: &mut [f32],
    ) -> Classified {
        let (healthy, room) = (model.healthy().unwrap_or(0), &mut self.band_sums);
        classify(model.classifier(), healthy, features, room, responsibilities, posterior)
    }

    fn restart(&mut self) {
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
