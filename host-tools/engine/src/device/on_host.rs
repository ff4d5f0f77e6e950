//! The device's monitor, run on the host over a recording.

use rebearing::decision::Verdict;
use rebearing::integer::diagnosis::ONE;
use rebearing::integer::monitor::integer_device_ram;
use rebearing::integer::{
    IntegerFinding, IntegerModel, IntegerMonitor, IntegerReport, IntegerStatistics,
};
use rebearing::model::FrontEnd;
use rebearing::model::format::{MAX_AVERAGE, MAX_AXES, MAX_BANDS, MAX_CLASSES, MAX_COMPONENTS};
use rebearing::monitor::device_ram;
use rebearing::snapshot::{self, Snapshot};
use rebearing::{
    Decision, Finding, Label, Model, ModelError, Monitor, SensorFault, Statistics, Zone,
};
use thiserror::Error;

use crate::data::counts::{Counts, CountsError};
use crate::data::recording::{Recording, RecordingError};
use crate::progress;

/// Why a model was not run over a recording.
#[derive(Debug, Error)]
pub enum RunError {
    /// The device would refuse the model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The recording has no form in counts.
    #[error(transparent)]
    Counts(#[from] CountsError),
    /// The recording could not be read to its end.
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

/// A report of the device, for the host to print and compare.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceReport {
    /// Decision windows before this one, over the whole recording.
    pub index: u32,
    /// The finding, or why there is none.
    pub finding: Result<DeviceFinding, SensorFault>,
    /// What was decided after it; `None` from a firmware that does not decide.
    pub verdict: Option<Verdict>,
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
    /// Velocity and zone, where the model asks for them.
    pub severity: Option<DeviceSeverity>,
}

/// How severe the device found a decision window.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceSeverity {
    /// Velocity rms of each axis in mm/s.
    pub velocity: Vec<f32>,
    /// The zone of the largest.
    pub zone: Zone,
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
        let severity = |finding: &DeviceFinding| {
            finding.severity.as_ref().map(|found| (bits(&found.velocity), found.zone))
        };
        self.index == other.index
            && self.verdict == other.verdict
            && match (&self.finding, &other.finding) {
                (Ok(a), Ok(b)) => {
                    a.label == b.label
                        && bit(a.gate_log_likelihood) == bit(b.gate_log_likelihood)
                        && bit(a.log_likelihood) == bit(b.log_likelihood)
                        && bits(&a.posterior) == bits(&b.posterior)
                        && statistics(a) == statistics(b)
                        && severity(a) == severity(b)
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
pub fn run(model: Model<'_>, recording: &Recording) -> Result<Vec<DeviceReport>, RunError> {
    run_sending(model, recording, &mut Vec::new())
}

/// Windows that the host's snapshots hold: a recording of more makes several records.
const SNAPSHOT_WINDOWS: usize = 256;
type LargestSnapshot = Snapshot<{ MAX_AXES * MAX_BANDS }, SNAPSHOT_WINDOWS>;

/// As [`run`], with the records of a snapshot, which the device would send, put behind `sent`.
pub fn run_sending(
    model: Model<'_>,
    recording: &Recording,
    sent: &mut Vec<u8>,
) -> Result<Vec<DeviceReport>, RunError> {
    match recording.axes {
        1 => run_axes::<1>(&model, recording, sent),
        2 => run_axes::<2>(&model, recording, sent),
        _ => run_axes::<3>(&model, recording, sent),
    }
}

/// Sends a snapshot's record and empties it, where there is something in it and `all` is asked for
/// or it is full.
fn send(snapshot: &mut LargestSnapshot, all: bool, sent: &mut Vec<u8>) {
    if snapshot.len() == SNAPSHOT_WINDOWS || (all && !snapshot.is_empty()) {
        sent.extend(snapshot.bytes());
        snapshot.clear();
    }
}

/// Flags of a window that was called `label`, the first of its segment or not.
fn snapshot_flags(label: Label, first: bool) -> u16 {
    let unknown = if matches!(label, Label::Class(_)) { 0 } else { snapshot::UNKNOWN };
    unknown | if first { snapshot::AFTER_GAP } else { 0 }
}

/// Room for every model that the format allows.
type LargestMonitor<'m, const AXES: usize> =
    Monitor<'m, f32, 4096, AXES, { MAX_AXES * MAX_BANDS }, MAX_COMPONENTS, MAX_CLASSES>;

/// Room for the decisions of every model.
type LargestDecision = Decision<MAX_CLASSES, { MAX_AVERAGE as usize }>;

fn run_axes<const AXES: usize>(
    model: &Model<'_>,
    recording: &Recording,
    sent: &mut Vec<u8>,
) -> Result<Vec<DeviceReport>, RunError> {
    let mut monitor = LargestMonitor::<AXES>::new(*model)?;
    let mut snapshot = Box::new(LargestSnapshot::new(model)?);
    // A speed that the model cannot be used at is in every report as its fault.
    let _ = recording.shaft_hz().map(|hz| monitor.set_shaft_speed(hz));
    let mut decision = LargestDecision::of_model(model)?;
    let mut reports = Vec::new();
    let lengths = recording.segment_frames();
    progress::expect(windows(model.front_end(), &lengths));
    for (segment, frames) in lengths.into_iter().enumerate() {
        monitor.clear();
        let mut first = true;
        recording.each_chunk(segment, 0..frames, |chunk| {
            let mut frames = chunk.as_chunks::<AXES>().0;
            while let (Some(report), left) = monitor.push_until_report(frames) {
                frames = left;
                progress::done(1);
                let verdict = Some(decision.report(&report));
                if let Ok(finding) = &report.finding {
                    let flags = snapshot_flags(finding.label, first);
                    snapshot.record(&monitor, report.index, flags);
                    send(&mut snapshot, false, sent);
                }
                // A window that is missing is a gap too.
                first = report.finding.is_err();
                let finding = report.finding.map(|finding| float_finding(&finding));
                reports.push(DeviceReport { index: report.index, finding, verdict });
            }
            Ok::<_, RecordingError>(())
        })?;
    }
    send(&mut snapshot, true, sent);
    Ok(reports)
}

/// Decision windows of these segments.
fn windows(front_end: &FrontEnd<'_>, lengths: &[usize]) -> usize {
    let apart = (front_end.hop * front_end.segments).max(1);
    let after_first = |frames: &usize| frames.checked_sub(front_end.window_len());
    lengths.iter().filter_map(|frames| Some(after_first(frames)? / apart + 1)).sum()
}

fn float_finding<const AXES: usize, const CLASSES: usize>(
    finding: &Finding<AXES, CLASSES>,
) -> DeviceFinding {
    DeviceFinding {
        label: finding.label,
        gate_log_likelihood: finding.gate_log_likelihood,
        log_likelihood: finding.log_likelihood,
        posterior: finding.posterior.to_vec(),
        statistics: finding.statistics.to_vec(),
        severity: finding.severity.map(|severity| DeviceSeverity {
            velocity: severity.velocity.to_vec(),
            zone: severity.zone,
        }),
    }
}

/// As [`run`], with the integer monitor over a recording in counts.
pub fn run_integer(
    model: &IntegerModel<'_>,
    counts: &Counts,
) -> Result<Vec<DeviceReport>, ModelError> {
    run_integer_sending(model, counts, &mut Vec::new())
}

/// As [`run_sending`], with the integer monitor over a recording in counts.
pub fn run_integer_sending(
    model: &IntegerModel<'_>,
    counts: &Counts,
    sent: &mut Vec<u8>,
) -> Result<Vec<DeviceReport>, ModelError> {
    match model.front_end().fft_len {
        256 => run_integer_points::<256>(model, counts, sent),
        512 => run_integer_points::<512>(model, counts, sent),
        1024 => run_integer_points::<1024>(model, counts, sent),
        2048 => run_integer_points::<2048>(model, counts, sent),
        _ => run_integer_points::<4096>(model, counts, sent),
    }
}

fn run_integer_points<const FFT: usize>(
    model: &IntegerModel<'_>,
    counts: &Counts,
    sent: &mut Vec<u8>,
) -> Result<Vec<DeviceReport>, ModelError> {
    match counts.axes {
        1 => run_integer_axes::<FFT, 1>(model, counts, sent),
        2 => run_integer_axes::<FFT, 2>(model, counts, sent),
        _ => run_integer_axes::<FFT, 3>(model, counts, sent),
    }
}

fn run_integer_axes<const FFT: usize, const AXES: usize>(
    model: &IntegerModel<'_>,
    counts: &Counts,
    sent: &mut Vec<u8>,
) -> Result<Vec<DeviceReport>, ModelError> {
    type Largest<'m, const FFT: usize, const AXES: usize> =
        IntegerMonitor<'m, FFT, AXES, { MAX_AXES * MAX_BANDS }, MAX_COMPONENTS, MAX_CLASSES>;
    let mut monitor = Largest::<FFT, AXES>::new(*model)?;
    let mut snapshot = Box::new(LargestSnapshot::for_integer(model)?);
    let mut decision = LargestDecision::of_integer_model(model)?;
    let mut reports = Vec::new();
    let lengths: Vec<usize> = counts.segments.iter().map(|s| s.len() / AXES).collect();
    progress::expect(windows(model.front_end(), &lengths));
    for segment in &counts.segments {
        monitor.clear();
        let mut first = true;
        let mut frames = segment.as_chunks::<AXES>().0;
        while let (Some(report), left) = monitor.push_until_report(frames) {
            frames = left;
            progress::done(1);
            let verdict = Some(decision.integer_report(&report));
            let IntegerReport { index, finding } = report;
            if let Ok(finding) = &finding {
                let flags = snapshot_flags(finding.label, first);
                snapshot.record_integer(&monitor, index, flags);
                send(&mut snapshot, false, sent);
            }
            first = finding.is_err();
            let finding = finding.map(|finding| integer_finding(&finding, model.counts_per_unit()));
            reports.push(DeviceReport { index, finding, verdict });
        }
    }
    send(&mut snapshot, true, sent);
    Ok(reports)
}

/// A finding of the integer line in floats, and in the unit of the recordings.
pub fn integer_finding<const AXES: usize, const CLASSES: usize>(
    finding: &IntegerFinding<AXES, CLASSES>,
    counts_per_unit: f32,
) -> DeviceFinding {
    let axes = finding.statistics.iter().map(|axis| statistics(*axis, counts_per_unit));
    DeviceFinding {
        label: finding.label,
        gate_log_likelihood: finding.gate_log_likelihood.map(nats),
        log_likelihood: finding.log_likelihood.map(nats),
        posterior: finding.posterior.iter().map(|p| probability(*p)).collect(),
        statistics: axes.collect(),
        severity: None,
    }
}

/// A log-likelihood of the integer line in nats.
pub fn nats(q8: i32) -> f32 {
    (f64::from(q8) / 256.0) as f32
}

/// A probability of the integer line.
pub fn probability(q15: u16) -> f32 {
    f32::from(q15) / f32::from(ONE)
}

/// Statistics of the integer line in the unit of the recordings.
pub fn statistics(axis: IntegerStatistics, counts_per_unit: f32) -> Statistics {
    let unit = f64::from(counts_per_unit);
    let ln_2 = std::f64::consts::LN_2;
    Statistics {
        level: (f64::from(axis.level) / 65536.0 * ln_2 - 2.0 * unit.ln()) as f32,
        rms: (f64::from(axis.rms) / 256.0 / unit) as f32,
        kurtosis: (f64::from(axis.kurtosis) / 256.0) as f32,
        crest: (f64::from(axis.crest) / 256.0) as f32,
    }
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

    /// The smallest type for an i16 model.
    pub fn of_integer(model: &IntegerModel<'_>) -> Self {
        Self {
            fft: model.front_end().fft_len,
            axes: model.front_end().axes,
            dims: model.dims(),
            components: model.components(),
            classes: model.classes(),
        }
    }

    /// The type of an i16 model's monitor as a firmware writes it.
    pub fn integer_name(&self) -> String {
        let Self { fft, axes, dims, components, classes } = self;
        format!("IntegerMonitor<{fft}, {axes}, {dims}, {components}, {classes}>")
    }

    /// RAM of an i16 model's monitor on a 32-bit device.
    pub fn integer_ram(&self) -> usize {
        integer_device_ram(self.fft, self.axes, self.dims, self.components)
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
