//! The Modbus client against the device's own server, over good and bad lines.

#[path = "../../../../tests/common/bus_device.rs"]
mod bus_device;
mod noisy_line;
#[path = "../../../../tests/common/receiver.rs"]
mod receiver;

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bus_device::{Device, UNIT, listen, serve};
use noisy_line::{Faults, NoisyLine};
use rebearing::bus::Command;
use rebearing::update::{Outcome, Refusal, Standing};
use rebearing_host::device::modbus::send::{Trial, restart, send, wait};
use rebearing_host::device::modbus::{
    Client, DeviceStatus, Line, ModbusError, Parity, Patience, Port, SignedFile,
};
use receiver::signed;

static GOLDEN: &[u8] = rebearing::include_model!("../../../../tests/golden/model-v1.rbm");

/// Impatient, as the line is in this process.
fn patience(attempts: usize) -> Patience {
    Patience {
        answer: Duration::from_millis(4),
        work: Duration::from_millis(8),
        silence: Duration::from_micros(100),
        attempts,
    }
}

fn file(bytes: &[u8]) -> SignedFile {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.rbm");
    std::fs::write(&path, bytes).unwrap();
    SignedFile::read(&path).unwrap()
}

fn client(faults: Faults, attempts: usize) -> Client<NoisyLine> {
    let line = NoisyLine::new(Device::new(signed(GOLDEN, 4)), faults);
    Client::new(line, UNIT, patience(attempts))
}

#[test]
fn everything_that_a_device_says_is_read() {
    let mut client = client(Faults::NONE, 1);
    client.loopback(0x1234).unwrap();
    let status = DeviceStatus::read(&mut client).unwrap();
    assert_eq!(status.label("label").as_deref(), Some("InnerRace"));
    let json = status.json();
    for (pointer, expected) in [
        ("/state", serde_json::json!("running")),
        ("/confidence", 0.95.into()),
        ("/alarm", "active".into()),
        ("/alarm_acknowledged", false.into()),
        ("/alarm_level", 1.0.into()),
        ("/zone", "C".into()),
        ("/velocity_mm_s", vec![4.5].into()),
        ("/rms", vec![0.5].into()),
        ("/sensor_fault", "none".into()),
        ("/drift", serde_json::Value::Null),
        ("/counts/windows", 42.into()),
        ("/counts/restarts", serde_json::Value::Null),
        ("/update/standing", "confirmed".into()),
        ("/update/counter", 3.into()),
        ("/update/outcome", "none".into()),
        ("/identification/product_code", "RB-1".into()),
        ("/class_names/1", "InnerRace".into()),
    ] {
        assert_eq!(json.pointer(pointer), Some(&expected), "{pointer} of {json}");
    }
    let text = json.to_string();
    assert!(!text.contains('\u{1b}') && !text.contains("\\u001b"), "untrusted text: {text}");
    assert_eq!(json["identification"]["product"], "bearing monitor\u{fffd}");
}

#[test]
fn a_model_is_sent_verified_and_restarted() {
    let mut client = client(Faults::NONE, 1);
    let mut seen = Vec::new();
    let sent = send(&mut client, &file(&signed(GOLDEN, 4)), false, &mut |done, _| seen.push(done))
        .unwrap();
    let total = GOLDEN.len() + 128;
    assert_eq!((sent.total, sent.resumed_at, sent.counter), (total, 0, 4));
    assert_eq!(sent.pieces, total.div_ceil(244));
    assert_eq!((seen[0], *seen.last().unwrap()), (0, total));
    restart(&mut client).unwrap();
    let short = Duration::from_millis(20);
    assert_eq!(wait(&mut client, 4, short, short).unwrap(), Trial::OnTrial);
    client.command(Command::Confirm).unwrap();
    assert_eq!(wait(&mut client, 4, short, short).unwrap(), Trial::Confirmed);
}

#[test]
fn a_trial_that_fails_is_told_with_its_reason() {
    for (outcome, expected) in
        [(Outcome::Confirmed, Trial::Confirmed), (Outcome::Drift, Trial::Reverted(Outcome::Drift))]
    {
        let mut client = client(Faults::NONE, 1);
        client.line().device.trial_ends = Some(outcome);
        let never = Duration::from_millis(1);
        assert_eq!(wait(&mut client, 4, never, never).unwrap(), Trial::NotStarted);
        send(&mut client, &file(&signed(GOLDEN, 4)), false, &mut |_, _| ()).unwrap();
        assert_eq!(wait(&mut client, 4, never, never).unwrap(), Trial::NotStarted, "it waits");
        restart(&mut client).unwrap();
        assert_eq!(wait(&mut client, 4, never, never).unwrap(), expected);
    }
}

/// One byte in a hundred is damaged, some are lost or doubled, and some answers are late.
#[test]
fn a_bad_line_takes_longer_and_changes_nothing() {
    for seed in 1..=3 {
        let mut client = client(Faults { damage: 100, lose: 400, double: 400, late: 30, seed }, 60);
        let sent = send(&mut client, &file(&signed(GOLDEN, 4)), false, &mut |_, _| ()).unwrap();
        assert!(sent.pieces > sent.total / 244 + 3, "the line was bad: {sent:?}");
        let device = &client.line().device;
        assert!(device.receiver.status.waiting && device.receiver.finished == 1);
        let status = DeviceStatus::read(&mut client).unwrap();
        assert_eq!(status.class_names[..2], ["Healthy", "InnerRace"]);
    }
}

#[test]
fn an_interrupted_update_goes_on_and_another_one_needs_leave() {
    let mut client = client(Faults::NONE, 1);
    let genuine = file(&signed(GOLDEN, 4));
    // The line breaks after some pieces.
    client.line().frames_left = Some(12);
    let error = send(&mut client, &genuine, false, &mut |_, _| ()).unwrap_err();
    assert!(matches!(error, ModbusError::Line(_)), "{error}");
    client.line().frames_left = None;
    let there = client.line().device.receiver.stored.len();
    assert!(there > 0);
    let other = file(&signed(GOLDEN, 5));
    let error = send(&mut client, &other, false, &mut |_, _| ()).unwrap_err();
    assert!(matches!(error, ModbusError::Refused(Refusal::Busy)), "{error}");
    let sent = send(&mut client, &genuine, false, &mut |_, _| ()).unwrap();
    assert_eq!(sent.resumed_at, there);

    let mut client = self::client(Faults::NONE, 1);
    client.line().frames_left = Some(12);
    send(&mut client, &other, false, &mut |_, _| ()).unwrap_err();
    client.line().frames_left = None;
    let sent = send(&mut client, &genuine, true, &mut |_, _| ()).unwrap();
    assert_eq!((sent.resumed_at, client.line().device.receiver.finished), (0, 1));
}

#[test]
fn a_device_that_restarts_in_the_middle_gets_the_model_again() {
    let mut client = client(Faults::NONE, 1);
    client.line().restart_after = Some(12);
    let sent = send(&mut client, &file(&signed(GOLDEN, 4)), false, &mut |_, _| ()).unwrap();
    assert!(sent.pieces > sent.total.div_ceil(244), "{sent:?}");
    assert_eq!(client.line().device.receiver.finished, 1);
}

#[test]
fn refusals_come_with_their_reason() {
    let refused = |bytes: &[u8]| {
        let mut client = client(Faults::NONE, 1);
        match send(&mut client, &file(bytes), false, &mut |_, _| ()).unwrap_err() {
            ModbusError::Refused(refusal) => refusal,
            error => panic!("{error}"),
        }
    };
    assert_eq!(refused(&signed(GOLDEN, 3)), Refusal::OldCounter);
    assert_eq!(refused(&signed(GOLDEN, 9)), Refusal::BadSignature);
    // Nobody signed it, so its counter follows the device's; and this device wants a signature.
    assert_eq!(refused(GOLDEN), Refusal::BadSignature);
    let error = client(Faults::NONE, 1).command(Command::Confirm).unwrap_err();
    assert_eq!(error.to_string(), "the device refused: no model is on trial");
}

#[test]
fn the_counter_of_a_model_that_nobody_signed_is_found() {
    let plain = file(GOLDEN).with_counter(6).bytes();
    let line = NoisyLine::new(Device::new(plain), Faults::NONE);
    let mut client = Client::new(line, UNIT, patience(1));
    // The store remembers a rejected model with a larger counter than the one that runs.
    client.line().device.receiver.rejected = 5;
    let sent = send(&mut client, &file(GOLDEN), false, &mut |_, _| ()).unwrap();
    assert_eq!(sent.counter, 6);
}

#[test]
fn silence_and_noise_are_told_apart_and_never_hang() {
    let mut silent = client(Faults::NONE, 3);
    silent.line().device.server = rebearing::bus::Server::new(UNIT + 1);
    let error = silent.read(0, 1).unwrap_err().to_string();
    assert!(error.contains("unit 17 (3 attempts)") && error.contains("`baud`"), "{error}");
    let mut noise = Client::new(Noise(7), UNIT, patience(3));
    for _ in 0..50 {
        let error = noise.read(0, 48).unwrap_err();
        assert!(matches!(error, ModbusError::Damaged { .. }), "{error}");
        assert!(noise.identify().is_err());
        assert!(noise.command(Command::Begin).is_err());
    }
}

/// A line that is never silent.
struct Noise(u32);

impl Line for Noise {
    fn send(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], _: Duration) -> io::Result<usize> {
        for byte in &mut *buffer {
            self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = (self.0 >> 24) as u8;
        }
        Ok(buffer.len())
    }
}

/// Answers that are well framed and nothing else.
struct Scripted(VecDeque<Vec<u8>>);

impl Line for Scripted {
    fn send(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], limit: Duration) -> io::Result<usize> {
        // The client drains the line before it asks.
        if limit < Duration::from_millis(1) {
            return Ok(0);
        }
        let Some(mut answer) = self.0.pop_front() else { return Ok(0) };
        answer.extend(rebearing::bus::frame::crc16(&answer).to_le_bytes());
        let count = answer.len().min(buffer.len());
        buffer[..count].copy_from_slice(&answer[..count]);
        Ok(count)
    }
}

#[test]
fn well_framed_nonsense_is_refused() {
    let client = |answers: &[&[u8]]| {
        let answers = answers.iter().map(|answer| answer.to_vec()).collect();
        Client::new(Scripted(answers), UNIT, patience(1))
    };
    let damaged = |answer: &[u8]| {
        let error = client(&[answer]).read(0, 2).unwrap_err();
        assert!(matches!(error, ModbusError::Damaged { .. }), "{answer:?}: {error}");
    };
    damaged(&[UNIT, 4, 2, 0, 1]); // fewer registers
    damaged(&[UNIT, 4, 6, 0, 1, 0, 2, 0, 3]); // more
    damaged(&[UNIT + 1, 4, 4, 0, 1, 0, 2]); // another unit
    damaged(&[UNIT, 3, 4, 0, 1, 0, 2]); // another function
    damaged(&[UNIT, 0x83, 2]); // a refusal of another function
    let error = client(&[&[UNIT, 0x84, 11]]).read(0, 2).unwrap_err().to_string();
    assert!(error.contains("exception 11") && error.contains("gateway"), "{error}");
    let words = client(&[&[UNIT, 4, 4, 0, 1, 0, 2]]).read(0, 2).unwrap();
    assert_eq!(words, [1, 2]);
    let other = client(&[&[UNIT, 4, 2, 0, 9]]);
    let mut other = other;
    let error = DeviceStatus::registers(&mut other).unwrap_err().to_string();
    assert!(error.contains("version 9"), "{error}");
    let refused = client(&[&[UNIT, 0x90, 4], &[UNIT, 4, 2, 0, 200]]).command(Command::Begin);
    assert!(matches!(refused, Err(ModbusError::RefusedFor(200))));
    // More objects follow, always: the client stops all the same.
    let endless: &[u8] = &[UNIT, 43, 14, 2, 0x82, 0xff, 0, 1, 0, 1, b'x'];
    let names = client(&[endless; 20]).identify().unwrap();
    assert_eq!(names.iter().collect::<Vec<_>>(), [("vendor", "x")]);
    let cut: &[u8] = &[UNIT, 43, 14, 2, 0x82, 0, 0, 9, 0, 1, b'x'];
    assert!(client(&[cut]).identify().is_err());
}

#[test]
fn a_gateway_is_reached_over_tcp() {
    let device = Arc::new(Mutex::new(Device::new(signed(GOLDEN, 4))));
    let port = Port { name: listen(&device), baud: 19_200, parity: Parity::Even };
    let silence = Duration::from_millis(5);
    let patience = Patience { silence, ..Patience::with_silence(port.silence()) };
    let mut client = Client::new(port.open().unwrap(), UNIT, patience);
    let sent = send(&mut client, &file(&signed(GOLDEN, 4)), false, &mut |_, _| ()).unwrap();
    assert_eq!(sent.pieces, sent.total.div_ceil(244));
    restart(&mut client).unwrap();
    assert_eq!(device.lock().unwrap().receiver.status.standing, Standing::OnTrial);
    let closed = Port { name: "tcp://127.0.0.1:1".into(), ..port };
    let error = closed.open().err().unwrap().to_string();
    assert!(error.starts_with("tcp://127.0.0.1:1: ") && error.contains("RTU"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_serial_port_without_parity_is_used_all_the_same() {
    use serialport::{SerialPort as _, TTYPort};
    let (mut far, near) = TTYPort::pair().unwrap();
    let name = near.name().unwrap();
    far.set_timeout(Duration::from_millis(3)).unwrap();
    let device = Mutex::new(Device::new(signed(GOLDEN, 4)));
    let port = Port { name, baud: 19_200, parity: Parity::Even };
    drop(near);
    let line = port.open().unwrap();
    std::thread::spawn(move || serve(far, &device));
    let silence = Duration::from_millis(5);
    let patience = Patience { silence, ..Patience::with_silence(port.silence()) };
    let mut client = Client::new(line, UNIT, patience);
    let status = DeviceStatus::read(&mut client).unwrap();
    assert_eq!(status.label("label").as_deref(), Some("InnerRace"));
}
