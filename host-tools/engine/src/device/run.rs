//! The device's monitors, run on the host over a recording.

use rebearing::model::format::{MAX_AVERAGE, MAX_AXES, MAX_BANDS, MAX_CLASSES, MAX_COMPONENTS};
use rebearing::model::{AnyModel, Body};
use rebearing::operation::snapshot::{self, Snapshot};
use rebearing::{
    Alarm, AnyMonitor, FrontEnd, IntegerModel, IntegerMonitor, Label, Model, ModelError, Monitor,
};
use thiserror::Error;

use crate::data::counts::{Counts, CountsError};
use crate::data::recording::{Recording, RecordingError};
use crate::device::finding::{DeviceClassification, DeviceFinding, Shown};
use crate::progress;

/// Why a model was not run over a recording.
#[derive(Debug, Error)]
pub enum RunError {
    /// The device would refuse the model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The recording cannot be converted to counts.
    #[error(transparent)]
    Counts(#[from] CountsError),
    /// The recording could not be read to its end.
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

/// Samples for a monitor, in stretches without a gap.
trait Stretches<S> {
    /// Number of frames in each stretch.
    fn frames(&self) -> Vec<usize>;
    /// Passes the samples of a stretch to `take`, in chunks of whole frames.
    fn each_chunk(&self, stretch: usize, take: &mut dyn FnMut(&[S])) -> Result<(), RunError>;
}

impl Stretches<f32> for Recording {
    fn frames(&self) -> Vec<usize> {
        self.stretch_frames()
    }

    fn each_chunk(&self, stretch: usize, take: &mut dyn FnMut(&[f32])) -> Result<(), RunError> {
        let frames = self.frames_of(stretch);
        Ok(Recording::each_chunk(self, stretch, 0..frames, |chunk| {
            take(chunk);
            Ok::<_, RecordingError>(())
        })?)
    }
}

impl Stretches<i16> for Counts {
    fn frames(&self) -> Vec<usize> {
        self.stretches.iter().map(|stretch| stretch.len() / self.axes.max(1)).collect()
    }

    fn each_chunk(&self, stretch: usize, take: &mut dyn FnMut(&[i16])) -> Result<(), RunError> {
        take(&self.stretches[stretch]);
        Ok(())
    }
}

/// Runs the device's monitor over a recording. A window never spans two stretches of the recording.
///
/// The number of axes must match the model. Otherwise the model is refused, as on the device.
pub fn run(model: Model<'_>, recording: &Recording) -> Result<Vec<DeviceFinding>, RunError> {
    run_sending(model, recording, &mut Vec::new())
}

/// As [`run`], and appends to `sent` the snapshot records that the device would send.
pub fn run_sending(
    model: Model<'_>,
    recording: &Recording,
    sent: &mut Vec<u8>,
) -> Result<Vec<DeviceFinding>, RunError> {
    match recording.axes {
        1 => run_floats::<1>(&model, recording, sent),
        2 => run_floats::<2>(&model, recording, sent),
        _ => run_floats::<3>(&model, recording, sent),
    }
}

/// As [`run`], with the integer monitor over a recording in counts.
pub fn run_integer(
    model: &IntegerModel<'_>,
    counts: &Counts,
) -> Result<Vec<DeviceFinding>, RunError> {
    run_integer_sending(model, counts, &mut Vec::new())
}

/// As [`run_sending`], with the integer monitor over a recording in counts.
pub fn run_integer_sending(
    model: &IntegerModel<'_>,
    counts: &Counts,
    sent: &mut Vec<u8>,
) -> Result<Vec<DeviceFinding>, RunError> {
    match model.front_end().fft_len {
        256 => run_integers::<256>(model, counts, sent),
        512 => run_integers::<512>(model, counts, sent),
        1024 => run_integers::<1024>(model, counts, sent),
        2048 => run_integers::<2048>(model, counts, sent),
        _ => run_integers::<4096>(model, counts, sent),
    }
}

/// Room for the features of every model that the format allows.
pub(super) const DIMS: usize = MAX_AXES * MAX_BANDS;

fn run_floats<const AXES: usize>(
    model: &Model<'_>,
    recording: &Recording,
    sent: &mut Vec<u8>,
) -> Result<Vec<DeviceFinding>, RunError> {
    type Largest<'m, const AXES: usize> =
        Monitor<'m, f32, 4096, AXES, DIMS, MAX_COMPONENTS, MAX_CLASSES>;
    let mut vacant = Box::new(Largest::<AXES>::vacant());
    let monitor = vacant.start(*model)?;
    // If the model cannot be used at this speed, every finding has that fault.
    let _ = recording.shaft_hz().map(|hz| monitor.set_shaft_speed(hz));
    run_monitor(monitor, recording, 1.0, sent)
}

fn run_integers<const FFT: usize>(
    model: &IntegerModel<'_>,
    counts: &Counts,
    sent: &mut Vec<u8>,
) -> Result<Vec<DeviceFinding>, RunError> {
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
) -> Result<Vec<DeviceFinding>, RunError> {
    type Largest<'m, const FFT: usize, const AXES: usize> =
        IntegerMonitor<'m, FFT, AXES, DIMS, MAX_COMPONENTS, MAX_CLASSES>;
    let mut vacant = Box::new(Largest::<FFT, AXES>::vacant());
    run_monitor(vacant.start(*model)?, counts, model.counts_per_unit(), sent)
}

/// Runs either monitor over all stretches of a recording.
fn run_monitor<'m, M, const AXES: usize>(
    monitor: &mut M,
    recording: &impl Stretches<M::Sample>,
    counts_per_unit: f32,
    sent: &mut Vec<u8>,
) -> Result<Vec<DeviceFinding>, RunError>
where
    M: AnyMonitor<'m, AXES, MAX_CLASSES>,
    <M::Body as Body<'m>>::Numbers: Shown,
{
    let mut sender = Sender::new(monitor.model(), sent)?;
    let mut alarm = Alarm::<MAX_CLASSES, { MAX_AVERAGE as usize }>::of_model(monitor.model())?;
    let mut findings = Vec::new();
    let lengths = recording.frames();
    progress::expect(windows(monitor.model().front_end(), &lengths));
    for stretch in 0..lengths.len() {
        monitor.clear();
        sender.after_gap = true;
        recording.each_chunk(stretch, &mut |chunk| {
            let mut frames = chunk.as_chunks::<AXES>().0;
            while let (Some(finding), left) = monitor.push_until_finding(frames) {
                frames = left;
                progress::done(1);
                let state = alarm.update(&finding);
                let label = finding.result.as_ref().ok().map(|found| found.label);
                sender.window(monitor, finding.index, label);
                let found = |found| DeviceClassification::new(&found, counts_per_unit);
                findings.push(DeviceFinding {
                    index: finding.index,
                    result: finding.result.map(found),
                    alarm: Some(state),
                });
            }
        })?;
    }
    sender.flush();
    Ok(findings)
}

/// Number of windows in stretches of these lengths.
fn windows(front_end: &FrontEnd<'_>, lengths: &[usize]) -> usize {
    let apart = (front_end.hop * front_end.segments).max(1);
    let after_first = |frames: &usize| frames.checked_sub(front_end.window_len());
    lengths.iter().filter_map(|frames| Some(after_first(frames)? / apart + 1)).sum()
}

/// Number of windows in a snapshot on the host. A longer recording gives several records.
const SNAPSHOT_WINDOWS: usize = 256;

/// Sends snapshots as a device would.
struct Sender<'s> {
    snapshot: Box<Snapshot<DIMS, SNAPSHOT_WINDOWS>>,
    sent: &'s mut Vec<u8>,
    /// Whether samples are missing before the next window.
    after_gap: bool,
}

impl<'s> Sender<'s> {
    fn new<'m, B: Body<'m>>(
        model: &AnyModel<'m, B>,
        sent: &'s mut Vec<u8>,
    ) -> Result<Self, ModelError> {
        Ok(Self { snapshot: Box::new(Snapshot::new(model)?), sent, after_gap: true })
    }

    /// Adds the monitor's last window to the snapshot. A window without a label has a sensor fault
    /// and is left out.
    fn window<'m, const AXES: usize>(
        &mut self,
        monitor: &impl AnyMonitor<'m, AXES, MAX_CLASSES>,
        index: u32,
        label: Option<Label>,
    ) {
        if let Some(label) = label {
            let known = matches!(label, Label::Class(_));
            let flags = if known { 0 } else { snapshot::UNKNOWN }
                | if self.after_gap { snapshot::AFTER_GAP } else { 0 };
            self.snapshot.record(monitor, index, flags);
            if self.snapshot.len() == SNAPSHOT_WINDOWS {
                self.flush();
            }
        }
        // A missing window is a gap too.
        self.after_gap = label.is_none();
    }

    /// Sends the stored windows, if there are any.
    fn flush(&mut self) {
        if !self.snapshot.is_empty() {
            self.sent.extend(self.snapshot.bytes());
            self.snapshot.clear();
        }
    }
}
