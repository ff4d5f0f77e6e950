//! Properties of an alarm for any windows: what it must never do, and what it must always do.

use std::collections::VecDeque;

use crate::common::alarm::{
    CLASSES, Naive, UNTIL, Window, alarm, idle, is_active, operation, parameters, posteriors,
};
use proptest::collection::vec;
use proptest::prelude::*;
use rebearing::model::{AlarmParameters, IdleRms, ONE, Rms};
use rebearing::operation::alarm::{Counters, SlidingMean, State};
use rebearing::{
    Alarm, Classification, Finding, IntegerClassification, IntegerFinding, IntegerStatistics,
    Label, SensorFault, Statistics,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_alarm_is_that_of_the_description(p in parameters(), windows in operation()) {
        let mut alarm = alarm(p);
        let mut naive = Naive::new(p);
        for (i, window) in windows.iter().enumerate() {
            let state = window.step(&mut alarm);
            prop_assert_eq!(is_active(&state), naive.step(window), "window {}", i);
            prop_assert_eq!(state.state == State::Idle, naive.idle && !naive.outage);
            prop_assert_eq!(matches!(state.state, State::SensorFault(_)), naive.outage);
            if let Some(level) = state.level {
                let n = p.average as usize;
                let sum: u64 = naive.judged.iter().rev().take(n).map(Window::faulty).sum();
                prop_assert_eq!(u64::from(level), sum / n as u64);
            }
        }
    }

    #[test]
    fn no_alarm_from_fewer_windows_than_are_averaged(p in parameters(), windows in operation()) {
        let mut alarm = alarm(p);
        let mut in_a_row = 0;
        let mut was_active = false;
        for window in &windows {
            let state = window.step(&mut alarm);
            match state.state {
                State::Filling | State::Running if !matches!(window, Window::Fault(_)) => in_a_row += 1,
                State::Filling | State::Running => {}
                _ => in_a_row = 0,
            }
            if is_active(&state) && !was_active {
                prop_assert!(in_a_row >= p.average.max(p.delay));
                prop_assert_eq!(state.state, State::Running);
            }
            was_active = is_active(&state);
        }
    }

    #[test]
    fn between_the_thresholds_nothing_changes(
        p in parameters(),
        before in operation(),
        starts_active in any::<bool>(),
        between in vec(0.0_f64..1.0, 1..80),
        faults in any::<bool>(),
    ) {
        let mut alarm = alarm(p);
        for window in &before {
            window.step(&mut alarm);
        }
        let level = if starts_active { ONE } else { 0 };
        let sure = Window::Known { posterior: [ONE - level, level, 0], rms: 2.0 };
        for _ in 0..p.settle + p.average + p.delay {
            sure.step(&mut alarm);
        }
        prop_assert_eq!(is_active(&alarm.state()), starts_active);
        for share in between {
            if faults && share > 0.9 {
                Window::Fault(SensorFault::Bus).step(&mut alarm);
            }
            // Levels within the hysteresis, both ends included.
            let level = p.clear + (share * f64::from(p.raise - p.clear)) as u16;
            let level = level.min(p.raise - 1);
            let window = Window::Known { posterior: [ONE - level, level, 0], rms: 2.0 };
            prop_assert_eq!(is_active(&window.step(&mut alarm)), starts_active);
        }
    }

    #[test]
    fn a_latched_alarm_stays_until_it_is_acknowledged(p in parameters(), windows in operation()) {
        // With a threshold above one half only one label can exceed it, and no label comes back.
        let raise = p.raise.max(ONE / 2 + 1);
        let mut alarm = alarm(AlarmParameters { hold: true, raise, ..p });
        let mut raised = false;
        for window in &windows {
            let state = window.step(&mut alarm);
            raised |= is_active(&state);
            prop_assert_eq!(state.alarm.is_some(), raised);
        }
        alarm.acknowledge();
        match alarm.state().alarm {
            // It is still on and now acknowledged. It goes when it clears, unless another label has
            // it by then.
            Some(raised) => {
                prop_assert_eq!((raised.active, raised.acknowledged), (true, true));
                let healthy = Window::Known { posterior: [ONE, 0, 0], rms: 2.0 };
                for _ in 0..p.settle + p.average + p.delay {
                    healthy.step(&mut alarm);
                }
                let after = alarm.state().alarm;
                prop_assert!(after.is_none_or(|after| after.label != raised.label), "{:?}", after);
            }
            None => prop_assert!(raised || alarm.counters().alarms == 0),
        }
    }

    #[test]
    fn without_hold_an_alarm_that_clears_is_gone(p in parameters(), windows in operation()) {
        let mut alarm = alarm(AlarmParameters { hold: false, ..p });
        for window in &windows {
            let alarm = window.step(&mut alarm).alarm;
            prop_assert!(alarm.is_none_or(|alarm| alarm.active));
        }
    }

    #[test]
    fn idle_is_always_left_when_the_machine_runs(p in parameters(), windows in operation()) {
        let mut alarm = alarm(AlarmParameters { idle: Some(idle()), ..p });
        for window in &windows {
            let state = window.step(&mut alarm);
            prop_assert!(!(window.runs() && state.state == State::Idle));
        }
        // From any state, a running machine is judged once it has settled and the average is full.
        let healthy = Window::Known { posterior: [ONE, 0, 0], rms: UNTIL };
        for _ in 0..p.settle + p.average {
            healthy.step(&mut alarm);
        }
        prop_assert_eq!(alarm.state().state, State::Running);
    }

    #[test]
    fn the_windows_after_a_start_are_not_judged(p in parameters(), loud in posteriors()) {
        let p = AlarmParameters { idle: Some(idle()), ..p };
        let mut alarm = alarm(p);
        Window::Known { posterior: loud, rms: 0.0 }.step(&mut alarm);
        prop_assert_eq!(alarm.state().state, State::Idle);
        for _ in 0..p.settle {
            let state = Window::Known { posterior: [0, ONE, 0], rms: 2.0 }.step(&mut alarm);
            prop_assert_eq!(state.state, State::Settling);
        }
        prop_assert_eq!(alarm.counters().judged, 0);
        prop_assert_eq!(alarm.counters().settling, p.settle);
        prop_assert_eq!(alarm.counters().starts, u32::from(p.settle > 0));
    }

    #[test]
    fn sensor_faults_neither_raise_nor_clear_an_alarm(
        p in parameters(),
        windows in operation(),
        faults in 1_u32..40,
    ) {
        let mut alarm = alarm(p);
        for window in &windows {
            window.step(&mut alarm);
        }
        let before = alarm.state();
        for _ in 0..faults {
            let state = Window::Fault(SensorFault::NotFinite).step(&mut alarm);
            prop_assert_eq!(state.alarm, before.alarm);
        }
        if faults >= p.fault_windows {
            prop_assert_eq!(alarm.state().state, State::SensorFault(SensorFault::NotFinite));
        }
        // The next windows change nothing either, until the alarm has settled and the average is
        // full.
        for _ in 0..if faults >= p.fault_windows { p.settle + p.average - 1 } else { 0 } {
            let state = Window::Known { posterior: [0, 0, ONE], rms: 2.0 }.step(&mut alarm);
            prop_assert_eq!(state.alarm, before.alarm);
        }
    }

    #[test]
    fn the_sliding_mean_is_that_of_the_ring_anew(
        length in 1_u32..=32,
        rows in vec((vec(any::<u16>(), 0..5), prop::bool::weighted(0.2)), 1..300),
        clear_at in vec(0_usize..300, 0..3),
    ) {
        let mut mean = SlidingMean::<CLASSES, 32>::new(length);
        let mut ring = VecDeque::new();
        for (i, (row, unknown)) in rows.iter().enumerate() {
            if clear_at.contains(&i) {
                mean.clear();
                ring.clear();
            }
            mean.push(row, *unknown);
            ring.push_back((row.clone(), *unknown));
            if ring.len() > length as usize {
                ring.pop_front();
            }
            prop_assert_eq!(mean.filled() as usize, ring.len());
            prop_assert_eq!(mean.is_full(), ring.len() == length as usize);
            for class in 0..CLASSES {
                let exact: f64 = ring
                    .iter()
                    .map(|(row, unknown)| match row.get(class) {
                        Some(p) if !unknown => f64::from((*p).min(ONE)),
                        _ => 0.0,
                    })
                    .sum();
                prop_assert_eq!(f64::from(mean.sums()[class]), exact);
            }
            let unknown = ring.iter().filter(|(_, unknown)| *unknown).count() as u32;
            prop_assert_eq!(mean.unknown_sum(), unknown * u32::from(ONE));
        }
    }

    #[test]
    fn the_mean_of_float_posteriors_is_theirs(rows in vec(0.0_f32..=1.0, 16)) {
        let p = AlarmParameters { average: 16, delay: 1, settle: 0, ..AlarmParameters::DEFAULT };
        let mut alarm = Alarm::<2, 16>::new(p, 2, Some(0)).unwrap();
        for fault in &rows {
            alarm.update(&finding(Label::Class(1), &[1.0 - fault, *fault], 1.0));
        }
        let exact = rows.iter().map(|x| f64::from(*x)).sum::<f64>() / 16.0;
        let found = f64::from(alarm.means().unwrap()[1]) / f64::from(ONE);
        // Half a step of Q15 for each posterior, and less than one step because the mean is
        // truncated.
        prop_assert!(found - exact < 0.5001 / 32768.0 && exact - found < 1.5001 / 32768.0);
    }

    #[test]
    fn any_floats_give_a_verdict(
        bits in vec((any::<u32>(), any::<u32>(), any::<u32>(), 0_usize..5), 1..200),
    ) {
        let p = AlarmParameters { average: 4, idle: Some(idle()), ..AlarmParameters::DEFAULT };
        let mut alarm = Alarm::<2, 8>::new(p, 2, Some(0)).unwrap();
        for (a, b, rms, label) in bits {
            let label = match label {
                0 => Label::Unknown,
                1 => Label::UnknownFault,
                class => Label::Class(class),
            };
            let [a, b, rms] = [a, b, rms].map(f32::from_bits);
            let before = alarm.counters().sensor_faults;
            let state = alarm.update(&finding(label, &[a, b], rms));
            let refused = alarm.counters().sensor_faults - before;
            let bad = !a.is_finite() || !b.is_finite() || !rms.is_finite() || rms.is_sign_negative();
            prop_assert_eq!(refused, u32::from(bad));
            prop_assert!(state.level.is_none_or(|level| level <= ONE));
            if let Some(means) = alarm.means() {
                prop_assert!(means.iter().all(|mean| *mean <= ONE));
            }
        }
    }

    #[test]
    fn both_lines_decide_alike(windows in vec((posteriors(), 0_u32..512, 0_usize..4), 1..120)) {
        let thresholds = |rms: fn(u32) -> Rms| IdleRms { below: rms(100), until: rms(200) };
        let of_floats = |q8: u32| Rms::of_samples(q8 as f32 / 256.0).unwrap();
        let p = AlarmParameters { average: 4, delay: 2, ..AlarmParameters::DEFAULT };
        let mut floats = alarm(AlarmParameters { idle: Some(thresholds(of_floats)), ..p });
        let mut integers = alarm(AlarmParameters { idle: Some(thresholds(Rms::of_counts)), ..p });
        for (posterior, rms, label) in windows {
            let label = if label == 3 { Label::Unknown } else { Label::Class(label) };
            let p = posterior.map(|p| f32::from(p) / f32::from(ONE));
            let statistics = IntegerStatistics { level: 0, rms, kurtosis: 0, crest: 0 };
            let found = IntegerClassification {
                label,
                gate_log_likelihood: None,
                log_likelihood: None,
                posterior: posterior.into_iter().collect(),
                statistics: [statistics],
                severity: None,
            };
            let integer = integers.update(&IntegerFinding { index: 0, result: Ok(found) });
            prop_assert_eq!(floats.update(&finding(label, &p, rms as f32 / 256.0)), integer);
        }
    }

    #[test]
    fn counters_stay_at_their_largest(
        windows in operation(),
        start in u32::MAX - 3..=u32::MAX,
    ) {
        let p = AlarmParameters { average: 2, delay: 1, hold: false, idle: Some(idle()), ..AlarmParameters::DEFAULT };
        let mut alarm = alarm(p);
        let largest = Counters {
            windows: start,
            judged: start,
            idle: start,
            settling: start,
            unknown: start,
            sensor_faults: start,
            starts: start,
            outages: start,
            alarms: start,
        };
        alarm.set_counters(largest);
        for window in &windows {
            window.step(&mut alarm);
        }
        let Counters { windows: all, judged, idle, settling, unknown, sensor_faults, starts, outages, alarms } =
            *alarm.counters();
        prop_assert_eq!(all, start.saturating_add(windows.len() as u32));
        for counter in [judged, idle, settling, unknown, sensor_faults, starts, outages, alarms] {
            prop_assert!(counter >= start);
        }
    }
}

fn finding<const CLASSES: usize>(
    label: Label,
    posterior: &[f32; CLASSES],
    rms: f32,
) -> Finding<1, CLASSES> {
    let found = Classification {
        label,
        gate_log_likelihood: None,
        log_likelihood: None,
        posterior: posterior.iter().copied().collect(),
        statistics: [Statistics { level: 0.0, rms, kurtosis: 0.0, crest: 0.0 }],
        severity: None,
    };
    Finding { index: 0, result: Ok(found) }
}
