//! What a firmware prints behind a finding: `severity=B,3fc00000 verdict=running,1234,2:1:0`.

use anyhow::{Context, Result, bail};
use rebearing::operation::alarm::{AlarmState, Raised, State};
use rebearing::{Label, SensorFault, Zone};

use crate::device::DeviceSeverity;

/// A fault by its name.
pub(crate) fn parse_fault(name: &str) -> Result<SensorFault> {
    let faults = [
        SensorFault::NotFinite,
        SensorFault::Flat,
        SensorFault::OutOfRange,
        SensorFault::NoShaftSpeed,
        SensorFault::LostSamples,
        SensorFault::Overrun,
        SensorFault::Bus,
        SensorFault::Clipped,
    ];
    faults.into_iter().find(|fault| fault.name() == name).context("which fault?")
}

/// A zone by its letter.
pub(crate) fn parse_zone(letter: &str) -> Result<Zone> {
    let zones = [Zone::A, Zone::B, Zone::C, Zone::D];
    zones.into_iter().find(|zone| zone.name() == letter).context("which zone?")
}

/// A state by its name; a sensor fault stands behind a colon.
pub(crate) fn parse_state(text: &str) -> Result<State> {
    let states = [State::Idle, State::Settling, State::Filling, State::Running];
    match text.strip_prefix("sensor_fault:") {
        Some(fault) => Ok(State::SensorFault(parse_fault(fault)?)),
        None => states.into_iter().find(|state| state.name() == text).context("which state?"),
    }
}

/// What a firmware may say behind a finding or a fault.
pub(crate) fn parse_rest<'a>(
    words: impl Iterator<Item = &'a str>,
) -> Result<(Option<DeviceSeverity>, Option<AlarmState>)> {
    let (mut severity, mut verdict) = (None, None);
    for word in words {
        match word.split_once('=') {
            Some(("severity", found)) => severity = Some(parse_severity(found)?),
            Some(("verdict", found)) => verdict = Some(parse_verdict(found)?),
            _ => bail!("{word}?"),
        }
    }
    Ok((severity, verdict))
}

/// The zone, and the bits of the velocity of each axis.
fn parse_severity(text: &str) -> Result<DeviceSeverity> {
    let (letter, axes) = text.split_once(',').context("no velocity")?;
    let zone = parse_zone(letter)?;
    let velocity = axes
        .split(',')
        .map(|hex| Ok(f32::from_bits(u32::from_str_radix(hex, 16)?)))
        .collect::<Result<_>>()?;
    Ok(DeviceSeverity { velocity, zone })
}

/// State, level and alarm with commas between, a dash for what there is not.
fn parse_verdict(text: &str) -> Result<AlarmState> {
    let fields: Vec<&str> = text.split(',').collect();
    let [state, level, alarm] = fields[..] else { bail!("a verdict has three parts") };
    let state = parse_state(state)?;
    let level = if level == "-" { None } else { Some(level.parse()?) };
    let alarm = if alarm == "-" { None } else { Some(parse_alarm(alarm)?) };
    Ok(AlarmState { state, alarm, level })
}

fn parse_alarm(text: &str) -> Result<Raised> {
    let fields: Vec<&str> = text.split(':').collect();
    let [label, active, acknowledged] = fields[..] else { bail!("an alarm has three parts") };
    let label = match label {
        "unknown" => Label::Unknown,
        "unknown_fault" => Label::UnknownFault,
        class => Label::Class(class.parse()?),
    };
    Ok(Raised { label, active: active == "1", acknowledged: acknowledged == "1" })
}

#[cfg(test)]
mod tests {
    use super::{
        AlarmState, DeviceSeverity, Label, Raised, SensorFault, State, Zone, parse_rest,
        parse_verdict,
    };

    #[test]
    fn severity_and_verdict_stand_behind_a_finding() {
        let words = "severity=B,3fc00000,40000000 verdict=idle,-,-";
        let (severity, verdict) = parse_rest(words.split(' ')).unwrap();
        let expected = DeviceSeverity { velocity: vec![1.5, 2.0], zone: Zone::B };
        assert_eq!(severity, Some(expected));
        assert_eq!(verdict.map(|verdict| verdict.state), Some(State::Idle));
        assert_eq!(parse_rest("".split_terminator(' ')).unwrap(), (None, None));
        for bad in ["severity=E,3fc00000", "severity=A", "mood=fine"] {
            assert!(parse_rest(bad.split(' ')).is_err(), "{bad}");
        }
    }

    #[test]
    fn verdicts_come_as_the_firmware_prints_them() {
        let alarm = Raised { label: Label::Class(2), active: true, acknowledged: false };
        let running = AlarmState { state: State::Running, alarm: Some(alarm), level: Some(1234) };
        assert_eq!(parse_verdict("running,1234,2:1:0").unwrap(), running);
        let state = State::SensorFault(SensorFault::Flat);
        let quiet = AlarmState { state, alarm: None, level: None };
        assert_eq!(parse_verdict("sensor_fault:flat,-,-").unwrap(), quiet);
        for bad in ["", "running,1,", "walking,-,-", "idle,-,x:1:0", "sensor_fault:odd,-,-"] {
            assert!(parse_verdict(bad).is_err(), "{bad}");
        }
    }
}
