//! `rebearing flash` with a stand-in for `probe-rs` that records its calls and uses a file as
//! memory.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::probe::{FLASH, MODEL, elf, elf_of, write_probe_rs};
use rebearing::Encoding;
use rebearing::monitor::{Capacities, Samples, Sampling};
use rebearing::update::Descriptor;
use tempfile::TempDir;

const GOLDEN: &[u8] = include_bytes!("../../../../tests/golden/model-v1.rbm");
/// Exactly the capacities that the golden model needs.
const CAPACITIES: Capacities = Capacities {
    encoding: Encoding::F32,
    samples: Samples::Floats,
    fft: 256,
    axes: 1,
    dims: 4,
    components: 3,
    classes: 3,
};
const CHIP: &str = "STM32F405RG";

fn descriptor(slots: u32) -> Descriptor {
    Descriptor::new(CAPACITIES, CHIP, slots, Sampling::ANY)
}

/// Returns a firmware that lies before the MODEL region, as the default board's linker script
/// places it.
fn firmware(slots: u32) -> Vec<u8> {
    elf(descriptor(slots), (MODEL, MODEL + 2048), &[(FLASH, 0xc_0000)])
}

/// A folder with a model, a firmware and a `probe-rs`.
struct Desk {
    folder: TempDir,
}

impl Desk {
    /// Makes the folder. `misbehaviour` is shell code that runs first in the `probe-rs`.
    fn new(firmware: &[u8], misbehaviour: &str) -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap() };
        fs::write(desk.path("model.rbm"), GOLDEN).unwrap();
        fs::write(desk.path("firmware.elf"), firmware).unwrap();
        // The memory is the flash from its start on, full of an old model.
        fs::write(desk.path("memory"), vec![0x5a; 0x10_0000]).unwrap();
        fs::create_dir(desk.path("bin")).unwrap();
        let calls = desk.path("calls");
        let first = format!("echo \"$*\" >> '{}'\n{misbehaviour}", calls.display());
        write_probe_rs(&desk.path("bin"), &desk.path("memory"), &first);
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn flash(&self, more: &[&str]) -> Output {
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_rebearing"));
        command.env("PATH", path).current_dir(&self.folder);
        command.args(["flash", "--model", "model.rbm", "--firmware", "firmware.elf"]);
        command.args(more).output().unwrap()
    }

    /// Returns the calls of `probe-rs`, without the names of temporary files.
    fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.path("calls")).unwrap_or_default();
        let name = |word: &str| match Path::new(word).file_name() {
            Some(name) if word.starts_with('/') => name.to_string_lossy().into_owned(),
            _ => word.to_owned(),
        };
        calls.lines().map(|line| line.split(' ').map(name).collect::<Vec<_>>().join(" ")).collect()
    }

    fn memory(&self) -> Vec<u8> {
        fs::read(self.path("memory")).unwrap()
    }

    /// Runs `flash`, which must fail with exit code 2, this message and an untouched board.
    fn refuses(&self, more: &[&str], message: &str) {
        let output = self.flash(more);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(message), "{errors}");
        assert_eq!(self.memory(), vec![0x5a; 0x10_0000]);
    }
}

fn offset(address: u32) -> usize {
    (address - FLASH) as usize
}

#[test]
fn writes_the_model_and_nothing_else_then_reads_it_back() {
    let desk = Desk::new(&firmware(1), "");
    let output = desk.flash(&["--chip", "stm32f405rgtx", "--probe", "0483:374b", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["verified"], &json["bytes"]), (&true.into(), &GOLDEN.len().into()));

    let mut expected = vec![0x5a; 0x10_0000];
    expected[offset(MODEL)..][..GOLDEN.len()].copy_from_slice(GOLDEN);
    assert_eq!(desk.memory(), expected);
    let with = "--chip stm32f405rgtx --probe 0483:374b";
    let words = GOLDEN.len() / 4;
    let download =
        format!("download {with} --binary-format bin --base-address 0x080c0000 model.bin");
    let read = format!("read {with} --format binary --output read-back.bin b32 0x080c0000 {words}");
    assert_eq!(desk.calls(), ["--version".into(), download, read, format!("reset {with}")]);
}

#[test]
fn with_two_slots_the_other_one_is_erased() {
    let desk = Desk::new(&firmware(2), "");
    let output = desk.flash(&["--chip", CHIP]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut expected = vec![0x5a; 0x10_0000];
    expected[offset(MODEL)..][..2048].fill(0xff);
    expected[offset(MODEL)..][..GOLDEN.len()].copy_from_slice(GOLDEN);
    assert_eq!(desk.memory(), expected);
}

#[test]
fn a_dry_run_says_what_it_would_do_and_needs_no_probe_rs() {
    let desk = Desk::new(&firmware(1), "");
    let output = desk.flash(&["--chip", CHIP, "--dry-run"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success());
    assert!(text.contains("would write model.rbm"), "{text}");
    assert!(text.contains("--base-address 0x080c0000"), "{text}");
    assert!(desk.calls().is_empty());
    assert_eq!(desk.memory(), vec![0x5a; 0x10_0000]);
}

#[test]
fn a_firmware_whose_path_is_not_utf8_is_shown() {
    use std::os::unix::ffi::OsStrExt;
    let desk = Desk::new(&firmware(1), "");
    let file = desk.folder.path().join(std::ffi::OsStr::from_bytes(b"\xff.elf"));
    fs::rename(desk.path("firmware.elf"), &file).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rebearing"));
    command.args(["flash", "--json", "--dry-run", "--chip", CHIP, "--firmware"]).arg(&file);
    let output = command.arg("--model").arg(desk.path("model.rbm")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(json["firmware"].as_str().unwrap().ends_with("\u{fffd}.elf"), "{json}");
}

#[test]
fn a_difference_in_what_is_read_back_is_a_failure_and_nothing_is_started() {
    // The second byte of the model does not keep its value.
    let worn = format!(
        r#"if [ "$1" = read ]; then printf '\000' | dd of="$memory" bs=1 seek={} conv=notrunc 2>/dev/null; fi"#,
        offset(MODEL) + 1
    );
    let desk = Desk::new(&firmware(1), &worn);
    let output = desk.flash(&["--chip", CHIP, "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["verified"], &json["differs_at"]), (&false.into(), &(MODEL + 1).into()));
    assert!(!desk.calls().iter().any(|call| call.starts_with("reset")), "{:?}", desk.calls());
}

#[test]
fn a_short_read_back_is_a_difference_too() {
    let short = r#"if [ "$1" = read ]; then for word; do [ "$before" = --output ] && : > "$word"; before=$word; done; exit 0; fi"#;
    let desk = Desk::new(&firmware(1), short);
    let output = desk.flash(&["--chip", CHIP]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_probe_rs_that_is_old_absent_or_fails_is_named() {
    for old in ["probe-rs 0.28.9", "probe-rs 0", "something else 1.0.0"] {
        let desk =
            Desk::new(&firmware(1), &format!("[ \"$1\" = --version ] && echo '{old}' && exit"));
        desk.refuses(&["--chip", CHIP], "version 0.29 or later is needed");
        assert_eq!(desk.calls(), ["--version"]);
    }
    let new = Desk::new(&firmware(1), "[ \"$1\" = --version ] && echo 'probe-rs 1.0.0' && exit");
    assert!(new.flash(&["--chip", CHIP]).status.success());
    let desk =
        Desk::new(&firmware(1), "[ $1 = download ] && echo 'No probe was found.' >&2 && exit 1");
    desk.refuses(&["--chip", CHIP], "No probe was found.");
    fs::remove_file(desk.path("bin/probe-rs")).unwrap();
    desk.refuses(&["--chip", CHIP], "install it");
}

#[test]
fn a_model_that_the_firmware_cannot_run_never_reaches_the_board() {
    let with = |capacities| {
        let descriptor = Descriptor::new(capacities, CHIP, 1, Sampling::ANY);
        elf(descriptor, (MODEL, MODEL + 2048), &[(FLASH, 1000)])
    };
    let cases = [
        (Capacities { fft: 128, ..CAPACITIES }, "needs 256 FFT points"),
        (Capacities { axes: 3, ..CAPACITIES }, "needs 1 axes"),
        (Capacities { dims: 3, ..CAPACITIES }, "needs 4 features"),
        (Capacities { components: 2, ..CAPACITIES }, "needs 3 components"),
        (Capacities { classes: 2, ..CAPACITIES }, "needs 3 classes"),
    ];
    for (capacities, message) in cases {
        let desk = Desk::new(&with(capacities), "");
        desk.refuses(&["--chip", CHIP], message);
        assert!(desk.calls().is_empty());
    }
    let mut newer = descriptor(1);
    newer.model_version = 2;
    let newer = elf(newer, (MODEL, MODEL + 2048), &[(FLASH, 1000)]);
    Desk::new(&newer, "").refuses(&["--chip", CHIP], "reads models of version 2");
    Desk::new(&firmware(1), "").refuses(&["--chip", "nRF52840_xxAA"], "built for STM32F405RG");
}

/// A board that samples like this.
fn sampled(sampling: Sampling) -> Vec<u8> {
    let descriptor = Descriptor::new(CAPACITIES, CHIP, 1, sampling);
    elf(descriptor, (MODEL, MODEL + 2048), &[(FLASH, 16)])
}

/// The golden model is for 20 kHz and has windows of 19.2 ms.
#[test]
fn a_model_for_other_samples_never_reaches_the_board() {
    let board = Sampling { rate_hz: 26_667.0, longest_window_ms: 4000, full_scale_g: 16.0 };
    let faster = sampled(board);
    Desk::new(&faster, "").refuses(&["--chip", CHIP], "samples at 26667 Hz: adapt with");
    let impatient = sampled(Sampling { rate_hz: 20_000.0, longest_window_ms: 19, ..board });
    Desk::new(&impatient, "").refuses(&["--chip", CHIP], "takes 20 ms");
    let near = Sampling { rate_hz: 20_300.0, longest_window_ms: 20, ..board };
    let output = Desk::new(&sampled(near), "").flash(&["--chip", CHIP, "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = serde_json::json!({
        "rate_hz": 20_300.0, "longest_window_ms": 20, "full_scale_g": 16.0
    });
    assert_eq!((&json["sampling"], &json["warnings"]), (&expected, &serde_json::json!([])));
    // The other commands refuse the same.
    let desk = Desk::new(&faster, "");
    fs::write(desk.path("x.csv"), "x\n1\n").unwrap();
    for words in [&["inspect", "model.rbm"][..], &["emulate", "--model", "model.rbm", "x.csv"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rebearing"));
        command.current_dir(&desk.folder).args(words).args(["--firmware", "firmware.elf"]);
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {errors}");
        assert!(errors.contains("samples at 26667 Hz"), "{words:?}: {errors}");
    }
    fs::write(desk.path("firmware.elf"), sampled(near)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rebearing"));
    command.args(["inspect", "model.rbm", "--firmware", "firmware.elf"]);
    let output = command.current_dir(&desk.folder).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("runs this model: samples at 20300 Hz, counts up to 16 g"), "{text}");
}

#[test]
fn a_firmware_that_does_not_say_how_it_samples_gets_a_warning() {
    let mut bytes = descriptor(1).to_bytes();
    // Version 1 ended before the sampling.
    bytes[4] = 1;
    let firmware = elf_of(&bytes[..72], (MODEL, MODEL + 2048), &[(FLASH, 16)]);
    let output = Desk::new(&firmware, "").flash(&["--chip", CHIP]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.starts_with("warning: firmware.elf does not say how it samples"), "{text}");
    assert!(text.contains("20000 Hz"), "{text}");
}

#[test]
fn an_i16_model_goes_to_a_firmware_of_i16_models_and_to_no_other() {
    const INTEGERS: &[u8] = include_bytes!("../../../../tests/golden/model-v1-i16.rbm");
    let with = |encoding, components, model: &[u8]| {
        let samples = Samples::Counts;
        let capacities = Capacities { encoding, samples, components, ..CAPACITIES };
        let descriptor = Descriptor::new(capacities, CHIP, 1, Sampling::ANY);
        let desk = Desk::new(&elf(descriptor, (MODEL, MODEL + 2048), &[(FLASH, 16)]), "");
        fs::write(desk.path("model.rbm"), model).unwrap();
        desk
    };
    let desk = with(Encoding::I16, 4, INTEGERS);
    let output = desk.flash(&["--chip", CHIP]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(desk.memory()[offset(MODEL)..][..INTEGERS.len()], *INTEGERS);
    with(Encoding::I16, 3, INTEGERS).refuses(&["--chip", CHIP], "needs 4 components");
    with(Encoding::F32, 4, INTEGERS).refuses(&["--chip", CHIP], "this is an i16 model");
    with(Encoding::I16, 4, GOLDEN).refuses(&["--chip", CHIP], "this is an f32 model");
}

#[test]
fn a_model_that_measures_in_another_unit_never_reaches_a_firmware_of_counts() {
    const MEASURES: &[u8] = include_bytes!("../../../../tests/golden/model-v1-decision.rbm");
    let with = |samples| {
        let capacities = Capacities { samples, ..CAPACITIES };
        let firmware = elf(
            Descriptor::new(capacities, CHIP, 1, Sampling::ANY),
            (MODEL, MODEL + 2048),
            &[(FLASH, 16)],
        );
        let desk = Desk::new(&firmware, "");
        fs::write(desk.path("model.rbm"), MEASURES).unwrap();
        desk
    };
    with(Samples::Counts).refuses(&["--chip", CHIP], "this monitor takes counts");
    assert!(with(Samples::Floats).flash(&["--chip", CHIP]).status.success());
}

#[test]
fn the_region_must_hold_the_model() {
    let length = GOLDEN.len() as u32;
    let with = |slots, bytes| elf(descriptor(slots), (MODEL, MODEL + bytes), &[(FLASH, 1000)]);
    Desk::new(&with(1, length - 4), "").refuses(&["--chip", CHIP], "enlarge MODEL");
    assert!(Desk::new(&with(1, length), "").flash(&["--chip", CHIP]).status.success());
    Desk::new(&with(2, 2 * length + 28), "").refuses(&["--chip", CHIP], "a slot of the MODEL");
    assert!(Desk::new(&with(2, 2 * length + 32), "").flash(&["--chip", CHIP]).status.success());
}

#[test]
fn a_firmware_in_the_model_region_or_without_one_is_refused() {
    let region = (MODEL, MODEL + 2048);
    let cases = [
        // One byte too long; at the last byte of the region; across the whole region.
        (elf(descriptor(1), region, &[(FLASH, 0xc_0001)]), "lies in the MODEL region"),
        (elf(descriptor(1), region, &[(FLASH, 16), (MODEL + 2047, 8)]), "lies in the MODEL region"),
        (elf(descriptor(1), region, &[(FLASH, 0x10_0000)]), "lies in the MODEL region"),
        (elf(descriptor(1), (MODEL, MODEL), &[(FLASH, 16)]), "__model_start"),
        (elf(None, region, &[(FLASH, 16)]), "rebearing::update::descriptor!"),
        (b"MODEL".to_vec(), "no ELF file"),
    ];
    for (firmware, message) in cases {
        Desk::new(&firmware, "").refuses(&["--chip", CHIP], message);
    }
    // Bytes right behind the region are in the same sector and are erased with it. The next sector
    // is not erased. For an unknown chip nothing behind the region is refused.
    let behind = |chip, at| {
        elf(Descriptor::new(CAPACITIES, chip, 1, Sampling::ANY), region, &[(FLASH, 16), (at, 8)])
    };
    for at in [MODEL + 2048, MODEL + 0x1_fff8] {
        Desk::new(&behind(CHIP, at), "").refuses(&["--chip", CHIP], "erased with the MODEL region");
    }
    for (chip, at) in [(CHIP, MODEL + 0x2_0000), ("RP2040", MODEL + 2048)] {
        assert!(Desk::new(&behind(chip, at), "").flash(&["--chip", chip]).status.success());
    }
}

#[test]
fn a_failure_names_no_temporary_folder() {
    let fails = r#"if [ "$1" = download ]; then echo "cannot read $last" >&2; exit 1; fi"#;
    let desk = Desk::new(&firmware(1), fails);
    let output = desk.flash(&["--chip", CHIP]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("0x080c0000 model.bin") && said.contains("cannot read model.bin"),
        "{said}"
    );
    assert!(!said.contains(".tmp"), "{said}");
}
