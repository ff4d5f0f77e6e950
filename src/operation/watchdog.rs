//! When to feed a watchdog: only after completed work.
//!
//! A watchdog that a timer feeds restarts the board only when the timer fails, and it never does.
//! With [`Feeding`], the watchdog bites when the sensor is silent, when every window has a gap, when
//! the analysis hangs, and when the code that takes the findings does not return. A restart cures
//! all of these more often than waiting does.

use crate::acquisition::SensorFault;
use crate::model::Numbers;
use crate::monitor::AnyFinding;

/// Tracks whether samples have arrived and a finding was handed on since the last feeding.
///
/// ```
/// use rebearing::operation::Feeding;
/// use rebearing::{Finding, SensorFault};
///
/// let mut feeding = Feeding::new();
/// feeding.arrived(128);
/// assert!(!feeding.due());
/// // Flat or clipped windows were analysed: it is the sensor that is ill, not the firmware.
/// feeding.handed_on(&Finding::<1, 3> { index: 0, result: Err(SensorFault::Flat) });
/// assert!(feeding.due());
/// assert!(!feeding.due(), "fed once for it");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Feeding {
    arrived: bool,
    handed_on: bool,
}

impl Feeding {
    /// Nothing done yet.
    pub const fn new() -> Self {
        Self { arrived: false, handed_on: false }
    }

    /// Takes the number of samples that [`acquire`](crate::monitor::acquire) moved.
    pub fn arrived(&mut self, samples: usize) {
        self.arrived |= samples > 0;
    }

    /// Takes each finding after it was handed on, not before.
    ///
    /// A finding of missing samples does not count as work. A board that has nothing else to tell is
    /// restarted.
    pub fn handed_on<N: Numbers, const AXES: usize, const CLASSES: usize>(
        &mut self,
        finding: &AnyFinding<N, AXES, CLASSES>,
    ) {
        let discarded = matches!(
            finding.result,
            Err(SensorFault::LostSamples | SensorFault::Overrun | SensorFault::Bus)
        );
        self.handed_on |= !discarded;
    }

    /// Returns true if it is time to feed the watchdog. The next feeding then needs new work.
    pub fn due(&mut self) -> bool {
        let due = self.arrived && self.handed_on;
        if due {
            *self = Self::new();
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquisition::{Rails, SampleSource};
    use crate::monitor::acquire;
    use crate::{Finding, Model, Monitor};

    static GOLDEN: &[u8] = crate::include_model!("../../tests/golden/model-v1.rbm");

    /// The next steps of a source: a fault, or a number of samples of noise.
    struct Script<'a> {
        steps: core::slice::Iter<'a, Result<usize, SensorFault>>,
        state: u32,
    }

    impl SampleSource<i16, 1> for Script<'_> {
        fn read(&mut self, samples: &mut [[i16; 1]]) -> Result<usize, SensorFault> {
            let count = self.steps.next().copied().unwrap_or(Ok(0))?;
            for sample in samples.iter_mut().take(count) {
                self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *sample = [(self.state >> 20) as i16];
            }
            Ok(count)
        }
    }

    /// The steps of a script after which the watchdog was fed, counted from one.
    fn fed(steps: &[Result<usize, SensorFault>]) -> std::vec::Vec<usize> {
        let mut monitor =
            Monitor::<i16, 256, 1, 4, 3, 3>::new(Model::parse(GOLDEN).unwrap()).unwrap();
        let mut source = Script { steps: steps.iter(), state: 1 };
        let mut feeding = Feeding::new();
        let mut samples = [[0; 1]; 1000];
        let mut fed = std::vec![];
        for step in 1..=steps.len() {
            let count = acquire(&mut source, &Rails::FULL, &mut samples, &mut monitor, |finding| {
                feeding.handed_on(&finding);
            });
            feeding.arrived(count);
            if feeding.due() {
                fed.push(step);
            }
        }
        fed
    }

    #[test]
    fn it_is_fed_by_each_completed_window_and_by_nothing_else() {
        // A window of the golden model has 384 samples, and the next ends 256 later.
        assert_eq!(fed(&[Ok(383), Ok(1), Ok(0), Ok(255), Ok(1)]), [2, 5]);
        // Several windows at once are fed for once.
        assert_eq!(fed(&[Ok(1000), Ok(0), Ok(0)]), [1]);
    }

    #[test]
    fn a_silent_sensor_starves_it() {
        assert!(fed(&[Ok(0); 50]).is_empty());
        assert!(fed(&[Err(SensorFault::Bus); 50]).is_empty());
        assert!(fed(&[Err(SensorFault::Overrun); 50]).is_empty());
    }

    #[test]
    fn samples_without_a_whole_window_starve_it() {
        let gaps = [Ok(383), Err(SensorFault::LostSamples)];
        assert!(fed(&gaps.repeat(50)).is_empty());
        // One more sample between the gaps makes a window.
        let windows = [Ok(384), Err(SensorFault::LostSamples)];
        assert_eq!(fed(&windows.repeat(2)), [1, 3]);
    }

    #[test]
    fn a_report_without_samples_starves_it() {
        let mut feeding = Feeding::new();
        feeding.handed_on(&Finding::<1, 3> { index: 0, result: Err(SensorFault::Flat) });
        assert!(!feeding.due());
        feeding.arrived(0);
        assert!(!feeding.due());
        feeding.arrived(1);
        assert!(feeding.due());
    }
}
