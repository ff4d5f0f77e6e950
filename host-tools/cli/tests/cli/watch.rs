//! `rebearing watch` on the output of the emulated board, and with a stand-in for probe-rs.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::probe::{MODEL, elf, write_program};
use rebearing::Encoding;
use rebearing::monitor::{Capacities, Samples, Sampling};
use rebearing::update::Descriptor;

/// The firmware's output in QEMU; `cargo xtask test boards` compares the two.
const TOUR: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../firmware-examples/boards/stm32f405/src/bin/stm32f405-qemu.txt"
);

fn rebearing() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rebearing"));
    command.stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_recorded_stream_is_printed_and_counted() {
    let output = rebearing().args(["watch", TOUR]).output().unwrap();
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{shown}");
    assert!(
        shown.contains("21  InnerRace      100%    -15.28  running  ALARM InnerRace"),
        "{shown}"
    );
    assert!(shown.contains("| clock MHz=16\n"), "{shown}");
    assert!(shown.contains("27  sensor fault: the samples do not vary"), "{shown}");
    assert!(shown.contains("78 reports"), "{shown}");

    let output = rebearing().args(["--json", "watch", TOUR]).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["reports"], &json["alarms"]), (&78.into(), &1.into()));
    assert_eq!((&json["damaged"], &json["missing"]), (&0.into(), &0.into()));
    assert_eq!(json["labels"]["unknown_fault"], 12);
    assert_eq!(json["ended"], "stream");
    assert!(text(&output.stderr).contains("ALARM InnerRace"), "the lines go to standard error");
}

#[test]
fn standard_input_is_read_and_damage_is_counted() {
    let mut child = rebearing()
        .args(["watch", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let stream = fs::read(TOUR).unwrap();
    // One digit of the sixth line is changed, and the end of the stream is cut off.
    let sixth =
        stream.split(|byte| *byte == b'\n').take(5).map(|line| line.len() + 1).sum::<usize>();
    let mut damaged = stream[..stream.len() - 300].to_vec();
    damaged[sixth + 20] ^= 1;
    child.stdin.take().unwrap().write_all(&damaged).unwrap();
    let output = child.wait_with_output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["damaged"], 2);
    let reports = json["reports"].as_u64().unwrap();
    assert!((70..78).contains(&reports), "{json}");
    assert_eq!(json["missing"], 1, "the damaged one: {json}");
}

#[test]
fn what_holds_no_report_is_a_failure() {
    let output = rebearing().args(["watch", "/dev/null"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("not one report"));
    let output = rebearing().args(["watch", "absent.log"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("absent.log"));
    for wrong in [&["watch"][..], &["watch", "--rtt"], &["watch", "x", "--serial", "y"]] {
        let output = rebearing().args(wrong).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

/// Runs `watch --rtt` with a `probe-rs` made of this shell script.
fn rtt(script: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    write_program(folder.path(), "probe-rs", script);
    watch_rtt(folder.path())
}

fn watch_rtt(folder: &Path) -> Output {
    let path = format!("{}:/usr/bin:/bin", folder.display());
    // Nothing is loaded or decoded here, so any firmware will do.
    let capacities = Capacities {
        encoding: Encoding::F32,
        samples: Samples::Floats,
        fft: 256,
        axes: 1,
        dims: 4,
        components: 3,
        classes: 3,
    };
    let descriptor = Descriptor::new(capacities, "STM32F405RG", 1, Sampling::ANY);
    let firmware = folder.join("firmware.elf");
    fs::write(&firmware, elf(descriptor, (MODEL, MODEL + 2048), &[])).unwrap();
    let mut command = rebearing();
    command.env("PATH", path).args(["watch", "--rtt", "--chip", "STM32F405RG", "--firmware"]);
    command.arg(firmware).output().unwrap()
}

#[test]
fn rtt_is_read_through_probe_rs() {
    let version = "case $1 in --version) echo 'probe-rs 0.31.0 (git commit: x)'; exit;; esac";
    let output = rtt(&format!(
        "{version}\n[ \"$1 $2 $3\" = 'attach --chip STM32F405RG' ] || exit 9\n\
         sed 's/^rb1/INFO  rb1/' '{TOUR}'"
    ));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("RTT of STM32F405RG: 78 reports"));

    let output = rtt(&format!("{version}\necho 'Error: no probe was found.' >&2; exit 1"));
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("probe-rs attach") && said.contains("no probe was found"), "{said}");

    let output = rtt("echo 'probe-rs 0.12.0'");
    assert!(text(&output.stderr).contains("0.29 or later"), "{}", text(&output.stderr));
    let empty = tempfile::tempdir().unwrap();
    let output = watch_rtt(empty.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("https://probe.rs"), "{}", text(&output.stderr));
}

#[test]
fn a_recording_is_refused_and_not_printed() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("x.mat");
    let noise = (0..100_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8);
    let header = b"MATLAB 5.0 MAT-file, Platform: PCWIN64".to_vec();
    fs::write(&recording, header.into_iter().chain(noise).collect::<Vec<u8>>()).unwrap();
    let output = rebearing().arg("watch").arg(&recording).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(output.stdout.is_empty());
    assert!(said.contains("x.mat: is not text") && said.contains("docs/report-lines.md"), "{said}");
}
