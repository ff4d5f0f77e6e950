//! The calls of the line in order: push a sample, get a report.

use core::fmt;

use heapless::Vec;

use crate::blocks;
use crate::diagnosis::{Diagnosis, diagnose};
use crate::features;
use crate::label::Label;
use crate::model::{FrontEnd, Model, ModelError};
use crate::orders::ShaftSpeedError;
use crate::severity::{Severity, SeverityParameters, add_velocity};
use crate::spectrum::Spectrum;
use crate::statistics::{Moments, Statistics};
use crate::window::{Sample, Window};

/// Why a decision window was not analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum SensorFault {
    /// A sample is NaN or infinite.
    NotFinite,
    /// The samples do not vary at all: a stuck, saturated or disconnected sensor.
    Flat,
    /// The samples are so large or so small that their power is not a normal `f32`.
    OutOfRange,
    /// The model has features of shaft orders, and no shaft speed is known.
    NoShaftSpeed,
    /// Samples are missing between two that are there.
    LostSamples,
    /// Samples were overwritten before they were read: the processor was busy for too long.
    Overrun,
    /// The bus that the sensor is on failed, or nothing sensible came from it.
    Bus,
    /// A sample is at the end of the sensor's range.
    Clipped,
}

impl SensorFault {
    /// The fault in one word, as command line, JSON and firmware print it.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotFinite => "not_finite",
            Self::Flat => "flat",
            Self::OutOfRange => "out_of_range",
            Self::NoShaftSpeed => "no_shaft_speed",
            Self::LostSamples => "lost_samples",
            Self::Overrun => "overrun",
            Self::Bus => "bus",
            Self::Clipped => "clipped",
        }
    }
}

impl fmt::Display for SensorFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFinite => "a sample is NaN or infinite",
            Self::Flat => "the samples do not vary: stuck, saturated or disconnected sensor",
            Self::OutOfRange => "the samples are too large or too small for f32 power",
            Self::NoShaftSpeed => {
                "the model has features of shaft orders and needs the shaft's speed"
            }
            Self::LostSamples => "samples are missing",
            Self::Overrun => "samples were overwritten before they were read: read more often",
            Self::Bus => "the sensor's bus failed: check wiring, supply and chip select",
            Self::Clipped => "a sample is at the end of the sensor's range: use a larger one",
        })
    }
}

impl core::error::Error for SensorFault {}

/// What was found in a decision window.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Finding<const AXES: usize, const CLASSES: usize> {
    /// The class, or what is unknown.
    pub label: Label,
    /// Log-likelihood of the features under the gate, in nats; `None` without a gate.
    pub gate_log_likelihood: Option<f32>,
    /// Log-likelihood under the components that tell classes apart, in nats; `None` where
    /// the gate called the window healthy or the model has no such components.
    pub log_likelihood: Option<f32>,
    /// Probability of each class, in the order of the model's class names. One for the
    /// healthy class where the gate called the window healthy; all zero where a fault was
    /// found and the model has no fault types.
    pub posterior: Vec<f32, CLASSES>,
    /// Level, rms, kurtosis and crest factor of each axis.
    pub statistics: [Statistics; AXES],
    /// Velocity of each axis and its zone; `None` where the model says nothing of it.
    pub severity: Option<Severity<AXES>>,
}

/// The result of one decision window.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Report<const AXES: usize, const CLASSES: usize> {
    /// Decision windows before this one, counted from the start; wraps after 2³².
    pub index: u32,
    /// The finding, or why there is none.
    pub finding: Result<Finding<AXES, CLASSES>, SensorFault>,
}

/// Takes samples and reports a label for each decision window, in fixed memory.
///
/// The type's parameters are capacities: a model may use shorter FFTs and fewer features,
/// components and classes. `AXES` alone must match. `rebearing inspect` prints the smallest
/// type for a model.
///
/// The `push` that completes a segment does the segment's FFT; the one that completes a
/// decision window also evaluates the mixture. All others only store the sample.
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1.rbm") } }
/// use rebearing::{Label, Model, Monitor, include_model};
///
/// let model = Model::parse(include_model!(path!()))?;
/// let mut monitor = Monitor::<f32, 256, 1, 4, 3, 3>::new(model)?;
/// # let mut labels = 0;
/// for n in 0..2000 {
///     // One sample of each axis, at the model's rate.
///     let Some(report) = monitor.push([(n as f32 * 0.7).sin()]) else { continue };
///     match report.finding {
///         Ok(finding) => match finding.label {
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
    model: Model<'m>,
    window: Window<S, FFT, AXES>,
    scratch: [f32; FFT],
    /// Holds the direction of the features once their sums have been used.
    band_sums: Vec<f32, DIMS>,
    features: Vec<f32, DIMS>,
    responsibilities: Vec<f32, COMPONENTS>,
    moments: [Moments; AXES],
    /// What velocity is made of, where the model asks for it.
    velocity_sums: [f32; AXES],
    shaft_hz: Option<f32>,
    segments: u32,
    index: u32,
    fault: Option<SensorFault>,
    /// The fault was told from outside: samples are bad that the window cannot tell from good ones.
    marked: bool,
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
    /// Bytes of RAM that a monitor of this type takes; the model stays in flash.
    pub const RAM: usize = size_of::<Self>();

    /// [`Monitor::RAM`] on a 32-bit device, also when asked on a 64-bit host.
    pub const DEVICE_RAM: usize = device_ram(size_of::<S>(), FFT, AXES, DIMS, COMPONENTS);

    /// A monitor for `model`, or which capacity of the type is too small for it.
    pub fn new(model: Model<'m>) -> Result<Self, ModelError> {
        const {
            assert!(AXES >= 1 && AXES <= 3, "a sensor has one to three axes");
            assert!(
                FFT.is_power_of_two() && FFT >= 256 && FFT <= 4096,
                "FFT is 256 to 4096 points"
            );
            // Keeps the figure that the host prints true.
            assert!(size_of::<usize>() != 4 || Self::RAM == Self::DEVICE_RAM);
        }
        let front_end = *model.front_end();
        Self::CAPACITIES.check(&model)?;

        let mut monitor = Self {
            model,
            window: Window::new(front_end.fft_len, front_end.hop),
            scratch: [0.0; FFT],
            band_sums: Vec::new(),
            features: Vec::new(),
            responsibilities: Vec::new(),
            moments: [Moments::EMPTY; AXES],
            velocity_sums: [0.0; AXES],
            shaft_hz: None,
            segments: 0,
            index: 0,
            fault: None,
            marked: false,
        };
        // The capacities were checked above, so these cannot fail.
        let _ = monitor.band_sums.resize(model.dims(), 0.0);
        let _ = monitor.features.resize(model.dims(), 0.0);
        let _ = monitor.responsibilities.resize(model.components().len(), 0.0);
        Ok(monitor)
    }

    /// Takes one sample of each axis; a report when it completes a decision window.
    ///
    /// Where samples come in blocks, [`Monitor::push_slice`] takes fewer instructions.
    #[inline]
    pub fn push(&mut self, sample: [S; AXES]) -> Option<Report<AXES, CLASSES>> {
        if self.window.push(sample) { self.complete_segment() } else { None }
    }

    /// Takes samples in order and hands each report to `on_report` as it arises.
    ///
    /// The reports are those of [`Monitor::push`], however the samples are cut into slices.
    pub fn push_slice(
        &mut self,
        samples: &[[S; AXES]],
        mut on_report: impl FnMut(Report<AXES, CLASSES>),
    ) {
        let mut left = samples;
        while let (Some(report), rest) = self.push_until_report(left) {
            on_report(report);
            left = rest;
        }
    }

    /// Takes samples in order as far as the one that completes a decision window: its report, if
    /// one does, and the samples that are left.
    ///
    /// For whoever wants to look at the monitor between two reports, which
    /// [`Monitor::push_slice`] does not allow.
    pub fn push_until_report<'s>(
        &mut self,
        samples: &'s [[S; AXES]],
    ) -> (Option<Report<AXES, CLASSES>>, &'s [[S; AXES]]) {
        let mut left = samples;
        loop {
            let full;
            (full, left) = self.window.fill(left);
            if !full {
                return (None, left);
            }
            let report = self.complete_segment();
            if report.is_some() {
                return (report, left);
            }
        }
    }

    /// Forgets all samples, as after a gap in acquisition; the next decision window starts
    /// with the next sample.
    pub fn clear(&mut self) {
        self.window.clear();
        self.restart_decision();
    }

    /// Discards the decision window that is under way, as after a gap in acquisition, and
    /// reports why. The next one starts with the next sample.
    pub fn discard(&mut self, fault: SensorFault) -> Report<AXES, CLASSES> {
        self.clear();
        let report = Report { index: self.index, finding: Err(fault) };
        self.index = self.index.wrapping_add(1);
        report
    }

    /// Has the decision window that is under way reported as a fault, unless it has one already:
    /// its samples are there, but not to be trusted. The next one shares none of them.
    pub fn mark(&mut self, fault: SensorFault) {
        self.marked = true;
        self.fault = self.fault.or(Some(fault));
    }

    /// Tells how fast the shaft turns, in turns per second; a model with features of shaft
    /// orders needs it, and takes what was told last. Others pay no attention to it.
    ///
    /// A speed that cannot be used is forgotten like the one before it, so that reports say
    /// [`SensorFault::NoShaftSpeed`] rather than go by a speed that is no longer true.
    pub fn set_shaft_speed(&mut self, hz: f32) -> Result<(), ShaftSpeedError> {
        self.shaft_hz = None;
        self.model.front_end().check_shaft_speed(hz)?;
        self.shaft_hz = Some(hz);
        Ok(())
    }

    /// The model in use.
    pub fn model(&self) -> &Model<'m> {
        &self.model
    }

    /// Standardised features of the last decision window without a sensor fault.
    pub fn features(&self) -> &[f32] {
        &self.features
    }

    /// Responsibility of each component for the last decision window without a sensor fault:
    /// of the gate's components among themselves, and of the others among themselves (zero
    /// where they were not asked).
    pub fn responsibilities(&self) -> &[f32] {
        &self.responsibilities
    }

    /// Takes the full window into the decision, and decides if it was the last.
    fn complete_segment(&mut self) -> Option<Report<AXES, CLASSES>> {
        self.segment();
        self.segments += 1;
        if (self.segments as usize) < self.model.front_end().segments {
            return None;
        }
        let report = Report { index: self.index, finding: self.decide() };
        if self.marked {
            // Or they would be in the next decision window too, where that one overlaps.
            self.window.clear();
        }
        self.restart_decision();
        self.index = self.index.wrapping_add(1);
        Some(report)
    }

    /// Band power and moments of a full window, added to those of each axis.
    fn segment(&mut self) {
        let front_end = self.model.front_end();
        let features = front_end.axis_features().max(1);
        // Each sample counts once, however the segments overlap.
        let fresh = if self.segments == 0 { front_end.fft_len } else { front_end.hop };
        let severity = self.model.severity().map(|severity| severity.bins(front_end));
        let axes = self.band_sums.chunks_exact_mut(features).zip(&mut self.moments);
        let axes = axes.zip(&mut self.velocity_sums);
        for (axis, ((sums, moments), velocity)) in axes.enumerate() {
            let scratch = &mut self.scratch;
            let (window, shaft_hz) = (&self.window, self.shaft_hz);
            let look = |spectrum: Spectrum<'_>| {
                if let Some(bins) = severity {
                    add_velocity(velocity, bins, spectrum);
                }
            };
            let added = window.taper_and_measure(axis, fresh, scratch).and_then(|piece| {
                moments.add(&piece);
                blocks::add_tapered(window, axis, front_end, shaft_hz, scratch, sums, look)
            });
            if let Err(fault) = added {
                self.fault = self.fault.or(Some(fault));
            }
        }
    }

    fn decide(&mut self) -> Result<Finding<AXES, CLASSES>, SensorFault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let model = &self.model;
        let front_end = model.front_end();
        let per_axis = front_end.axis_features().max(1);
        let mut statistics = [Moments::EMPTY.statistics(0.0); AXES];
        let sums = self.band_sums.chunks_exact(per_axis);
        let axes = sums.zip(self.features.chunks_exact_mut(per_axis)).zip(&self.moments);
        for (((sums, features), moments), statistics) in axes.zip(&mut statistics) {
            let level = blocks::log_blocks(front_end, sums, features)?;
            *statistics = moments.statistics(level);
        }
        let severity = match model.severity() {
            Some(parameters) => Some(severity(&parameters, front_end, &self.velocity_sums)?),
            None => None,
        };
        features::standardise(&mut self.features, model.shift(), model.scale());

        let mut posterior = Vec::new();
        // `new` checked that the model's classes fit.
        let _ = posterior.resize(model.classes(), 0.0);
        let Diagnosis { label, gate_log_likelihood, log_likelihood } = diagnose(
            model,
            &self.features,
            &mut self.band_sums,
            &mut self.responsibilities,
            &mut posterior,
        );
        Ok(Finding { label, gate_log_likelihood, log_likelihood, posterior, statistics, severity })
    }

    fn restart_decision(&mut self) {
        self.band_sums.fill(0.0);
        self.moments = [Moments::EMPTY; AXES];
        self.velocity_sums = [0.0; AXES];
        self.segments = 0;
        self.fault = None;
        self.marked = false;
    }
}

/// Velocity of each axis from its sum; refused where it is no number.
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

/// RAM of a monitor on a 32-bit device, by the same sum as its fields.
///
/// `Monitor::new` asserts at compile time, on 32-bit targets, that this is the size.
pub const fn device_ram(
    sample_size: usize,
    fft: usize,
    axes: usize,
    dims: usize,
    components: usize,
) -> usize {
    /// The view of the model and the counters of window and monitor.
    const STATE: usize = 204;
    let window = sample_size * fft * axes;
    // With the sum that velocity is made of.
    let moments = (size_of::<Moments>() + 4) * axes;
    let scratch = 4 * fft;
    // Each buffer carries its length.
    let buffers = 2 * (4 + 4 * dims) + 4 + 4 * components;
    STATE + window + scratch + buffers + moments
}
