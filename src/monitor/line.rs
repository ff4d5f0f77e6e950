//! The line of stages that both monitors are: segment, spectrum, features, label.

use heapless::Vec;

use super::capacities::check_shape;
use super::hooks::Hooks;
use super::{AnyClassification, Capacities, Place, Progress, Samples, Vacant};
use crate::acquisition::{Sample, SensorFault};
use crate::model::{AnyModel, ModelError, Numbers};
use crate::signal::{Segment, ShaftSpeedError};

/// The body of the models that stages of `W` run.
type BodyOf<'m, W, S, const FFT: usize, const AXES: usize> =
    <<W as Stages<S, FFT, AXES>>::Numbers as Numbers>::Body<'m>;

/// The stages in one kind of numbers, with their memory.
pub trait Stages<S, const FFT: usize, const AXES: usize>: Sized {
    /// The numbers.
    type Numbers: Numbers;
    /// Stages at rest: all zero bits, so that a vacant monitor in a `static` takes no flash.
    const VACANT: Self;
    /// Most features.
    const DIMS: usize;
    /// Most components.
    const COMPONENTS: usize;

    /// The model of a monitor that was not started.
    fn vacant_model<'m>() -> &'m AnyModel<'m, <Self::Numbers as Numbers>::Body<'m>>;

    /// Makes room for a model, which was checked to fit.
    fn start<'m>(&mut self, model: &AnyModel<'m, <Self::Numbers as Numbers>::Body<'m>>);

    /// Forgets the sums of the window.
    fn restart(&mut self);

    /// Adds a full segment to the sums of the window. The statistics take its `fresh` newest
    /// samples.
    fn add_segment<'m>(
        &mut self,
        model: &AnyModel<'m, <Self::Numbers as Numbers>::Body<'m>>,
        segment: &Segment<S, FFT, AXES>,
        fresh: usize,
    ) -> Result<(), SensorFault>;

    /// Turns the sums of the window into its features and its class.
    fn classify<'m, const CLASSES: usize>(
        &mut self,
        model: &AnyModel<'m, <Self::Numbers as Numbers>::Body<'m>>,
    ) -> Result<AnyClassification<Self::Numbers, AXES, CLASSES>, SensorFault>;

    /// Keeps a shaft speed that `model` can be used at, and forgets the one before it.
    fn set_shaft_speed<'m>(
        &mut self,
        model: &AnyModel<'m, <Self::Numbers as Numbers>::Body<'m>>,
        hz: f32,
    ) -> Result<(), ShaftSpeedError>;

    /// Features of the last window.
    fn features(&self) -> &[<Self::Numbers as Numbers>::Feature];

    /// Responsibilities of the last window.
    fn responsibilities(&self) -> &[<Self::Numbers as Numbers>::Responsibility];
}

/// A monitor with stages of either kind: [`Monitor`](crate::Monitor) and
/// [`IntegerMonitor`](crate::IntegerMonitor) are its two forms.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Line<'m, S, W, const FFT: usize, const AXES: usize, const CLASSES: usize>
where
    W: Stages<S, FFT, AXES>,
{
    /// Empty only inside [`Vacant`].
    model: Place<AnyModel<'m, BodyOf<'m, W, S, FFT, AXES>>>,
    segment: Segment<S, FFT, AXES>,
    progress: Progress,
    stages: W,
}

impl<'m, S, W, const FFT: usize, const AXES: usize, const CLASSES: usize>
    Line<'m, S, W, FFT, AXES, CLASSES>
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
        dims: W::DIMS,
        components: W::COMPONENTS,
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
        })
    }

    /// A monitor for `model`. The error names what does not fit it.
    ///
    /// On a device, `vacant` takes less stack.
    pub fn new(model: AnyModel<'m, BodyOf<'m, W, S, FFT, AXES>>) -> Result<Self, ModelError> {
        let mut vacant = Self::vacant();
        vacant.start(model)?;
        Ok(vacant.0)
    }
}

impl<'m, S, W, const FFT: usize, const AXES: usize, const CLASSES: usize> Hooks<'m, AXES, CLASSES>
    for Line<'m, S, W, FFT, AXES, CLASSES>
where
    S: Sample,
    W: Stages<S, FFT, AXES>,
{
    type Sample = S;
    type Body = BodyOf<'m, W, S, FFT, AXES>;
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
        self.stages.classify(self.model.get().unwrap_or(W::vacant_model()))
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
        self.stages.features()
    }

    fn current_responsibilities(&self) -> &[<W::Numbers as Numbers>::Responsibility] {
        self.stages.responsibilities()
    }
}

/// As many zeros as asked for, at most `N`.
pub(super) fn zeros<T: Clone + Default, const N: usize>(count: usize) -> Vec<T, N> {
    let mut zeros = Vec::new();
    let _ = zeros.resize(count.min(N), T::default());
    zeros
}
