//! `rebearing send` and `rebearing status` against a device in this process, over TCP.

use std::sync::{Arc, Mutex};

use rebearing::update::{Outcome, Standing};

use crate::bus_device::{Device, listen};
use crate::receiver::signed;
use crate::workplace::Workplace;

static GOLDEN: &[u8] = rebearing::include_model!("../../../../tests/golden/model-v1.rbm");

/// A device, and the options that lead to it.
fn device() -> (Arc<Mutex<Device>>, String) {
    let device = Arc::new(Mutex::new(Device::new(signed(GOLDEN, 4))));
    // The device ends a frame after 3 ms without a byte; at 4800 baud the command waits longer.
    let options = format!("--port {} --unit 17 --baud 4800", listen(&device));
    (device, options)
}

fn place() -> Workplace {
    let place = Workplace::new();
    place.write("signed.rbm", signed(GOLDEN, 4));
    place.write("forged.rbm", signed(GOLDEN, 5));
    place.write("old.rbm", signed(GOLDEN, 3));
    place.write("plain.rbm", GOLDEN);
    place
}

#[test]
fn a_status_has_everything_as_text_and_json() {
    let (device, options) = device();
    let place = Workplace::new();
    let text = place.run(&format!("status {options}"));
    for part in [
        "product code    RB-1",
        "state           running",
        "label           InnerRace, 95.0 %, 2 s ago",
        "alarm           active, InnerRace, not acknowledged, level 100.0 %",
        "severity        zone C, 4.50 mm/s",
        "drift           not available",
        "model           confirmed, counter 3",
        "update          none",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "untrusted text: {text:?}");
    let json = place.json(&format!("status {options} --acknowledge"));
    assert_eq!((&json["state"], &json["unit"]), (&"running".into(), &17.into()));
    assert_eq!(json["order"], "acknowledge");
    assert_eq!(device.lock().unwrap().acknowledged, 1);
}

#[test]
fn a_model_is_sent_and_confirmed() {
    let (device, options) = device();
    let place = place();
    let sent = place.json(&format!("send {options} signed.rbm --wait=0.1"));
    assert_eq!((&sent["signed"], &sent["trial"]), (&true.into(), &"on_trial".into()));
    assert_eq!(sent["bytes"], GOLDEN.len() + 128);
    assert_eq!(device.lock().unwrap().receiver.status.standing, Standing::OnTrial);
    let status = place.json(&format!("status {options} --confirm"));
    assert_eq!(status["update"]["standing"], "confirmed");
    place.refused(&format!("status {options} --reject"), &["tcp://", "no model is on trial"]);
    place.refused(
        &format!("send {options} old.rbm"),
        &["the device refused", "sign with a larger one"],
    );
}

#[test]
fn a_model_waits_for_the_next_start_if_it_is_told_so() {
    let (device, options) = device();
    let place = place();
    let text = place.run(&format!("send {options} signed.rbm --no-restart"));
    assert!(text.contains("signed, for any device") && text.contains("next start"), "{text}");
    let device = device.lock().unwrap();
    assert!(device.receiver.status.waiting && device.restarts == 0);
}

#[test]
fn a_model_that_does_not_prove_itself_ends_with_exit_code_1() {
    let (device, options) = device();
    device.lock().unwrap().trial_ends = Some(Outcome::SensorFaults);
    let place = place();
    let line = format!("send {options} signed.rbm --wait=5");
    let output = place.output(&line.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("old model, because of: sensor faults"), "{text}");
}

#[test]
fn what_a_device_does_not_take_is_refused_with_the_reason() {
    let (device, options) = device();
    let place = place();
    place.refused(&format!("send {options} forged.rbm"), &["the signature does not hold"]);
    let parts = ["plain.rbm is not signed", "the device refused"];
    place.refused(&format!("send {options} plain.rbm"), &parts);
    place.refused(&format!("send {options} absent.rbm"), &["absent.rbm"]);
    assert_eq!(device.lock().unwrap().receiver.finished, 0);
}

#[test]
fn a_device_that_is_not_there_is_told_with_what_to_check() {
    let (_device, options) = device();
    let place = place();
    let other = options.replace("--unit 17", "--unit 18 --timeout 0.02");
    place.refused(&format!("status {other}"), &["no answer from unit 18", "--baud", "--parity"]);
    place.refused("status --port /dev/absent", &["/dev/absent", "dialout"]);
    place.refused("status --port tcp://127.0.0.1:1", &["tcp://127.0.0.1:1", "RTU"]);
    place.refused("send --port x", &["MODEL.rbm"]);
    place.refused("status --port x --unit 0", &["--unit"]);
    place.refused("status --port x --confirm --reject", &["--confirm"]);
}
