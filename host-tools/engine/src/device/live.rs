//! A monitor on the host that takes samples as they come, as a device does.

use rebearing::model::Body;
use rebearing::model::format::{MAX_AVERAGE, MAX_CLASSES, MAX_COMPONENTS};
use rebearing::{Alarm, AnyMonitor, IntegerMonitor, ModelError, Monitor, ShaftSpeedError};
use self_cell::self_cell;
use thiserror::Error;

use super::run::DIMS;
use crate::data::counts::{CountsError, counts};
use crate::data::recording::Recording;
use crate::device::finding::{DeviceClassification, DeviceFinding, Shown};
use crate::model::deployed::DeployedModel;
use crate::model::encoded::{IntegerModelBytes, ModelBytes};
use crate::words::plural;

/// Why samples were not taken.
#[derive(Debug, Error)]
pub enum LiveError {
    /// The samples are not whole frames.
    #[error(
        "{} for a model of {}; give whole frames, one sample of each axis after the other",
        plural(*samples, "sample", "samples"),
        plural(*axes, "axis", "axes")
    )]
    Frames {
        /// Number of samples.
        samples: usize,
        /// Axes of the model.
        axes: usize,
    },
    /// An f32 model takes samples in the unit of its recordings.
    #[error("an f32 model takes samples in the unit of its recordings, not 16-bit counts")]
    Counts,
    /// The samples cannot be converted to counts.
    #[error(transparent)]
    NoCounts(#[from] CountsError),
}

/// The device's monitor with its alarm, for samples that come piece by piece.
pub struct LiveMonitor {
    running: Running,
    axes: usize,
}

enum Running {
    F32(Floats),
    I16(Integers, f32),
}

type FloatMonitor<'m> = Box<dyn Takes<f32> + Send + 'm>;
type IntegerMonitorOf<'m> = Box<dyn Takes<i16> + Send + 'm>;

self_cell!(
    struct Floats {
        owner: ModelBytes,
        #[not_covariant]
        dependent: FloatMonitor,
    }
);

self_cell!(
    struct Integers {
        owner: IntegerModelBytes,
        #[not_covariant]
        dependent: IntegerMonitorOf,
    }
);

impl LiveMonitor {
    /// Starts a monitor with this model, as a device does.
    pub fn new(model: DeployedModel) -> Result<Self, ModelError> {
        let axes = model.front_end().axes;
        let running = match model {
            DeployedModel::F32(bytes) => {
                Running::F32(Floats::try_new(bytes, |bytes| float_monitor(bytes, axes))?)
            }
            DeployedModel::I16(bytes) => {
                let counts_per_unit = bytes.model().counts_per_unit();
                let running = Integers::try_new(bytes, |bytes| integer_monitor(bytes, axes))?;
                Running::I16(running, counts_per_unit)
            }
        };
        Ok(Self { running, axes })
    }

    /// Takes interleaved samples in the unit of the recordings. Returns the findings of the windows
    /// that they complete. An i16 model gets them as counts.
    pub fn push(&mut self, samples: &[f32]) -> Result<Vec<DeviceFinding>, LiveError> {
        self.check(samples.len())?;
        match &mut self.running {
            Running::F32(cell) => Ok(cell.with_dependent_mut(|_, monitor| monitor.push(samples))),
            Running::I16(..) if samples.is_empty() => Ok(Vec::new()),
            Running::I16(cell, counts_per_unit) => {
                let recording =
                    Recording::in_memory("the samples", self.axes, vec![samples.to_vec()]);
                let counts = counts(&recording, *counts_per_unit)?;
                Ok(cell.with_dependent_mut(|_, monitor| monitor.push(&counts.stretches[0])))
            }
        }
    }

    /// Takes interleaved counts, for an i16 model.
    pub fn push_counts(&mut self, counts: &[i16]) -> Result<Vec<DeviceFinding>, LiveError> {
        self.check(counts.len())?;
        match &mut self.running {
            Running::F32(_) => Err(LiveError::Counts),
            Running::I16(cell, _) => Ok(cell.with_dependent_mut(|_, monitor| monitor.push(counts))),
        }
    }

    /// Forgets the samples of the window under way, as after a gap in acquisition.
    pub fn clear(&mut self) {
        match &mut self.running {
            Running::F32(cell) => cell.with_dependent_mut(|_, monitor| monitor.clear()),
            Running::I16(cell, _) => cell.with_dependent_mut(|_, monitor| monitor.clear()),
        }
    }

    /// Sets the shaft speed in turns per second, for models with features of shaft orders.
    pub fn set_shaft_speed(&mut self, hz: f32) -> Result<(), ShaftSpeedError> {
        match &mut self.running {
            Running::F32(cell) => cell.with_dependent_mut(|_, monitor| monitor.shaft_speed(hz)),
            Running::I16(cell, _) => cell.with_dependent_mut(|_, monitor| monitor.shaft_speed(hz)),
        }
    }

    fn check(&self, samples: usize) -> Result<(), LiveError> {
        if samples.is_multiple_of(self.axes.max(1)) {
            return Ok(());
        }
        Err(LiveError::Frames { samples, axes: self.axes })
    }
}

fn float_monitor(bytes: &ModelBytes, axes: usize) -> Result<FloatMonitor<'_>, ModelError> {
    fn of<const AXES: usize>(bytes: &ModelBytes) -> Result<FloatMonitor<'_>, ModelError> {
        type Largest<'m, const AXES: usize> =
            Monitor<'m, f32, 4096, AXES, DIMS, MAX_COMPONENTS, MAX_CLASSES>;
        let monitor = Largest::<AXES>::new(bytes.model())?;
        Ok(Box::new(WithAlarm::<_, AXES>::new(monitor, 1.0)?))
    }
    match axes {
        1 => of::<1>(bytes),
        2 => of::<2>(bytes),
        _ => of::<3>(bytes),
    }
}

fn integer_monitor(
    bytes: &IntegerModelBytes,
    axes: usize,
) -> Result<IntegerMonitorOf<'_>, ModelError> {
    fn of<const FFT: usize, const AXES: usize>(
        bytes: &IntegerModelBytes,
    ) -> Result<IntegerMonitorOf<'_>, ModelError> {
        type Largest<'m, const FFT: usize, const AXES: usize> =
            IntegerMonitor<'m, FFT, AXES, DIMS, MAX_COMPONENTS, MAX_CLASSES>;
        let model = bytes.model();
        let counts_per_unit = model.counts_per_unit();
        let monitor = Largest::<FFT, AXES>::new(model)?;
        Ok(Box::new(WithAlarm::<_, AXES>::new(monitor, counts_per_unit)?))
    }
    fn of_axes<const FFT: usize>(
        bytes: &IntegerModelBytes,
        axes: usize,
    ) -> Result<IntegerMonitorOf<'_>, ModelError> {
        match axes {
            1 => of::<FFT, 1>(bytes),
            2 => of::<FFT, 2>(bytes),
            _ => of::<FFT, 3>(bytes),
        }
    }
    match bytes.model().front_end().fft_len {
        256 => of_axes::<256>(bytes, axes),
        512 => of_axes::<512>(bytes, axes),
        1024 => of_axes::<1024>(bytes, axes),
        2048 => of_axes::<2048>(bytes, axes),
        _ => of_axes::<4096>(bytes, axes),
    }
}

/// A monitor of any size that takes samples of one type.
trait Takes<S> {
    fn push(&mut self, samples: &[S]) -> Vec<DeviceFinding>;
    fn clear(&mut self);
    fn shaft_speed(&mut self, hz: f32) -> Result<(), ShaftSpeedError>;
}

/// A monitor with its alarm.
struct WithAlarm<M, const AXES: usize> {
    monitor: M,
    alarm: Alarm<MAX_CLASSES, { MAX_AVERAGE as usize }>,
    counts_per_unit: f32,
}

impl<'m, M: AnyMonitor<'m, AXES, MAX_CLASSES>, const AXES: usize> WithAlarm<M, AXES> {
    fn new(monitor: M, counts_per_unit: f32) -> Result<Self, ModelError> {
        let alarm = Alarm::of_model(monitor.model())?;
        Ok(Self { monitor, alarm, counts_per_unit })
    }
}

impl<'m, M, const AXES: usize> Takes<M::Sample> for WithAlarm<M, AXES>
where
    M: AnyMonitor<'m, AXES, MAX_CLASSES>,
    <M::Body as Body<'m>>::Numbers: Shown,
{
    fn push(&mut self, samples: &[M::Sample]) -> Vec<DeviceFinding> {
        let mut findings = Vec::new();
        let Self { monitor, alarm, counts_per_unit } = self;
        monitor.push_slice(samples.as_chunks::<AXES>().0, |finding| {
            let state = alarm.update(&finding);
            let found = |found| DeviceClassification::new(&found, *counts_per_unit);
            findings.push(DeviceFinding {
                index: finding.index,
                result: finding.result.map(found),
                alarm: Some(state),
            });
        });
        findings
    }

    fn clear(&mut self) {
        self.monitor.clear();
    }

    fn shaft_speed(&mut self, hz: f32) -> Result<(), ShaftSpeedError> {
        self.monitor.set_shaft_speed(hz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::domain::Domain;
    use crate::data::manifest::Manifest;
    use crate::device;
    use crate::features::front_end::{EqualBands, FrontEndSettings};
    use crate::simulate::{Class, SimulateSettings, simulate};
    use crate::source::{Source, SourceSettings};

    #[test]
    fn samples_in_pieces_give_the_findings_of_the_whole_recording() {
        let folder = tempfile::tempdir().unwrap();
        let settings = SimulateSettings {
            seconds: 1.0,
            classes: vec![Class::ALL[0], Class::ALL[1]],
            ..SimulateSettings::default()
        };
        let simulated = simulate(&settings, folder.path(), &|_, _| ()).unwrap();
        let manifest = Manifest::read(&simulated.manifest).unwrap();
        let domain = Domain::read(&manifest, "motor-a").unwrap();
        let front_end =
            FrontEndSettings::equal_bands(EqualBands::usual(domain.rate_hz, domain.axes)).unwrap();
        let source = Source::fit(&domain, &front_end, &SourceSettings::default()).unwrap();
        let bytes = source.model(true).unwrap();
        let recording = &domain.recordings[0];
        let whole = device::run(bytes.model(), recording).unwrap();
        let samples = recording.stretches().unwrap()[0].clone();
        let mut monitor = LiveMonitor::new(DeployedModel::F32(bytes)).unwrap();
        let mut pieces = Vec::new();
        for piece in samples.chunks(777) {
            pieces.extend(monitor.push(piece).unwrap());
        }
        assert!(!whole.is_empty() && pieces.len() == whole.len());
        assert!(pieces.iter().zip(&whole).all(|(a, b)| a.same_bits(b)));
        assert!(matches!(monitor.push_counts(&[1]), Err(LiveError::Counts)));
    }
}
