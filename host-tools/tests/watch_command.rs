//! `rebearing watch` on the stream that the emulated board prints, and with a stand-in for probe-rs.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What the firmware prints in QEMU, compared with it by `cargo xtask test boards`.
const TOUR: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../firmware-examples/boards/stm32f405/src/bin/stm32f405-qemu.txt"
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
    // A digit of the sixth line is another, and the last line is cut off.
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
    let program = folder.path().join("probe-rs");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    watch_rtt(folder.path())
}

fn watch_rtt(folder: &Path) -> Output {
    let path = format!("{}:/usr/bin:/bin", folder.display());
    // Any ELF file serves where nothing is decoded; the golden one of another test has a descriptor.
    let elf = folder.join("firmware.elf");
    fs::write(&elf, support::elf()).unwrap();
    let mut command = rebearing();
    command.env("PATH", path).args(["watch", "--rtt", "--chip", "STM32F405RG", "--firmware"]);
    command.arg(elf).output().unwrap()
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

mod support {
    use rebearing::descriptor::{Capacities, Descriptor};

    /// A minimal ELF file with a descriptor and a MODEL region, and nothing to load.
    pub(super) fn elf() -> Vec<u8> {
        let names = b"\0.rebearing\0.symtab\0.strtab\0__model_start\0__model_end\0";
        let capacities = Capacities { fft: 256, axes: 1, dims: 4, components: 3, classes: 3 };
        let content = Descriptor::new(capacities, "STM32F405RG", 1).to_bytes().to_vec();
        let symbols_at = 52 + content.len() as u32;
        let names_at = symbols_at + 48;
        let sections_at = (names_at + names.len() as u32).next_multiple_of(4);
        let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x28\0".to_vec();
        let words = |file: &mut Vec<u8>, words: &[u32]| {
            file.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        };
        words(&mut file, &[1, 0, 52, sections_at, 0]);
        for half in [52_u16, 32, 0, 40, 4, 3] {
            file.extend(half.to_le_bytes());
        }
        file.extend(&content);
        words(&mut file, &[0; 4]);
        words(&mut file, &[28, 0x080c_0000, 0, 0xfff1_0010, 42, 0x080c_0800, 0, 0xfff1_0010]);
        file.extend(names);
        file.resize(sections_at as usize, 0);
        words(&mut file, &[0; 10]);
        words(&mut file, &[1, 1, 2, 0x0800_0000, 52, content.len() as u32, 0, 0, 4, 0]);
        words(&mut file, &[12, 2, 0, 0, symbols_at, 48, 3, 1, 4, 16]);
        words(&mut file, &[20, 3, 0, 0, names_at, names.len() as u32, 0, 0, 1, 0]);
        file
    }
}
