//! The state of a device on a bus, as text.

use std::fmt::Write as _;

use rebearing::update::{Outcome, Standing};
use rebearing_host::device::modbus::DeviceStatus;
use rebearing_host::words::figure;

/// Stands for what a device does not know.
const NOT_AVAILABLE: &str = "not available";

/// Everything, a line for each subject.
pub(crate) fn text(status: &DeviceStatus) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<15} {value}");
    };
    for (name, value) in status.identification.iter() {
        row(&name.replace('_', " "), value);
    }
    let number = |name: &str| {
        status.number(name).map_or_else(|| NOT_AVAILABLE.to_owned(), |value| value.to_string())
    };
    row("state", &status.word("state").unwrap_or_else(|| NOT_AVAILABLE.into()));
    row("label", &label(status));
    row("alarm", &alarm(status));
    row("severity", &severity(status));
    let rms: Vec<String> = status.rms().into_iter().map(|rms| figure(rms.into())).collect();
    row("rms", if rms.is_empty() { NOT_AVAILABLE.into() } else { rms.join(", ") }.as_str());
    row("sensor fault", &status.word("sensor_fault").unwrap_or_else(|| NOT_AVAILABLE.into()));
    row(
        "drift",
        match status.number("drift") {
            None => NOT_AVAILABLE,
            Some(0) => "no",
            Some(_) => "yes: the machine no longer looks like its recordings",
        },
    );
    for (name, register) in [
        ("windows", "windows"),
        ("unknown", "unknown_windows"),
        ("faulty windows", "sensor_faults"),
        ("alarms", "alarms"),
        ("starts", "starts"),
        ("restarts", "restarts"),
    ] {
        row(name, &number(register));
    }
    row("model", &model(status));
    row("update", &update(status));
    text
}

/// One line, for a watch.
pub(crate) fn line(status: &DeviceStatus) -> String {
    let sequence = status.number("sequence").map_or_else(|| "-".into(), |n| n.to_string());
    let state = status.word("state").unwrap_or_else(|| NOT_AVAILABLE.into());
    format!("{sequence:>8}  {state}  {}  alarm: {}", label(status), alarm(status))
}

fn percent(status: &DeviceStatus, name: &str) -> Option<String> {
    status.number(name).map(|value| format!("{:.1} %", f64::from(value) / 100.0))
}

fn label(status: &DeviceStatus) -> String {
    let Some(label) = status.label("label") else { return NOT_AVAILABLE.into() };
    let mut text = label;
    if let Some(confidence) = percent(status, "confidence") {
        let _ = write!(text, ", {confidence}");
    }
    if let Some(age) = status.number("age") {
        let _ = write!(text, ", {age} s ago");
    }
    text
}

fn alarm(status: &DeviceStatus) -> String {
    let Some(alarm) = status.word("alarm") else { return NOT_AVAILABLE.into() };
    let mut text = alarm;
    if let Some(label) = status.label("alarm_label") {
        let _ = write!(text, ", {label}");
    }
    match status.number("alarm_acknowledged") {
        Some(0) => text.push_str(", not acknowledged"),
        Some(_) => text.push_str(", acknowledged"),
        None => {}
    }
    if let Some(level) = percent(status, "alarm_level") {
        let _ = write!(text, ", level {level}");
    }
    text
}

fn severity(status: &DeviceStatus) -> String {
    match (status.number("zone"), status.word("zone")) {
        (Some(1..), Some(zone)) => {
            let velocities: Vec<String> =
                status.velocities().into_iter().map(|v| format!("{v:.2}")).collect();
            format!("zone {zone}, {} mm/s", velocities.join(", "))
        }
        (Some(0), _) => "the model does not measure it".into(),
        _ => NOT_AVAILABLE.into(),
    }
}

fn model(status: &DeviceStatus) -> String {
    let standing = match status.standing() {
        None => NOT_AVAILABLE,
        Some(Standing::NoModel) => "none",
        Some(Standing::OnTrial) => "on trial",
        Some(Standing::Confirmed) => "confirmed",
    };
    let mut text = standing.to_owned();
    if let Some(counter) = status.number("counter").filter(|counter| *counter > 0) {
        let _ = write!(text, ", counter {counter}");
    }
    if let Some(restarts) = status.number("trial_restarts").filter(|restarts| *restarts > 0) {
        let _ = write!(text, ", restarts on trial {restarts}");
    }
    if let Some(outcome) = status.outcome().filter(|outcome| *outcome != Outcome::None) {
        let _ = write!(text, ", last trial: {}", outcome.name().replace('_', " "));
    }
    text
}

fn update(status: &DeviceStatus) -> String {
    let mut text = match (status.number("waiting"), status.number("total")) {
        (Some(1), _) => "a verified model waits for the next start".to_owned(),
        (_, Some(total @ 1..)) => {
            format!("{} of {total} bytes received", status.number("received").unwrap_or(0))
        }
        _ => "none".to_owned(),
    };
    if let Some(refusal) = status.refusal() {
        let _ = write!(text, "; last refusal: {refusal}");
    }
    text
}
