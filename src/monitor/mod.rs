//! The stages in order: push samples, get a finding for each window.
//!
//! [`Monitor`] runs f32 models, [`IntegerMonitor`] runs i16 models. Both implement [`AnyMonitor`],
//! which has all their methods, so that everything around a monitor is written once.

mod acquire;
mod capacities;
mod finding;
mod float;
mod integer;
mod line;
mod sampling;
mod types;
mod vacant;

pub use acquire::{acquire, acquire_async};
pub use capacities::{Capacities, Samples};
pub use finding::{
    AnyClassification, AnyFinding, Classification, Finding, IntegerClassification, IntegerFinding,
};
pub use float::Monitor;
pub use integer::IntegerMonitor;
pub use line::Line;
pub use sampling::Sampling;
pub use vacant::{Place, Vacant};

use crate::acquisition::{Sample, SensorFault};
use crate::model::{AnyModel, Body, ModelError, Numbers};
use crate::signal::ShaftSpeedError;

/// The numbers of a monitor whose models have the body `B`.
type NumbersOf<'m, B> = <B as Body<'m>>::Numbers;

/// A monitor of either kind: takes samples and returns a finding for each window.
///
/// The `push` that completes a segment does the segment's FFT. The one that completes a window also
/// evaluates the mixture. All others only store the sample.
pub trait AnyMonitor<'m, const AXES: usize, const CLASSES: usize>:
    hooks::Hooks<'m, AXES, CLASSES>
{
    /// Takes one sample of each axis; returns a finding when it completes a window.
    ///
    /// If samples come in blocks, [`push_slice`](Self::push_slice) takes fewer instructions.
    #[inline]
    fn push(
        &mut self,
        sample: [Self::Sample; AXES],
    ) -> Option<AnyFinding<NumbersOf<'m, Self::Body>, AXES, CLASSES>> {
        if self.take(sample) { complete_segment(self) } else { None }
    }

    /// Takes samples in order and hands each finding to `on_finding` as it arises.
    ///
    /// The findings are those of [`push`](Self::push), however the samples are cut into slices.
    fn push_slice(
        &mut self,
        samples: &[[Self::Sample; AXES]],
        mut on_finding: impl FnMut(AnyFinding<NumbersOf<'m, Self::Body>, AXES, CLASSES>),
    ) {
        let mut left = samples;
        while let (Some(finding), rest) = self.push_until_finding(left) {
            on_finding(finding);
            left = rest;
        }
    }

    /// Takes samples in order up to the one that completes a window. Returns the finding, if there
    /// is one, and the samples that are left.
    ///
    /// Use it to look at the monitor between two findings, which
    /// [`push_slice`](Self::push_slice) does not allow.
    #[expect(clippy::type_complexity, reason = "a finding of any monitor, and what is left")]
    fn push_until_finding<'s>(
        &mut self,
        samples: &'s [[Self::Sample; AXES]],
    ) -> (Option<AnyFinding<NumbersOf<'m, Self::Body>, AXES, CLASSES>>, &'s [[Self::Sample; AXES]])
    {
        let mut left = samples;
        loop {
            let full;
            (full, left) = self.fill(left);
            if !full {
                return (None, left);
            }
            let finding = complete_segment(self);
            if finding.is_some() {
                return (finding, left);
            }
        }
    }

    /// Forgets all samples, as after a gap in acquisition. The next window starts with the next
    /// sample.
    fn clear(&mut self) {
        self.forget_samples();
        restart_window(self);
    }

    /// Discards the window that is under way, as after a gap in acquisition, and returns a finding
    /// with the reason. The next window starts with the next sample.
    fn discard(
        &mut self,
        fault: SensorFault,
    ) -> AnyFinding<NumbersOf<'m, Self::Body>, AXES, CLASSES> {
        self.clear();
        AnyFinding { index: self.progress().next_index(), result: Err(fault) }
    }

    /// Marks the window that is under way as faulty, unless it has a fault already: its samples are
    /// there but cannot be trusted. The next window shares none of them.
    fn mark(&mut self, fault: SensorFault) {
        let progress = self.progress();
        progress.marked = true;
        progress.fault = progress.fault.or(Some(fault));
    }

    /// Tells the monitor how fast the shaft turns, in turns per second. A model with features of
    /// shaft orders needs it and uses the last value. Other models ignore it.
    ///
    /// A speed that cannot be used is forgotten, and so is the one before it. Findings then say
    /// [`SensorFault::NoShaftSpeed`].
    fn set_shaft_speed(&mut self, hz: f32) -> Result<(), ShaftSpeedError> {
        self.keep_shaft_speed(hz)
    }

    /// The model in use.
    fn model(&self) -> &AnyModel<'m, Self::Body> {
        self.current_model()
    }

    /// Standardised features of the last window without a sensor fault. In integers they are in
    /// units and order of the model.
    fn features(&self) -> &[<NumbersOf<'m, Self::Body> as Numbers>::Feature] {
        self.current_features()
    }

    /// Responsibility of each component for the last window without a sensor fault: of the gate's
    /// components among themselves, and of the others among themselves. Components that were not
    /// evaluated have zero.
    fn responsibilities(&self) -> &[<NumbersOf<'m, Self::Body> as Numbers>::Responsibility] {
        self.current_responsibilities()
    }
}

impl<'m, M, const AXES: usize, const CLASSES: usize> AnyMonitor<'m, AXES, CLASSES> for M where
    M: hooks::Hooks<'m, AXES, CLASSES>
{
}

/// How far a monitor is with its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Progress {
    /// Segments of the window that are done.
    segments: u32,
    /// Windows that are done.
    index: u32,
    fault: Option<SensorFault>,
    /// The fault was marked from outside: the segment cannot tell these samples from good ones.
    marked: bool,
}

impl Progress {
    const START: Self = Self { segments: 0, index: 0, fault: None, marked: false };

    /// The index of the window that is over now.
    fn next_index(&mut self) -> u32 {
        let index = self.index;
        self.index = index.wrapping_add(1);
        index
    }

    /// Returns true before the first segment of a window is done.
    fn is_first(&self) -> bool {
        self.segments == 0
    }
}

/// Adds the full segment to the window, and classifies the window if it was the last segment.
fn complete_segment<'m, M, const AXES: usize, const CLASSES: usize>(
    monitor: &mut M,
) -> Option<AnyFinding<NumbersOf<'m, M::Body>, AXES, CLASSES>>
where
    M: hooks::Hooks<'m, AXES, CLASSES> + ?Sized,
{
    let added = monitor.add_segment();
    let progress = monitor.progress();
    // The first fault of a window counts.
    progress.fault = progress.fault.or(added.err());
    progress.segments += 1;
    let (segments, fault, marked) = (progress.segments, progress.fault, progress.marked);
    if (segments as usize) < monitor.current_model().front_end().segments {
        return None;
    }
    let result = match fault {
        Some(fault) => Err(fault),
        None => monitor.classify(),
    };
    if marked {
        // Otherwise an overlapping next window would share these samples.
        monitor.forget_samples();
    }
    restart_window(monitor);
    Some(AnyFinding { index: monitor.progress().next_index(), result })
}

fn restart_window<'m, M, const AXES: usize, const CLASSES: usize>(monitor: &mut M)
where
    M: hooks::Hooks<'m, AXES, CLASSES> + ?Sized,
{
    let index = monitor.progress().index;
    *monitor.progress() = Progress { index, ..Progress::START };
    monitor.restart_stages();
}

pub(crate) mod hooks {
    use super::{AnyClassification, Numbers, NumbersOf, Progress};
    use super::{AnyModel, Body, Capacities, ModelError, Sample, SensorFault, ShaftSpeedError};

    /// The parts of a monitor that [`AnyMonitor`](super::AnyMonitor) puts in order.
    pub trait Hooks<'m, const AXES: usize, const CLASSES: usize> {
        /// A sample of one axis.
        type Sample: Sample;
        /// The part of its models that depends on the encoding.
        type Body: Body<'m>;
        /// The capacities of the monitor's type.
        const CAPACITIES: Capacities;

        #[doc(hidden)]
        fn start(&mut self, model: AnyModel<'m, Self::Body>) -> Result<(), ModelError>;
        #[doc(hidden)]
        fn take(&mut self, sample: [Self::Sample; AXES]) -> bool;
        #[doc(hidden)]
        fn fill<'s>(
            &mut self,
            samples: &'s [[Self::Sample; AXES]],
        ) -> (bool, &'s [[Self::Sample; AXES]]);
        #[doc(hidden)]
        fn forget_samples(&mut self);
        #[doc(hidden)]
        fn progress(&mut self) -> &mut Progress;
        #[doc(hidden)]
        fn add_segment(&mut self) -> Result<(), SensorFault>;
        #[doc(hidden)]
        fn classify(
            &mut self,
        ) -> Result<AnyClassification<NumbersOf<'m, Self::Body>, AXES, CLASSES>, SensorFault>;
        #[doc(hidden)]
        fn restart_stages(&mut self);
        #[doc(hidden)]
        fn keep_shaft_speed(&mut self, hz: f32) -> Result<(), ShaftSpeedError>;
        #[doc(hidden)]
        fn current_model(&self) -> &AnyModel<'m, Self::Body>;
        #[doc(hidden)]
        fn current_features(&self) -> &[<NumbersOf<'m, Self::Body> as Numbers>::Feature];
        #[doc(hidden)]
        fn current_responsibilities(
            &self,
        ) -> &[<NumbersOf<'m, Self::Body> as Numbers>::Responsibility];
    }
}
