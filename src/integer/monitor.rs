//! The calls of the integer line in order: push a sample, get a report.

use heapless::Vec;

use super::diagnosis::{IntegerDiagnosis, diagnose};
use super::features::{level_offset, log_bands, standardise};
use super::model::IntegerModel;
use super::spectrum::{IntegerSpectrum, NO_POWER, add_aligned};
use super::statistics::{IntegerMoments, IntegerStatistics};
use super::transform::transform;
use super::window::{Tapered, taper};
use crate::label::Label;
use crate::model::ModelError;
use crate::monitor::SensorFault;
use crate::window::Window;

/// What was found in a decision window.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntegerFinding<const AXES: usize, const CLASSES: usize> {
    /// The class, or what is unknown.
    pub label: Label,
    /// Log-likelihood of the features under the gate, in nats Q8; `None` without a gate.
    pub gate_log_likelihood: Option<i32>,
    /// Log-likelihood under the components that tell classes apart, in nats Q8; `None` where
    /// the gate called the window healthy or the model has no such components.
    pub log_likelihood: Option<i32>,
    /// Probability of each class in Q15, in the order of the model's class names. One for the
    /// healthy class where the gate called the window healthy; all zero where a fault was
    /// found and the model has no fault types.
    pub posterior: Vec<u16, CLASSES>,
    /// Level, rms, kurtosis and crest factor of each axis.
    pub statistics: [IntegerStatistics; AXES],
}

/// The result of one decision window.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntegerReport<const AXES: usize, const CLASSES: usize> {
    /// Decision windows before this one, counted from the start; wraps after 2³².
    pub index: u32,
    /// The finding, or why there is none.
    pub finding: Result<IntegerFinding<AXES, CLASSES>, SensorFault>,
}

/// Takes samples and reports a label for each decision window, in fixed memory and without a
/// floating-point operation: [`Monitor`](crate::Monitor) for i16 models.
///
/// `FFT` and `AXES` must be the model's; features, components and classes are capacities.
/// `rebearing inspect` prints the smallest type for a model.
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1-i16.rbm") } }
/// use rebearing::include_model;
/// use rebearing::integer::{IntegerModel, IntegerMonitor};
///
/// let model = IntegerModel::parse(include_model!(path!()))?;
/// let mut monitor = IntegerMonitor::<256, 1, 4, 4, 3>::new(model)?;
/// # let mut reports = 0;
/// for n in 0..2000_i32 {
///     // Counts, as they come from the sensor.
///     if let Some(report) = monitor.push([(n * 7919 % 1000) as i16]) {
///         println!("{:?}", report.finding);
///         # reports += 1;
///     }
/// }
/// # assert!(reports > 0);
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
    model: IntegerModel<'m>,
    window: Window<i16, FFT, AXES>,
    scratch: [i32; FFT],
    band_sums: Vec<u64, DIMS>,
    exponents: [i32; AXES],
    features: Vec<i32, DIMS>,
    x: Vec<i16, DIMS>,
    responsibilities: Vec<u32, COMPONENTS>,
    moments: [IntegerMoments; AXES],
    segments: u32,
    index: u32,
    fault: Option<SensorFault>,
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
    /// Bytes of RAM that a monitor of this type takes; the model stays in flash.
    pub const RAM: usize = size_of::<Self>();

    /// [`IntegerMonitor::RAM`] on a 32-bit device, also when asked on a 64-bit host.
    pub const DEVICE_RAM: usize = integer_device_ram(FFT, AXES, DIMS, COMPONENTS);

    /// A monitor for `model`, or what of the type does not fit it.
    #[inline]
    pub fn new(model: IntegerModel<'m>) -> Result<Self, ModelError> {
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
        let refused = |what, needs, holds| Err(ModelError::DoesNotFit { what, needs, holds });
        for (what, needs, holds) in
            [("axes", front_end.axes, AXES), ("FFT points", front_end.fft_len, FFT)]
        {
            if needs != holds {
                return refused(what, needs, holds);
            }
        }
        for (what, needs, holds) in [
            ("features", model.dims(), DIMS),
            ("components", model.components(), COMPONENTS),
            ("classes", model.classes(), CLASSES),
        ] {
            if needs > holds {
                return refused(what, needs, holds);
            }
        }
        // Written where the result is, and nowhere before it: a chip of 16 KiB has no room for a
        // copy. The capacities were checked above, so that no buffer refuses its length.
        Ok(Self {
            model,
            window: Window::new(FFT, front_end.hop),
            scratch: [0; FFT],
            band_sums: zeros(model.dims()),
            exponents: [NO_POWER; AXES],
            features: zeros(model.dims()),
            x: zeros(model.dims()),
            responsibilities: zeros(model.components()),
            moments: [IntegerMoments::EMPTY; AXES],
            segments: 0,
            index: 0,
            fault: None,
        })
    }

    /// Takes one sample of each axis; a report when it completes a decision window.
    ///
    /// Where samples come in blocks, [`IntegerMonitor::push_slice`] takes fewer instructions.
    #[inline]
    pub fn push(&mut self, sample: [i16; AXES]) -> Option<IntegerReport<AXES, CLASSES>> {
        if self.window.push(sample) { self.complete_segment() } else { None }
    }

    /// Takes samples in order and hands each report to `on_report` as it arises.
    ///
    /// The reports are those of [`IntegerMonitor::push`], however the samples are cut into slices.
    pub fn push_slice(
        &mut self,
        samples: &[[i16; AXES]],
        mut on_report: impl FnMut(IntegerReport<AXES, CLASSES>),
    ) {
        let mut left = samples;
        while let (Some(report), rest) = self.push_until_report(left) {
            on_report(report);
            left = rest;
        }
    }

    /// Takes samples in order as far as the one that completes a decision window: its report, if
    /// one does, and the samples that are left. As
    /// [`Monitor::push_until_report`](crate::Monitor::push_until_report).
    pub fn push_until_report<'s>(
        &mut self,
        samples: &'s [[i16; AXES]],
    ) -> (Option<IntegerReport<AXES, CLASSES>>, &'s [[i16; AXES]]) {
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

    /// The model in use.
    pub fn model(&self) -> &IntegerModel<'m> {
        &self.model
    }

    /// Standardised features of the last decision window without a sensor fault, in units and
    /// order of the model.
    pub fn features(&self) -> &[i32] {
        &self.features
    }

    /// Responsibility in Q30 of each component for the last decision window without a sensor
    /// fault: of the gate's components among themselves, and of the others among themselves
    /// (zero where they were not asked).
    pub fn responsibilities(&self) -> &[u32] {
        &self.responsibilities
    }

    /// Takes the full window into the decision, and decides if it was the last.
    fn complete_segment(&mut self) -> Option<IntegerReport<AXES, CLASSES>> {
        self.segment();
        self.segments += 1;
        if (self.segments as usize) < self.model.front_end().segments {
            return None;
        }
        let report = IntegerReport { index: self.index, finding: self.decide() };
        self.restart_decision();
        self.index = self.index.wrapping_add(1);
        Some(report)
    }

    /// Band power and moments of a full window, added to those of each axis.
    fn segment(&mut self) {
        let front_end = self.model.front_end();
        // Each sample counts once, however the segments overlap.
        let fresh = if self.segments == 0 { front_end.fft_len } else { front_end.hop };
        let axes = self.band_sums.chunks_exact_mut(front_end.bands().max(1));
        let axes = axes.zip(&mut self.exponents).zip(&mut self.moments);
        for (axis, ((sums, exponent), moments)) in axes.enumerate() {
            let edges = front_end.band_edges;
            match add_segment(&self.window, axis, edges, &mut self.scratch, sums, exponent) {
                Ok(mean) => moments.add(self.window.newest_raw(axis, fresh), mean),
                Err(fault) => self.fault = self.fault.or(Some(fault)),
            }
        }
    }

    fn decide(&mut self) -> Result<IntegerFinding<AXES, CLASSES>, SensorFault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let model = &self.model;
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
        standardise(model, logs, &mut self.features);

        let mut posterior = Vec::new();
        // `new` checked that the model's classes fit.
        let _ = posterior.resize(model.classes(), 0);
        let IntegerDiagnosis { label, gate_log_likelihood, log_likelihood } = diagnose(
            model,
            &self.features,
            &mut self.x,
            &mut self.responsibilities,
            &mut posterior,
        );
        Ok(IntegerFinding { label, gate_log_likelihood, log_likelihood, posterior, statistics })
    }

    fn restart_decision(&mut self) {
        self.band_sums.fill(0);
        self.exponents = [NO_POWER; AXES];
        self.moments = [IntegerMoments::EMPTY; AXES];
        self.segments = 0;
        self.fault = None;
    }
}

/// As many zeros as asked for, at most `N`.
#[inline]
fn zeros<T: Clone + Default, const N: usize>(count: usize) -> Vec<T, N> {
    let mut zeros = Vec::new();
    let _ = zeros.resize(count.min(N), T::default());
    zeros
}

/// Adds the band power of a full window of `axis` to `sums`, which have the exponent
/// `exponent`, and gives the window's mean in counts. `scratch` is room for the FFT.
pub fn add_segment<const FFT: usize, const AXES: usize>(
    window: &Window<i16, FFT, AXES>,
    axis: usize,
    band_edges: &[u32],
    scratch: &mut [i32; FFT],
    sums: &mut [u64],
    exponent: &mut i32,
) -> Result<i32, SensorFault> {
    let Tapered { block, mean } = taper(window, axis, scratch)?;
    let block = transform(scratch, block);
    let spectrum = IntegerSpectrum::power(scratch, block);
    let powers = band_edges.windows(2).map(|pair| match *pair {
        [low, high] => spectrum.band_power(low as usize, high as usize),
        _ => 0,
    });
    add_aligned(sums, exponent, powers, spectrum.exponent);
    Ok(mean)
}

/// RAM of an integer monitor on a 32-bit device, by the same sum as its fields.
///
/// `IntegerMonitor::new` asserts at compile time, on 32-bit targets, that this is the size.
pub const fn integer_device_ram(fft: usize, axes: usize, dims: usize, components: usize) -> usize {
    /// The view of the model and the counters of window and monitor.
    const STATE: usize = 212;
    let window = 2 * fft * axes;
    let scratch = 4 * fft;
    let per_axis = (size_of::<IntegerMoments>() + size_of::<i32>()) * axes;
    // Each buffer carries its length.
    let buffers = (8 + 8 * dims) + (4 + 4 * dims) + (4 + 2 * dims) + (4 + 4 * components);
    // The sums of power want a multiple of eight bytes.
    (STATE + window + scratch + per_axis + buffers).next_multiple_of(8)
}
