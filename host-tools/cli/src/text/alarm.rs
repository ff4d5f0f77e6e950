//! Alarm and severity in words and in JSON, for every command that prints them.

use std::fmt::Write as _;

use rebearing::FrontEnd;
use rebearing::model::{AlarmParameters, ONE, Rms};
use rebearing::operation::alarm::{AlarmState, Raised, State, alarm_device_ram};
use rebearing::signal::SeverityParameters;
use serde_json::{Value, json};

use super::label::word;
use rebearing_host::device::DeviceSeverity;
use rebearing_host::model::deployed::{ClassNames, DeployedModel};
use rebearing_host::words::plural;

fn share(q15: u16) -> f64 {
    f64::from(q15) / f64::from(ONE)
}

/// Returns an rms of a model's parameters in the unit of the recordings. Only an i16 model has
/// `counts_per_unit`.
fn rms(rms: Rms, counts_per_unit: Option<f32>) -> f64 {
    match counts_per_unit {
        None => f64::from(f32::from_bits(rms.bits())),
        Some(counts) => f64::from(rms.bits()) / 256.0 / f64::from(counts),
    }
}

fn windows(count: u32) -> String {
    plural(count, "window", "windows")
}

/// Returns the parameters of the alarm, a name and a line each.
pub(crate) fn alarm_lines(
    parameters: &AlarmParameters,
    front_end: &FrontEnd<'_>,
    counts_per_unit: Option<f32>,
) -> Vec<(&'static str, String)> {
    let AlarmParameters { average, raise, clear, delay, settle, fault_windows, hold, idle } =
        *parameters;
    let window_s = (front_end.hop * front_end.segments) as f64 / f64::from(front_end.rate_hz);
    let mut lines = vec![(
        "alarm",
        format!(
            "raised if the mean of {} ({:.1} s) is at least {:.2} for {}; clears below {:.2}{}",
            windows(average),
            window_s * f64::from(average),
            share(raise),
            windows(delay),
            share(clear),
            if hold { ", but stays until acknowledged" } else { "" }
        ),
    )];
    let idle = idle.map_or("never".into(), |idle| {
        let [below, until] = [idle.below, idle.until].map(|x| rms(x, counts_per_unit));
        format!("below an rms of {below:.4}, running again from {until:.4}")
    });
    let settling = windows(settle);
    lines.push(("idle", format!("{idle}; {settling} to settle after a start")));
    let faulty = plural(fault_windows, "faulty window", "faulty windows");
    lines.push(("sensor", format!("sensor fault after {faulty} in a row")));
    lines
}

/// Returns the type of the alarm as a firmware writes it, and its RAM.
pub(crate) fn alarm_ram(parameters: &AlarmParameters, classes: usize) -> String {
    let average = parameters.average;
    let ram = alarm_device_ram(classes, average as usize);
    format!("{ram} bytes as Alarm<{classes}, {average}>")
}

/// Returns the parameters of the alarm as JSON.
pub(crate) fn alarm_json(
    parameters: &AlarmParameters,
    classes: usize,
    counts_per_unit: Option<f32>,
) -> Value {
    let AlarmParameters { average, raise, clear, delay, settle, fault_windows, hold, idle } =
        *parameters;
    json!({
        "average": average,
        "raise": share(raise),
        "clear": share(clear),
        "delay": delay,
        "settle": settle,
        "fault_windows": fault_windows,
        "hold": hold,
        "idle_rms": idle.map(|idle| rms(idle.below, counts_per_unit)),
        "running_rms": idle.map(|idle| rms(idle.until, counts_per_unit)),
        "type": format!("Alarm<{classes}, {average}>"),
        "ram": alarm_device_ram(classes, average as usize),
    })
}

/// Returns the largest error of the velocity of a spectral line in percent, by its frequency in
/// bins. A test of the device crate asserts it.
fn error_percent(bins: f64) -> f64 {
    match bins {
        bins if bins < 3.0 => 3.5,
        bins if bins < 4.0 => 0.6,
        _ => 0.2,
    }
}

/// Says how severity is measured, in a line.
pub(crate) fn severity_line(parameters: &SeverityParameters, front_end: &FrontEnd<'_>) -> String {
    let SeverityParameters { low_hz, high_hz, unit, limits: [b, c, d] } = *parameters;
    let bins = f64::from(low_hz) * front_end.fft_len as f64 / f64::from(front_end.rate_hz);
    format!(
        "velocity rms from {low_hz} to {high_hz} Hz; zone B from {b}, C from {c}, D from {d} mm/s; \
         one unit is {unit} m/s²; the error for a line at {low_hz} Hz is within {} %",
        error_percent(bins)
    )
}

/// Returns how severity is measured, as JSON.
pub(crate) fn severity_json(parameters: Option<SeverityParameters>) -> Value {
    parameters.map_or(Value::Null, |SeverityParameters { low_hz, high_hz, unit, limits }| {
        json!({ "low_hz": low_hz, "high_hz": high_hz, "unit": unit, "limits": limits })
    })
}

/// Returns alarm and severity of a model, a line each, for `adapt`.
pub(crate) fn model_lines(model: &DeployedModel) -> String {
    let mut text = String::new();
    let front_end = model.front_end();
    let (parameters, counts) = (model.alarm(), model.counts_per_unit());
    for (name, line) in alarm_lines(&parameters, &front_end, counts) {
        let _ = writeln!(text, "  {name}: {line}");
    }
    let _ = writeln!(text, "  alarm RAM: {}", alarm_ram(&parameters, model.classes()));
    if let Some(severity) = model.severity() {
        let _ = writeln!(text, "  severity: {}", severity_line(&severity, &front_end));
    }
    if model.healthy().is_none() {
        text.push_str(
            "  no class is named healthy, so every class raises an alarm: name the healthy one \
             with --healthy LABEL\n",
        );
    }
    text
}

/// Returns the state of the alarm in a few words.
pub(crate) fn state_text(model: &impl ClassNames, state: &AlarmState) -> String {
    let mut text = state.state.name().to_owned();
    if let Some(level) = state.level {
        let _ = write!(text, " {:.2}", share(level));
    }
    if let Some(Raised { label, active, .. }) = state.alarm {
        let is = if active { "ALARM" } else { "latched" };
        let _ = write!(text, " {is} {}", word(model, label));
    }
    text
}

/// Returns the state of the alarm as JSON.
pub(crate) fn state_json(model: &impl ClassNames, state: &AlarmState) -> Value {
    let fault = match state.state {
        State::SensorFault(fault) => Some(fault.name()),
        _ => None,
    };
    json!({
        "state": state.state.name(),
        "sensor_fault": fault,
        "level": state.level.map(share),
        "alarm": state.alarm.map(|Raised { label, active, acknowledged }| json!({
            "label": word(model, label),
            "active": active,
            "acknowledged": acknowledged,
        })),
    })
}

/// Returns the severity of a window as JSON.
pub(crate) fn found_severity_json(severity: Option<&DeviceSeverity>) -> Value {
    severity.map_or(
        Value::Null,
        |DeviceSeverity { velocity, zone }| json!({ "velocity": velocity, "zone": zone.name() }),
    )
}
