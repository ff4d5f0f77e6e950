//! Sensor to samples: where they come from, and what makes them unfit to be analysed.
//!
//! ```text
//!  accelerometer with a FIFO ─► Iis3dwb ─────────┐
//!                                                ├─► SampleSource ─► acquire ─► Monitor
//!  DMA or ADC, double buffer ─► DoubleBuffered ──┘       │
//!                                                        └─ SensorFault: window discarded
//! ```
//!
//! A source that cannot vouch for an unbroken row of samples says so with a [`SensorFault`], and
//! [`acquire`] discards the decision window that they would have gone into: a gap in the middle
//! of a window looks like an impact, and would be analysed as one.

mod double_buffer;
mod iis3dwb;

pub use double_buffer::{DoubleBuffered, Half, Halves};
pub use iis3dwb::{AsyncIis3dwb, Axis, FullScale, Iis3dwb, Iis3dwbError};

use crate::monitor::{Monitor, Report, SensorFault};
use crate::window::Sample;

/// Something that samples come from.
pub trait SampleSource<S, const AXES: usize> {
    /// Writes the samples that have arrived since the last call, oldest first, and says how many
    /// there were room for; none where none have arrived.
    ///
    /// After a fault the samples that follow do not belong to those before it. The next call goes
    /// on, or tries to: a source recovers by itself if it can.
    fn read(&mut self, samples: &mut [[S; AXES]]) -> Result<usize, SensorFault>;
}

/// [`SampleSource`] for executors: `read` waits until samples have arrived.
#[allow(async_fn_in_trait, reason = "futures of drivers stay on the core they were made on")]
pub trait AsyncSampleSource<S, const AXES: usize> {
    /// As [`SampleSource::read`].
    async fn read(&mut self, samples: &mut [[S; AXES]]) -> Result<usize, SensorFault>;
}

/// The values a sensor gives only when it is driven beyond its range.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Rails<S> {
    /// This and all below is clipped.
    pub least: S,
    /// This and all above is clipped.
    pub most: S,
}

impl Rails<i16> {
    /// Of a sensor that uses all sixteen bits.
    pub const FULL: Self = Self { least: i16::MIN, most: i16::MAX };
}

impl<S: PartialOrd> Rails<S> {
    /// Whether a sample is at a rail. One that is not a number is not; the monitor finds it.
    pub fn clip<const AXES: usize>(&self, sample: &[S; AXES]) -> bool {
        sample.iter().any(|x| *x <= self.least || *x >= self.most)
    }
}

/// Moves what has arrived at `source` into `monitor`, by way of the buffer `samples`.
///
/// Each report goes to `on_report`, and so does each discarded window, as a report of its fault.
/// Returns the number of samples that were moved; zero means that nothing has arrived, and that
/// it is time to sleep.
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1.rbm") } }
/// use rebearing::acquisition::{Rails, SampleSource, acquire};
/// use rebearing::{Model, Monitor, SensorFault, include_model};
///
/// /// An ADC, say; this one makes its numbers up.
/// struct Counter(u16);
///
/// impl SampleSource<f32, 1> for Counter {
///     fn read(&mut self, samples: &mut [[f32; 1]]) -> Result<usize, SensorFault> {
///         for sample in samples.iter_mut() {
///             self.0 = self.0.wrapping_mul(25_173).wrapping_add(13_849);
///             *sample = [f32::from(self.0)];
///         }
///         Ok(samples.len())
///     }
/// }
///
/// let model = Model::parse(include_model!(path!()))?;
/// let mut monitor = Monitor::<f32, 256, 1, 4, 3, 3>::new(model)?;
/// let (mut source, mut buffer) = (Counter(1), [[0.0]; 64]);
/// let rails = Rails { least: -1.0, most: 65_536.0 };
/// let mut reports = 0;
/// while reports < 3 {
///     acquire(&mut source, &rails, &mut buffer, &mut monitor, |report| {
///         println!("{:?}", report.finding);
///         reports += 1;
///     });
/// }
/// # Ok::<(), rebearing::ModelError>(())
/// ```
pub fn acquire<
    S: Sample + PartialOrd,
    const FFT: usize,
    const AXES: usize,
    const DIMS: usize,
    const COMPONENTS: usize,
    const CLASSES: usize,
>(
    source: &mut impl SampleSource<S, AXES>,
    rails: &Rails<S>,
    samples: &mut [[S; AXES]],
    monitor: &mut Monitor<'_, S, FFT, AXES, DIMS, COMPONENTS, CLASSES>,
    on_report: impl FnMut(Report<AXES, CLASSES>),
) -> usize {
    let read = source.read(samples);
    hand_over(read, rails, samples, monitor, on_report)
}

/// [`acquire`] that waits for samples.
pub async fn acquire_async<
    S: Sample + PartialOrd,
    const FFT: usize,
    const AXES: usize,
    const DIMS: usize,
    const COMPONENTS: usize,
    const CLASSES: usize,
>(
    source: &mut impl AsyncSampleSource<S, AXES>,
    rails: &Rails<S>,
    samples: &mut [[S; AXES]],
    monitor: &mut Monitor<'_, S, FFT, AXES, DIMS, COMPONENTS, CLASSES>,
    on_report: impl FnMut(Report<AXES, CLASSES>),
) -> usize {
    let read = source.read(samples).await;
    hand_over(read, rails, samples, monitor, on_report)
}

fn hand_over<
    S: Sample + PartialOrd,
    const FFT: usize,
    const AXES: usize,
    const DIMS: usize,
    const COMPONENTS: usize,
    const CLASSES: usize,
>(
    read: Result<usize, SensorFault>,
    rails: &Rails<S>,
    samples: &[[S; AXES]],
    monitor: &mut Monitor<'_, S, FFT, AXES, DIMS, COMPONENTS, CLASSES>,
    mut on_report: impl FnMut(Report<AXES, CLASSES>),
) -> usize {
    match read {
        Ok(count) => {
            let samples = samples.get(..count).unwrap_or(samples);
            let mut left = samples;
            loop {
                let clean = left.iter().take_while(|sample| !rails.clip(sample)).count();
                let (good, clipped) = left.split_at_checked(clean).unwrap_or((left, &[]));
                monitor.push_slice(good, &mut on_report);
                if clipped.is_empty() {
                    break;
                }
                // The mark stays until the decision window's end, whatever comes until then.
                monitor.mark(SensorFault::Clipped);
                let report;
                (report, left) = monitor.push_until_report(clipped);
                report.into_iter().for_each(&mut on_report);
            }
            samples.len()
        }
        Err(fault) => {
            on_report(monitor.discard(fault));
            0
        }
    }
}
