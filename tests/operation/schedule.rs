//! The duty cycle against a schedule in plain 64-bit time.

use crate::common;
use proptest::prelude::*;
use rebearing::operation::{Schedule, Turn};
use rebearing::{AnyMonitor, Model, Monitor};

/// Bursts begin at the multiples of the period after `origin`, in time that never wraps.
struct Plain {
    origin: u64,
    period: u64,
    /// Multiples that are over: begun, skipped or missed.
    over: u64,
    left: u32,
    missed: u64,
}

impl Plain {
    fn poll(&mut self, now: u64, windows: u32) -> Turn {
        // Of all beginnings up to now that are not over, the last counts.
        let passed = (now - self.origin) / self.period + 1;
        let due = passed > self.over;
        let lost = (passed - self.over).saturating_sub(1);
        self.missed += lost;
        self.over = passed;
        if self.left > 0 {
            self.missed += u64::from(due);
            return Turn::Sample;
        }
        if due {
            self.left = windows;
            return Turn::Begin;
        }
        Turn::Sleep((self.origin + passed * self.period - now) as u32)
    }
}

proptest! {
    #[test]
    fn a_wrapping_clock_gives_the_plain_schedule(
        start in prop_oneof![Just(u32::MAX - 5), any::<u32>()],
        period in prop_oneof![1..50_u32, Just(u32::MAX), any::<u32>()],
        windows in 1..4_u32,
        steps in prop::collection::vec((prop_oneof![0..120_u32, any::<u32>()], any::<bool>()), 1..200),
    ) {
        let mut schedule = Schedule::new(start, period, windows);
        let period = u64::from(period.max(1));
        let mut plain = Plain { origin: 0, period, over: 0, left: 0, missed: 0 };
        let mut now = 0_u64;
        for (step, decided) in steps {
            let clock = start.wrapping_add(now as u32);
            prop_assert_eq!(schedule.poll(clock), plain.poll(now, windows));
            let missed = u32::try_from(plain.missed).unwrap_or(u32::MAX);
            prop_assert_eq!(schedule.missed(), missed);
            if decided {
                schedule.window_done();
                plain.left = plain.left.saturating_sub(1);
            }
            now += u64::from(step);
        }
    }

    #[test]
    fn who_sleeps_as_told_wakes_on_time_and_misses_nothing(
        start in any::<u32>(),
        period in 10..100_000_u32,
        windows in 1..5_u32,
        busy in 0..10_u32,
    ) {
        let mut schedule = Schedule::new(start, period, windows);
        let mut now = start;
        for burst in 0..50_u32 {
            prop_assert_eq!(schedule.poll(now), Turn::Begin);
            prop_assert_eq!(now.wrapping_sub(start), burst.wrapping_mul(period));
            for window in 0..windows {
                if window > 0 {
                    prop_assert_eq!(schedule.poll(now), Turn::Sample);
                }
                schedule.window_done();
            }
            now = now.wrapping_add(busy.min(period - 1));
            match schedule.poll(now) {
                Turn::Sleep(ticks) => now = now.wrapping_add(ticks),
                other => prop_assert!(false, "{:?}", other),
            }
        }
        prop_assert_eq!(schedule.missed(), 0);
    }

    #[test]
    fn a_new_period_counts_from_the_last_beginning(
        start in any::<u32>(),
        old in 1..100_000_u32,
        new in 1..100_000_u32,
        at in 0..100_000_u32,
    ) {
        let at = at % old;
        let mut schedule = Schedule::new(start, old, 1);
        prop_assert_eq!(schedule.poll(start), Turn::Begin);
        schedule.window_done();
        let now = start.wrapping_add(at);
        schedule.set_period(now, new);
        let expected = if at >= new { Turn::Begin } else { Turn::Sleep(new - at) };
        prop_assert_eq!(schedule.poll(now), expected);
        // From then on it is the period.
        let begun = if at >= new { now } else { start.wrapping_add(new) };
        if at < new {
            prop_assert_eq!(schedule.poll(begun), Turn::Begin);
        }
        schedule.window_done();
        prop_assert_eq!(schedule.poll(begun), Turn::Sleep(new));
    }
}

#[test]
fn a_burst_longer_than_the_period_goes_on_and_skips() {
    let mut schedule = Schedule::new(0, 10, 3);
    assert_eq!(schedule.poll(0), Turn::Begin);
    for now in [5, 9, 10, 25, 31] {
        assert_eq!(schedule.poll(now), Turn::Sample, "{now}");
    }
    assert_eq!(schedule.missed(), 3);
    (0..3).for_each(|_| schedule.window_done());
    assert_eq!(schedule.poll(31), Turn::Sleep(9));
    // More findings than the burst has windows are no credit for the next.
    schedule.window_done();
    assert_eq!(schedule.poll(40), Turn::Begin);
    assert_eq!(schedule.poll(40), Turn::Sample);
}

#[test]
fn nothing_asked_for_counts_as_one() {
    let mut schedule = Schedule::new(7, 0, 0);
    assert_eq!(schedule.poll(7), Turn::Begin);
    schedule.window_done();
    assert_eq!(schedule.poll(7), Turn::Sleep(1));
    schedule.set_windows(0);
    schedule.set_period(7, 0);
    assert_eq!(schedule.poll(8), Turn::Begin);
    schedule.window_done();
    assert_eq!(schedule.poll(8), Turn::Sleep(1));
}

type Small<'m> = Monitor<'m, f32, 256, 1, 4, 3, 3>;

fn small() -> Small<'static> {
    Monitor::new(Model::parse(common::GOLDEN).unwrap()).unwrap()
}

/// Samples until the monitor's next finding.
fn samples_left(monitor: &Small<'_>) -> usize {
    let mut monitor = monitor.clone();
    (1..100_000).find(|n| monitor.push([(*n as f32).sin()]).is_some()).expect("a finding")
}

#[test]
fn the_monitor_is_cleared_once_a_burst_and_sleep_is_called_once_a_gap() {
    let mut monitor = small();
    let whole = samples_left(&monitor);
    let (mut cleared, mut slept) = (0, 0);
    let mut schedule = Schedule::new(0, 100, 2);
    for now in 0..1000 {
        // A sample before each turn, so that a cleared monitor is another one.
        monitor.push([now as f32]);
        if schedule.turn(now, &mut monitor, |_| slept += 1) && now % 5 == 4 {
            schedule.window_done();
        }
        cleared += usize::from(samples_left(&monitor) == whole);
    }
    assert_eq!(cleared, 10);
    // Awake for ten ticks of a hundred, and asked again at each of the others.
    assert_eq!(slept, 900);
}

#[test]
fn no_window_spans_a_gap() {
    let model = Model::parse(common::GOLDEN).unwrap();
    let window = model.front_end().window_len();
    let mut monitor = small();
    let mut schedule = Schedule::new(0, 10_000, 1);
    let mut findings = Vec::new();
    let mut samples_of_burst = 0;
    for now in 0..35_000_u32 {
        if !schedule.turn(now, &mut monitor, |_| samples_of_burst = 0) {
            continue;
        }
        samples_of_burst += 1;
        if monitor.push([(now as f32 * 0.37).sin()]).is_some() {
            findings.push((now, samples_of_burst));
            schedule.window_done();
        }
    }
    // A whole window of samples from the beginning of each burst on, never fewer.
    let expected: Vec<(u32, usize)> =
        (0..4).map(|burst| (burst * 10_000 + window as u32 - 1, window)).collect();
    assert_eq!(findings, expected);
}
