//! Sensor to monitor: samples go in, and bad ones make their window a fault.

use super::{AnyFinding, AnyMonitor, NumbersOf};
use crate::acquisition::{AsyncSampleSource, Rails, SampleSource, SensorFault};

/// Moves the samples that have arrived at `source` into `monitor`, through the buffer `samples`.
///
/// Each finding goes to `on_finding`. A discarded window gives one too, with its fault. Returns the
/// number of samples that were moved. Zero means that nothing has arrived and it is time to sleep.
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1.rbm") } }
/// use rebearing::acquisition::{Rails, SampleSource};
/// use rebearing::monitor::acquire;
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
/// let mut findings = 0;
/// while findings < 3 {
///     acquire(&mut source, &rails, &mut buffer, &mut monitor, |finding| {
///         println!("{:?}", finding.result);
///         findings += 1;
///     });
/// }
/// # Ok::<(), rebearing::ModelError>(())
/// ```
pub fn acquire<'m, M, const AXES: usize, const CLASSES: usize>(
    source: &mut impl SampleSource<M::Sample, AXES>,
    rails: &Rails<M::Sample>,
    samples: &mut [[M::Sample; AXES]],
    monitor: &mut M,
    on_finding: impl FnMut(AnyFinding<NumbersOf<'m, M::Body>, AXES, CLASSES>),
) -> usize
where
    M: AnyMonitor<'m, AXES, CLASSES>,
{
    let read = source.read(samples);
    hand_over(read, rails, samples, monitor, on_finding)
}

/// [`acquire`] that waits for samples.
pub async fn acquire_async<'m, M, const AXES: usize, const CLASSES: usize>(
    source: &mut impl AsyncSampleSource<M::Sample, AXES>,
    rails: &Rails<M::Sample>,
    samples: &mut [[M::Sample; AXES]],
    monitor: &mut M,
    on_finding: impl FnMut(AnyFinding<NumbersOf<'m, M::Body>, AXES, CLASSES>),
) -> usize
where
    M: AnyMonitor<'m, AXES, CLASSES>,
{
    let read = source.read(samples).await;
    hand_over(read, rails, samples, monitor, on_finding)
}

fn hand_over<'m, M, const AXES: usize, const CLASSES: usize>(
    read: Result<usize, SensorFault>,
    rails: &Rails<M::Sample>,
    samples: &[[M::Sample; AXES]],
    monitor: &mut M,
    mut on_finding: impl FnMut(AnyFinding<NumbersOf<'m, M::Body>, AXES, CLASSES>),
) -> usize
where
    M: AnyMonitor<'m, AXES, CLASSES>,
{
    match read {
        Ok(count) => {
            let samples = samples.get(..count).unwrap_or(samples);
            let mut left = samples;
            loop {
                let clean = left.iter().take_while(|sample| !rails.clip(sample)).count();
                let (good, clipped) = left.split_at_checked(clean).unwrap_or((left, &[]));
                monitor.push_slice(good, &mut on_finding);
                if clipped.is_empty() {
                    break;
                }
                // The mark stays until the window's end, whatever comes until then.
                monitor.mark(SensorFault::Clipped);
                let finding;
                (finding, left) = monitor.push_until_finding(clipped);
                finding.into_iter().for_each(&mut on_finding);
            }
            samples.len()
        }
        Err(fault) => {
            on_finding(monitor.discard(fault));
            0
        }
    }
}
