//! The device's monitor, run on the host over a recording.

use rebearing::model::format::{MAX_AXES, MAX_BANDS, MAX_CLASSES, MAX_COMPONENTS};
use rebearing::monitor::device_ram;
use rebearing::{Label, Model, ModelError, Monitor, SensorFault, Statistics};

use crate::recording::Recording;

/// A report of the device, for the host to print and compare.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceReport {
    /// Decision windows before this one, over the whole recording.
    pub index: u32,
    /// The finding, or why there is none.
    pub finding: Result<DeviceFinding, SensorFault>,
}

/// What the device found in a decision window.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceFinding {
    /// The class, or what is unknown.
    pub label: Label,
    /// Log-likelihood under the gate, in nats; `None` without one.
    pub gate_log_likelihood: Option<f32>,
    /// Log-likelihood under the components that tell classes apart, in nats; `None` where
    /// they were not asked.
    pub log_likelihood: Option<f32>,
    /// Probability of each class.
    pub posterior: Vec<f32>,
    /// Level, rms, kurtosis and crest factor of each axis.
    pub statistics: Vec<Statistics>,
}

impl DeviceReport {
    /// Whether two reports agree in label, fault and every bit of every number.
    pub fn same_bits(&self, other: &Self) -> bool {
        let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let statistics = |finding: &DeviceFinding| {
            let numbers = finding.statistics.iter().flat_map(|axis| statistics_values(*axis));
            numbers.map(f32::to_bits).collect::<Vec<_>>()
        };
        let bit = |x: Option<f32>| x.map(f32::to_bits);
        self.index == other.index
            && match (&self.finding, &other.finding) {
                (Ok(a), Ok(b)) => {
                    a.label == b.label
                        && bit(a.gate_log_likelihood) == bit(b.gate_log_likelihood)
                        && bit(a.log_likelihood) == bit(b.log_likelihood)
                        && bits(&a.posterior) == bits(&b.posterior)
                        && statistics(a) == statistics(b)
                }
                (Err(a), Err(b)) => a == b,
                _ => false,
            }
    }
}

/// The statistics of an axis in the order that firmware and emulator exchange them.
pub fn statistics_values(axis: Statistics) -> [f32; 4] {
    let Statistics { level, rms, kurtosis, crest } = axis;
    [level, rms, kurtosis, crest]
}

/// Runs the device's monitor over a recording; the samples of one segment do not meet
/// those of the next in a window.
///
/// The number of axes must be the model's; anything else is refused as the device would.
pub fn run(model: Model<'_>, recording: &Recording) -> Result<Vec<DeviceReport>, ModelError> {
    match recording.axes {
        1 => run_axes::<1>(&model, recording),
        2 => run_axes::<2>(&model, recording),
        _ => run_axes::<3>(&model, recording),
    }
}

/// Room for every model that the format allows.
type LargestMonitor<'m, const AXES: usize> =
    Monitor<'m, f32, 4096, AXES, { MAX_AXES * MAX_BANDS }, MAX_COMPONENTS, MAX_CLASSES>;

fn run_axes<const AXES: usize>(
    model: &Model<'_>,
    recording: &Recording,
) -> Result<Vec<DeviceReport>, ModelError> {
    let mut monitor = LargestMonitor::<AXES>::new(*model)?;
    // A speed that the model cannot be used at is in every report as its fault.
    let _ = recording.shaft_hz().map(|hz| monitor.set_shaft_speed(hz));
    let mut reports = Vec::new();
    for segment in &recording.segments {
        monitor.clear();
        let (frames, _) = segment.as_chunks::<AXES>();
        monitor.push_slice(frames, |report| {
            reports.push(DeviceReport {
                index: report.index,
                finding: report.finding.map(|finding| DeviceFinding {
                    label: finding.label,
                    gate_log_likelihood: finding.gate_log_likelihood,
                    log_likelihood: finding.log_likelihood,
                    posterior: finding.posterior.to_vec(),
                    statistics: finding.statistics.to_vec(),
                }),
            });
        });
    }
    Ok(reports)
}

/// The smallest monitor type that runs a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonitorType {
    /// Points of the FFT.
    pub fft: usize,
    /// Axes of a sample.
    pub axes: usize,
    /// Features.
    pub dims: usize,
    /// Components.
    pub components: usize,
    /// Classes.
    pub classes: usize,
}

impl MonitorType {
    /// The smallest type for `model`.
    pub fn of(model: &Model<'_>) -> Self {
        Self {
            fft: model.front_end().fft_len,
            axes: model.front_end().axes,
            dims: model.dims(),
            components: model.components().len(),
            classes: model.classes(),
        }
    }

    /// The type as a firmware writes it, for samples of `sample` (`f32` or `i16`).
    pub fn name(&self, sample: &str) -> String {
        let Self { fft, axes, dims, components, classes } = self;
        format!("Monitor<{sample}, {fft}, {axes}, {dims}, {components}, {classes}>")
    }

    /// RAM of the type on a 32-bit device, for samples of `sample_size` bytes.
    pub fn ram(&self, sample_size: usize) -> usize {
        device_ram(sample_size, self.fft, self.axes, self.dims, self.components)
    }
}
