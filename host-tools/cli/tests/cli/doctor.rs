//! `rebearing doctor` with stand-ins for the programs in PATH.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::probe::write_program;
use serde_json::Value;
use tempfile::TempDir;

/// A computer: a folder of programs, and a sysroot.
struct Machine(TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        fs::create_dir(machine.path("bin")).unwrap();
        machine
    }

    /// Returns a computer with every program.
    fn full() -> Self {
        let machine = Self::new();
        machine.program("cargo", "echo 'cargo 1.95.0 (x 2026-01-01)'");
        machine.rustc("1.100.0");
        for target in ["thumbv6m-none-eabi", "thumbv7em-none-eabihf", "thumbv8m.main-none-eabihf"] {
            fs::create_dir_all(machine.path("sysroot/lib/rustlib").join(target)).unwrap();
        }
        let linker = machine.path("sysroot/lib/rustlib/x86_64-unknown-linux-gnu/bin");
        fs::create_dir_all(&linker).unwrap();
        fs::write(linker.join("rust-lld"), "").unwrap();
        machine.program("qemu-system-arm", "echo 'QEMU emulator version 9.1.0'\necho more");
        machine.program("probe-rs", "echo 'probe-rs 0.31.0 (git commit: x)'");
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn program(&self, name: &str, script: &str) {
        write_program(&self.path("bin"), name, script);
    }

    fn rustc(&self, version: &str) {
        let sysroot = self.path("sysroot");
        let sysroot = sysroot.display();
        self.program(
            "rustc",
            &format!("case $1 in --print) echo {sysroot};; *) echo 'rustc {version} (x y)';; esac"),
        );
    }

    fn doctor(&self, more: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rebearing"));
        command.env("PATH", self.path("bin")).current_dir(&self.0).arg("doctor");
        command.args(more).output().unwrap()
    }

    fn json(&self, more: &[&str]) -> (Value, Option<i32>) {
        let output = self.doctor(&[more, &["--json"]].concat());
        (serde_json::from_slice(&output.stdout).unwrap(), output.status.code())
    }
}

fn check<'a>(json: &'a Value, name: &str) -> &'a Value {
    json["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).unwrap()
}

#[test]
fn a_machine_with_everything_is_ready() {
    let (json, code) = Machine::full().json(&["--need", "host,firmware,emulate"]);
    assert_eq!(code, Some(0), "{json:#}");
    assert_eq!(json["ok"], true);
    assert_eq!(json["ready"]["emulate"], true);
    assert_eq!(check(&json, "QEMU")["found"], "QEMU emulator version 9.1.0");
    assert_eq!(check(&json, "probe-rs")["found"], "probe-rs 0.31.0 (git commit: x)");
}

#[test]
fn an_empty_machine_works_as_a_host_and_is_told_what_to_do() {
    let machine = Machine::new();
    let (json, code) = machine.json(&[]);
    assert_eq!(code, Some(0), "{json:#}");
    assert_eq!((&json["ready"]["host"], &json["ready"]["firmware"]), (&true.into(), &false.into()));
    for name in ["cargo", "rustc", "thumb targets", "linker", "probe-rs"] {
        let check = check(&json, name);
        assert_eq!(check["ok"], false, "{name}");
        assert!(check["remedy"].as_str().unwrap().len() > 10, "{name}");
    }
    let (json, code) = machine.json(&["--need", "board"]);
    assert_eq!((code, &json["ok"]), (Some(1), &false.into()));

    let output = machine.doctor(&["--need", "board"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("MISSING  probe-rs") && text.contains("https://probe.rs"), "{text}");
    assert!(text.contains("missing  cargo"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn what_is_too_old_or_lacks_a_part_is_found() {
    let machine = Machine::full();
    machine.rustc("1.94.1");
    machine.program("probe-rs", "echo 'probe-rs 0.28.0'");
    fs::remove_dir(machine.path("sysroot/lib/rustlib/thumbv6m-none-eabi")).unwrap();
    let (json, code) = machine.json(&["--need", "firmware"]);
    assert_eq!(code, Some(1));
    assert_eq!(check(&json, "rustc")["remedy"], "run `rustup update`");
    assert_eq!(
        check(&json, "thumb targets")["remedy"],
        "run `rustup target add thumbv6m-none-eabi`"
    );
    assert_eq!(check(&json, "probe-rs")["ok"], false);
    assert_eq!(check(&json, "cargo")["ok"], true);
}

#[test]
fn a_host_without_room_for_temporary_files_is_not_ready() {
    let machine = Machine::full();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rebearing"));
    command.env("TMPDIR", machine.path("absent")).args(["doctor", "--json"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(check(&json, "temporary files")["remedy"].as_str().unwrap().contains("TMPDIR"));
}
