//! A new model on its whole way: signed by the command, sent through a pseudo-terminal to the board's
//! firmware in QEMU, on trial there; returned after a drift, and confirmed without one.
//!
//! It needs QEMU, the board's firmware and Python's pymodbus, so a plain `cargo test` leaves it out;
//! `cargo xtask test bus` provides them.

#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::workplace::Workplace;

/// Slot A of memory.x.
const MODEL_ADDRESS: &str = "0x080C0000";
/// Samples of a recording: a minute at 20 kHz.
const SAMPLES: usize = 1_200_000;
/// Far longer than anything here takes.
const LIMIT: Duration = Duration::from_mins(1);

fn given(name: &str) -> PathBuf {
    std::env::var_os(name).unwrap_or_else(|| panic!("cargo xtask test bus sets {name}")).into()
}

/// The key that the firmware is built with.
#[test]
#[ignore = "a part of: cargo xtask test bus"]
fn a_key_is_made() {
    let key = given("BUS_KEY");
    let public = key.with_extension("pub");
    for old in [&key, &public] {
        let _ = fs::remove_file(old);
    }
    Workplace::new().run_words(&["key", "new", "--out", key.to_str().unwrap()]);
    assert!(public.exists());
}

/// A recording as the board makes its samples: noise through a filter of three taps.
fn recording(taps: [i16; 3], seed: u32) -> Vec<u8> {
    let mut header = format!("{{'descr': '<i2', 'fortran_order': False, 'shape': ({SAMPLES},), }}");
    while !(header.len() + 11).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.bytes());
    let (mut state, mut before) = (seed, [0_i16; 2]);
    for _ in 0..SAMPLES {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        let white = (state >> 21) as i16 - 1024;
        let sample = taps[0] * white + taps[1] * before[0] + taps[2] * before[1];
        before = [white, before[0]];
        file.extend(sample.to_le_bytes());
    }
    file
}

/// Makes a model for a machine whose states sound like this.
fn adapted(place: &Workplace, name: &str, states: &[(&str, [i16; 3])]) {
    let mut manifest = String::from("path,label,domain,rate_hz\n");
    for (index, (label, taps)) in states.iter().enumerate() {
        for (domain, label) in [("known", *label), ("new", "")] {
            let path = format!("{name}-{domain}-{index}.npy");
            let seed = 77 + 2 * index as u32 + u32::from(domain == "new");
            place.write(&path, recording(*taps, seed));
            writeln!(manifest, "{path},{label},{domain},20000").expect("room");
        }
    }
    place.write(&format!("{name}.csv"), manifest);
    place.run(&format!("fit --manifest {name}.csv --domain known --out {name}.json"));
    let verdict = place.json(&format!(
        "adapt --source {name}.json --manifest {name}.csv --domain new --pool-is all --out {name}.rbm"
    ));
    assert_eq!(verdict["verdict"], "adapt", "{verdict}");
}

/// The board in QEMU. It is stopped with the value.
struct Board {
    qemu: Child,
    port: String,
}

impl Board {
    /// Starts the board with a model as a probe leaves it.
    fn start(model: &Path) -> Self {
        let model = model.display();
        let mut qemu = Command::new(given("BUS_QEMU"))
            .args(["-M", "netduinoplus2", "-display", "none", "-monitor", "none", "-serial", "pty"])
            .args(["-device", &format!("loader,file={model},addr={MODEL_ADDRESS},force-raw=on")])
            .args(["-semihosting-config", "enable=on,target=native", "-kernel"])
            .arg(given("BUS_ELF"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("QEMU runs");
        let mut lines = BufReader::new(qemu.stdout.take().expect("its output")).lines();
        let port = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| {
                line.split(' ').find(|word| word.starts_with("/dev/")).map(str::to_owned)
            })
            .expect("QEMU names its pseudo-terminal");
        // The board's journal has nobody to read it here; it must not fill the pipe.
        thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Self { qemu, port }
    }

    fn status(&self, place: &Workplace) -> Value {
        place.json(&format!("status --port {}", self.port))
    }

    /// The status as soon as it is `wanted`.
    fn wait(&self, place: &Workplace, wanted: impl Fn(&Value) -> bool) -> Value {
        let started = Instant::now();
        loop {
            let status = self.status(place);
            if wanted(&status) {
                return status;
            }
            assert!(started.elapsed() < LIMIT, "still {status}");
            thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

#[test]
#[ignore = "wants QEMU, the board's firmware and pymodbus: cargo xtask test bus"]
fn a_model_is_sent_tried_returned_and_confirmed() {
    let place = Workplace::new();
    let (white, low, high, middle) = ([1, 0, 0], [1, 1, 0], [1, -1, 0], [1, 0, -1]);
    // The board hears white noise. One model knows it, the other does not.
    adapted(&place, "good", &[("Healthy", white), ("Loose", low), ("Outer race", high)]);
    adapted(&place, "bad", &[("Healthy", middle), ("Loose", low)]);
    let key = given("BUS_KEY");
    let sign = |model: &str, counter: u32, more: &str| {
        let out = format!("{model}-{counter}{}.rbm", more.len());
        let key = key.display();
        place.run(&format!(
            "sign --key {key} --counter {counter} --model {model}.rbm --out {out} {more}"
        ));
        out
    };
    let first = sign("good", 1, "");
    let (bad, good) = (sign("bad", 2, ""), sign("good", 3, ""));
    let elsewhere = sign("good", 9, "--device 00112233445566778899aabbccddeeff");

    let board = Board::start(&place.path().join(&first));
    println!("{:<44} | {:<10} | {:>7} | last trial", "after", "standing", "counter");
    let row = |what: &str, status: &Value, expected: [&str; 2], counter: u32| {
        let update = &status["update"];
        let (standing, outcome) = (update["standing"].as_str(), update["outcome"].as_str());
        assert_eq!([standing, outcome], expected.map(Some), "{what}: {status}");
        assert_eq!(update["counter"], counter, "{what}: {status}");
        println!("{what:<44} | {:<10} | {counter:>7} | {}", expected[0], expected[1]);
    };
    let confirmed = |status: &Value| status["update"]["standing"] == "confirmed";
    let status = board.wait(&place, confirmed);
    row("the first model, by probe", &status, ["confirmed", "confirmed"], 1);
    assert_eq!((&status["label"], &status["state"]), (&"Healthy".into(), &"running".into()));

    let port = &board.port;
    // Drift on purpose: exit code 1, because the device did not keep it.
    let sent = place.output(&["send", "--port", port, "--wait=30", &bad]);
    assert_eq!(sent.status.code(), Some(1), "{}", String::from_utf8_lossy(&sent.stderr));
    let status = board.wait(&place, confirmed);
    row("a model that does not know the machine", &status, ["confirmed", "drift"], 1);

    for (what, file, reason) in [
        ("the same model again", &bad, "the counter is not above"),
        ("the first model again", &first, "the counter is not above"),
        ("a model for another device", &elsewhere, "signed for another device"),
        ("a model that is not signed", &"good.rbm".to_owned(), "does not have the key"),
    ] {
        place.refused(&format!("send --port {port} {file}"), &[reason]);
        row(what, &board.status(&place), ["confirmed", "drift"], 1);
    }

    place.run(&format!("send --port {port} --wait=30 {good}"));
    row("a good one", &board.status(&place), ["confirmed", "confirmed"], 3);

    // The alarm that the bad model raised outlasts the restarts, until somebody acknowledges it.
    assert_ne!(board.status(&place)["alarm"], "none");
    place.run(&format!("status --port {port} --acknowledge"));
    assert_eq!(board.status(&place)["alarm"], "none");
    compare_with_pymodbus(&board, &place);
}

/// A client that is not ours reads the same.
fn compare_with_pymodbus(board: &Board, place: &Workplace) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/read_registers.py");
    let read = Command::new(given("BUS_PYTHON")).args([script, &board.port, "1"]).output();
    let read = read.expect("Python runs");
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let theirs: Value = serde_json::from_slice(&read.stdout).expect("JSON");
    let ours = board.status(place);
    let registers: Vec<u64> =
        theirs["registers"].as_array().unwrap().iter().map(|word| word.as_u64().unwrap()).collect();
    let word = |at: usize| registers[at];
    let long = |at: usize| registers[at] << 16 | registers[at + 1];
    assert_eq!(word(0), ours["map_version"].as_u64().unwrap());
    assert_eq!((word(1), &ours["state"]), (4, &"running".into()));
    assert_eq!((word(2), &ours["label"]), (0, &"Healthy".into()));
    assert_eq!((word(5), &ours["alarm"]), (0, &"none".into()));
    assert_eq!((word(37), &ours["update"]["standing"]), (2, &"confirmed".into()));
    assert_eq!(long(40), ours["update"]["counter"].as_u64().unwrap());
    // The board goes on between the two.
    assert!(long(24) > 512 && long(24) <= ours["counts"]["windows"].as_u64().unwrap());
    let rms = f64::from(f32::from_bits(long(18) as u32));
    assert!((rms / ours["rms"][0].as_f64().unwrap() - 1.0).abs() < 0.1, "{rms}");
    assert_eq!(theirs["classes"], ours["class_names"]);
    let identity = &ours["identification"];
    let names = ["vendor", "product_code", "revision"].map(|name| identity[name].clone());
    assert_eq!(theirs["identity"], Value::from(names.to_vec()));
    println!("pymodbus reads the same {} registers", registers.len());
}
