//! The label of an alarm, and what raises one, case by case.

use crate::common::alarm::{CLASSES, Small, Window, alarm};
use rebearing::Label;
use rebearing::model::{AlarmParameters, ONE};
use rebearing::operation::alarm::{Raised, State};

#[test]
fn a_fault_is_named_and_renamed() {
    let p = AlarmParameters { average: 4, delay: 2, settle: 0, ..AlarmParameters::DEFAULT };
    let mut alarm = alarm(p);
    let window = |posterior| Window::Known { posterior, rms: 1.0 };
    let of = |class| {
        let mut posterior = [0; CLASSES];
        posterior[class] = ONE;
        window(posterior)
    };
    let mut label = |window: &Window, times: usize| {
        for _ in 0..times {
            window.step(&mut alarm);
        }
        alarm.state().alarm.map(|alarm| alarm.label)
    };
    assert_eq!(label(&of(0), 10), None);
    // Three of four windows give a mean above 0.7. The fourth window makes it twice in a row.
    assert_eq!(label(&of(1), 3), None);
    assert_eq!(label(&of(1), 1), Some(Label::Class(1)));
    // Doubt about the type does not clear the alarm.
    assert_eq!(label(&window([0, ONE / 2, ONE / 2]), 20), Some(Label::Class(1)));
    // The mean of class 2 is 0.75 after two windows, and above 0.7 twice in a row after three.
    assert_eq!(label(&of(2), 2), Some(Label::Class(1)));
    assert_eq!(label(&of(2), 1), Some(Label::Class(2)));
    let unknown = Window::Unknown { label: Label::UnknownFault, rms: 1.0 };
    assert_eq!(label(&unknown, 8), Some(Label::UnknownFault));
    // A latched alarm keeps its label. When it is on again, it is a new alarm.
    assert_eq!(label(&of(0), 20), Some(Label::UnknownFault));
    assert_eq!(label(&of(1), 8), Some(Label::Class(1)));
    assert_eq!(alarm.counters().alarms, 2);
}

#[test]
fn doubt_about_the_type_is_no_doubt_about_the_fault() {
    let p = AlarmParameters { settle: 0, ..AlarmParameters::DEFAULT };
    let mut alarm = alarm(p);
    for _ in 0..20 {
        Window::Known { posterior: [0, ONE / 2, ONE / 2], rms: 1.0 }.step(&mut alarm);
    }
    let raised = Raised { label: Label::Class(1), active: true, acknowledged: false };
    assert_eq!(alarm.state().alarm, Some(raised));
    assert_eq!(alarm.state().level, Some(ONE));
}

#[test]
fn without_a_healthy_class_every_class_is_an_alarm() {
    let p = AlarmParameters { settle: 0, ..AlarmParameters::DEFAULT };
    let mut alarm = Small::new(p, CLASSES, None).unwrap();
    for _ in 0..20 {
        Window::Known { posterior: [ONE, 0, 0], rms: 1.0 }.step(&mut alarm);
    }
    assert_eq!(alarm.state().alarm.map(|alarm| alarm.label), Some(Label::Class(0)));
}

#[test]
fn a_command_to_restart_settles_anew() {
    let mut alarm = alarm(AlarmParameters::DEFAULT);
    let healthy = Window::Known { posterior: [ONE, 0, 0], rms: 1.0 };
    for _ in 0..20 {
        healthy.step(&mut alarm);
    }
    assert_eq!(alarm.state().state, State::Running);
    alarm.restart();
    assert_eq!((alarm.state().state, alarm.means()), (State::Settling, None));
}
