//! The line of stages that both monitors are: segment, spectrum, features, label.

use heapless::Vec;

use super::capacities::check_shape;
use super::hooks::Hooks;
use super::{AnyClassification, Capacities, Place, Progress, Samples, Vacant};
use crate::acquisition::{Sample, SensorFault};
use crate::classify::AnyClassified;
use crate::model::{AnyModel, ModelError, Numbers};
use crate::signal::{Segment, Severity, ShaftSpeedError};

/// A model that stages in the numbers `N` run.
type ModelOf<'m, N> = AnyModel<'m, <N as Numbers>::Body<'m>>;

/// The stages in one kind of numbers, with their memory.
pub trait Stages<S, const FFT: usize, const AXES: usize> {
    /// The numbers.
    type Numbers: Numbers;
    /// Stages at rest: all zero bits, so that a vacant monitor in a `static` takes no flash.
    const VACANT: Self;

    /// The model of a monitor that was not started.
    fn vacant_model<'m>() -> &'m ModelOf<'m, Self::Numbers>;

    /// Makes room for a model, which was checked to fit.
    fn start(&mut self, model: &ModelOf<'_, Self::Numbers>);

    /// Forgets the sums of the window.
    fn restart(&mut self);

    /// Adds a full segment to the sums of the window. The statistics take its `fresh` newest
    /// samples.
    fn add_segment(
        &mut self,
        model: &ModelOf<'_, Self::Numbers>,
        segment: &Segment<S, FFT, AXES>,
        fresh: usize,
    ) -> Result<(), SensorFault>;

    /// Turns the sums of the window into its standardised features.
    fn features(
        &mut self,
        model: &ModelOf<'_, Self::Numbers>,
        features: &mut [<Self::Numbers as Numbers>::Feature],
    ) -> Result<Measured<Self::Numbers, AXES>, SensorFault>;

    /// Labels the window by its features, and writes responsibilities and posterior.
    fn label(
        &mut self,
        model: &ModelOf<'_, Self::Numbers>,
        features: &[<Self::Numbers as Numbers>::Feature],
        responsibilities: &mut [<Self::Numbers as Numbers>::Responsibility],
        posterior: &mut [<Self::Numbers as Numbers>::Probability],
    ) -> AnyClassified<<Self::Numbers as Numbers>::LogLikelihood>;

    /// Keeps a shaft speed that `model` can be used at, and forgets the one before it.
    fn set_shaft_speed(
        &mut self,
        model: &ModelOf<'_, Self::Numbers>,
        hz: f32,
    ) -> Result<(), ShaftSpeedError>;
}

/// Measurements of a window beside its features.
pub struct Measured<N: Numbers, const AXES: usize> {
    pub(super) statistics: [N::Statistics; AXES],
    pub(super) severity: Option<Severity<AXES>>,
}

/// A monitor with stages of either kind: [`Monitor`](crate::Monitor) and
/// [`IntegerMonitor`](crate::IntegerMonitor) are its two forms.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Line<
    'm,
    S,
    W,
    const FFT: usize,
    const AXES: usize,
    const DIMS: usize,
    const COMPONENTS: usize,
    const CLASSES: usize,
> where
    W: Stages<S, FFT, AXES>,
{
    /// Empty only inside [`Vacant`].
    model: Place<ModelOf<'m, W::Numbers>>,
    segment: Segment<S, FFT, AXES>,
    progress: Progress,
    stages: W,
    features: Vec<<W::Numbers as Numbers>::Feature, DIMS>,
    responsibilities: Vec<<W::Numbers as Numbers>::Responsibility, COMPONENTS>,
}

impl<
    'm,
    S,
    W,
    const FFT: usize,
    const AXES: usize,
    const DIMS: usize,
    const COMPONENTS: usize,
    const CLASSES: usize,
> Line<'m, S, W, FFT, AXES, DIMS, COMPONENTS, CLASSES>
where
    S: Sample,
    W: Stages<S, FFT, AXES>,
{
    /// The capacities of this type.
    pub const CAPACITIES: Capacities = Capacities {
        encoding: W::Numbers::ENCODING,
        samples: Samples::of::<S>(),
        fft: FFT,
        axes: AXES,
        dims: DIMS,
        components: COMPONENTS,
        classes: CLASSES,
    };
    /// Bytes of RAM that a monitor of this type takes; the model stays in flash.
    pub const RAM: usize = size_of::<Self>();
    /// `RAM` on a 32-bit device, also when asked on a 64-bit host.
    pub const DEVICE_RAM: usize = Self::CAPACITIES.device_ram();

    /// A monitor without a model, to be started where it lies.
    pub const fn vacant() -> Vacant<Self> {
        Vacant(Self {
            model: Place::Empty,
            segment: Segment::VACANT,
            progress: Progress::START,
            stages: W::VACANT,
            features: Vec::new(),
            responsibilities: Vec::new(),
        })
    }

    /// A monitor for `model`. The error names what does not fit it.
    ///
    /// On a device, `vacant` takes less stack.
    pub fn new(model: ModelOf<'m, W::Numbers>) -> Result<Self, ModelError> {
        let mut vacant = Self::vacant();
        vacant.start(model)?;
        Ok(vacant.0)
    }
}

impl<
    'm,
    S,
    W,
    const FFT: usize,
    const AXES: usize,
    const DIMS: usize,
    const COMPONENTS: usize,
    const CLASSES: usize,
> Hooks<'m, AXES, CLASSES> for Line<'m, S, W, FFT, AXES, DIMS, COMPONENTS, CLASSES>
where
    S: Sample,
    W: Stages<S, FFT, AXES>,
{
    type Sample = S;
    type Body = <W::Numbers as Numbers>::Body<'m>;
    const CAPACITIES: Capacities = Self::CAPACITIES;

    fn start(&mut self, model: AnyModel<'m, Self::Body>) -> Result<(), ModelError> {
        const {
            check_shape(FFT, AXES);
            // Keeps the figure that the host prints true.
            assert!(size_of::<usize>() != 4 || Self::RAM == Self::DEVICE_RAM);
        }
        Self::CAPACITIES.check(&model)?;
        let front_end = model.front_end();
        self.segment.start(front_end.fft_len, front_end.hop);
        self.progress = Progress::START;
        set_length(&mut self.features, model.dims());
        set_length(&mut self.responsibilities, model.component_count());
        self.stages.start(&model);
        self.stages.restart();
        self.model = Place::Taken(model);
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

    fn add_segment(&mut self) -> Result<(), SensorFault> {
        let model = self.model.get().unwrap_or(W::vacant_model());
        let front_end = model.front_end();
        // Each sample counts once, however the segments overlap.
        let fresh = if self.progress.is_first() { front_end.fft_len } else { front_end.hop };
        self.stages.add_segment(model, &self.segment, fresh)
    }

    fn classify(&mut self) -> Result<AnyClassification<W::Numbers, AXES, CLASSES>, SensorFault> {
        let model = self.model.get().unwrap_or(W::vacant_model());
        let Measured { statistics, severity } = self.stages.features(model, &mut self.features)?;
        let mut posterior = Vec::new();
        set_length(&mut posterior, model.classes());
        let AnyClassified { label, gate_log_likelihood, log_likelihood } =
            self.stages.label(model, &self.features, &mut self.responsibilities, &mut posterior);
        Ok(AnyClassification {
            label,
            gate_log_likelihood,
            log_likelihood,
            posterior,
            statistics,
            severity,
        })
    }

    fn restart_stages(&mut self) {
        self.stages.restart();
    }

    fn keep_shaft_speed(&mut self, hz: f32) -> Result<(), ShaftSpeedError> {
        self.stages.set_shaft_speed(self.model.get().unwrap_or(W::vacant_model()), hz)
    }

    fn current_model(&self) -> &AnyModel<'m, Self::Body> {
        self.model.get().unwrap_or(W::vacant_model())
    }

    fn current_features(&self) -> &[<W::Numbers as Numbers>::Feature] {
        &self.features
    }

    fn current_responsibilities(&self) -> &[<W::Numbers as Numbers>::Responsibility] {
        &self.responsibilities
    }
}

/// Fills a buffer with `length` zeros. The model was checked to fit, so none is cut off.
pub(super) fn set_length<T: Clone + Default, const N: usize>(
    buffer: &mut Vec<T, N>,
    length: usize,
) {
    let _ = buffer.resize(length.min(N), T::default());
}
