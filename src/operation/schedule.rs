//! Duty cycle: a burst of windows at regular intervals, and sleep in between.
//!
//! Time is a count of ticks of any clock that keeps running while the processor sleeps. It may wrap:
//! pass a 64-bit count as `ticks as u32`. Only differences are used, so the schedule must be polled
//! more often than every 2³² ticks. A burst begins at each multiple of the period after the first.
//! A burst that was missed, because the processor was busy or slept too long, is skipped and
//! counted. It is never made up for.

use crate::monitor::AnyMonitor;

/// The next thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Turn {
    /// A burst begins: clear the monitor, then sample.
    Begin,
    /// A burst goes on: sample.
    Sample,
    /// Nothing to do for so many ticks, at least one.
    Sleep(u32),
}

/// Takes a number of windows, then sleeps until the period is over.
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1.rbm") } }
/// use rebearing::operation::Schedule;
/// use rebearing::{AnyMonitor, Model, Monitor};
/// # let mut clock = u32::MAX - 10_000;
/// # let (mut slept, mut findings) = (0, 0);
///
/// let model = Model::parse(rebearing::include_model!(path!()))?;
/// let mut monitor = Monitor::<f32, 256, 1, 4, 3, 3>::new(model)?;
/// // Two windows every 60 s of a clock with 32768 ticks a second.
/// let mut schedule = Schedule::new(clock, 60 * 32_768, 2);
/// # while findings < 6 {
/// // Around and around:
/// let awake = schedule.turn(clock, &mut monitor, |ticks| {
///     // Set the alarm of the clock, sensor to standby, then WFI or a deeper sleep.
///     # slept += 1;
///     # clock = clock.wrapping_add(ticks);
/// });
/// if awake {
///     // Read what the sensor has, and push it.
///     # clock = clock.wrapping_add(2);
///     let sample = [(clock as f32).sin()];
///     if monitor.push(sample).is_some() {
///         # findings += 1;
///         schedule.window_done();
///     }
/// }
/// # }
/// # assert_eq!(slept, 2);
/// # Ok::<(), rebearing::ModelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Schedule {
    period: u32,
    windows: u32,
    /// When time was last asked for.
    seen: u32,
    /// Ticks from the last beginning to then; below the period unless a burst is due.
    since: u32,
    due: bool,
    /// Windows left in the burst; zero while asleep.
    left: u32,
    missed: u32,
}

impl Schedule {
    /// `windows` windows every `period` ticks, the first burst at once.
    ///
    /// A period of zero counts as one tick, no windows as one.
    pub fn new(now: u32, period: u32, windows: u32) -> Self {
        Self {
            period: period.max(1),
            windows: windows.max(1),
            seen: now,
            since: 0,
            due: true,
            left: 0,
            missed: 0,
        }
    }

    /// Returns the thing to do at the time `now`.
    ///
    /// A burst goes on until [`window_done`](Self::window_done) was called for each of its windows.
    /// If it lasts beyond the next beginning, that burst is skipped.
    pub fn poll(&mut self, now: u32) -> Turn {
        self.advance(now);
        if self.left > 0 {
            if self.due {
                self.miss(1);
            }
            self.due = false;
            return Turn::Sample;
        }
        if self.due {
            self.due = false;
            self.left = self.windows;
            return Turn::Begin;
        }
        Turn::Sleep(self.period.saturating_sub(self.since).max(1))
    }

    /// Does the thing to do at the time `now`. When a burst begins, it clears `monitor`, so that no
    /// window spans the gap. Between bursts it calls `sleep` with the ticks to sleep. Returns true if
    /// it is time to sample.
    ///
    /// `sleep` may return early, after any interrupt.
    pub fn turn<'m, const AXES: usize, const CLASSES: usize>(
        &mut self,
        now: u32,
        monitor: &mut impl AnyMonitor<'m, AXES, CLASSES>,
        sleep: impl FnOnce(u32),
    ) -> bool {
        match self.poll(now) {
            Turn::Begin => monitor.clear(),
            Turn::Sample => (),
            Turn::Sleep(ticks) => {
                sleep(ticks);
                return false;
            }
        }
        true
    }

    /// Tells the schedule that a window is done. A sensor fault counts too: a failed sensor must
    /// not keep the processor awake.
    pub fn window_done(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// Changes the period while running. The next burst begins that long after the beginning of the
    /// last one, or at once if that time is over. A burst that is under way goes on.
    pub fn set_period(&mut self, now: u32, period: u32) {
        self.advance(now);
        self.period = period.max(1);
        if self.since >= self.period {
            self.due = true;
            self.since = 0;
        }
    }

    /// Changes the windows of a burst, from the next one on; none counts as one.
    pub fn set_windows(&mut self, windows: u32) {
        self.windows = windows.max(1);
    }

    /// Number of bursts that were skipped; stops at the largest `u32`.
    pub fn missed(&self) -> u32 {
        self.missed
    }

    /// Moves time on to `now`.
    fn advance(&mut self, now: u32) {
        let period = u64::from(self.period);
        let since = u64::from(self.since) + u64::from(now.wrapping_sub(self.seen));
        self.seen = now;
        // The period is at least one, and the remainder fits in 32 bits.
        let passed = since.checked_div(period).unwrap_or(0);
        self.since = since.checked_rem(period).unwrap_or(0) as u32;
        if passed == 0 {
            return;
        }
        // One burst is due; those before it, and one that was due already, are lost.
        let lost = passed - 1 + u64::from(self.due);
        self.miss(u32::try_from(lost).unwrap_or(u32::MAX));
        self.due = true;
    }

    fn miss(&mut self, bursts: u32) {
        self.missed = self.missed.saturating_add(bursts);
    }
}
