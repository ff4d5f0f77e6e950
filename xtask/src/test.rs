//! `cargo xtask test`: runs every check in order. One that fails does not hide the others.

use crate::consent::{self, Need};
use crate::firmware::{self, QEMU_BINARY};
use crate::run::{root, run, target_dir};
use crate::toolchain::{M0, M4F, TARGETS, Thumb, component, component_need};
use crate::{
    Failure, bench, boards, bus, deny, fuzz, msrv, package, panics, qemu, report_test, soak, wheel,
};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

type Step = (&'static str, fn() -> Result<(), String>);

/// Cheap checks first.
const STEPS: [Step; 19] = [
    ("format", format),
    ("deny", deny),
    ("package", package::check),
    ("clippy", clippy),
    ("msrv", msrv::check),
    ("tests", tests),
    ("wheel", wheel::check),
    ("docs", docs),
    ("thumb", thumb),
    ("firmware", build_firmware),
    ("device", device),
    ("report", report_test::check),
    ("kernels", bench::device::kernels),
    ("boards", boards::check),
    ("bus", bus::check),
    ("tutorial", boards::tutorial),
    ("soak", soak::check),
    ("panic", panic),
    ("fuzz", fuzz::check),
];

/// Checks that the steps could not make.
static NOT_CHECKED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The names of the steps.
pub(crate) fn names() -> String {
    STEPS.map(|(name, _)| name).join(" ")
}

/// Runs the steps in `only`, or all of them, and ends with a summary line.
pub(crate) fn check(only: &[&str]) -> Result<(), Failure> {
    if let Some(unknown) = only.iter().find(|word| STEPS.iter().all(|(name, _)| name != *word)) {
        return Err(Failure::Usage(format!("`test` has no step `{unknown}`")));
    }
    let chosen: Vec<Step> =
        STEPS.into_iter().filter(|(name, _)| only.is_empty() || only.contains(name)).collect();
    consent::give();
    consent::settle(&needs(&chosen))?;
    let started = Instant::now();
    let mut passed: Vec<String> = Vec::new();
    let mut failed: Vec<String> = Vec::new();
    for (name, step) in &chosen {
        eprintln!("\n===== {name} =====");
        let step_started = Instant::now();
        let result = step();
        let timed = format!("{name} {}", seconds(step_started.elapsed()));
        match result {
            Ok(()) => passed.push(timed),
            Err(error) => {
                eprintln!("xtask: {error}");
                failed.push(timed);
            }
        }
    }
    println!("xtask: passed: {}; {} in all", passed.join(", "), seconds(started.elapsed()));
    for what in NOT_CHECKED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        println!("NOT CHECKED: {what}");
    }
    println!("steps: {} passed, {} failed", passed.len(), failed.len());
    if failed.is_empty() {
        Ok(())
    } else {
        Err(Failure::Task(format!("FAILED: {}; the reasons are above", failed.join(", "))))
    }
}

/// The programs that the steps will install.
fn needs(chosen: &[Step]) -> Vec<Need> {
    let has = |names: &[&str]| chosen.iter().any(|(name, _)| names.contains(name));
    let mut needs = Vec::new();
    needs.extend(has(&["format"]).then(|| component_need("fmt", "rustfmt")).flatten());
    needs.extend(has(&["clippy"]).then(|| component_need("clippy", "clippy")).flatten());
    let host = ["format", "deny", "package", "msrv", "tests", "wheel", "docs", "report"];
    let built = chosen.iter().any(|(name, _)| !host.contains(name));
    needs.extend(built.then(|| Thumb::need(&TARGETS)).flatten());
    let emulated = ["device", "kernels", "boards", "bus", "tutorial", "soak", "fuzz"];
    needs.extend(has(&emulated).then(qemu::need).flatten());
    needs.extend(has(&["report"]).then(report_test::need).flatten());
    needs
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// Runs the host's own cargo in the root of the repository.
fn run_cargo(what: &str, arguments: &[&str]) -> Result<(), String> {
    run(what, Command::new("cargo").current_dir(root()).args(arguments))
}

fn format() -> Result<(), String> {
    component("fmt", "rustfmt")?;
    for manifest in ["Cargo.toml", firmware::MANIFEST, fuzz::MANIFEST] {
        // `--all` covers a whole workspace: the boards, the host's tools.
        let arguments = ["fmt", "--all", "--check", "--manifest-path", manifest];
        run_cargo(&format!("format of {manifest}"), &arguments)?;
    }
    Ok(())
}

/// Checks licences and sources. What it cannot check is said in the summary.
fn deny() -> Result<(), String> {
    let missed = deny::step()?;
    NOT_CHECKED.lock().unwrap_or_else(PoisonError::into_inner).extend(missed);
    Ok(())
}

fn clippy() -> Result<(), String> {
    component("clippy", "clippy")?;
    let clippy = |what: &str, arguments: &[&str]| {
        run_cargo(what, &[&["clippy", "--locked"], arguments, &["--", "-D", "warnings"]].concat())
    };
    clippy("clippy of the workspace", &["--workspace", "--all-targets"])?;
    clippy("clippy of the device crate with defmt", &["-p", "rebearing", "--features", "defmt"])?;
    // Checked as if for the host, because a toolchain for Cortex-M may have no clippy. In release,
    // because the firmware's own panic handler needs `panic = "abort"`.
    let firmware = ["--manifest-path", firmware::MANIFEST, "--release", "--lib", "--bins"];
    clippy("clippy of the firmware", &firmware)?;
    boards::clippy()?;
    clippy("clippy of the fuzz crate", &["--manifest-path", fuzz::MANIFEST, "--all-targets"])
}

fn tests() -> Result<(), String> {
    run_cargo("host tests and doc tests", &["test", "--locked", "--workspace", "--no-fail-fast"])?;
    // The boards' application needs no board.
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).args(["test", "--locked", "--lib", "--manifest-path"]);
    cargo.args([firmware::MANIFEST, "--package", "firmware-examples", "--target-dir"]);
    cargo.arg(target_dir("firmware-host", "firmware-examples/target/host"));
    run("the boards' application on the host", &mut cargo)
}

/// Runs tests/life.rs at full length. `tests` runs a part of it.
pub(crate) fn operation() -> Result<(), String> {
    let test = ["test", "--locked", "-p", "rebearing", "--test", "life"];
    let options = ["--", "--ignored", "--nocapture"];
    run_cargo("a million windows of operation", &[&test[..], &options].concat())
}

/// Draws the pictures of docs/. host-tools/engine/tests/report/pictures.rs checks that the committed ones
/// are the same.
pub(crate) fn pictures() -> Result<(), String> {
    let example = ["run", "--locked", "--release", "-p", "rebearing-host", "--example", "pictures"];
    run_cargo("pictures", &example)
}

/// Runs host-tools/cli/tests/recording_large.rs, which takes minutes and a gigabyte of disk.
pub(crate) fn large() -> Result<(), String> {
    let test = ["test", "--locked", "--release", "-p", "rebearing-cli", "--test", "cli"];
    let options = ["recording_large::", "--", "--ignored", "--nocapture"];
    run_cargo("a recording of 1 GB", &[&test[..], &options].concat())
}

fn docs() -> Result<(), String> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).env("RUSTDOCFLAGS", "-D warnings");
    cargo.args(["doc", "--locked", "--workspace", "--no-deps", "--lib"]);
    run("documentation", &mut cargo)
}

/// Builds the device's crates inside the firmware's workspace. So `core` is compiled once per target,
/// for this step, the firmware and the panic check together.
fn thumb() -> Result<(), String> {
    let toolchain = Thumb::for_targets(&TARGETS)?;
    let build = |what: &str, target: &str, arguments: &[&str]| {
        let mut cargo = toolchain.build(firmware::MANIFEST, target, &firmware::target_dir());
        run(&format!("{what} for {target}"), cargo.arg("--release").args(arguments))
    };
    for target in TARGETS {
        build("device crate", target, &["--package", "rebearing"])?;
        build("verifier", target, &["--package", "rebearing-verify"])?;
    }
    build("device crate with defmt", M4F, &["--lib", "--features", "defmt"])
}

fn build_firmware() -> Result<(), String> {
    firmware::build(Thumb::for_targets(&[M4F])?, QEMU_BINARY, M4F).map(drop)
}

/// Runs tests/device.rs. It needs QEMU and is marked `ignored`, so a plain `cargo test` installs
/// nothing.
fn device() -> Result<(), String> {
    qemu::find_or_install()?;
    Thumb::for_targets(&[M4F, M0])?;
    // The whole workspace, as in the earlier tests, so that nothing is compiled again.
    let test = ["test", "--locked", "--workspace", "--test", "device"];
    run_cargo("firmware in QEMU", &[&test[..], &["--", "--include-ignored"]].concat())
}

fn panic() -> Result<(), String> {
    panics::check(Thumb::for_targets(&TARGETS)?)
}
