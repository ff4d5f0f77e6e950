//! An alarm over resets: the word that is kept loses nothing and acknowledges nothing.

use crate::common::alarm::{Small, alarm, is_active, operation, parameters};
use proptest::collection::vec;
use proptest::prelude::*;
use rebearing::Label;
use rebearing::model::AlarmParameters;
use rebearing::operation::alarm::{KeptAlarm, Raised, State};

/// An event between two windows.
#[derive(Debug, Clone, Copy)]
enum Event {
    Nothing,
    Reset,
    Acknowledge,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        12 => Just(Event::Nothing),
        2 => Just(Event::Reset),
        1 => Just(Event::Acknowledge),
    ];
    vec(event, 720)
}

/// A new alarm with what the old one kept, through the word.
fn reset(old: &Small, parameters: AlarmParameters) -> Small {
    let mut new = alarm(parameters);
    new.restore(KeptAlarm::from_word(old.kept().to_word()).expect("a word that was just made"));
    new
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_reset_never_ends_or_acknowledges_an_alarm(
        p in parameters(),
        windows in operation(),
        events in events(),
    ) {
        let p = AlarmParameters { hold: true, ..p };
        let mut alarm = alarm(p);
        // True from when an alarm is first seen until somebody acknowledges it.
        let mut pending = false;
        for (window, event) in windows.iter().zip(&events) {
            match event {
                Event::Nothing => (),
                Event::Acknowledge => {
                    alarm.acknowledge();
                    pending = false;
                }
                Event::Reset => {
                    let before = alarm.state().alarm;
                    alarm = reset(&alarm, p);
                    prop_assert_eq!(alarm.state().alarm, before);
                    prop_assert_eq!(alarm.state().state, State::Settling);
                }
            }
            let state = window.step(&mut alarm);
            let waits = state.alarm.is_some_and(|alarm| !alarm.acknowledged);
            prop_assert!(!pending || waits, "{:?}", state);
            pending = waits;
        }
    }

    #[test]
    fn an_alarm_that_was_on_stays_on_until_the_mean_clears_it(
        p in parameters(),
        before in operation(),
        after in operation(),
    ) {
        let mut alarm = alarm(p);
        for window in &before {
            window.step(&mut alarm);
        }
        prop_assume!(is_active(&alarm.state()));
        let mut alarm = reset(&alarm, p);
        for window in &after {
            let state = window.step(&mut alarm);
            if !is_active(&state) {
                prop_assert_eq!(state.state, State::Running);
                prop_assert!(state.level.is_some_and(|level| level < p.clear));
                break;
            }
        }
    }
}

fn restored(label: Label, classes: usize, healthy: Option<usize>) -> Option<Raised> {
    let mut old = Small::new(AlarmParameters::DEFAULT, 3, None).unwrap();
    old.restore(word_of(Raised { label, active: true, acknowledged: false }));
    let mut new = Small::new(AlarmParameters::DEFAULT, classes, healthy).unwrap();
    new.restore(KeptAlarm::from_word(old.kept().to_word()).unwrap());
    new.state().alarm
}

/// The kept alarm of any raised one: there is no other way to make it from outside.
fn word_of(raised: Raised) -> KeptAlarm {
    let label = match raised.label {
        Label::Class(class) => (class as u32) << 8,
        Label::Unknown => 1 << 6,
        Label::UnknownFault => 2 << 6,
    };
    let word = 1 | u32::from(raised.active) << 1 | u32::from(raised.acknowledged) << 2 | label;
    let check = (word ^ word >> 8 ^ word >> 16 ^ 0xa5) & 0xff;
    KeptAlarm::from_word(word | check << 24).expect("a word of the documented layout")
}

#[test]
fn a_class_that_the_new_model_does_not_have_becomes_a_fault_of_unknown_type() {
    let on = |label| Some(Raised { label, active: true, acknowledged: false });
    assert_eq!(restored(Label::Class(2), 3, Some(0)), on(Label::Class(2)));
    assert_eq!(restored(Label::Class(2), 2, Some(0)), on(Label::UnknownFault));
    // The class is now the healthy one, which is no alarm's name.
    assert_eq!(restored(Label::Class(2), 3, Some(2)), on(Label::UnknownFault));
    assert_eq!(restored(Label::Unknown, 1, None), on(Label::Unknown));
    let kept = word_of(Raised { label: Label::Class(1), active: false, acknowledged: false });
    assert_eq!(kept.unnamed().raised().unwrap().label, Label::UnknownFault);
    assert_eq!(KeptAlarm::NONE.unnamed(), KeptAlarm::NONE);
}

#[test]
fn a_late_restore_takes_nothing_back() {
    let acknowledged = Raised { label: Label::Class(1), active: true, acknowledged: true };
    let new = Raised { label: Label::Class(2), active: false, acknowledged: false };
    let mut alarm = alarm(AlarmParameters::DEFAULT);
    alarm.restore(word_of(acknowledged));
    alarm.restore(KeptAlarm::NONE);
    assert_eq!(alarm.state().alarm, Some(acknowledged));
    alarm.restore(word_of(new));
    let both = Raised { acknowledged: false, ..acknowledged };
    assert_eq!(alarm.state().alarm, Some(both));
}
